/** Reads of searches, analytics and spend, the same for every store. */

import type { TraceAnalytics } from '../domain/analytics/trace-analytics-store.ts';
import type { SpendStore } from '../domain/spend/spend-store.ts';
import type { TraceSearch } from '../domain/traces/search/trace-search-store.ts';
import { createTraceAnalytics } from './analytics/trace-analytics.ts';
import { limitReads, limitSearches, SUMS } from './long-reads.ts';
import type { Queries, QueryRunner } from './queries.ts';
import { createIndexReads, type IndexReads } from './search/indexer.ts';
import { createTraceSearch } from './search/trace-search.ts';
import type { SpendRunner } from './spend/block-planner.ts';
import { createSpendBlockReads, type SpendBlockReads } from './spend/spend-blocks.ts';
import { createSpendSums } from './spend/spend-reader.ts';

export type SumReads = TraceSearch & IndexReads & TraceAnalytics & SpendStore & SpendBlockReads;

export function createSumReads(
  runnerOf: <Of>(queries: Of) => QueryRunner<Of>,
  { search, searchIndex, analytics, spend }: Queries,
  lookUps: Pick<SpendRunner, 'findRequests' | 'findPositions'>,
): SumReads {
  const nowMs = () => performance.now();
  const searching = { ...runnerOf({ ...search, ...searchIndex }), nowMs };
  const summing = { ...runnerOf({ ...analytics, ...searchIndex }), nowMs };
  const reading = { ...runnerOf(spend), ...lookUps, nowMs };
  return {
    ...createTraceSearch(searching),
    ...createIndexReads(searching),
    ...createTraceAnalytics(summing),
    ...createSpendSums(reading),
    ...createSpendBlockReads(reading),
  };
}

/** Limits how many of the long ones run at once: connections and threads are few. */
export function limitSumReads<Reads extends SumReads>(reads: Reads): Reads {
  return {
    ...reads,
    find: limitSearches(reads.find),
    summarise: limitSearches(reads.summarise),
    statsOfUser: limitSearches(reads.statsOfUser),
    summariseEvaluations: limitSearches(reads.summariseEvaluations),
    sum: limitReads(reads.sum, ({ organizationNumber }) => organizationNumber, SUMS),
  };
}
