import { describe, expect, it } from 'vitest';
import { intervalAt } from '../../../src/domain/analytics/calendar.ts';
import type { AnalyticsQuery, TraceConditions } from '../../../src/domain/analytics/trace-analytics-store.ts';
import type { Store } from '../../../src/domain/store.ts';
import type { Evaluation, Span } from '../../../src/domain/traces/trace.ts';
import { type Chance, createChance } from '../../support/access-fuzzer/chance.ts';
import { drawSeed, runsOf, seeded } from '../../support/scenario.ts';
import { LINKED, linkedBy, namesOf, PROMPT_NAMES, type SentNames } from './linked-prompts.ts';
import { finish, NO_TELEMETRY_CUTS } from './retention-walk.ts';
import { bareSpan, RECEIVED_AT_MS, sampleAppend, sampleEvaluation, samplePlan } from './samples.ts';
import { keepUp, type OpenSubject, withStore } from './subject.ts';
import { compareGroupLists } from './trace-groups-model.ts';

const HOUR_MS = 3_600_000;
const PROJECT_NUMBER = 1;
const STEPS = runsOf(240);
const QUESTIONS = 25;

/** The expected content of every stored trace, by id. */
type Model = Map<string, Expected>;
type Expected = {
  readonly receivedAtMs: number;
  readonly metadata: Metadata;
  readonly spans: Map<string, Span>;
  readonly evaluations: Evaluation[];
};
type Metadata = Partial<Record<Dimension, string>> & {
  readonly labels?: readonly string[];
  readonly prompt_ids?: SentNames;
};
type Dimension = 'user_id' | 'customer_id' | 'thread_id';

const HUGE_COST = 9_007_199_254_740_991;

export function analyticsPropertyConformance(open: OpenSubject): void {
  describe('the analytics of traces', () => {
    it(
      'MUST equal a recomputation from the spans, whatever was appended, sent again and removed',
      withStore(open, async (store) => {
        const seed = drawSeed();
        const chance = createChance(seeded(seed));
        await store.installation.bootstrap(samplePlan());
        const fixture = { model: new Map(), chance, seed, hasHugeCosts: chance.happens(0.5) };
        let cutMs = 0;
        for (let step = 0; step < STEPS; step += 1) {
          cutMs = await change(store, { ...fixture, cutMs });
          if (step % Math.ceil(STEPS / 10) !== 0) continue;
          // Else some traces have changed since they were indexed.
          if (chance.happens(0.5)) await keepUp(store);
          await compareSome(store, { ...fixture, cutMs });
        }
        await compareSome(store, { ...fixture, cutMs });
      }),
    );
  });
}

type Fixture = {
  readonly model: Model;
  readonly chance: Chance;
  readonly seed: number;
  readonly cutMs: number;
  readonly hasHugeCosts: boolean;
};

/** Makes one change; returns the instant before which traces count as gone. */
async function change(store: Store, fixture: Fixture): Promise<number> {
  const { model, chance, cutMs } = fixture;
  switch (chance.weigh({ append: 30, large: 1, remove: 3, retain: 1 })) {
    case 'remove': {
      if (model.size === 0) return cutMs;
      const traceId = chance.pick([...model.keys()]);
      await store.traceChanges.removeTrace({ projectNumber: PROJECT_NUMBER, traceId, expiredBeforeMs: null });
      model.delete(traceId);
      return cutMs;
    }
    case 'retain': {
      const laterMs = cutMs === 0 ? RECEIVED_AT_MS + chance.below(HOUR_MS) : cutMs + chance.below(HOUR_MS / 2);
      // Traces can count as gone before their removal.
      if (chance.happens(0.5)) return laterMs;
      const cuts = { ...NO_TELEMETRY_CUTS, traces: [{ storedDays: null, expiredBeforeMs: laterMs }] };
      await finish(store.telemetryRetention.begin(cuts), 20);
      for (const [id, { receivedAtMs }] of model) if (receivedAtMs < laterMs) model.delete(id);
      return laterMs;
    }
    case 'large':
      await append(store, fixture, 180 + chance.below(60));
      return cutMs;
    case 'append':
      await Promise.all(Array.from({ length: 1 + chance.below(4) }, () => append(store, fixture, 3)));
      return cutMs;
  }
}

