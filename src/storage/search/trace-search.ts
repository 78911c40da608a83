/**
 * Finds traces by scanning them in the order of the query, batch by batch. The database applies what its indexes and the
 * text of the metadata can decide; the filter of the domain decides everything else.
 */

import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import {
  createMatcher,
  createTextMatcher,
  extractErrorBounds,
  matchesAll,
  needsOf,
} from '../../domain/traces/search/trace-filter.ts';
import type { TraceSort } from '../../domain/traces/search/trace-search-query.ts';
import type {
  FoundTraces,
  SearchPosition,
  SearchQuery,
  TraceSearch,
} from '../../domain/traces/search/trace-search-store.ts';
import { createDocuments } from './documents.ts';
import { findByIndex } from './index-search.ts';
import { countMaxMsOf, FIND_MAX_MS, positionOf, rankByIds, totalOf } from './named-traces.ts';
import type { SearchRunner } from './search-runner.ts';
import { createMatch } from './tail-match.ts';
import type { TraceIndex } from './trace-index.ts';
import { boundsOf, createList, type List, type Listed } from './trace-list.ts';
import { createValueList } from './value-list.ts';

const LISTED_AT_ONCE = 1_000;
/** Orders with an index in the database. */
const LISTED_BY_INDEX: readonly TraceSort[] = ['started_at', 'updated_at'];

export function createTraceSearch(runner: SearchRunner, index: TraceIndex): TraceSearch {
  const { queries, runQuery } = runner;

  return {
    match: createMatch(runner),
    listValues: createValueList(runner, index),
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
      await yieldToEventLoop();
    }
    if (rows.length < LISTED_AT_ONCE) return end(true);
  }
}
