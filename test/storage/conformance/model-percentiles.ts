import { describe, expect, it } from 'vitest';
import { intervalAt } from '../../../src/domain/analytics/calendar.ts';
import { EXACT_VALUES_MAX } from '../../../src/domain/analytics/distribution.ts';
import { ANY_TRACE, type AnalyticsQuery } from '../../../src/domain/analytics/trace-analytics-store.ts';
import type { Store } from '../../../src/domain/store.ts';
import { type Chance, createChance } from '../../support/access-fuzzer/chance.ts';
import { drawSeed, runsOf, seeded } from '../../support/scenario.ts';
import { expectNear } from './percentiles.ts';
import { bareSpan, PROJECT, RECEIVED_AT_MS, sampleAppend } from './samples.ts';
import { keepUp, type OpenSubject, withStore } from './subject.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const FIRST_MS = Math.floor(RECEIVED_AT_MS / DAY_MS - 4) * DAY_MS;
const TRACES = 800;
const QUESTIONS = runsOf(12);

type SentSpan = { readonly model: string | null; readonly tookMs: number; readonly waitedMs: number | null };
type SentTrace = { readonly startedAtMs: number; readonly receivedAtMs: number; readonly spans: readonly SentSpan[] };
type Sent = Map<string, SentTrace>;
type Fixture = { readonly store: Store; readonly chance: Chance; readonly sent: Sent };

export function modelPercentilesConformance(open: OpenSubject): void {
  describe('the percentiles of models', () => {
    it(
      'MUST be those of their spans by nearest rank, within one in a hundred beyond 10,000, also after some changed or went',
      withStore(open, async (store) => {
        const seed = drawSeed();
        console.log(JSON.stringify({ test: 'percentiles of models', seed }));
        const fixture = { store, chance: createChance(seeded(seed)), sent: new Map() as Sent };
        await Promise.all(Array.from({ length: TRACES }, (_, index) => send(fixture, index)));
        await sendLarge(fixture);
        const often = [...fixture.sent.values()].flatMap(({ spans }) => spans.filter(({ model }) => model === 'often'));
        expect(often.length).toBeGreaterThan(EXACT_VALUES_MAX);
        for (const isIndexed of [true, false, true]) {
          if (isIndexed) await keepUp(store);
          for (let question = 0; question < QUESTIONS; question += 1) await check(fixture);
          await Promise.all(Array.from({ length: 60 }, () => send(fixture, fixture.chance.below(TRACES))));
          for (let removed = 0; removed < 20; removed += 1) {
            const traceId = idOf(fixture.chance.below(TRACES));
            await store.traceChanges.removeTrace({ projectNumber: PROJECT.number, traceId, expiredBeforeMs: null });
            fixture.sent.delete(traceId);
          }
        }
      }),
    );

    it(
      'are found without the spans once these are indexed',
      withStore(open, async (store, { execute }) => {
        const spans = Array.from({ length: 30 }, (_, index) =>
          bareSpan({ model: `m${index % 2}`, finishedAtMs: RECEIVED_AT_MS + 100 * index, firstTokenAtMs: null }),
        );
        await store.traces.append(sampleAppend({ spans, requests: [] }));
        const before = await store.analytics.summarise(BY_MODEL);
        expect(before).toMatchObject({ buckets: [{ group: 'm0' }, { group: 'm1' }] });
        await keepUp(store);
        await execute('DELETE FROM spans');
        expect(await store.analytics.summarise(BY_MODEL)).toEqual(before);
      }),
    );
  });
}

const BY_MODEL: AnalyticsQuery = {
  ...{ projectNumber: PROJECT.number, expiredBeforeMs: null, fromMs: 0, toMs: Number.MAX_SAFE_INTEGER },
  ...{ conditions: ANY_TRACE, hasPercentiles: true, groupsMax: 10, bucketsMax: 10, interval: 'day', groupBy: 'model' },
};

function idOf(index: number): string {
  return index.toString(16).padStart(32, '0');
}

async function send(fixture: Fixture, index: number): Promise<void> {
  const { chance } = fixture;
  // Most of them began on the third day.
  const dayMs = index % 8 > 0 ? 2 * DAY_MS : chance.below(4) * DAY_MS;
  await append(fixture, idOf(index), {
    startedAtMs: FIRST_MS + dayMs + chance.below(DAY_MS),
    receivedAtMs: RECEIVED_AT_MS - (index % 5 === 0 ? HOUR_MS : 0),
    spans: Array.from({ length: chance.below(42) }, () => drawSpan(chance)),
  });
}

/** Many of its spans take equally long. */
async function sendLarge(fixture: Fixture): Promise<void> {
  const { chance } = fixture;
  const startedAtMs = FIRST_MS + DAY_MS + 5 * HOUR_MS;
  const spans = Array.from({ length: 2_600 }, () => ({ model: 'rare', tookMs: chance.below(400), waitedMs: null }));
  await append(fixture, 'f'.repeat(32), { startedAtMs, receivedAtMs: RECEIVED_AT_MS, spans });
}

