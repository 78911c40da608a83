import { expect, it } from 'vitest';
import { facetsOf } from '../../src/domain/traces/search/facets.ts';
import { EVER, TOTAL_MAX, type ValuesQuery } from '../../src/domain/traces/search/trace-search-store.ts';
import { openQueries } from '../../src/storage/engine/sqlite/statements.ts';
import { facetNumber } from '../../src/storage/search/index-plan.ts';
import type { IndexQuery, TraceIndex } from '../../src/storage/search/trace-index.ts';
import { createTraceSearch } from '../../src/storage/search/trace-search.ts';
import type { RunQuery } from '../../src/storage/transaction.ts';

const queries = { ...openQueries().search, ...openQueries().searchIndex };
const PROJECT = 1;
const USERS: ValuesQuery = {
  projectNumber: PROJECT,
  expiredBeforeMs: null,
  started: EVER,
  updated: EVER,
  filter: { conditions: [], isNegated: false, text: '' },
  sort: 'started_at',
  facets: [{ name: 'metadata.user_id', of: '' }],
  prefix: '',
  limit: 10,
};
const OF_TEAM = { name: 'metadata.value', of: 'team', values: ['t'] } as const;

/** The metadata of traces by sequence; the newest is the last one. */
type Stored = readonly object[];

const userOf = (index: number) => (index % 100 === 0 ? 'rare' : index % 5 === 0 ? 'some' : 'most');
const users = (count: number): Stored => Array.from({ length: count }, (_, index) => ({ user_id: userOf(index) }));

/** Answers the queries of a search as a database with these traces does. */
function createRunner(stored: Stored, { pending = [] as readonly number[], nowMs = (): number => 0 } = {}) {
  const read: number[] = [];
  const rowOf = (sequence: number) => ({
    ...{ sequence, key: sequence, traceId: `t${sequence}`, startMs: sequence, updatedAtMs: 0, insertedAtMs: 0 },
    ...{ spanCount: 1, hasError: false, metadataBytes: 15 },
  });
  const runQuery: RunQuery = async (query, given) => {
    const { sequences, key, limit } = given as unknown as Record<'sequences', readonly number[]> &
      Record<'key' | 'limit', number>;
    switch (query as unknown) {
      case queries.listPending:
        return pending.map((sequence) => ({ sequence })) as never;
      case queries.listMetadata:
        read.push(...sequences);
        return sequences.map((sequence) => ({ sequence, metadataJson: JSON.stringify(stored[sequence]) })) as never;
      case queries.findBySequences:
        return sequences.map(rowOf) as never;
      default: {
        const behind = Math.min(key, stored.length);
        const length = Math.min(limit, behind);
        return Array.from({ length }, (_, index) => rowOf(behind - 1 - index)) as never;
      }
    }
  };
  return { runner: { queries, runQuery, idsPerQuery: 50, pointsPerQuery: 1, nowMs }, read };
}

function facetNumbers(metadata: object): ReadonlySet<number> {
  const metadataJson = JSON.stringify(metadata);
  const document = {
    metadataJson,
    hasError: false,
    name: '',
    numbers: {} as never,
    spans: [],
    evaluations: [],
    feedback: [],
    annotations: [],
  };
  return new Set([...facetsOf(document)].map((facet) => facetNumber(PROJECT, facet)));
}

/** An index that has these traces. */
function createIndex(indexed: Stored, onCount = () => {}): TraceIndex {
  const known = new Map<string, ReadonlySet<number>>();
  const facets = indexed.map((metadata) => {
    const json = JSON.stringify(metadata);
    const numbers = known.get(json) ?? facetNumbers(metadata);
    known.set(json, numbers);
    return numbers;
  });
  const candidatesOf = ({ plan, leftOut }: IndexQuery) => {
    const isLeftOut = new Set(leftOut);
    return [...facets.keys()]
      .reverse()
      .filter((sequence) => !isLeftOut.has(sequence))
      .filter((sequence) => {
        const hasAll = plan.conditions.every((anyOf) => anyOf.some((each) => facets[sequence]?.has(each)));
        return hasAll !== plan.isNegated;
      });
  };
  return {
    open: async (query) => {
      const candidates = candidatesOf(query);
      return {
        select: async ({ after, limit }) => {
          const sequences = candidates.filter((sequence) => sequence < (after?.key ?? indexed.length)).slice(0, limit);
          const key = sequences.at(-1) ?? 0;
          return { sequences, last: sequences.length < limit ? null : { key, traceId: `t${key}` } };
        },
        count: async (limit) => {
          onCount();
          return Math.min(limit, candidates.length);
        },
      };
    },
  };
}

const NO_INDEX: TraceIndex = { open: async () => null };

/** A clock that each look moves on. */
function createClock(stepMs: number): () => number {
  let nowMs = 0;
  return () => {
    nowMs += stepMs;
    return nowMs;
  };
}

it('counts by the index how many of all traces have a value that the newest ones have', async () => {
  const stored = users(15_000);
  const { runner, read } = createRunner(stored);
  const found = await createTraceSearch(runner, createIndex(stored)).listValues(USERS);
  expect(read).toHaveLength(10_000);
  expect(Math.min(...read)).toBe(5_000);
  expect(found).toEqual({
    facets: [
      [
        { value: 'most', count: TOTAL_MAX, isExact: false },
        { value: 'some', count: 2_850, isExact: true },
        { value: 'rare', count: 150, isExact: true },
      ],
    ],
    isComplete: false,
  });
});

