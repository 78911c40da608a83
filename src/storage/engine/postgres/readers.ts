/** Reads of traces and of spend on PostgreSQL. */

import * as analyticsQueries from '../../../../gen/storage/postgres/analytics.ts';
import * as evaluationQueries from '../../../../gen/storage/postgres/analytics-evaluations.ts';
import * as hourQueries from '../../../../gen/storage/postgres/analytics-hours.ts';
import { findEventPlace, findRequest } from '../../../../gen/storage/postgres/append.ts';
import * as searchQueries from '../../../../gen/storage/postgres/search.ts';
import * as indexQueries from '../../../../gen/storage/postgres/search-index.ts';
import * as spendQueries from '../../../../gen/storage/postgres/spend.ts';
import * as queries from '../../../../gen/storage/postgres/traces.ts';
import type { TraceAnalytics } from '../../../domain/analytics/trace-analytics-store.ts';
import type { SpendStore } from '../../../domain/spend/spend-store.ts';
import type { TraceStore } from '../../../domain/store.ts';
import type { TraceSearch } from '../../../domain/traces/search/trace-search-store.ts';
import { createTraceAnalytics } from '../../analytics/trace-analytics.ts';
import { createTraceLimit, limitSearches, limitSums } from '../../long-reads.ts';
import type { Transact } from '../../queries.ts';
import { createIndexReads, type IndexReads } from '../../search/index-builder.ts';
import { createTraceSearch } from '../../search/trace-search.ts';
import type { SpendRunner } from '../../spend/block-planner.ts';
import { createSpendBlockReads, type SpendBlockReads } from '../../spend/spend-blocks.ts';
import { createSpendSums } from '../../spend/spend-reader.ts';
import { completeSums, createKeepSums, createTraceFinder, textRange } from '../../traces/trace-finder.ts';
import { createTraceReads, isLarge, takeInTurns } from '../../traces/trace-reads.ts';
import type { Pool } from './pool.ts';
import { createQueryRunner, queryInPages } from './run-query.ts';

const WHOLE_TRACES_AT_ONCE = 2;

/** `transact` stores sums that a read has computed. */
export function createTraceReader(pool: Pool, transact: Transact): Omit<TraceStore, 'append' | 'appendBatch'> {
  const limit = createTraceLimit(WHOLE_TRACES_AT_ONCE);
  const runner = createQueryRunner(pool, queries);
  const reads = createTraceReads(
    { ...runner, queryForEach: (query, params, take) => queryInPages(pool, { query, params, take }) },
    takeInTurns,
  );
  const finder = createTraceFinder(runner, (prefix) => [textRange(prefix)]);
  return {
    ...reads,
    ...finder,
    find: completeSums({
      find: finder.find,
      sums: (trace) => limit(() => reads.sums(trace)),
      keep: createKeepSums(transact),
    }),
    outline: (trace) => (isLarge(trace) ? limit(() => reads.outline(trace)) : reads.outline(trace)),
    digest: (trace) => (isLarge(trace) ? limit(() => reads.digest(trace)) : reads.digest(trace)),
  };
}

/** Limited to a few at once: connections are few. */
export function createSearch(pool: Pool): TraceSearch & IndexReads {
  const runner = createQueryRunner(pool, { ...searchQueries, ...indexQueries });
  const searching = { ...runner, nowMs: () => performance.now() };
  const { find, match } = createTraceSearch(searching);
  return { find: limitSearches(find), match, ...createIndexReads(searching) };
}

/** Limited like searches. */
export function createAnalytics(pool: Pool): TraceAnalytics {
  const queries = { ...analyticsQueries, ...hourQueries, ...indexQueries, ...evaluationQueries };
  const runner = { ...createQueryRunner(pool, queries), nowMs: () => performance.now() };
  const { summarise, statsOfUser, summariseEvaluations } = createTraceAnalytics(runner);
  return {
    summarise: limitSearches(summarise),
    statsOfUser: limitSearches(statsOfUser),
    summariseEvaluations: limitSearches(summariseEvaluations),
  };
}

/** Limited to a few at once: connections are few. */
export function createSpendReads(pool: Pool): SpendStore & SpendBlockReads {
  const runner = createQueryRunner(pool, spendQueries);
  const reading: SpendRunner = {
    ...runner,
    findRequests: (keys) => runner.runQuery(findRequest, keys),
    findPlaces: (keys) => runner.runQuery(findEventPlace, keys),
    nowMs: () => performance.now(),
  };
  const { sum } = createSpendSums(reading);
  return {
    sum: limitSums(sum),
    ...createSpendBlockReads(reading),
  };
}
