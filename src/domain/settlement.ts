/** Settling requests whose outcome nobody waits for any more. */

import type { Clock } from './clock.ts';
import type { RequestStore } from './store.ts';

export type SettlementDeps = {
  readonly store: Pick<RequestStore, 'settle'>;
  readonly clock: Clock;
  /** How long an outcome is waited for, from when the request came in. */
  readonly graceMs: number;
};

export type Settling = {
  /** Settles all that is overdue, or as much as it can until the signal says stop. Answers how many. */
  run(signal: AbortSignal): Promise<number>;
};

/** Per commit, so that others wait only for a moment. */
const COUNT_MAX = 500;

export function createSettling({ store, clock, graceMs }: SettlementDeps): Settling {
  return {
    async run(signal) {
      const admittedByMs = clock() - graceMs;
      let total = 0;
      while (!signal.aborted) {
        const { count, hasMore } = await store.settle({ kind: 'settlement', admittedByMs, countMax: COUNT_MAX });
        total += count;
        if (!hasMore || count === 0) break;
      }
      return total;
    },
  };
}
