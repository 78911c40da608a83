/** What each filter of traces means: a few traces, and which of them it finds, in every way in which stores match filters. */

import { describe, expect, it } from 'vitest';
import type { Scores } from '../../../src/domain/annotations/score.ts';
import type { Store } from '../../../src/domain/store.ts';
import { FILTER_NAMES, type FilterName, type SearchFilter } from '../../../src/domain/traces/search/trace-filter.ts';
import { filterOf } from '../../../src/domain/traces/search/trace-search.ts';
import { KEYED, readFilters, type SentFilter } from '../../../src/domain/traces/search/trace-search-query.ts';
import { ALL_TRACES } from '../../../src/domain/traces/search/trace-search-store.ts';
import type { Evaluation, Span } from '../../../src/domain/traces/trace.ts';
import { annotationOf, live, scoreOf, withOrganization, writeOf } from './annotations.ts';
import { recordingOf } from './feedback.ts';
import { bareSpan, PROJECT, RECEIVED_AT_MS, sampleAppend, sampleEvaluation } from './samples.ts';
import { keepUp, type OpenSubject } from './subject.ts';

const projectNumber = PROJECT.number;
const STARTED_AT_MS = RECEIVED_AT_MS - 10_000;
const DAY_MS = 86_400_000;

type Sample = {
  readonly metadataJson?: string;
  readonly spans?: readonly Span[];
  readonly evaluations?: readonly Evaluation[];
  /** Type and metrics of each event. */
  readonly feedback?: readonly (readonly [type: string, metricsJson: string])[];
  /** The scores of each annotation. */
  readonly annotations?: readonly Scores[];
};

/** A span of so many milliseconds. */
function span(durationMs: number, changes: Partial<Span> = {}): Span {
  const finishedAtMs = STARTED_AT_MS + durationMs;
  return bareSpan({ startedAtMs: STARTED_AT_MS, finishedAtMs, ...changes });
}

const EMPTY = { isGuardrail: false, passed: null, score: null, label: null };

function evaluation(evaluatorId: string, changes: Partial<Evaluation> = {}): Evaluation {
  return sampleEvaluation({ evaluatorId, ...EMPTY, ...changes });
}

const TRACES: Readonly<Record<string, Sample>> = {
  // Without a span.
  a: { metadataJson: '{}', spans: [] },
  b: {
    metadataJson: '{"user_id":"ann","thread_id":"t-1","customer_id":"acme","labels":["red","blue"]}',
    spans: [
      span(100, {
        ...{ type: 'llm', name: 'chat', model: 'gpt-5', promptTokens: 10, completionTokens: 5 },
        ...{ costNanoUsd: 100_000_000, firstTokenAtMs: STARTED_AT_MS + 20 },
      }),
    ],
  },
  c: {
    metadataJson: '{"user_id":"Ann","thread_id":"a \\"quote\\\\","labels":["red"],"origin":"evaluation"}',
    spans: [
      span(100, { spanId: 'root', type: 'agent', name: 'plan' }),
      span(50, {
        ...{ spanId: 'call', parentId: 'root', type: 'llm', name: 'chat', model: 'claude' },
        errorJson: '{"has_error":true,"message":"failed","stacktrace":[]}',
      }),
    ],
  },
  d: {
    metadataJson: '{"user_id":"ann","labels":[],"origin":"application","plan":1}',
    spans: [span(0, { type: 'tool', promptTokens: 0, costNanoUsd: 0, firstTokenAtMs: STARTED_AT_MS })],
  },
  e: {
    metadataJson:
      '{"user_id":7,"plan":"1","nested":{"deep":[1]},"prompt_ids":["prompt_1","version_3","greeting","greeting:3"]}',
    spans: [
      span(250, { spanId: 'root', name: 'chat 2', costNanoUsd: 100_000_000 }),
      span(200, {
        ...{ spanId: 'inner', parentId: 'root', completionTokens: 7, costNanoUsd: 200_000_000 },
        firstTokenAtMs: STARTED_AT_MS + 20,
      }),
    ],
  },
  f: {
    metadataJson:
      '{"user_id":"","plan":true,"price":1.5,"number":12345678901234567890,"prompt_ids":["greeting","greeting:2"]}',
    spans: [span(1_000, { promptTokens: 1_000_000, costNanoUsd: 1, firstTokenAtMs: STARTED_AT_MS + 1_000 })],
  },
  g: {
    metadataJson: '{"__proto__":"x"}',
    evaluations: [evaluation('tone', { isGuardrail: true, passed: true, score: 0.25, label: 'good' })],
  },
  h: {
    evaluations: [
      evaluation('tone', { passed: false, score: 1 }),
      evaluation('facts', { status: 'skipped', isGuardrail: true }),
    ],
  },
  i: {
    evaluations: [
      evaluation('tone', { status: 'error' }),
      evaluation('facts', { passed: true, score: 0.25, label: 'bad' }),
    ],
  },
  j: {
    feedback: [
      ['thumbs_up_down', '{"vote":1}'],
      ['opened', '{"seconds":2.5}'],
    ],
    annotations: [{}],
  },
  k: {
    feedback: [['thumbs_up_down', '{"vote":-1}']],
    annotations: [{ helpful: { value: 4 }, verdict: { value: 'good' } }],
  },
  l: { annotations: [{}, { helpful: { value: 2 }, correct: { value: true } }] },
};

