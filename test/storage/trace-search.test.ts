import { expect, it } from 'vitest';
import { type SearchQuery, TOTAL_MAX } from '../../src/domain/traces/search/trace-search-store.ts';
import { openQueries } from '../../src/storage/engine/sqlite/statements.ts';
import type { TraceIndex } from '../../src/storage/search/trace-index.ts';
import { createTraceSearch } from '../../src/storage/search/trace-search.ts';
import type { RunQuery } from '../../src/storage/transaction.ts';

const queries = { ...openQueries().search, ...openQueries().searchIndex };
const EVER = { fromMs: 0, toMs: Number.MAX_SAFE_INTEGER };
const QUESTION: SearchQuery = {
  projectNumber: 1,
  expiredBeforeMs: null,
  started: EVER,
  updated: EVER,
  sort: 'started_at',
  isAscending: true,
  traceIds: null,
  filter: { conditions: [{ name: 'metadata.user_id', of: '', values: ['u'] }], isNegated: false, text: '' },
  after: null,
  limit: 10,
  countMax: TOTAL_MAX,
};

const LARGE_BYTES = 256 * 1024;
const NO_INDEX: TraceIndex = { open: async () => null };

/** A list of `count` traces; every 700th has the user. */
function listOf(count: number, metadataBytes = 15, read: number[] = []): RunQuery {
  return async (query, given) => {
    if ((query as unknown) === queries.listPending) return [];
    if ((query as unknown) === queries.listMetadata) {
      const { sequences } = given as unknown as { readonly sequences: readonly number[] };
      read.push(sequences.length);
      return sequences.map((sequence) => ({
        sequence,
        metadataJson: sequence % 700 === 0 ? '{"user_id":"u"}' : '{}',
      })) as never;
    }
    const { key, limit } = given as unknown as { readonly key: number; readonly limit: number };
    const first = Math.max(0, key + 1);
    const length = Math.max(0, Math.min(limit, count - first));
    const rows = Array.from({ length }, (_, index) => ({
      key: first + index,
      traceId: `t${first + index}`,
      sequence: first + index,
      spanCount: 1,
      hasError: false,
      metadataBytes,
    }));
    return rows as never;
  };
}

it('a slow search ends its page early with a cursor, so that a walk still finds all', async () => {
  // Each read of the clock advances it by a second.
  let nowMs = 0;
  const search = createTraceSearch(
    {
      queries,
      runQuery: listOf(10_000),
      idsPerQuery: 50,
      pointsPerQuery: 1,
      nowMs: () => {
        nowMs += 1000;
        return nowMs;
      },
    },
    NO_INDEX,
  );
  const found: number[] = [];
  const sizes: number[] = [];
  let after: SearchQuery['after'] = null;
  do {
    const page = await search.find({ ...QUESTION, after, countMax: after === null ? TOTAL_MAX : null });
    if (after === null) expect(page.total?.isExact).toBe(false);
    found.push(...page.traces.map(({ key }) => key));
    sizes.push(page.traces.length);
    after = page.next;
  } while (after !== null);
  expect(found).toEqual(Array.from({ length: 15 }, (_, index) => index * 700));
  expect(sizes.length).toBeGreaterThan(2);
  expect(Math.max(...sizes)).toBeLessThan(QUESTION.limit);
});

it('a search reads no more large metadata at once than a thread can hold', async () => {
  const read: number[] = [];
  const runQuery = listOf(1500, LARGE_BYTES, read);
  const search = createTraceSearch({ queries, runQuery, idsPerQuery: 50, pointsPerQuery: 1, nowMs: () => 0 }, NO_INDEX);
  const { traces } = await search.find(QUESTION);
  expect(traces.map(({ key }) => key)).toEqual([0, 700, 1400]);
  expect(read.reduce((sum, count) => sum + count, 0)).toBe(1500);
  expect(Math.max(...read) * LARGE_BYTES).toBeLessThanOrEqual(2 * 1024 * 1024);
});

it('a search reads the many spans of a trace and their texts a few at a time, long texts alone, and makes room in between', async () => {
  const count = 5_000;
  const limits = new Set<number | undefined>();
  const slices: { readonly first: number; readonly characters: number }[] = [];
  let turns = 0;
  const message = JSON.stringify({ message: `${'long\n'.repeat(13_000)}end.` });
  const runQuery: RunQuery = async (query, given) => {
    const { after = '', limit, ...part } = given as { readonly after?: string; readonly limit?: number };
    const name = Object.entries(queries).find(([, each]) => (each as unknown) === query)?.[0];
    if (name === 'listByStart')
      return [{ key: 1, traceId: 't', sequence: 1, spanCount: count, metadataBytes: 2 }] as never;
    if (name === 'listPending') return [];
    if (name === 'findErrorSlice') {
      const slice = part as (typeof slices)[number];
      slices.push(slice);
      return [{ slice: message.slice(slice.first - 1, slice.first - 1 + slice.characters) }] as never;
    }
    limits.add(limit);
    const first = after === '' ? 0 : Number(after) + 1;
    const rows = Array.from({ length: Math.min(count - first, limit ?? count) }, (_, index) => ({
      traceSequence: 1,
      spanId: String(first + index),
      parentId: null,
      type: 'span',
      name: null,
      model: null,
      startedAtMs: 1,
      finishedAtMs: 2,
      hasError: true,
      errorJson: first + index === count - 1 ? null : `{"message":"number ${first + index}."}`,
    }));
    return rows as never;
  };
  const search = createTraceSearch({ queries, runQuery, idsPerQuery: 50, pointsPerQuery: 1, nowMs: () => 0 }, NO_INDEX);
  const timer = setInterval(() => {
    turns += 1;
  }, 0);
  const find = async (text: string) =>
    (await search.find({ ...QUESTION, filter: { conditions: [], isNegated: false, text } })).traces;
  expect(await find(`number ${count - 2}.`)).toHaveLength(1);
  expect(slices).toEqual([]);
  expect(await find('long\nend.')).toHaveLength(1);
  clearInterval(timer);
  expect(slices.length).toBe(Math.ceil(message.length / 65_536));
  expect(limits).toEqual(new Set([2_000, 500]));
  expect(turns).toBeGreaterThan(0);
});
