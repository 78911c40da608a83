import { describe, expect, it } from 'vitest';
import type { Store } from '../../../src/domain/store.ts';
import { foldText } from '../../../src/domain/traces/search/fold-text.ts';
import { type Facet, VALUE_NAMES } from '../../../src/domain/traces/search/trace-filter.ts';
import { VALUE_CHARACTERS_MAX } from '../../../src/domain/traces/search/trace-search-query.ts';
import {
  EVER,
  type FoundTraces,
  type FoundValues,
  type SearchPosition,
  TOTAL_MAX,
  type ValueCount,
  type ValuesQuery,
} from '../../../src/domain/traces/search/trace-search-store.ts';
import type { TraceAppend } from '../../../src/domain/traces/trace.ts';
import { drawSeed, runsOf } from '../../support/scenario.ts';
import { linkedBy } from './linked-prompts.ts';
import { PROJECT, sampleAppend } from './samples.ts';
import { createSearchSamples } from './search-samples.ts';
import { keepUp, type OpenSubject, withStore } from './subject.ts';

/** So few are read even on a busy machine. */
const FEW = 150;
const MANY = 1_200;
const ATTEMPTS_MAX = 20;
const PREFIXES = ['', '', 'US', 'ＵＳＥＲ 1', 'thread "1', 'P', '😀', 'nothing'];
const LIMITS = [1, 3, 50];
const ALL: Omit<ValuesQuery, 'facets'> = {
  projectNumber: PROJECT.number,
  expiredBeforeMs: null,
  started: EVER,
  updated: EVER,
  filter: { conditions: [], isNegated: false, text: '' },
  sort: 'started_at',
  prefix: '',
  limit: 50,
};
const OF: Readonly<Record<string, string>> = { 'metadata.value': 'plan' };
const FACETS = VALUE_NAMES.map((name): Facet => {
  const isOfEvaluator = /^evaluations\.(passed|state|label)$/.test(name);
  return { name, of: isOfEvaluator ? 'tone' : (OF[name] ?? '') };
});
/** The store works these out of the spans, so their counts are compared with those of searches. */
const DERIVED: readonly string[] = ['traces.name', 'traces.error'];

export function traceValuesConformance(open: OpenSubject): void {
  describe('values of filters', () => {
    it(
      'MUST match as `find` does, MUST return no value without a matching trace, and none is missing in a complete answer',
      withStore(open, async (store) => {
        const { samples, appends } = await fill(store, FEW);
        for (let round = 0; round < runsOf(24); round += 1) {
          const { expiredBeforeMs, started, updated, filter } = samples.question();
          const sort = round % 2 === 0 ? 'started_at' : 'updated_at';
          const [prefix = '', limit = 1] = [PREFIXES[round % PREFIXES.length], LIMITS[round % LIMITS.length]];
          const query = {
            ...ALL,
            expiredBeforeMs,
            started,
            updated,
            filter,
            sort,
            prefix: foldText(prefix),
            limit,
          } as const;
          const found = await listAll(store, { ...query, facets: FACETS });
          const fitting = await findAll(store, query);
          const traces = appends.filter(({ traceId }) => fitting.has(traceId));
          for (const [place, facet] of FACETS.entries()) {
            if (DERIVED.includes(facet.name)) continue;
            const expected = countValues(traces, facet, prefix).slice(0, limit);
            expect(found.facets[place], JSON.stringify({ facet, ...query })).toEqual(expected);
          }
        }
        const facets = FACETS.filter(({ name }) => DERIVED.includes(name));
        for (const values of (await listAll(store, { ...ALL, facets })).facets) {
          expect(values.reduce((sum, { count }) => sum + count, 0)).toBe(FEW);
        }
      }),
    );

    it(
      'MUST call no count exact that is not, however many traces there are and whether they are indexed',
      withStore(open, async (store) => {
        const { appends } = await fill(store, MANY);
        await keepUp(store);
        // These are indexed later.
        for (const [index, append] of appends.slice(0, 40).entries()) {
          appends[index] = { ...append, metadataJson: JSON.stringify({ user_id: 'user 1', plan: 'late' }) };
          await store.traceChanges.removeTrace({ ...ALL, traceId: append.traceId });
          await store.traces.append(appends[index]);
        }
        const { facets, isComplete } = await store.search.listValues({ ...ALL, facets: FACETS });
        for (const [place, facet] of FACETS.entries()) {
          if (DERIVED.includes(facet.name)) continue;
          const truth = new Map(countValues(appends, facet, '').map(({ value, count }) => [value, count]));
          for (const { value, count, isExact } of facets[place] ?? []) {
            if (isExact) expect({ facet, value, count }).toEqual({ facet, value, count: truth.get(value) });
            else expect(count).toBeLessThanOrEqual(truth.get(value) ?? 0);
            expect(isExact || !isComplete).toBe(true);
          }
        }
      }),
    );

    it(
      'MUST see every append acknowledged before the call, and nothing of what is gone or of another project',
      withStore(open, async (store) => {
        const facets: readonly Facet[] = [{ name: 'metadata.user_id', of: '' }];
        const list = async (more: Partial<ValuesQuery> = {}) =>
          (await store.search.listValues({ ...ALL, ...more, facets })).facets[0];
        const sent: TraceAppend[] = [];
        for (let count = 1; count <= 5; count += 1) {
          const append = sampleAppend({ traceId: `t${count}`, metadataJson: '{"user_id":"u"}' });
          sent.push(append);
          await store.traces.append(append);
          expect(await list()).toEqual([{ value: 'u', count, isExact: true }]);
        }
        expect(await list({ projectNumber: PROJECT.number + 1 })).toEqual([]);
        expect(await list({ expiredBeforeMs: Number.MAX_SAFE_INTEGER })).toEqual([]);
        for (const { traceId } of sent) await store.traceChanges.removeTrace({ ...ALL, traceId });
        expect(await list()).toEqual([]);
      }),
    );

    it(
      'leaves out values that no filter takes, because they are too long',
      withStore(open, async (store) => {
        const longest = 'l'.repeat(VALUE_CHARACTERS_MAX);
        for (const value of [longest, `${longest}l`]) {
          await store.traces.append(sampleAppend({ metadataJson: JSON.stringify({ labels: [value] }) }));
        }
        const facets: readonly Facet[] = [{ name: 'metadata.labels', of: '' }];
        const found = await store.search.listValues({ ...ALL, facets });
        expect(found).toEqual({ facets: [[{ value: longest, count: 1, isExact: true }]], isComplete: true });
      }),
    );
  });
}