const IDS = Object.keys(TRACES);
const ALL = IDS.join(' ');
const NONE = '';

/** `found`: ids of traces. */
type Case = { readonly of?: string; readonly values: readonly string[]; readonly found: string };

function plain(...cases: readonly (readonly [values: readonly string[], found: string])[]): readonly Case[] {
  return cases.map(([values, found]) => ({ values, found }));
}

function keyed(
  ...cases: readonly (readonly [of: string, values: readonly string[], found: string])[]
): readonly Case[] {
  return cases.map(([of, values, found]) => ({ of, values, found }));
}

/** Beside these, each filter without values finds all, and each negated one finds the others. */
const MEANINGS: Readonly<Record<FilterName, readonly Case[]>> = {
  'metadata.user_id': plain(
    [['ann'], 'b d'],
    [['Ann'], 'c'],
    [['ann', 'Ann', 'nobody'], 'b c d'],
    [['7'], 'e'],
    [[''], 'f'],
    [['an'], NONE],
    [[' ann'], NONE],
  ),
  'metadata.thread_id': plain([['t-1'], 'b'], [['a "quote\\'], 'c'], [['t-1', 'a "quote\\'], 'b c'], [['t'], NONE]),
  'metadata.customer_id': plain([['acme'], 'b'], [['ann'], NONE], [[''], NONE]),
  'metadata.labels': plain(
    [['red'], 'b c'],
    [['blue'], 'b'],
    [['blue', 'green'], 'b'],
    [['Red'], NONE],
    [['["red"]'], NONE],
    [[''], NONE],
  ),
  'metadata.key': plain(
    [['plan'], 'd e f'],
    [['price', 'thread_id'], 'b c f'],
    [['labels'], 'b c d'],
    [['__proto__'], 'g'],
    [['deep'], NONE],
    [['constructor'], NONE],
  ),
  'metadata.value': keyed(
    ['plan', ['1'], 'd e'],
    ['plan', ['true'], 'f'],
    ['plan', ['1', 'true', 'x'], 'd e f'],
    ['price', ['1.5'], 'f'],
    ['price', ['1.50'], NONE],
    ['number', ['12345678901234567890'], 'f'],
    ['number', ['12345678901234567000'], NONE],
    ['nested', ['{"deep":[1]}'], 'e'],
    ['nested', ['{"deep": [1]}'], NONE],
    ['labels', ['["red","blue"]'], 'b'],
    ['labels', ['red'], NONE],
    ['user_id', [''], 'f'],
    ['__proto__', ['x'], 'g'],
    ['constructor', ['x'], NONE],
    ['', [''], NONE],
  ),
  'metadata.prompt_ids': plain(
    [['greeting'], 'e f'],
    [['prompt_1'], 'e'],
    [['version_3', 'greeting:2'], 'e f'],
    [['greet'], NONE],
  ),
  'prompt.id': plain([['greeting'], 'e f'], [['prompt_1'], 'e'], [['prompt_1', 'other'], 'e'], [['prompt'], NONE]),
  'prompt.version': plain(
    [['greeting:2'], 'f'],
    [['version_3'], 'e'],
    [['greeting:2', 'greeting:3'], 'e f'],
    [['greeting:1'], NONE],
    [['3'], NONE],
  ),
  'traces.origin': plain(
    [['application'], 'a b d e f g h i j k l'],
    [['evaluation'], 'c'],
    [['evaluation', 'application'], ALL],
    [[''], NONE],
  ),
  'traces.error': plain([['true'], 'c'], [['false'], 'a b d e f g h i j k l'], [['false', 'true'], ALL]),
  // That of the root span, or its type.
  'traces.name': plain(
    [['chat'], 'b'],
    [['plan'], 'c'],
    [['tool'], 'd'],
    [['span', 'chat 2'], 'e f g h i j k l'],
    [[''], 'a'],
    [['Chat'], NONE],
  ),
  'traces.duration_ms': plain(
    [['100', '250'], 'b c e'],
    [['', '100'], 'b c d'],
    [['500', ''], 'f g h i j k l'],
    [['', ''], 'b c d e f g h i j k l'],
    [['100', '100'], 'b c'],
    [['99.5', '100.5'], 'b c'],
    [['100.5', '249.5'], NONE],
    [[' 1e2', '100.0 '], 'b c'],
    [['-1', '0'], 'd'],
    [['0', '-0'], 'd'],
    [['250', '100'], NONE],
    [['9007199254740993', ''], NONE],
  ),
  'traces.total_cost': plain(
    [['0.1', '0.3'], 'b e'],
    [['0.3', '0.3'], 'e'],
    [['', '0'], 'd'],
    [['0.000000001', '1e-9'], 'f'],
    [['0.0000000011', ''], 'b e'],
    [['0.30000000000000004', ''], NONE],
    [['', ''], 'b d e f'],
    [['-1e300', '1e300'], 'b d e f'],
  ),
  'traces.total_tokens': plain(
    [['7', '15'], 'b e'],
    [['0', '0'], 'd'],
    [['14.9', '15'], 'b'],
    [['15.1', ''], 'f'],
    [['', ''], 'b d e f'],
  ),
  'traces.first_token_ms': plain(
    [['20', '20'], 'b e'],
    [['', '0'], 'd'],
    [['21', ''], 'f'],
    [['', ''], 'b d e f'],
    [['21', '20'], NONE],
  ),
  'spans.type': plain(
    [['llm'], 'b c'],
    [['agent'], 'c'],
    [['tool', 'agent'], 'c d'],
    [['span'], 'e f g h i j k l'],
    [['LLM'], NONE],
  ),
  'spans.model': plain(
    [['gpt-5'], 'b'],
    [['claude'], 'c'],
    [['gpt-5', 'claude'], 'b c'],
    [['gpt'], NONE],
    [[''], NONE],
  ),
  'evaluations.evaluator_id': plain(
    [['tone'], 'g h i'],
    [['facts'], 'h i'],
    [['facts', 'tone'], 'g h i'],
    [[''], NONE],
  ),
  'evaluations.evaluator_id.guardrails_only': plain([['tone'], 'g'], [['facts'], 'h'], [['tone', 'facts'], 'g h']),
  'evaluations.evaluator_id.has_passed': plain([['tone'], 'g h'], [['facts'], 'i'], [['tone', 'facts'], 'g h i']),
  'evaluations.evaluator_id.has_score': plain([['tone'], 'g h'], [['facts'], 'i'], [['none'], NONE]),
  'evaluations.evaluator_id.has_label': plain([['tone'], 'g'], [['facts'], 'i'], [['tone', 'facts'], 'g i']),
  'evaluations.passed': keyed(
    ['tone', ['true'], 'g'],
    ['tone', ['false'], 'h'],
    ['tone', ['true', 'false'], 'g h'],
    ['facts', ['true'], 'i'],
    ['facts', ['false'], NONE],
  ),
  'evaluations.state': keyed(
    ['tone', ['processed'], 'g h'],
    ['tone', ['error'], 'i'],
    ['facts', ['skipped'], 'h'],
    ['facts', ['skipped', 'processed'], 'h i'],
    ['none', ['processed'], NONE],
  ),
  'evaluations.label': keyed(
    ['tone', ['good'], 'g'],
    ['facts', ['good', 'bad'], 'i'],
    ['tone', ['bad'], NONE],
    ['tone', ['Good'], NONE],
  ),
  'evaluations.score': keyed(
    ['tone', ['0.25', '1'], 'g h'],
    ['tone', ['0.25', '0.25'], 'g'],
    ['facts', ['0', '1'], 'i'],
    ['tone', ['0.26', '0.99'], NONE],
    ['tone', ['1', '0.25'], NONE],
    ['none', ['0', '1'], NONE],
  ),
  'events.event_type': plain([['thumbs_up_down'], 'j k'], [['opened'], 'j'], [['opened', 'x'], 'j'], [['vote'], NONE]),
  'events.metrics': keyed(
    ['vote', ['1', '1'], 'j'],
    ['vote', ['', '0'], 'k'],
    ['vote', ['', ''], 'j k'],
    ['seconds', ['2.5', ''], 'j'],
    ['vote', ['2', ''], NONE],
    ['none', ['', ''], NONE],
    ['constructor', ['', ''], NONE],
  ),
  'annotations.hasAnnotation': plain([['true'], 'j k l'], [['false'], 'a b c d e f g h i'], [['true', 'false'], ALL]),
  // By the name of the score, or its id.
  'annotations.score': keyed(
    ['helpful', ['4'], 'k'],
    ['helpful', ['3', '5'], 'k'],
    ['helpful', ['', '2'], 'l'],
    ['helpful', ['', ''], 'k l'],
    ['helpful', ['2', '4'], 'k l'],
    // Bounds are two numbers; other values are compared.
    ['helpful', ['2', 'x'], 'l'],
    ['helpful', ['1', '2', '5'], 'l'],
    ['helpful', ['3', '3.5'], NONE],
    ['id of helpful', ['3', ''], 'k'],
    ['verdict', ['good', 'bad'], 'k'],
    ['verdict', ['bad'], NONE],
    ['verdict', ['', ''], NONE],
    ['correct', ['true'], 'l'],
    ['correct', ['false'], NONE],
    ['correct', ['0', '1'], NONE],
    ['none', ['', ''], NONE],
  ),
};

