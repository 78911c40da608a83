import { describe, expect, it } from 'vitest';
import type {
  AnalyticsAnswer,
  AnalyticsQuery,
  TraceConditions,
} from '../../../src/domain/analytics/trace-analytics-store.ts';
import type { Span, TraceAppend } from '../../../src/domain/traces/trace.ts';
import { bareSpan, PROJECT, RECEIVED_AT_MS, sampleAppend } from './samples.ts';
import { keepUp, type OpenSubject, withStore } from './subject.ts';

const ANY: TraceConditions = { userId: null, customerId: null, threadId: null, label: null, model: null };
const QUERY: AnalyticsQuery = {
  projectNumber: PROJECT.number,
  expiredBeforeMs: null,
  fromMs: 0,
  toMs: Number.MAX_SAFE_INTEGER,
  interval: 'total',
  groupBy: 'none',
  conditions: ANY,
  hasPercentiles: true,
  groupsMax: 100,
  bucketsMax: 1_000,
};

const HOUR_MS = 3_600_000;

/** Draws a span around the time of receipt. */
function drawSpan(): Span {
  const draw = (count: number) => Math.floor(Math.random() * count);
  const startedAtMs = RECEIVED_AT_MS + draw(4 * HOUR_MS) - 2 * HOUR_MS;
  const firstTokenAtMs = draw(3) === 0 ? null : startedAtMs + draw(500);
  return bareSpan({ startedAtMs, finishedAtMs: startedAtMs + draw(9_000) - 10, firstTokenAtMs });
}

function drawAppend(): TraceAppend {
  const receivedAtMs = RECEIVED_AT_MS + Math.floor(Math.random() * HOUR_MS);
  return sampleAppend({ receivedAtMs, spans: [drawSpan()], requests: [] });
}

function totalsOf(answer: AnalyticsAnswer) {
  expect(answer.kind).toBe('buckets');
  return answer.kind === 'buckets' ? answer.buckets.map(({ group, totals }) => ({ group, ...totals })) : [];
}

