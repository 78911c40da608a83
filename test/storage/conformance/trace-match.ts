import { describe, expect, it } from 'vitest';
import type { SearchFilter } from '../../../src/domain/traces/search/trace-filter.ts';
import { type MatchedTrace, TOTAL_MAX } from '../../../src/domain/traces/search/trace-search-store.ts';
import { isFullTier } from '../../support/scenario.ts';
import { bareSpan, PROJECT, RECEIVED_AT_MS, randomHex, sampleAppend } from './samples.ts';
import { createSearchSamples } from './search-samples.ts';
import { type OpenSubject, withStore } from './subject.ts';

const SEED = 11;
const TRACES = 60;
const QUESTIONS = 60;
/** Long enough that one call cannot finish all traces in the full tier. */
const LONG_PAIRS = isFullTier ? 400_000 : 20_000;
const EVER = { fromMs: Number.MIN_SAFE_INTEGER, toMs: Number.MAX_SAFE_INTEGER };
const ALL: SearchFilter = { conditions: [], isNegated: false, text: '' };
const OF_PROJECT = { projectNumber: PROJECT.number, expiredBeforeMs: null };

export function traceMatchConformance(open: OpenSubject): void {
  describe('matching traces with filters', () => {
    it(
      'MUST match as `find` does, and MUST keep the order of the ids',
      withStore(open, async (store) => {
        const samples = createSearchSamples(SEED);
        const appends = Array.from({ length: TRACES }, (_, index) => samples.trace(index));
        for (const append of appends) await store.traces.append(append);
        const ids = appends.map(({ traceId }) => traceId).reverse();
        const filters = Array.from({ length: QUESTIONS }, () => samples.question().filter);
        const traces: MatchedTrace[] = [];
        // A busy machine may need several calls.
        for (let left: readonly string[] = ids; left.length > 0; ) {
          const matched = await store.search.match({ ...OF_PROJECT, traceIds: left, filters });
          traces.push(...matched.traces);
          left = matched.left;
        }
        const isKnown = new Set(traces.map(({ traceId }) => traceId));
        expect(traces.map(({ traceId }) => traceId)).toEqual(ids.filter((id) => isKnown.has(id)));
        for (const [index, filter] of filters.entries()) {
          const found = await store.search.find({
            ...OF_PROJECT,
            started: EVER,
            updated: EVER,
            sort: 'started_at',
            isAscending: true,
            traceIds: null,
            filter,
            after: null,
            limit: 1_000,
            countMax: TOTAL_MAX,
          });
          const fitting = traces.filter(({ fits }) => fits.includes(index)).map(({ traceId }) => traceId);
          expect(fitting.sort(), JSON.stringify(filter)).toEqual(found.traces.map(({ traceId }) => traceId).sort());
        }
      }),
    );

    it(
      'MUST see every append acknowledged before, and leaves out what is gone, unknown or of another project',
      withStore(open, async (store) => {
        const traceId = randomHex(32);
        const match = (more: { projectNumber?: number; expiredBeforeMs?: number } = {}) =>
          store.search.match({ ...OF_PROJECT, traceIds: [randomHex(32), traceId], filters: [ALL], ...more });
        expect(await match()).toEqual({ traces: [], left: [] });
        for (let round = 1; round <= 3; round += 1) {
          const receivedAtMs = RECEIVED_AT_MS + round;
          await store.traces.append(sampleAppend({ traceId, receivedAtMs }));
          expect(await match()).toEqual({ traces: [{ traceId, updatedAtMs: receivedAtMs, fits: [0] }], left: [] });
        }
        // Every change advances `updatedAtMs`, even one with an earlier receipt.
        await store.traces.append(sampleAppend({ traceId, receivedAtMs: RECEIVED_AT_MS }));
        expect((await match()).traces).toEqual([{ traceId, updatedAtMs: RECEIVED_AT_MS + 4, fits: [0] }]);
        const nothing = { traces: [], left: [] };
        expect(await match({ projectNumber: PROJECT.number + 1 })).toEqual(nothing);
        expect(await match({ expiredBeforeMs: RECEIVED_AT_MS + 2 })).toEqual(nothing);
        await store.traceChanges.removeTrace({ ...OF_PROJECT, traceId });
        expect(await match()).toEqual(nothing);
      }),
    );

    it(
      'searches for a thousand texts in one pass over a trace, including errors of many spans',
      withStore(open, async (store) => {
        const errorOf = (index: number) => `{"has_error":true,"message":"failed in ${index}.","stacktrace":[]}`;
        const spans = Array.from({ length: 200 }, (_, index) => bareSpan({ errorJson: errorOf(index) }));
        const append = sampleAppend({ spans, requests: [] });
        await store.traces.append(append);
        const filters = Array.from({ length: 1_000 }, (_, index) => ({ ...ALL, text: `failed in ${index}.` }));
        const { traces } = await store.search.match({ ...OF_PROJECT, traceIds: [append.traceId], filters });
        expect(traces[0]?.fits).toEqual(Array.from({ length: 200 }, (_, index) => index));
      }),
    );

    it(
      'MUST end about a second after it has begun, and tells what it did not come to by then',
      withStore(open, async (store) => {
        // A text of the filters' first characters, so that the search compares at every position.
        const value = 'ab'.repeat(LONG_PAIRS);
        const inputJson = JSON.stringify({ type: 'text', value });
        const ids = Array.from({ length: 6 }, () => randomHex(32));
        for (const traceId of ids)
          await store.traces.append(sampleAppend({ traceId, spans: [bareSpan({ inputJson })] }));
        const filters = Array.from({ length: 1_000 }, (_, index) => ({ ...ALL, text: `abababa${index}` }));
        const seen: string[] = [];
        let left: readonly string[] = ids;
        while (left.length > 0) {
          const startedAtMs = performance.now();
          const matched = await store.search.match({ ...OF_PROJECT, traceIds: left, filters: [...filters, ALL] });
          expect(performance.now() - startedAtMs).toBeLessThan(10_000);
          expect(matched.traces.length).toBeGreaterThan(0);
          expect(matched.left.length).toBeLessThan(left.length);
          seen.push(...matched.traces.map(({ traceId }) => traceId));
          left = matched.left;
        }
        expect(seen).toEqual(ids);
      }),
    );
  });
}
