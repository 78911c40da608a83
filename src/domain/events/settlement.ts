/** Settles requests whose outcome is overdue. */

import type { Clock } from '../clock.ts';
import type { RequestStore } from './log-port.ts';

type SettlementDeps = {
  readonly store: Pick<RequestStore, 'settle'>;
  readonly clock: Clock;
  /** How long an outcome may take after the admission. */
  readonly graceMs: number;
};

/** Per commit, so that other writes wait briefly. */
const COUNT_MAX = 500;

export function createSettlement({ store, clock, graceMs }: SettlementDeps) {
  return {
    /** Settles all overdue requests until the signal aborts. Returns their number. */
    async run(signal: AbortSignal): Promise<number> {
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