type Question = {
  readonly filters: readonly SentFilter[];
  readonly negateFilters: boolean;
  readonly query: string;
  readonly found: string;
};

function sent(name: FilterName, values: readonly string[], key: string | null = null): SentFilter {
  return { name, key, values };
}

/** All filters have to match; of several of one name each has to. */
const SEVERAL: readonly Omit<Question, 'negateFilters'>[] = [
  { filters: [sent('metadata.user_id', ['ann']), sent('traces.error', ['false'])], query: '', found: 'b d' },
  { filters: [sent('traces.error', ['true']), sent('metadata.labels', ['red'])], query: '', found: 'c' },
  { filters: [sent('metadata.labels', ['red']), sent('metadata.labels', ['blue'])], query: '', found: 'b' },
  { filters: [sent('metadata.user_id', ['ann']), sent('spans.type', [])], query: '', found: 'b d' },
  {
    filters: [sent('traces.duration_ms', ['100', '']), sent('traces.total_cost', ['', '0.1'])],
    query: '',
    found: 'b f',
  },
  { filters: [sent('traces.duration_ms', ['', '100']), sent('metadata.user_id', ['ann'])], query: '', found: 'b d' },
  { filters: [sent('spans.type', ['llm']), sent('spans.model', ['gpt-5', 'other'])], query: '', found: 'b' },
  {
    // Each may be met by another evaluation.
    filters: [sent('evaluations.state', ['error'], 'tone'), sent('evaluations.score', ['0', '1'], 'facts')],
    ...{ query: '', found: 'i' },
  },
  {
    filters: [sent('annotations.hasAnnotation', ['true']), sent('events.event_type', ['opened'])],
    query: '',
    found: 'j',
  },
  {
    filters: [sent('annotations.hasAnnotation', ['false']), sent('metadata.key', ['plan'])],
    query: '',
    found: 'd e f',
  },
];

