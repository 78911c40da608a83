/**
 * Finds traces by scanning them in the order of the query, batch by batch. The database applies what its indexes and the
 * text of the metadata can decide; the filter of the domain decides everything else.
 */

import { setImmediate as nextTurn } from 'node:timers/promises';
import {
  createMatcher,
  createTextMatcher,
  extractErrorBounds,
  matchesAll,
  needleOf,
  needsOf,
} from '../../domain/traces/search/trace-filter.ts';
import type { TraceSort } from '../../domain/traces/search/trace-search-query.ts';
import type {
  FoundTraces,
  SearchPosition,
  SearchQuery,
  TraceSearch,
} from '../../domain/traces/search/trace-search-store.ts';
import type { RowOf } from '../statements/statement.ts';
import { createDocuments } from './documents.ts';
import { findByIndex } from './index-search.ts';
import { countMaxMsOf, FIND_MAX_MS, positionOf, rankByIds, totalOf } from './named-traces.ts';
import type { SearchQueries, SearchRunner } from './search-runner.ts';
import { createMatch } from './tail-match.ts';
import type { TraceIndex } from './trace-index.ts';
import { createValueList } from './value-list.ts';

export type Listed = RowOf<SearchQueries['listByStart']>;
/** Rows after a position. */
export type List = (after: SearchPosition | null, limit: number) => Promise<readonly Listed[]>;

const LISTED_AT_ONCE = 1_000;
/** Orders with an index in the database. */
const LISTED_BY_INDEX: readonly TraceSort[] = ['started_at', 'updated_at'];
const LAST_TEXT = '\u{10ffff}';

export function createTraceSearch(runner: SearchRunner, index: TraceIndex): TraceSearch {
  const { queries, runQuery } = runner;

  return {
    match: createMatch(runner),
    listValues: createValueList(runner, index, (query) => createList(runner, query)),
    find: async (query) => {
      if (query.traceIds !== null) return await scanInOrder(runner, query, await rankByIds(runner, query));
      const isListed = matchesAll(query.filter) && LISTED_BY_INDEX.includes(query.sort);
      const found = isListed ? null : await findByIndex(runner, index, query);
      if (found !== null) return found;
      const list = createList(runner, query);
      if (!matchesAll(extractErrorBounds(query.filter).rest)) return await scanInOrder(runner, query, list);
      const rows = await list(query.after, query.limit + 1);
      const traces = rows.slice(0, query.limit).map(positionOf);
      const next = rows.length > query.limit ? (traces.at(-1) ?? null) : null;
      const { countMax } = query;
      if (countMax === null) return { traces, next, total: null };
      const [row] = await runQuery(queries.countTraces, { ...boundsOf(query), limit: countMax + 1 });
      return { traces, next, total: totalOf(row?.count ?? 0, true, countMax) };
    },
  };
}

function createList({ queries, runQuery }: SearchRunner, query: SearchQuery): List {
  const { isAscending } = query;
  const listing = queries[LISTINGS[query.sort][isAscending ? 0 : 1]];
  const first = isAscending
    ? { key: Number.MIN_SAFE_INTEGER, traceId: '' }
    : { key: Number.MAX_SAFE_INTEGER, traceId: LAST_TEXT };
  const bounds = boundsOf(query);
  return (after, limit) => {
    const { key, traceId } = after ?? first;
    return runQuery(listing, { ...bounds, key, traceId, limit });
  };
}

const LISTINGS = {
  started_at: ['listByStart', 'listByStartDown'],
  updated_at: ['listByUpdate', 'listByUpdateDown'],
  total_cost: ['listByCost', 'listByCostDown'],
  total_time_ms: ['listByDuration', 'listByDurationDown'],
  first_token_ms: ['listByFirstToken', 'listByFirstTokenDown'],
} as const satisfies Readonly<Record<TraceSort, readonly [keyof SearchQueries, keyof SearchQueries]>>;

function boundsOf({ projectNumber, expiredBeforeMs, started, updated, filter }: SearchQuery) {
  const { conditions, isNegated } = filter;
  const errors = extractErrorBounds(filter);
  const needles = isNegated ? [] : conditions.map(needleOf).filter((needle) => needle !== null);
  return {
    projectNumber,
    expiredBeforeMs: expiredBeforeMs ?? Number.MIN_SAFE_INTEGER,
    startedFromMs: started.fromMs,
    startedToMs: started.toMs,
    updatedFromMs: updated.fromMs,
    updatedToMs: updated.toMs,
    errorsFrom: Number(errors.from),
    errorsTo: Number(errors.to),
    firstNeedle: needles[0] ?? null,
    secondNeedle: needles[1] ?? null,
  };
}

async function scanInOrder(runner: SearchRunner, query: SearchQuery, list: List): Promise<FoundTraces> {
  const { filter, limit, countMax } = query;
  const { nowMs } = runner;
  const fits = createMatcher(filter);
  const holds = createTextMatcher(filter.text);
  const documents = createDocuments(runner, { projectNumber: query.projectNumber, needs: needsOf(filter) });
  const startedAtMs = nowMs();
  const countMaxMs = countMaxMsOf(filter);
  const traces: SearchPosition[] = [];
  let [count, after, next]: [number, SearchPosition | null, SearchPosition | null] = [0, query.after, null];

  const end = (isExact: boolean): FoundTraces => ({
    traces,
    next,
    total: totalOf(count, isExact, countMax),
  });

  for (;;) {
    const rows = await list(after, LISTED_AT_ONCE);
    for (const part of documents.cut(rows)) {
      for (const { row, document } of await documents.read(part)) {
        if (!fits(document) || (filter.text !== '' && !(await documents.forEachText(row, document, holds)))) continue;
        count += 1;
        if (traces.length < limit) traces.push(positionOf(row));
        else next ??= traces.at(-1) ?? null;
      }
      after = positionOf(part.at(-1) as Listed);
      const passedMs = nowMs() - startedAtMs;
      if (next === null && passedMs > FIND_MAX_MS) {
        next = after;
        return end(false);
      }
      if (next !== null && (countMax === null || count > countMax || passedMs > countMaxMs)) return end(false);
      await nextTurn();
    }
    if (rows.length < LISTED_AT_ONCE) return end(true);
  }
}