async function append(store: Store, fixture: Fixture, spansMax: number): Promise<void> {
  const { model, chance, cutMs } = fixture;
  const traceId = chance.happens(0.5) && model.size > 0 ? chance.pick([...model.keys()]) : chance.digits(32);
  const receivedAtMs = Math.max(cutMs, RECEIVED_AT_MS) + chance.below(3 * HOUR_MS);
  const known = model.get(traceId);
  const isLiving = known !== undefined && known.receivedAtMs >= cutMs;
  const living: Expected = isLiving
    ? known
    : { receivedAtMs, metadata: drawMetadata(chance), spans: new Map(), evaluations: [] };
  const knownIds = [...living.spans.keys()];
  const spans = Array.from({ length: chance.below(spansMax + 1) }, () => {
    const isSentAgain = knownIds.length > 0 && chance.happens(0.4);
    return drawSpan(fixture, isSentAgain ? chance.pick(knownIds) : chance.digits(16));
  });
  for (const span of spans) living.spans.set(span.spanId, span);
  const evaluations = Array.from({ length: chance.below(3) }, () => drawEvaluation(chance));
  living.evaluations.push(...evaluations);
  model.set(traceId, living);
  const expiredBeforeMs = cutMs === 0 ? null : cutMs;
  const metadataJson = JSON.stringify(living.metadata);
  await store.traces.append(
    sampleAppend({ traceId, receivedAtMs, expiredBeforeMs, metadataJson, spans, evaluations, requests: [] }),
  );
}

function drawMetadata(chance: Chance): Metadata {
  const values = ['u1', 'U1', '😀 "quoted"', '__proto__'];
  const drawn: [Dimension, string][] = DIMENSIONS.map((dimension) => [dimension, chance.pick(values)]);
  return {
    ...Object.fromEntries(drawn.filter(() => chance.happens(0.7))),
    ...(chance.happens(0.4) ? { prompt_ids: chance.pick(LINKED).sent } : {}),
    ...(chance.happens(0.7) ? { labels: [...new Set(chance.pickSome(values, 3))] } : {}),
  };
}

function drawEvaluation(chance: Chance): Evaluation {
  return sampleEvaluation({
    status: chance.pick(['processed', 'processed', 'skipped']),
    passed: chance.pick([true, false, null]),
    score: chance.pick([0, 0.5, -3, null]),
  });
}

function drawSpan({ chance, hasHugeCosts }: Fixture, spanId: string): Span {
  const startedAtMs = RECEIVED_AT_MS + chance.below(5 * HOUR_MS);
  const orNull = (value: number) => (chance.happens(0.3) ? null : value);
  return bareSpan({
    spanId,
    startedAtMs,
    finishedAtMs: startedAtMs + chance.below(5_000) - 100,
    firstTokenAtMs: orNull(startedAtMs + chance.below(900)),
    model: chance.pick([null, 'm1', 'm2', 'M"3']),
    promptTokens: orNull(chance.below(1_000)),
    completionTokens: orNull(chance.below(1_000)),
    costNanoUsd: orNull(chance.pick([0, 1, 999_999_999, 1_500_000_000, hasHugeCosts ? HUGE_COST : 2])),
    errorJson: chance.happens(0.2) ? '{"has_error":true,"message":"failed","stacktrace":[]}' : null,
  });
}

async function compareSome(store: Store, fixture: Fixture): Promise<void> {
  for (let count = 0; count < QUESTIONS; count += 1) {
    const query = drawQuery(fixture);
    const answer = await store.analytics.summarise(query);
    if (answer.kind !== 'buckets') throw new Error(answer.kind);
    const buckets = answer.buckets.map(({ startMs, group, totals }) => {
      const { traces, spans, errors, promptTokens, completionTokens, totalCostUsd, totalTimeMs } = totals;
      const sums = { promptTokens, completionTokens, totalCostUsd };
      return { startMs, group, traces, spans, errors, ...sums, p50: totalTimeMs?.p50 ?? null };
    });
    const { isTruncated } = answer;
    const expected = recompute(fixture.model, query);
    expect({ buckets, isTruncated }, `seed ${fixture.seed}, ${JSON.stringify(query)}`).toEqual(expected);
    await compareGroupLists(store, query, fixture);
  }
}