/** A text is searched for beside the filters, and is not negated with them. */
const WITH_TEXT: readonly Question[] = [
  { filters: [], negateFilters: false, query: 'CHAT', found: 'b c e' },
  { filters: [], negateFilters: true, query: 'chat', found: 'b c e' },
  { filters: [sent('metadata.labels', ['red'])], negateFilters: false, query: 'chat', found: 'b c' },
  { filters: [sent('metadata.labels', ['red'])], negateFilters: true, query: 'chat', found: 'e' },
  { filters: [sent('traces.error', ['true'])], negateFilters: false, query: 'failed', found: 'c' },
  { filters: [sent('traces.duration_ms', ['200', ''])], negateFilters: true, query: 'chat', found: 'b c' },
];

function questions(): readonly Question[] {
  const alone = FILTER_NAMES.flatMap((name) => {
    const without: Case = { values: [], found: ALL };
    return [...(MEANINGS[name] ?? []), without].map(({ of, values, found }) => {
      const key = of ?? (KEYED.has(name) ? 'tone' : null);
      return { filters: [{ name, key, values }], query: '', found };
    });
  });
  const negated = [...alone, ...SEVERAL].flatMap((each) => [
    { ...each, negateFilters: false },
    { ...each, negateFilters: true, found: areEmpty(each.filters) ? ALL : othersThan(each.found) },
  ]);
  return [...negated, ...WITH_TEXT];
}

