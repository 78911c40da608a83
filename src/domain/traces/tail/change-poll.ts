/**
 * Polls for traces that other processes changed, by the time of the last change. They commit in no order and their
 * clocks differ a little, so each poll goes back a while and leaves out seen changes. A failed poll misses nothing: the
 * next one goes back as far as the last successful one.
 */

import type { Clock } from '../../clock.ts';
import {
  ALL_TRACES,
  EVER,
  type MatchedTrace,
  type SearchPosition,
  type TraceSearch,
} from '../search/trace-search-store.ts';

export type ChangePoll = ReturnType<typeof createChangePoll>;

type ChangePollDeps = {
  readonly projectNumber: number;
  readonly search: Pick<TraceSearch, 'find'>;
  readonly clock: Clock;
};

const INTERVAL_MS = 500;
/** How late a change may appear after its own time, because of its commit and differing clocks. */
const LATE_MAX_MS = 5_000;
/** Changes of a page and pages of a poll: together as many as a project reader keeps. */
const PAGE_SIZE = 2_000;
const PAGES_MAX = 5;

export function createChangePoll({ projectNumber, search, clock }: ChangePollDeps) {
  /** By trace: the time of its last seen change. */
  const seen = new Map<string, number>();
  let hasBegun = false;
  let polledAtMs = Number.NEGATIVE_INFINITY;
  /** When the last successful poll began. */
  let seenAtMs = clock();

  function dropOlder(beforeMs: number): void {
    for (const [traceId, updatedAtMs] of seen) if (updatedAtMs < beforeMs) seen.delete(traceId);
  }

  /** The newest first. Marks new changes as seen once all are read. */
  async function poll(): Promise<{ readonly fresh: readonly SearchPosition[]; readonly isShort: boolean }> {
    const nowMs = clock();
    polledAtMs = nowMs;
    // Goes back before the last poll: earlier changes may be committed only now, and clocks differ.
    const fromMs = Math.min(nowMs, seenAtMs) - LATE_MAX_MS;
    dropOlder(fromMs);
    const fresh: SearchPosition[] = [];
    let after: SearchPosition | null = null;
    for (let page = 0; page === 0 || (after !== null && page < PAGES_MAX); page += 1) {
      const { traces, next } = await search.find({
        ...ALL_TRACES,
        projectNumber,
        updated: { fromMs, toMs: EVER.toMs },
        sort: 'updated_at',
        isAscending: false,
        after,
        limit: PAGE_SIZE,
      });
      for (const position of traces) {
        if ((seen.get(position.traceId) ?? Number.NEGATIVE_INFINITY) < position.key) fresh.push(position);
      }
      after = next;
    }
    seenAtMs = nowMs;
    for (const { traceId, key } of fresh) seen.set(traceId, key);
    return { fresh, isShort: after !== null };
  }

  return {
    /** Marks existing changes as seen; call it once, first. Rejects when the store fails; then they count as new. */
    async begin(): Promise<void> {
      try {
        await poll();
      } finally {
        hasBegun = true;
      }
    },
    /** Whether it is time to poll. */
    isDue(): boolean {
      const agoMs = clock() - polledAtMs;
      return hasBegun && (agoMs < 0 || agoMs >= INTERVAL_MS);
    },
    /**
     * Polls. `isShort`: there were more changes than one poll reads, so that some may be missed. Rejects when the store
     * fails; then no change is missed.
     */
    async next() {
      const { fresh, isShort } = await poll();
      // The oldest first, as they happened.
      return { traceIds: fresh.map(({ traceId }) => traceId).reverse(), isShort };
    },
    /** Marks a change as read by this process. */
    markSeen({ traceId, updatedAtMs }: Pick<MatchedTrace, 'traceId' | 'updatedAtMs'>): void {
      seen.set(traceId, updatedAtMs);
    },
  };
}