async function fill(store: Store, count: number) {
  const seed = drawSeed();
  console.log(JSON.stringify({ test: 'values of filters', seed }));
  const samples = createSearchSamples(seed);
  const appends = Array.from({ length: count }, (_, index) => samples.trace(index));
  await Promise.all(appends.map(store.traces.append));
  return { samples, appends };
}

/** A complete answer, for which a busy machine may need several calls. */
async function listAll({ search }: Store, query: ValuesQuery): Promise<FoundValues> {
  for (let attempt = 1; ; attempt += 1) {
    const found = await search.listValues(query);
    if (found.isComplete) return found;
    expect(attempt).toBeLessThan(ATTEMPTS_MAX);
  }
}

/** The ids of the traces that a search finds. */
async function findAll({ search }: Store, query: Omit<ValuesQuery, 'facets'>): Promise<ReadonlySet<string>> {
  const ids = new Set<string>();
  const question = { ...query, isAscending: true, traceIds: null, limit: TOTAL_MAX, countMax: null };
  for (let after: SearchPosition | null = null; ; ) {
    const { traces, next }: FoundTraces = await search.find({ ...question, after });
    for (const { traceId } of traces) ids.add(traceId);
    if (next === null) return ids;
    after = next;
  }
}

function countValues(traces: readonly TraceAppend[], facet: Facet, prefix: string): readonly ValueCount[] {
  const counts = new Map<string, number>();
  const listed = new Set(traces.flatMap((trace) => listedIn(trace, facet)));
  for (const trace of traces) {
    for (const value of new Set(valuesIn(trace, facet))) counts.set(value, (counts.get(value) ?? 0) + 1);
  }
  return [...counts]
    .filter(([value]) => listed.has(value) && foldText(value).startsWith(foldText(prefix)))
    .map(([value, count]) => ({ value, count, isExact: true }))
    .sort((one, other) => other.count - one.count || (one.value < other.value ? -1 : 1));
}

/** A prompt is listed by one of its names, and found by each. */
function listedIn(trace: TraceAppend, facet: Facet): readonly string[] {
  const linked = linkedBy(JSON.parse(trace.metadataJson ?? '{}').prompt_ids);
  if (facet.name === 'prompt.id') return linked.prompts;
  return facet.name === 'prompt.version' ? linked.versions : valuesIn(trace, facet);
}

function valuesIn({ metadataJson, spans, evaluations }: TraceAppend, { name, of }: Facet): readonly string[] {
  const metadata = new Map<string, unknown>(Object.entries(JSON.parse(metadataJson ?? '{}')));
  const text = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value));
  const member = (key: string) => (metadata.has(key) ? [text(metadata.get(key))] : []);
  const items = (key: string) => (metadata.has(key) ? [metadata.get(key)].flat().map(text) : []);
  const stored = [...new Map(evaluations.map((each) => [each.evaluationId, each])).values()];
  const own = stored.filter(({ evaluatorId }) => evaluatorId === of);
  const evaluators = (some: typeof stored) => some.map(({ evaluatorId }) => evaluatorId);
  switch (name) {
    case 'annotations.hasAnnotation':
      return ['false'];
    case 'metadata.labels':
    case 'metadata.prompt_ids':
      return items(name.slice('metadata.'.length));
    case 'prompt.id':
    case 'prompt.version':
      return items('prompt_ids');
    case 'metadata.key':
      return [...metadata.keys()];
    case 'metadata.value':
      return member(of);
    case 'traces.origin':
      return metadata.has('origin') ? member('origin') : ['application'];
    case 'spans.type':
      return spans.map(({ type }) => type);
    case 'spans.model':
      return spans.map(({ model }) => model).filter((model) => model !== null);
    case 'evaluations.evaluator_id':
      return evaluators(stored);
    case 'evaluations.evaluator_id.guardrails_only':
      return evaluators(stored.filter(({ isGuardrail }) => isGuardrail));
    case 'evaluations.evaluator_id.has_passed':
      return evaluators(stored.filter(({ passed }) => passed !== null));
    case 'evaluations.evaluator_id.has_score':
      return evaluators(stored.filter(({ score }) => score !== null));
    case 'evaluations.evaluator_id.has_label':
      return evaluators(stored.filter(({ label }) => label !== null));
    case 'evaluations.passed':
      return own.filter(({ passed }) => passed !== null).map(({ passed }) => String(passed));
    case 'evaluations.state':
      return own.map(({ status }) => status);
    case 'evaluations.label':
      return own.map(({ label }) => label).filter((label) => label !== null);
    default:
      return member(name.slice('metadata.'.length));
  }
}