function areEmpty(filters: readonly SentFilter[]): boolean {
  return filters.every(({ values }) => values.length === 0);
}

function othersThan(found: string): string {
  return IDS.filter((id) => !found.split(' ').includes(id)).join(' ');
}

/** Ids of the traces that each filter finds, in alphabetical order. */
type Answer = (store: Store, filters: readonly SearchFilter[]) => Promise<readonly string[]>;

function finding(traceIds: readonly string[] | null): Answer {
  return async ({ search }, filters) => {
    const found: string[] = [];
    for (const filter of filters) {
      const { traces, total } = await search.find({
        ...{ ...ALL_TRACES, projectNumber, filter, traceIds, sort: 'started_at', isAscending: true },
        ...{ limit: IDS.length, countMax: IDS.length },
      });
      if (filter.text === '') expect(total, JSON.stringify(filter)).toEqual({ count: traces.length, isExact: true });
      found.push(inOrder(traces.map(({ traceId }) => traceId)));
    }
    return found;
  };
}

async function matching({ search }: Store, filters: readonly SearchFilter[]): Promise<readonly string[]> {
  const found = filters.map((): string[] => []);
  for (let left: readonly string[] = IDS; left.length > 0; ) {
    const matched = await search.match({ projectNumber, expiredBeforeMs: null, traceIds: left, filters });
    for (const { traceId, fits } of matched.traces) for (const index of fits) found[index]?.push(traceId);
    left = matched.left;
  }
  return found.map(inOrder);
}