const PROMPTS = ['prompt_id', 'prompt_version'] as const;
const DIMENSIONS = ['user_id', 'customer_id', 'thread_id'] as const;

function drawQuery({ chance, cutMs, hasHugeCosts }: Fixture): AnalyticsQuery {
  const edge = () =>
    RECEIVED_AT_MS + chance.below(6) * HOUR_MS - (RECEIVED_AT_MS % HOUR_MS) + chance.pick([0, 0, -1, 1_234_567]);
  const [fromMs = 0, toMs = 0] = [edge(), edge()].sort((one, other) => one - other);
  const drawValue = () => (chance.happens(0.2) ? chance.pick(['u1', 'U1', '😀 "quoted"', 'nobody']) : null);
  return {
    projectNumber: PROJECT_NUMBER,
    expiredBeforeMs: cutMs === 0 ? null : cutMs,
    ...(chance.happens(0.3) ? { fromMs: 0, toMs: Number.MAX_SAFE_INTEGER } : { fromMs, toMs }),
    interval: chance.pick(['minute', 45, 'hour', 180, 'day', 2_880, 'week', 'month', 'total']),
    groupBy: chance.pick(['none', 'model', 'label', ...PROMPTS, ...DIMENSIONS]),
    conditions: {
      ...{ userId: drawValue(), customerId: drawValue(), threadId: drawValue(), label: drawValue() },
      model: chance.happens(0.2) ? 'm1' : null,
      promptId: chance.happens(0.1) ? chance.pick(PROMPT_NAMES) : null,
      promptVersion: chance.happens(0.1) ? chance.pick(PROMPT_NAMES) : null,
    },
    hasPercentiles: chance.happens(0.3),
    // Sums of huge costs are too near to each other to be ranked.
    groupsMax: hasHugeCosts ? 100 : chance.pick([1, 2, 100]),
    bucketsMax: 1_000,
  };
}

/** Recomputes it plainly. */
function recompute(model: Model, query: AnalyticsQuery) {
  const parts = new Map<string, { startMs: number; group: string | null; spans: Span[][] }>();
  for (const { receivedAtMs, metadata, spans: byId } of model.values()) {
    if (!fits(metadata, query.conditions)) continue;
    const spans = [...byId.values()];
    const startedAtMs = spans.length === 0 ? receivedAtMs : Math.min(...spans.map((span) => span.startedAtMs));
    if (receivedAtMs < (query.expiredBeforeMs ?? 0)) continue;
    if (startedAtMs < query.fromMs || startedAtMs > query.toMs) continue;
    const { startMs } = intervalAt(query, startedAtMs);
    for (const [group, own] of groupsOf(spans, metadata, query)) {
      const key = JSON.stringify([startMs, group]);
      const part = parts.get(key) ?? { startMs, group, spans: [] };
      part.spans.push(own);
      parts.set(key, part);
    }
  }
  const isByModel = query.groupBy === 'model' || query.conditions.model !== null;
  const groups = rank([...parts.values()]);
  const kept = new Set(groups.slice(0, query.groupsMax));
  const buckets = [...parts.values()]
    .filter(({ group }) => kept.has(group))
    .sort((one, other) => one.startMs - other.startMs || (nameOf(one.group) < nameOf(other.group) ? -1 : 1))
    .map(({ startMs, group, spans }) => ({
      startMs,
      group,
      traces: spans.length,
      spans: spans.flat().length,
      errors: (isByModel ? spans.flat().map((span) => [span]) : spans).filter((own) =>
        own.some((span) => span.errorJson),
      ).length,
      promptTokens: sum(spans.flat().map((span) => span.promptTokens)),
      completionTokens: sum(spans.flat().map((span) => span.completionTokens)),
      totalCostUsd: usd(spans.flat().map((span) => span.costNanoUsd)),
      p50: query.hasPercentiles ? median(isByModel ? spans.flat().map((span) => [span]) : spans) : null,
    }));
  return { buckets, isTruncated: groups.length > query.groupsMax };
}

