/**
 * Finds what other processes have changed, by the time of the last change. They commit in no order and their clocks
 * differ a little, so each look goes back a while, and leaves out what was seen already. A look that fails leaves
 * nothing out: the next one goes back as far as the last that did not.
 */

import type { Clock } from '../clock.ts';
import type { MatchedTrace, SearchPlace, TraceSearch } from '../trace-search-store.ts';

export type ChangePoll = {
  /** Takes what is there already as told; it is called once, first. Rejects where the store cannot be asked; then that is told. */
  begin(): Promise<void>;
  /** Looks again. Rejects where the store cannot be asked; then nothing is missed. */
  next(): Promise<Polled>;
  /** Whether it is time to look again. */
  isDue(): boolean;
  /** This process has told of the change itself. */
  noteTold(change: Pick<MatchedTrace, 'traceId' | 'updatedAtMs'>): void;
};

export type Polled = {
  readonly traceIds: readonly string[];
  /** Whether there were more than are looked at, so that something may have been missed. */
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
/** Read in one go, and how often in one look: as many changes as are kept for those who follow. */
const PAGE_SIZE = 2_000;
const PAGES_MAX = 5;
const EVER = { fromMs: Number.MIN_SAFE_INTEGER, toMs: Number.MAX_SAFE_INTEGER };

export function createChangePoll({ projectNumber, search, clock }: ChangePollDeps): ChangePoll {
  /** By trace: the time of the change that was seen last. */
  const seen = new Map<string, number>();
  let hasBegun = false;
  let polledAtMs = Number.NEGATIVE_INFINITY;
  /** When the last look began that did not fail. */
  let seenAtMs = clock();

  function forget(beforeMs: number): void {
    for (const [traceId, updatedAtMs] of seen) if (updatedAtMs < beforeMs) seen.delete(traceId);
  }

  /** The newest first. What is new counts as seen once all of it was read. */
  async function look(): Promise<{ readonly fresh: readonly SearchPlace[]; readonly isShort: boolean }> {
    const nowMs = clock();
    polledAtMs = nowMs;
    // From before the opening on: what was received then may be committed only now, and clocks differ.
    const fromMs = Math.min(nowMs, seenAtMs) - LATE_MAX_MS;
    forget(fromMs);
    const fresh: SearchPlace[] = [];
    let after: SearchPlace | null = null;
    for (let page = 0; page === 0 || (after !== null && page < PAGES_MAX); page += 1) {
      const { traces, next } = await search.find({
        projectNumber,
        goneBeforeMs: null,
        started: EVER,
        updated: { fromMs, toMs: EVER.toMs },
        sort: 'updated_at',
        isAscending: false,
        traceIds: null,
        filter: { conditions: [], isNegated: false, text: '' },
        after,
        limit: PAGE_SIZE,
        countMax: null,
      });
      for (const place of traces) {
        if ((seen.get(place.traceId) ?? Number.NEGATIVE_INFINITY) < place.key) fresh.push(place);
      }
      after = next;
    }
    seenAtMs = nowMs;
    for (const { traceId, key } of fresh) seen.set(traceId, key);
    return { fresh, isShort: after !== null };
  }

  return {
    async begin() {
      try {
        await look();
      } finally {
        hasBegun = true;
      }
    },
    isDue() {
      const agoMs = clock() - polledAtMs;
      return hasBegun && (agoMs < 0 || agoMs >= INTERVAL_MS);
    },
    async next() {
      const { fresh, isShort } = await look();
      // The oldest first, as they happened.
      return { traceIds: fresh.map(({ traceId }) => traceId).reverse(), isShort };
    },
    noteTold({ traceId, updatedAtMs }) {
      seen.set(traceId, updatedAtMs);
    },
  };
}
