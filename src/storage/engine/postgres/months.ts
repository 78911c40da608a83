/** Sees to it that rows find the partitions of their months. */

import { readClock } from './clock.ts';
import type { Lane, Statement } from './connection.ts';
import { monthOf } from './month.ts';

export type Months = {
  /** Makes the partitions for these instants, and for the database's own present, unless they are known to be there. */
  ensure(instantsMs: readonly number[]): Promise<void>;
  /** Trusts nothing that was known: a month may have been dropped, or the clock of the database may differ. */
  forget(): void;
};

const CREATE: Statement = { name: 'create-month', text: 'SELECT create_month($1)' };
// The present month ends sooner or later, and many batches are under way when it does. Retention makes one more ahead
// of time: at the beginning of a month nothing is missing that an append would have to wait for.
const MONTHS_AHEAD = 1;

/** Makes the partitions of months from the first to the last, both included; those that are there stay as they are. */
export async function ensureMonths(lane: Lane, firstMonth: number, lastMonth: number): Promise<void> {
  for (let month = firstMonth; month <= lastMonth; month += 1) await lane.ask(CREATE, [month]);
}

export function createMonths(lane: Lane): Months {
  const known = new Set<number>();
  let isPresentKnown = false;

  async function add(firstMonth: number, lastMonth: number): Promise<void> {
    await ensureMonths(lane, firstMonth, lastMonth);
    for (let month = firstMonth; month <= lastMonth; month += 1) known.add(month);
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
