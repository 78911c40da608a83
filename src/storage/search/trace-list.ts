/** Lists traces in the order of a query. The database applies what its indexes and the text of the metadata can decide. */

import { extractErrorBounds, needleOf } from '../../domain/traces/search/trace-filter.ts';
import type { TraceSort } from '../../domain/traces/search/trace-search-query.ts';
import type { SearchPosition, SearchQuery } from '../../domain/traces/search/trace-search-store.ts';
import type { RowOf } from '../statements/statement.ts';
import type { SearchQueries, SearchRunner } from './search-runner.ts';

export type Listed = RowOf<SearchQueries['listByStart']>;
/** Rows after a position. */
export type List = (after: SearchPosition | null, limit: number) => Promise<readonly Listed[]>;

const LAST_TEXT = '\u{10ffff}';

export function createList({ queries, runQuery }: SearchRunner, query: SearchQuery): List {
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

/** What the database applies itself. */
export function boundsOf({ projectNumber, expiredBeforeMs, started, updated, filter }: SearchQuery) {
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
