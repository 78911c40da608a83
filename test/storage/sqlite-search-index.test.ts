import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { TraceSort } from '../../src/domain/traces/search/trace-search-query.ts';
import {
  ALL_TRACES,
  EVER,
  type SearchPosition,
  type SearchQuery,
} from '../../src/domain/traces/search/trace-search-store.ts';
import type { Database } from '../../src/storage/engine/sqlite/connection.ts';
import { openSearchFile } from '../../src/storage/engine/sqlite/search-file.ts';
import { createSearchIndex } from '../../src/storage/engine/sqlite/search-index.ts';
import { collectText } from '../../src/storage/engine/sqlite/search-texts.ts';
import { prepareSearchWriter } from '../../src/storage/engine/sqlite/search-writer.ts';
import type { IndexPlan, RangedNumber } from '../../src/storage/search/index-plan.ts';
import { comparePositions, isBehind, lastKey } from '../../src/storage/search/named-traces.ts';
import type { IndexedTrace, Selected } from '../../src/storage/search/trace-index.ts';
import { drawSeed, isFullTier, runsOf, seeded } from '../support/scenario.ts';

type Trace = IndexedTrace<string> & { readonly words: string };
type Question = { readonly query: SearchQuery; readonly plan: IndexPlan; readonly leftOut: readonly number[] };

// Beyond the number of candidates that are read at once.
const TRACES = isFullTier ? 60_000 : 20_000;
const HOUR_MS = 3_600_000;
const PROJECTS = 3;
const NO_PLAN: IndexPlan = { conditions: [], isNegated: false, ranges: [], text: '', isExact: true };
const QUERY: SearchQuery = { ...ALL_TRACES, projectNumber: 1, sort: 'started_at', isAscending: false, limit: 100 };
const SORTS: readonly TraceSort[] = ['started_at', 'updated_at', 'total_cost', 'total_time_ms', 'first_token_ms'];
const NUMBERS: readonly RangedNumber[] = ['totalTimeMs', 'totalCostNanoUsd', 'totalTokens', 'firstTokenMs'];
const WORDS = ['tariff', 'invoice', 'übergröße', '東京都庁', 'a "quoted" one', '😀😀 done', 'nul\0byte'];

function openIndex() {
  const file = openSearchFile(':memory:');
  const writer = prepareSearchWriter(file);
  const steps = { searchedFile: async (): Promise<Database> => file, noteFailure: () => false };
  return {
    file,
    index: createSearchIndex(steps),
    write(body: (writer: ReturnType<typeof prepareSearchWriter>) => void) {
      file.transaction(() => {
        body(writer);
        writer.end(true);
      })();
    },
  };
}

/** Random traces of some projects, mostly in the order of their starts. */
function makeTraces(random: () => number) {
  const below = (count: number) => Math.floor(random() * count);
  const orNull = (value: number, share = 0.2) => (random() < share ? null : value);
  return (sequence: number): Trace => {
    const projectNumber = 1 + below(PROJECTS);
    const isLate = random() < 0.02;
    const startMs = (isLate ? below(TRACES) : sequence) * 1_000 - (sequence % 7) * 500;
    const words = Array.from({ length: 1 + below(3) }, () => WORDS[below(WORDS.length)]).join(' ');
    const collected = collectText();
    collected.add(words);
    return {
      projectNumber,
      sequence,
      traceId: below(3) === 0 ? `trace-${sequence}` : createHash('md5').update(`${sequence}`).digest('hex'),
      startMs,
      updatedAtMs: startMs + below(20) * HOUR_MS,
      insertedAtMs: startMs + below(2) * HOUR_MS,
      totalTimeMs: orNull(below(10) < 3 ? 5 : below(100_000)),
      // Thousands are equal.
      totalCostNanoUsd: orNull(below(2) === 0 ? 0 : below(1_000) ** 3 * 1_000),
      totalTokens: orNull(below(5_000)),
      firstTokenMs: orNull(below(3) === 0 ? below(40) : below(2_000), 0.5),
      facets: [10, 20, 30, 40].flatMap((kind) => (below(3) === 0 ? [] : [projectNumber * 1_000 + kind + below(kind)])),
      text: collected.end(),
      words,
      sums: {
        spanCount: 1,
        hasError: false,
        promptTokens: 1,
        completionTokens: 1,
        user: 1,
        customer: null,
        thread: null,
        labels: [],
        prompts: null,
        models: [],
      },
    };
  };
}