export function traceAnalyticsConformance(open: OpenSubject): void {
  describe('the analytics of traces', () => {
    it(
      'MUST count every append acknowledged before, and nothing of a trace that is past its term or of another project',
      withStore(open, async (store) => {
        for (let count = 1; count <= 5; count += 1) {
          await store.traces.append(sampleAppend({ spans: [bareSpan({ model: 'm' })], requests: [] }));
          for (const groupBy of ['none', 'model', 'user_id'] as const) {
            const [bucket] = totalsOf(await store.analytics.summarise({ ...QUERY, groupBy }));
            expect(bucket).toMatchObject({ traces: count, spans: count, totalTimeMs: { p50: 1500, p95: 1500 } });
          }
          const stats = await store.analytics.statsOfUser({ ...QUERY, userId: 'user-42' });
          expect(stats).toMatchObject({ kind: 'stats', stats: { totals: { traces: count, spans: count } } });
        }
        for (const groupBy of ['none', 'model'] as const) {
          const afterRetention = { ...QUERY, groupBy, expiredBeforeMs: RECEIVED_AT_MS + 1 };
          expect(totalsOf(await store.analytics.summarise(afterRetention))).toEqual([]);
          const foreign = { ...QUERY, groupBy, projectNumber: PROJECT.number + 1 };
          expect(totalsOf(await store.analytics.summarise(foreign))).toEqual([]);
        }
      }),
    );

    it(
      'counts all spans of a trace that has very many, and one that has none from when it came in',
      withStore(open, async (store) => {
        const spans = Array.from({ length: 2_100 }, (_, index) =>
          bareSpan({ model: index % 2 === 0 ? 'even' : null, promptTokens: 1 }),
        );
        await store.traces.append(sampleAppend({ spans, requests: [] }));
        await store.traces.append(sampleAppend({ spans: [], requests: [] }));
        const [whole, ...others] = totalsOf(await store.analytics.summarise(QUERY));
        expect([whole?.traces, whole?.spans, whole?.promptTokens]).toEqual([2, 2_100, 2_100]);
        expect(others).toEqual([]);
        const came = { ...QUERY, fromMs: RECEIVED_AT_MS, toMs: RECEIVED_AT_MS };
        const empty = { traces: 1, spans: 0, errors: 0, promptTokens: null, totalTimeMs: null };
        expect(totalsOf(await store.analytics.summarise(came))).toMatchObject([empty]);
        const byUser = totalsOf(await store.analytics.summarise({ ...came, groupBy: 'user_id' }));
        expect(byUser).toMatchObject([{ group: 'user-42', ...empty }]);
        const byModel = totalsOf(await store.analytics.summarise({ ...QUERY, groupBy: 'model' }));
        expect(byModel.map(({ group, spans, promptTokens }) => [group, spans, promptTokens])).toEqual([
          ['even', 1_050, 1_050],
          [null, 0, null],
        ]);
      }),
    );

    it(
      'MUST tell the same percentiles by the index as by going through the traces, whatever was sent again and removed',
      withStore(open, async (store, subject) => {
        const traces = Array.from({ length: 1_100 }, () => drawAppend());
        const send = (appends: readonly TraceAppend[]) => Promise.all(appends.map(store.traces.append));
        await send(traces);
        await keepUp(store);
        expect(await store.search.countUnindexed()).toBeLessThan(traces.length - 1_000);
        // Unindexed changes: more spans, a trace that becomes large, traces without spans, and removed ones.
        await send(traces.slice(0, 40).map((trace) => ({ ...trace, spans: [drawSpan()] })));
        await send([{ ...traces[50], spans: Array.from({ length: 230 }, drawSpan) } as TraceAppend]);
        await send(Array.from({ length: 20 }, () => ({ ...drawAppend(), spans: [] })));
        for (const { traceId } of traces.slice(60, 90)) {
          await store.traceChanges.removeTrace({ projectNumber: PROJECT.number, traceId, expiredBeforeMs: null });
        }
        const hour = (count: number) => RECEIVED_AT_MS - (RECEIVED_AT_MS % HOUR_MS) + count * HOUR_MS;
        const queries = [
          QUERY,
          { ...QUERY, interval: 'hour' as const },
          { ...QUERY, interval: 'hour' as const, fromMs: hour(-1) + 1_234, toMs: hour(1) + 99 },
          { ...QUERY, interval: 'day' as const, expiredBeforeMs: RECEIVED_AT_MS + HOUR_MS / 2 },
        ];
        const byIndex = await Promise.all(queries.map(store.analytics.summarise));
        await subject.execute('UPDATE search_heads SET project_number = -project_number');
        for (const [index, query] of queries.entries()) {
          const afterRetention = totalsOf(await store.analytics.summarise(query));
          expect(afterRetention.some(({ totalTimeMs }) => totalTimeMs !== null)).toBe(true);
          expect(byIndex[index]).toEqual(await store.analytics.summarise(query));
        }
        // Checks that the results came from the index.
        await subject.execute('UPDATE search_heads SET project_number = -project_number');
        await subject.execute('DELETE FROM search_parts');
        expect(await store.analytics.summarise(QUERY)).not.toEqual(byIndex[0]);
      }),
    );

    it(
      'goes through more traces than it reads at once',
      withStore(open, async (store) => {
        const appends = Array.from({ length: 2_500 }, (_, index) =>
          store.traces.append(
            sampleAppend({
              metadataJson: JSON.stringify({ user_id: `user ${index % 3}`, labels: ['a', 'b'] }),
              spans: [bareSpan({ startedAtMs: RECEIVED_AT_MS - (index % 700), costNanoUsd: 9_007_199_254_740_991 })],
              requests: [],
            }),
          ),
        );
        await Promise.all(appends);
        const [whole] = totalsOf(await store.analytics.summarise(QUERY));
        expect([whole?.traces, whole?.totalCostUsd]).toEqual([2_500, 2_500 * 9_007_199.254740991]);
        const ofOne = { ...QUERY, conditions: { ...ANY, userId: 'user 1', label: 'b' } };
        for (const groupBy of ['none', 'user_id', 'label'] as const) {
          const [first] = totalsOf(await store.analytics.summarise({ ...ofOne, groupBy }));
          expect(first?.traces).toBe(833);
        }
      }),
    );
  });
}