it('while the index is being built, and for filters that it cannot count exactly, counts are those of what was read', async () => {
  const stored = users(15_000);
  const read = [
    { value: 'most', count: 8_000, isExact: false },
    { value: 'some', count: 1_900, isExact: false },
    { value: 'rare', count: 100, isExact: false },
  ];
  const found = await createTraceSearch(createRunner(stored).runner, NO_INDEX).listValues(USERS);
  expect(found).toEqual({ facets: [read], isComplete: false });
  const filter = { conditions: [OF_TEAM], isNegated: true, text: '' };
  const search = createTraceSearch(createRunner(stored).runner, createIndex(stored));
  expect(await search.listValues({ ...USERS, filter })).toEqual({ facets: [read], isComplete: false });
});

it('reads until its time is over, but some traces even if that takes longer', async () => {
  const stored = users(2_000);
  const countRead = async (stepMs: number) => {
    const { runner } = createRunner(stored, { nowMs: createClock(stepMs) });
    const { facets, isComplete } = await createTraceSearch(runner, NO_INDEX).listValues(USERS);
    expect(isComplete).toBe(false);
    return facets[0]?.reduce((sum, { count }) => sum + count, 0);
  };
  expect(await countRead(0.1)).toBeGreaterThan(490);
  expect(await countRead(0.1)).toBeLessThan(510);
  expect(await countRead(1)).toBe(200);
  expect(await countRead(10)).toBe(101);
});

it('counts values while there is time, at first only up to a thousand, and calls other counts what they are', async () => {
  let nowMs = 0;
  const stored = users(15_000);
  const { runner } = createRunner(stored, { nowMs: () => nowMs });
  const index = createIndex(stored, () => {
    nowMs += 50;
  });
  const { facets } = await createTraceSearch(runner, index).listValues(USERS);
  expect(facets[0]).toEqual([
    { value: 'most', count: TOTAL_MAX, isExact: false },
    { value: 'some', count: 1_900, isExact: false },
    { value: 'rare', count: 150, isExact: true },
  ]);
});

it('counts up to a thousand of each value before it counts more of any', async () => {
  let nowMs = 0;
  const stored = Array.from({ length: 15_000 }, (_, index) => ({ user_id: index < 5_000 ? `u${index % 4}` : 'u0' }));
  const index = createIndex(stored, () => {
    nowMs += 25;
  });
  const newest = stored.map((each, at) => (at < 14_000 ? each : { user_id: `u${at % 4}` }));
  const { runner } = createRunner(newest, { nowMs: () => nowMs });
  const { facets } = await createTraceSearch(runner, index).listValues(USERS);
  expect(facets[0]).toEqual([
    { value: 'u0', count: TOTAL_MAX, isExact: false },
    { value: 'u1', count: 1_000, isExact: false },
    { value: 'u2', count: 1_000, isExact: false },
    { value: 'u3', count: 1_000, isExact: false },
  ]);
});

it('counts traces that changed since they were indexed by what they have now', async () => {
  const indexed = users(15_000);
  const pending = [0, 100, 101, 14_999];
  const stored = indexed.map((each, sequence) => (pending.includes(sequence) ? { user_id: 'new' } : each));
  const { runner } = createRunner(stored, { pending });
  const { facets } = await createTraceSearch(runner, createIndex(indexed)).listValues(USERS);
  expect(facets[0]).toEqual([
    { value: 'most', count: TOTAL_MAX, isExact: false },
    { value: 'some', count: 2_850, isExact: true },
    { value: 'rare', count: 148, isExact: true },
    { value: 'new', count: 4, isExact: true },
  ]);
});

it('with more pending traces than can be read, counts are those of the index and of what was read, at least', async () => {
  const stored = users(20_000);
  const pending = [...stored.keys()].slice(0, 12_000);
  const { runner, read } = createRunner(stored, { pending });
  const { facets } = await createTraceSearch(runner, createIndex(stored)).listValues(USERS);
  expect(Math.min(...read)).toBe(2_000);
  expect(facets[0]).toEqual([
    { value: 'most', count: TOTAL_MAX, isExact: false },
    { value: 'some', count: 3_420, isExact: false },
    { value: 'rare', count: 180, isExact: false },
  ]);
});

it('with too many pending traces, counts are those of what was read', async () => {
  const stored = users(25_000);
  const pending = [...stored.keys()].slice(0, 20_001);
  const { runner, read } = createRunner(stored, { pending });
  const { facets } = await createTraceSearch(runner, createIndex(stored)).listValues(USERS);
  expect(Math.min(...read)).toBe(15_000);
  expect(facets[0]?.map(({ count, isExact }) => [count, isExact])).toEqual([
    [8_000, false],
    [1_900, false],
    [100, false],
  ]);
});

it('reads only traces that match, however rare they are', async () => {
  const stored = users(20_000).map((each, index) => (index % 400 === 0 ? { ...each, team: 't' } : each));
  const filter = { conditions: [OF_TEAM], isNegated: false, text: '' };
  const { runner, read } = createRunner(stored);
  const found = await createTraceSearch(runner, createIndex(stored)).listValues({ ...USERS, filter });
  expect(read).toHaveLength(50);
  expect(found).toEqual({ facets: [[{ value: 'rare', count: 50, isExact: true }]], isComplete: true });
});

it('holds only as many values as a thread can, and then says that some are missing', async () => {
  const stored = Array.from({ length: 9_000 }, (_, index) => ({ user_id: `${index} ${'u'.repeat(900)}` }));
  const { runner } = createRunner(stored);
  const limit = stored.length;
  const { facets, isComplete } = await createTraceSearch(runner, NO_INDEX).listValues({ ...USERS, limit });
  expect(isComplete).toBe(false);
  expect(facets[0]?.length).toBeGreaterThan(1_000);
  expect(facets[0]?.reduce((sum, { value }) => sum + value.length, 0)).toBeLessThanOrEqual(4_000_000);
  expect(facets[0]?.every(({ count, isExact }) => count === 1 && isExact)).toBe(true);
});
