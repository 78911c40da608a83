/** Recognizes instants that were sent in another unit than milliseconds since the epoch, a frequent mistake. */

const YEAR_2000_SECONDS = 946_684_800;
const YEAR_2100_SECONDS = 4_102_444_800;

/** Whether epoch milliseconds are rather the seconds of an instant between 2000 and 2100. */
export function looksLikeSeconds(instantMs: number): boolean {
  return instantMs >= YEAR_2000_SECONDS && instantMs < YEAR_2100_SECONDS;
}

/** The reason to refuse seconds. */
export function secondsReason(sent: number): string {
  return `must be milliseconds since the epoch; ${sent} looks like seconds, multiply by 1000`;
}

const DATE = /^\d{4}-\d{2}-\d{2}/;

/** The end of a reason to refuse something else than a number; empty where it is not a date. */
export function dateTextHint(sent: unknown): string {
  return typeof sent === 'string' && DATE.test(sent) ? ', the milliseconds since the epoch, not a text' : '';
}

/** Smaller units, the smallest first, with how many of them are a millisecond. */
const SMALLER_UNITS = [
  { name: 'nanoseconds', perMs: 1_000_000 },
  { name: 'microseconds', perMs: 1000 },
];

/** The end of a reason to refuse an instant in the far future; empty where the unit is not the mistake. */
export function smallerUnitHint(sent: number): string {
  const seconds = (perMs: number) => sent / perMs / 1000;
  const unit = SMALLER_UNITS.find(({ perMs }) => looksLikeSeconds(seconds(perMs)));
  return unit === undefined ? '' : `; ${sent} looks like ${unit.name}, divide by ${unit.perMs}`;
}
