import { describe, expect, it } from 'vitest';
import {
  ANY_TRACE,
  type AnalyticsAnswer,
  type AnalyticsQuery,
} from '../../../src/domain/analytics/trace-analytics-store.ts';
import type { Span } from '../../../src/domain/traces/trace.ts';
import { type Chance, createChance } from '../../support/access-fuzzer/chance.ts';
import { drawSeed, runsOf, seeded } from '../../support/scenario.ts';
import { PROMPT_NAMES } from './linked-prompts.ts';
import { expectNear } from './percentiles.ts';
import { bareSpan, PROJECT, RECEIVED_AT_MS, sampleAppend } from './samples.ts';
import { createSearchSamples } from './search-samples.ts';
import { keepUp, type OpenSubject, type Subject, withStore } from './subject.ts';

const QUERY: AnalyticsQuery = {
  projectNumber: PROJECT.number,
  expiredBeforeMs: null,
  fromMs: 0,
  toMs: Number.MAX_SAFE_INTEGER,
  interval: 'total',
  groupBy: 'none',
  conditions: ANY_TRACE,
  hasPercentiles: true,
  groupsMax: 100,
  bucketsMax: 1_000,
};

const HOUR_MS = 3_600_000;

const DAY_MS = 24 * HOUR_MS;

type Sent = Readonly<Record<'startedAtMs' | 'tookMs' | 'receivedAtMs', number>> & { readonly waitedMs: number | null };

/** Draws a span around the time of receipt. */
function drawSpan(): Span {
  const draw = (count: number) => Math.floor(Math.random() * count);
  const startedAtMs = RECEIVED_AT_MS + draw(4 * HOUR_MS) - 2 * HOUR_MS;
  const firstTokenAtMs = draw(3) === 0 ? null : startedAtMs + draw(500);
  return bareSpan({ startedAtMs, finishedAtMs: startedAtMs + draw(9_000) - 10, firstTokenAtMs });
}

function drawQuery(chance: Chance): AnalyticsQuery {
  const edge = () => RECEIVED_AT_MS + chance.below(8 * HOUR_MS) - 4 * HOUR_MS;
  const [fromMs = 0, toMs = 0] = [edge(), edge()].sort((one, other) => one - other);
  const drawValue = (value: string) => (chance.happens(0.15) ? value : null);
  const isByModel = chance.happens(0.3);
  const ofModels = {
    groupBy: chance.pick(['model', 'none'] as const),
    conditions: { ...ANY_TRACE, model: chance.pick([null, 'gpt-5', 'nobody']) },
  };
  return {
    ...QUERY,
    ...(chance.happens(0.5) ? {} : { fromMs, toMs }),
    expiredBeforeMs: chance.happens(0.3) ? RECEIVED_AT_MS + chance.below(HOUR_MS) : null,
    interval: chance.pick(['minute', 'hour', 'day', 'week', 'month', 'total']),
    groupBy: chance.pick(['none', 'user_id', 'customer_id', 'thread_id', 'label', 'prompt_id', 'prompt_version']),
    conditions: {
      ...{ userId: drawValue(`user ${chance.below(30)}`), customerId: null, model: null },
      ...{ threadId: drawValue(`thread "${chance.below(300)}"`), label: drawValue(chance.pick(['a', 'b%', 'none'])) },
      ...{ promptId: drawValue(chance.pick(PROMPT_NAMES)), promptVersion: drawValue(chance.pick(PROMPT_NAMES)) },
    },
    hasPercentiles: chance.happens(0.7),
    groupsMax: chance.pick([1, 5, 100, 1_000]),
    ...(isByModel ? ofModels : {}),
  };
}

/** Every trace is read from its table. */
const MARK_ALL = `INSERT INTO search_pending (project_number, trace_sequence, mark)
  SELECT project_number, sequence, -1 FROM traces WHERE true ON CONFLICT DO NOTHING`;
const UNMARK = 'DELETE FROM search_pending WHERE mark = -1';

