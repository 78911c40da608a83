/**
 * Calendar months (UTC) as numbers, counted from January 1970: what the big tables are partitioned by. Sees to it that
 * rows find the partitions of their months.
 */

import { type Lane, readClock, type Statement } from './connection.ts';

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

/** No trace of this sequence or above came in at the instant or before. */
export function firstSequenceAfter(instantMs: number): number {
  return (monthOf(instantMs) + 1) * SEQUENCES_PER_MONTH;
}

export type Months = {
  /** Makes the partitions for these instants, and for the database's own present, unless they are known to be there. */
  ensure(instantsMs: readonly number[]): Promise<void>;
  /** Trusts nothing that was known: a month may have been dropped, or the clock of the database may differ. */
  forget(): void;
};

export const CREATE_MONTH: Statement = { name: 'create-month', text: 'SELECT create_month($1)' };
// The present month ends sooner or later, and many batches are under way when it does. Retention makes one more ahead
// of time: at the beginning of a month nothing is missing that an append would have to wait for.
const MONTHS_AHEAD = 1;

export function createMonths(lane: Lane): Months {
  const known = new Set<number>();
  let isPresentKnown = false;

  async function add(firstMonth: number, lastMonth: number): Promise<void> {
    for (let month = firstMonth; month <= lastMonth; month += 1) {
      await lane.ask(CREATE_MONTH, [month]);
      known.add(month);
    }
  }

  async function addPresent(): Promise<void> {
    const month = monthOf(await readClock(lane));
    await add(month, month + MONTHS_AHEAD);
    isPresentKnown = true;
  }

  return {
    async ensure(instantsMs) {
      if (!isPresentKnown) await addPresent();
      for (const instantMs of instantsMs) {
        const month = monthOf(instantMs);
        if (!known.has(month)) await add(month, month);
      }
    },
    forget() {
      known.clear();
      isPresentKnown = false;
    },
  };
}
