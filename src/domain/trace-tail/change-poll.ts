/**
 * Finds what other processes have changed, by the time of the last change. They commit in no order and their clocks
 * differ a little, so each look goes back a while, and leaves out what was seen already. A look that fails leaves
 * nothing out: the next one goes back as far as the last that did not.
 */

import type { Clock } from '../clock.ts';
import type { MatchedTrace, TraceSearch } from '../trace-search-store.ts';

export type ChangePoll = {
  /** Looks again. Rejects where the store cannot be asked; then nothing is missed. */
  next(): Promise<Polled>;
  /** Whether it is time to look again. */
  isDue(): boolean;
  /** This process has told of the change itself. */
  noteTold(change: Pick<MatchedTrace, 'traceId' | 'updatedAtMs'>): void;
};

export type Polled = {
  readonly traceIds: readonly string[];
  /** Whether there were more than are looked at. */
  readonly isShort: boolean;
};

export type ChangePollDeps = {
  readonly projectNumber: number;
  readonly search: Pick<TraceSearch, 'find'>;
  readonly clock: Clock;
};

const INTERVAL_MS = 500;
/** How late a change may be seen after the time it has: its commit, and what the clocks of processes differ. */
export const LATE_MAX_MS = 5_000;
const LOOKED_AT_MAX = 2_000;
const EVER = { fromMs: Number.MIN_SAFE_INTEGER, toMs: Number.MAX_SAFE_INTEGER };

export function createChangePoll({ projectNumber, search, clock }: ChangePollDeps): ChangePoll {
  /** By trace: the time of the change that was seen last. */
  const seen = new Map<string, number>();
  const sinceMs = clock();
  let polledAtMs = Number.NEGATIVE_INFINITY;
  /** When the last look began that did not fail. */
  let seenAtMs = sinceMs;

  function forget(beforeMs: number): void {
    for (const [traceId, updatedAtMs] of seen) if (updatedAtMs < beforeMs) seen.delete(traceId);
  }

  return {
    isDue() {
      const agoMs = clock() - polledAtMs;
      return agoMs < 0 || agoMs >= INTERVAL_MS;
    },
    async next() {
      const nowMs = clock();
      polledAtMs = nowMs;
      const fromMs = Math.max(Math.min(nowMs, seenAtMs) - LATE_MAX_MS, sinceMs);
      forget(fromMs);
      const { traces, next } = await search.find({
        projectNumber,
        goneBeforeMs: null,
        started: EVER,
        updated: { fromMs, toMs: EVER.toMs },
        sort: 'updated_at',
        isAscending: false,
        traceIds: null,
        filter: { conditions: [], isNegated: false, text: '' },
        after: null,
        limit: LOOKED_AT_MAX,
        countMax: null,
      });
      seenAtMs = nowMs;
      const fresh = traces.filter(({ traceId, key }) => (seen.get(traceId) ?? Number.NEGATIVE_INFINITY) < key);
      for (const { traceId, key } of fresh) seen.set(traceId, key);
      // The oldest first, as they happened.
      return {
        traceIds: fresh.map(({ traceId }) => traceId).reverse(),
        isShort: next !== null && fresh.length === traces.length,
      };
    },
    noteTold({ traceId, updatedAtMs }) {
      seen.set(traceId, updatedAtMs);
    },
  };
}