async function expectSame({ store, execute }: Subject, queries: readonly AnalyticsQuery[]): Promise<void> {
  const ask = async (query: AnalyticsQuery) => ({
    answer: await store.analytics.summarise(query),
    stats: await store.analytics.statsOfUser({ ...query, userId: query.conditions.userId ?? 'user 1' }),
  });
  const byIndex = [];
  for (const query of queries) byIndex.push(await ask(query));
  await execute(MARK_ALL);
  for (const [index, query] of queries.entries()) {
    expect(byIndex[index], JSON.stringify(query)).toEqual(await ask(query));
  }
  await execute(UNMARK);
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
      'MUST tell the same by the index as from the traces themselves, after traces were sent again, changed and removed',
      withStore(open, async (store, subject) => {
        const seed = drawSeed();
        console.log(JSON.stringify({ test: 'analytics by the index', seed }));
        const samples = createSearchSamples(seed);
        const chance = createChance(seeded(seed));
        await Promise.all(Array.from({ length: 2_300 }, (_, index) => store.traces.append(samples.trace(index))));
        await keepUp(store);
        expect(await store.search.countUnindexed()).toBe(0);
        await expectSame(
          subject,
          Array.from({ length: runsOf(40) }, () => drawQuery(chance)),
        );
        // These changes stay unindexed.
        const some = Array.from({ length: 200 }, samples.index).map((index) => samples.trace(index));
        await Promise.all(some.slice(0, 100).map(store.traces.append));
        await store.traces.append({ ...samples.trace(0), spans: Array.from({ length: 230 }, drawSpan) });
        for (const { traceId } of some.slice(100)) {
          await store.traceChanges.removeTrace({ projectNumber: PROJECT.number, traceId, expiredBeforeMs: null });
        }
        expect(await store.search.countUnindexed()).toBeGreaterThan(100);
        await expectSame(
          subject,
          Array.from({ length: runsOf(40) }, () => drawQuery(chance)),
        );
      }),
    );

    it(
      'MUST give percentiles by nearest rank, within one in a hundred beyond 10,000 traces, also after some changed or went',
      withStore(open, async (store, { execute }) => {
        const chance = createChance(seeded(drawSeed()));
        const firstMs = Math.floor(RECEIVED_AT_MS / DAY_MS - 4) * DAY_MS + 7 * HOUR_MS;
        const traces = new Map<string, Sent>();
        const send = (index: number) => {
          // Most of them began on the third day, and few have a first token.
          const dayMs = index % 8 > 0 ? 2 * DAY_MS : chance.below(4) * DAY_MS;
          const startedAtMs = firstMs + dayMs + chance.below(10 * HOUR_MS);
          const tookMs = Math.floor(20_000 * chance.next() ** 4);
          const waitedMs = index % 20 === 0 ? chance.below(900) : null;
          const times = { startedAtMs, finishedAtMs: startedAtMs + tookMs };
          const firstTokenAtMs = waitedMs === null ? null : startedAtMs + waitedMs;
          const traceId = index.toString(16).padStart(32, '0');
          const receivedAtMs = RECEIVED_AT_MS - (index % 5 === 0 ? HOUR_MS : 0);
          traces.set(traceId, { startedAtMs, tookMs, waitedMs, receivedAtMs });
          const spans = [bareSpan({ spanId: '1'.repeat(16), ...times, firstTokenAtMs })];
          return store.traces.append(sampleAppend({ traceId, receivedAtMs, spans, requests: [], metadataJson: '{}' }));
        };
        const fromMs = firstMs + HOUR_MS;
        const toMs = firstMs + 3 * DAY_MS + 5 * HOUR_MS;
        const check = async (interval: AnalyticsQuery['interval'], expiredBeforeMs = 0) => {
          const answer = await store.analytics.summarise({ ...QUERY, fromMs, toMs, interval, expiredBeforeMs });
          const buckets = answer.kind === 'buckets' ? answer.buckets : [];
          expect(buckets.length).toBe(interval === 'total' ? 1 : 4);
          for (const { startMs, endMs, totals } of buckets) {
            const within = [...traces.values()].filter(
              ({ startedAtMs: at, receivedAtMs }) =>
                receivedAtMs >= expiredBeforeMs && at >= Math.max(fromMs, startMs) && at < Math.min(endMs, toMs + 1),
            );
            expect(totals.traces).toBe(within.length);
            expectNear(
              totals.totalTimeMs,
              within.map(({ tookMs }) => tookMs),
            );
            expectNear(
              totals.firstTokenMs,
              within.flatMap(({ waitedMs }) => waitedMs ?? []),
            );
          }
        };
        await Promise.all(Array.from({ length: 12_500 }, (_, index) => send(index)));
        await keepUp(store);
        for (const interval of ['total', 'day'] as const) await check(interval);
        for (let round = 0; round < 2; round += 1) {
          await Promise.all(Array.from({ length: 300 }, (_, index) => send(7 * index)));
          for (const index of [1, 2, 3]) {
            const traceId = (100 * (10 * round + index)).toString(16).padStart(32, '0');
            await store.traceChanges.removeTrace({ projectNumber: PROJECT.number, traceId, expiredBeforeMs: null });
            traces.delete(traceId);
          }
          if (round === 1) await keepUp(store);
          for (const interval of ['total', 'day'] as const) await check(interval);
        }
        await check('total', RECEIVED_AT_MS - 1);
        await execute(MARK_ALL);
        await check('total');
      }),
    );

    it(
      'finds the first of very many labels, whether their traces are indexed or not',
      withStore(open, async (store) => {
        for (let index = 0; index < 45; index += 1) {
          const own = Array.from({ length: 499 }, (_, label) => `${index}-${label}`);
          const metadataJson = JSON.stringify({ labels: ['all', ...own] });
          await store.traces.append(sampleAppend({ metadataJson, spans: [bareSpan({})], requests: [] }));
        }
        const first = { ...QUERY, groupBy: 'label', groupsMax: 1 } as const;
        const ask = async () => {
          const answer = await store.analytics.summarise(first);
          expect(answer).toMatchObject({ kind: 'buckets', isTruncated: true });
          return totalsOf(answer);
        };
        const unindexed = await ask();
        expect(unindexed).toMatchObject([{ group: 'all', traces: 45, spans: 45 }]);
        await keepUp(store);
        expect(await ask()).toEqual(unindexed);
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
        const ofOne = { ...QUERY, conditions: { ...ANY_TRACE, userId: 'user 1', label: 'b' } };
        for (const groupBy of ['none', 'user_id', 'label'] as const) {
          const [first] = totalsOf(await store.analytics.summarise({ ...ofOne, groupBy }));
          expect(first?.traces).toBe(833);
        }
      }),
    );
  });
}