/** The groups: by traces, then cost, then name. */
function rank(parts: readonly { readonly group: string | null; readonly spans: Span[][] }[]): (string | null)[] {
  return [...Map.groupBy(parts, ({ group }) => group)]
    .map(([group, of]) => {
      const traces = of.flatMap(({ spans }) => spans);
      return { group, traces: traces.length, cost: sum(traces.flat().map((span) => span.costNanoUsd)) ?? 0 };
    })
    .sort(
      (one, other) =>
        other.traces - one.traces || other.cost - one.cost || (nameOf(one.group) < nameOf(other.group) ? -1 : 1),
    )
    .map(({ group }) => group);
}

function fits({ labels = [], prompt_ids: linked = [], ...metadata }: Metadata, conditions: TraceConditions) {
  const { userId, customerId, threadId, label, promptId, promptVersion } = conditions;
  return (
    [promptId, promptVersion].every((name) => name === null || namesOf({ sent: linked }).includes(name)) &&
    (label === null || labels.includes(label)) &&
    Object.entries({ user_id: userId, customer_id: customerId, thread_id: threadId }).every(
      ([dimension, value]) => value === null || metadata[dimension as Dimension] === value,
    )
  );
}

type Group = readonly [string | null, Span[]];

function groupsOf(
  spans: readonly Span[],
  { labels = [], prompt_ids: linked, ...metadata }: Metadata,
  { groupBy, conditions }: AnalyticsQuery,
): readonly Group[] {
  const { model } = conditions;
  const ofModel = (name: string | null) => spans.filter((span) => span.model === name);
  if (model !== null && ofModel(model).length === 0) return [];
  const own = model === null ? [...spans] : ofModel(model);
  if (groupBy === 'none') return [[null, own]];
  const inEach = (names: readonly string[]): readonly Group[] =>
    names.length === 0 ? [[null, own]] : names.map((name) => [name, own]);
  if (groupBy === 'label') return inEach(labels);
  if (groupBy === 'prompt_id') return inEach(linkedBy(linked).prompts);
  if (groupBy === 'prompt_version') return inEach(linkedBy(linked).versions);
  if (groupBy !== 'model') return [[metadata[groupBy] ?? null, own]];
  if (model !== null) return [[model, own]];
  const names = [...new Set(spans.map((span) => span.model))].filter((name) => name !== null);
  return (names.length === 0 ? [null] : names).map((name) => [name, ofModel(name)]);
}

/** Sorts the group without a name last, and the others by their bytes. */
function nameOf(group: string | null): string {
  return group === null ? '~' : Buffer.from(group).toString('hex');
}

function sum(values: readonly (number | null)[]): number | null {
  const known = values.filter((value) => value !== null);
  return known.length === 0 ? null : known.reduce((total, value) => total + value, 0);
}

function usd(values: readonly (number | null)[]): number | null {
  const known = values.filter((value) => value !== null);
  if (known.length === 0) return null;
  const nano = known.reduce((total, value) => total + BigInt(value), 0n);
  const isExact = nano <= BigInt(Number.MAX_SAFE_INTEGER);
  return isExact ? Number(nano) / 1e9 : expect.closeTo(Number(nano) / 1e9, 4);
}

function median(groups: readonly (readonly Span[])[]): number | null {
  const times = groups.flatMap((spans) => {
    if (spans.length === 0) return [];
    const first = Math.min(...spans.map((span) => span.startedAtMs));
    return [Math.max(0, Math.max(...spans.map((span) => span.finishedAtMs)) - first)];
  });
  return times.sort((one, other) => one - other)[Math.ceil(times.length / 2) - 1] ?? null;
}