function makeQuestion(random: () => number): Question {
  const below = (count: number) => Math.floor(random() * count);
  const projectNumber = 1 + below(PROJECTS);
  const facet = () => {
    const kind = [10, 20, 30, 40][below(4)] ?? 10;
    return projectNumber * 1_000 + kind + below(kind);
  };
  const conditions = Array.from({ length: below(3) }, () => Array.from({ length: 1 + below(4) }, facet));
  const isNegated = conditions.length > 0 && below(4) === 0;
  const range = () => {
    const from = below(3) === 0 ? Number.MIN_SAFE_INTEGER : below(3_000);
    return {
      number: NUMBERS[below(4)] ?? 'totalTokens',
      from,
      to: below(3) === 0 ? Number.MAX_SAFE_INTEGER : from + below(9_000),
    };
  };
  const bounds = () => {
    const fromMs = below(TRACES) * 1_000;
    return below(2) === 0 ? EVER : { fromMs, toMs: fromMs + below(TRACES) * 1_000 };
  };
  const text = below(3) === 0 ? (WORDS[below(WORDS.length)]?.slice(0, 2 + below(6)) ?? '') : '';
  return {
    query: {
      ...QUERY,
      projectNumber,
      sort: SORTS[below(5)] ?? 'started_at',
      isAscending: below(2) === 0,
      limit: 1 + below(400),
      started: bounds(),
      updated: bounds(),
      expiredBeforeMs: below(3) === 0 ? below(TRACES) * 1_000 : null,
    },
    plan: { ...NO_PLAN, conditions, isNegated, text, ranges: isNegated || below(2) === 0 ? [] : [range()] },
    leftOut: below(2) === 0 ? [] : Array.from({ length: 400 }, () => below(TRACES)).sort((one, other) => one - other),
  };
}

function keyOf(trace: Trace, query: SearchQuery): number {
  const values = {
    started_at: trace.startMs,
    updated_at: trace.updatedAtMs,
    total_cost: trace.totalCostNanoUsd,
    total_time_ms: trace.totalTimeMs,
    first_token_ms: trace.firstTokenMs,
  };
  return values[query.sort] ?? lastKey(query);
}

type Row = SearchPosition & { readonly sequence: number };

/** Every trace that fits, in order; for a text, at least those that have it. */
function fitting(traces: Iterable<Trace>, { query, plan, leftOut }: Question): Row[] {
  const without = new Set(leftOut);
  const within = (value: number, { fromMs, toMs }: { fromMs: number; toMs: number }) =>
    value >= fromMs && value <= toMs;
  const fits = (trace: Trace) =>
    trace.projectNumber === query.projectNumber &&
    !without.has(trace.sequence) &&
    within(trace.startMs, query.started) &&
    within(trace.updatedAtMs, query.updated) &&
    trace.insertedAtMs >= (query.expiredBeforeMs ?? Number.MIN_SAFE_INTEGER) &&
    plan.conditions.every((anyOf) => anyOf.some((facet) => trace.facets.includes(facet))) !== plan.isNegated &&
    plan.ranges.every(({ number, from, to }) => {
      const value = trace[number];
      return value !== null && value >= from && value <= to;
    }) &&
    trace.words.includes(plan.text);
  return [...traces]
    .filter(fits)
    .map((trace) => ({ key: keyOf(trace, query), traceId: trace.traceId, sequence: trace.sequence }))
    .sort((one, other) => comparePositions(one, other, query));
}

describe('the index of traces on SQLite', () => {
  it('finds and counts what reading every trace finds, page by page, for every order', async () => {
    const seed = drawSeed();
    console.log(JSON.stringify({ test: 'the index of traces on SQLite', seed }));
    const random = seeded(seed);
    const make = makeTraces(random);
    const { index, write } = openIndex();
    const traces = new Map<number, Trace>();
    write((writer) => {
      for (let sequence = 1; sequence <= TRACES; sequence += 1) {
        const trace = make(sequence);
        traces.set(sequence, trace);
        writer.put(trace);
      }
    });
    write((writer) => {
      for (let changed = 0; changed < TRACES / 20; changed += 1) {
        const sequence = 1 + Math.floor(random() * TRACES);
        if (changed % 3 === 0) {
          traces.delete(sequence);
          writer.remove(sequence);
        } else {
          const trace = make(sequence);
          traces.set(sequence, trace);
          writer.put(trace);
        }
      }
    });
    for (let asked = 0; asked < runsOf(600); asked += 1) {
      const question = makeQuestion(random);
      const expected = fitting(traces.values(), question);
      const selection = await index.open(question);
      const { limit } = question.query;
      const found: number[] = [];
      let pages = 0;
      for (let after: SearchPosition | null = null; pages < 4; pages += 1) {
        const selected: Selected | undefined = await selection?.select({ after, limit });
        found.push(...(selected?.sequences ?? []));
        after = selected?.last ?? null;
        if (after === null) break;
      }
      const isEnd = pages < 4;
      const said = JSON.stringify(question);
      if (question.plan.text === '') {
        const wanted = expected.map(({ sequence }) => sequence);
        expect(found, said).toEqual(isEnd ? wanted : wanted.slice(0, 4 * limit));
        expect(await selection?.count(1_500), said).toBe(Math.min(1_500, wanted.length));
      } else {
        // Candidates in the right order, with all that have the text among them.
        const last = traces.get(found.at(-1) ?? 0);
        const end = last === undefined ? null : { key: keyOf(last, question.query), traceId: last.traceId };
        const wanted = expected.filter((row) => isEnd || end === null || !isBehind(row, end, question.query));
        const candidates = fitting(traces.values(), { ...question, plan: { ...question.plan, text: '' } });
        const among = new Set(found);
        expect(
          candidates.map(({ sequence }) => sequence).filter((sequence) => among.has(sequence)),
          said,
        ).toEqual(found);
        expect(
          wanted.filter(({ sequence }) => !among.has(sequence)),
          said,
        ).toEqual([]);
      }
    }
  });
});