function drawSpan(chance: Chance): SentSpan {
  return {
    model: chance.happens(0.9) ? 'often' : chance.pick(['rare', 'other "name"', null]),
    tookMs: Math.floor(20_000 * chance.next() ** 4) - 5,
    waitedMs: chance.happens(0.3) ? null : chance.below(900) - 5,
  };
}

async function append({ store, sent }: Fixture, traceId: string, trace: SentTrace): Promise<void> {
  const { startedAtMs, receivedAtMs, spans } = trace;
  const known = sent.get(traceId);
  // What is sent again replaces the spans with the same ids; the rest stays.
  const kept = known?.spans.slice(spans.length) ?? [];
  const isMoved = spans.length > 0 && kept.length === 0;
  const startMs = known === undefined || isMoved ? startedAtMs : known.startedAtMs;
  sent.set(traceId, {
    startedAtMs: startMs,
    receivedAtMs: known?.receivedAtMs ?? receivedAtMs,
    spans: [...spans, ...kept],
  });
  await store.traces.append(
    sampleAppend({
      ...{ traceId, receivedAtMs, requests: [], metadataJson: '{}' },
      spans: spans.map(({ model, tookMs, waitedMs }, index) =>
        bareSpan({
          ...{
            spanId: index.toString(16).padStart(16, '0'),
            model,
            startedAtMs: startMs,
            finishedAtMs: startMs + tookMs,
          },
          firstTokenAtMs: waitedMs === null ? null : startMs + waitedMs,
        }),
      ),
    }),
  );
}

function drawQuery(chance: Chance): AnalyticsQuery {
  const edge = () => FIRST_MS + chance.below(4 * 24) * HOUR_MS + chance.pick([0, -1, 1_234_567]);
  const [fromMs = 0, toMs = 0] = chance.happens(0.6)
    ? [edge(), edge()].sort((one, other) => one - other)
    : [0, Number.MAX_SAFE_INTEGER];
  const groupBy = chance.pick(['model', 'model', 'none'] as const);
  const model = groupBy === 'none' || chance.happens(0.2) ? chance.pick(['often', 'rare', 'nobody']) : null;
  return {
    ...{ projectNumber: PROJECT.number, fromMs, toMs, groupBy, hasPercentiles: true, bucketsMax: 1_000 },
    expiredBeforeMs: chance.happens(0.2) ? RECEIVED_AT_MS - chance.below(HOUR_MS) : null,
    interval: chance.pick(['minute', 90, 'hour', 'day', 'day', 'week', 'month', 'total', 'total']),
    conditions: { ...ANY_TRACE, model },
    groupsMax: chance.pick([1, 2, 100]),
  };
}

async function check({ store, chance, sent }: Fixture): Promise<void> {
  const query = drawQuery(chance);
  const answer = await store.analytics.summarise(query);
  // Minutes may be too many.
  if (answer.kind === 'too_many_buckets' && (query.interval === 'minute' || query.interval === 90)) return;
  if (answer.kind !== 'buckets') throw new Error(`${answer.kind} ${JSON.stringify(query)}`);
  const expected = recompute(sent, query);
  if (query.groupsMax === 100) expect(answer.buckets.length, JSON.stringify(query)).toBe(expected.size);
  for (const { startMs, group, totals } of answer.buckets) {
    const spans = expected.get(`${startMs} ${group}`) ?? [];
    expect(totals.spans).toBe(spans.length);
    expectNear(
      totals.totalTimeMs,
      spans.map(({ tookMs }) => Math.max(0, tookMs)),
    );
    expectNear(
      totals.firstTokenMs,
      spans.flatMap(({ waitedMs }) => (waitedMs === null ? [] : [Math.max(0, waitedMs)])),
    );
  }
}

/** The spans by the start of their interval and their group. */
function recompute(sent: Sent, query: AnalyticsQuery): ReadonlyMap<string, readonly SentSpan[]> {
  const parts = new Map<string, SentSpan[]>();
  for (const { startedAtMs, receivedAtMs, spans } of sent.values()) {
    const startMs = spans.length === 0 ? receivedAtMs : startedAtMs;
    if (receivedAtMs < (query.expiredBeforeMs ?? 0) || startMs < query.fromMs || startMs > query.toMs) continue;
    const hasModels = spans.some(({ model }) => model !== null);
    for (const [model, of] of Map.groupBy(spans, (span) => span.model)) {
      if (query.conditions.model !== null ? model !== query.conditions.model : hasModels && model === null) continue;
      add(model, of, startMs);
    }
    if (spans.length === 0 && query.conditions.model === null) add(null, [], startMs);
  }
  return parts;

  function add(model: string | null, spans: readonly SentSpan[], startMs: number): void {
    const key = `${intervalAt(query, startMs).startMs} ${query.groupBy === 'none' ? null : model}`;
    parts.set(key, [...(parts.get(key) ?? []), ...spans]);
  }
}
