/** Calendar months (UTC) as numbers, counted from January 1970: what the big tables are partitioned by. */

/** The numbers of traces count on below it; above it stands the month. */
const SEQUENCES_PER_MONTH = 2 ** 40;

export function monthOf(instantMs: number): number {
  const instant = new Date(instantMs);
  return (instant.getUTCFullYear() - 1970) * 12 + instant.getUTCMonth();
}

/** The first millisecond of a month. */
export function monthStartMs(month: number): number {
  return Date.UTC(1970, month, 1);
}

/** The sequence of a trace that came in at an instant; `number` is unique in the database. */
export function sequenceOf(insertedAtMs: number, number: number): number {
  return monthOf(insertedAtMs) * SEQUENCES_PER_MONTH + number;
}

/** The month in which a trace came in. */
export function monthOfSequence(sequence: number): number {
  return Math.floor(sequence / SEQUENCES_PER_MONTH);
}
