/**
 * Calendar months (UTC), counted from January 1970, by which the big tables are partitioned. Creates the partitions
 * that rows need.
 */

import { type Pool, readClock, type Statement } from './pool.ts';

/** A sequence holds the month above this factor and the number of the trace below it. */
const SEQUENCES_PER_MONTH = 2 ** 40;

export function monthOf(instantMs: number): number {
  const instant = new Date(instantMs);
  return (instant.getUTCFullYear() - 1970) * 12 + instant.getUTCMonth();
}

/** The first millisecond of a month. */
export function monthStartMs(month: number): number {
  return Date.UTC(1970, month, 1);
}

/** The sequence of a trace received at an instant; `number` is unique in the database. */
export function sequenceOf(insertedAtMs: number, number: number): number {
  return monthOf(insertedAtMs) * SEQUENCES_PER_MONTH + number;
}

/** The month in which a trace was received. */
export function monthOfSequence(sequence: number): number {
  return Math.floor(sequence / SEQUENCES_PER_MONTH);
}

/** Traces with this sequence or above were received after the instant. */
export function firstSequenceAfter(instantMs: number): number {
  return (monthOf(instantMs) + 1) * SEQUENCES_PER_MONTH;
}

export type Months = {
  /** Creates the partitions for these instants, and for the database's own present, unless they are known to exist. */
  ensure(instantsMs: readonly number[]): Promise<void>;
  /** Forgets known partitions: retention may have dropped one, or the database's clock may differ. */
  reset(): void;
};

export const CREATE_MONTH: Statement = { name: 'create-month', text: 'SELECT create_month($1)' };
// Many batches are under way when a month ends. Retention creates a further month ahead of time, so that no append
// waits at the beginning of a month.
const MONTHS_AHEAD = 1;

export function createMonths(pool: Pool): Months {
  const known = new Set<number>();
  let isPresentKnown = false;

  async function add(firstMonth: number, lastMonth: number): Promise<void> {
    for (let month = firstMonth; month <= lastMonth; month += 1) {
      await pool.runStatement(CREATE_MONTH, [month]);
      known.add(month);
    }
  }

  async function addPresent(): Promise<void> {
    const month = monthOf(await readClock(pool));
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
    reset() {
      known.clear();
      isPresentKnown = false;
    },
  };
}