async function matchingOneByOne(store: Store, filters: readonly SearchFilter[]): Promise<readonly string[]> {
  const found: string[] = [];
  for (const filter of filters) found.push(...(await matching(store, [filter])));
  return found;
}

function inOrder(ids: readonly string[]): string {
  return ids.toSorted().join(' ');
}

/** Whether the traces are in the index before they are searched for. */
const WAYS: Readonly<Record<string, { readonly isIndexed: boolean; readonly answer: Answer }>> = {
  'by the index': { isIndexed: true, answer: finding(null) },
  'among traces that are not indexed yet': { isIndexed: false, answer: finding(null) },
  'among named traces': { isIndexed: true, answer: finding(IDS) },
  'when traces are matched with many filters at once': { isIndexed: false, answer: matching },
  'when traces are matched with one filter': { isIndexed: true, answer: matchingOneByOne },
};

export function filterMeaningConformance(open: OpenSubject): void {
  describe('the filters of traces', () => {
    it('have a meaning here, each of them', () => {
      expect(Object.keys(MEANINGS).sort()).toEqual(FILTER_NAMES.toSorted());
      for (const [name, cases] of Object.entries(MEANINGS)) expect(cases.length, name).toBeGreaterThan(2);
    });

    it.each(Object.entries(WAYS))('mean the same %s', (_, { isIndexed, answer }) =>
      withOrganization(open, async (store) => {
        // With the trace of another project the index is made, so that what comes later is what it lacks.
        await store.traces.append(sampleAppend({ projectId: 'project_2', projectNumber: projectNumber + 1 }));
        await keepUp(store);
        await fill(store);
        if (isIndexed) await keepUp(store);
        expect(await store.search.countUnindexed()).toBe(isIndexed ? 0 : IDS.length);
        const asked = questions();
        const found = await answer(store, asked.map(readQuestion));
        const shown = (foundOf: (question: Question, index: number) => string | undefined) =>
          asked.map((each, index) => `${showQuestion(each)}: ${foundOf(each, index)}`);
        expect(shown((_question, index) => found[index])).toEqual(shown((question) => question.found));
      })(),
    );
  });
}

function readQuestion({ filters, negateFilters, query }: Question): SearchFilter {
  expect(readFilters(filters).reasons).toEqual([]);
  return filterOf({ filters, negateFilters, query, traceIds: [] }).filter;
}

function showQuestion({ filters, negateFilters, query }: Question): string {
  const shown = filters.map(({ name, key, values }) => `${name} ${key ?? ''} ${JSON.stringify(values)}`);
  return `${negateFilters ? 'not ' : ''}(${shown.join(' and ')}) ${JSON.stringify(query)}`;
}

async function fill(store: Store): Promise<void> {
  for (const [name, dataType] of [
    ['helpful', 'NUMERIC'],
    ['verdict', 'TEXT'],
    ['correct', 'BOOLEAN'],
  ] as const) {
    await store.annotationScores.insert(projectNumber, scoreOf({ id: `id of ${name}`, name, dataType }), live());
  }
  for (const [traceId, { metadataJson = null, spans = [span(500)], ...rest }] of Object.entries(TRACES)) {
    // What users say may arrive before the trace.
    for (const [index, [type, metricsJson]] of (rest.feedback ?? []).entries()) {
      const occurredAtMs = RECEIVED_AT_MS - DAY_MS + index;
      await store.feedback.record(recordingOf({ traceId, type, metricsJson, occurredAtMs }));
    }
    const { evaluations = [] } = rest;
    await store.traces.append(sampleAppend({ traceId, metadataJson, spans, evaluations, requests: [] }));
    for (const given of rest.annotations ?? []) {
      const scores = Object.fromEntries(Object.entries(given).map(([name, score]) => [`id of ${name}`, score]));
      const written = writeOf(annotationOf({ traceId, scores }));
      expect(await store.annotations.insert({ ...written, annotationsMax: 10 })).toBe('stored');
    }
  }
}
