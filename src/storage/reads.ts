/** Reads of searches, analytics, groups and spend, the same for every store. */

import type { TraceAnalytics } from '../domain/analytics/trace-analytics-store.ts';
import type { SpendStore } from '../domain/spend/spend-store.ts';
import type { TraceGroups } from '../domain/threads/group-store.ts';
import type { TraceSearch } from '../domain/traces/search/trace-search-store.ts';
import type { IndexedSums } from './analytics/indexed-sums.ts';
import { createTraceAnalytics } from './analytics/trace-analytics.ts';
import { createSearchLimit, limitReads, type OrganizationOf, SUMS } from './long-reads.ts';
import type { TraceIndex } from './search/trace-index.ts';
import { createTraceSearch } from './search/trace-search.ts';
import type { SpendRunner } from './spend/block-planner.ts';
import { createSpendBlockReads, type SpendBlockReads } from './spend/spend-blocks.ts';
import { createSpendSums } from './spend/spend-reader.ts';
import { createGroupList } from './threads/group-list.ts';
import type { CompleteSums } from './traces/trace-finder.ts';
import type { Queries, QueryRunner } from './transaction.ts';

export type SumReads = TraceSearch & TraceAnalytics & TraceGroups & SpendStore & SpendBlockReads;

/** The index of traces, as searches and as analytics ask it. */
export type IndexReads = { readonly index: TraceIndex; readonly indexedSums: IndexedSums };

export function createSumReads(
  runnerOf: <Of>(queries: Of) => QueryRunner<Of>,
  { search, searchIndex, analytics, traces, spend }: Queries,
  { index, indexedSums, ...lookUps }: Pick<SpendRunner, 'findRequests' | 'findPositions'> & IndexReads,
): SumReads {
  const nowMs = () => performance.now();
  const searching = { ...runnerOf({ ...search, ...searchIndex }), nowMs };
  const { listOutdated } = traces;
  const summing = { ...runnerOf({ ...analytics, ...searchIndex, listOutdated }), nowMs };
  const reading = { ...runnerOf(spend), ...lookUps, nowMs };
  const found = createTraceSearch(searching, index);
  return {
    ...found,
    ...createTraceAnalytics(summing, indexedSums),
    ...createGroupList({ summing, searching, index: indexedSums, search: found }),
    ...createSpendSums(reading),
    ...createSpendBlockReads(reading),
  };
}

/** Calls `complete` with the project before each read that depends on the totals of its traces. */
export function withFreshTotals(reads: SumReads, complete: CompleteSums['completeTotals']): SumReads {
  const completed =
    <Query extends { readonly projectNumber: number }, Found>(read: (query: Query) => Promise<Found>) =>
    async (query: Query) => {
      await complete(query.projectNumber);
      return await read(query);
    };
  return {
    ...reads,
    find: completed(reads.find),
    match: completed(reads.match),
    listValues: completed(reads.listValues),
    summarise: completed(reads.summarise),
    statsOfUser: completed(reads.statsOfUser),
    summariseEvaluations: completed(reads.summariseEvaluations),
    listGroups: completed(reads.listGroups),
    summariseFeedback: completed(reads.summariseFeedback),
  };
}

/** Limits how many of the long ones run at once: connections and threads are few. */
export function limitSumReads(reads: SumReads, organizationOf: OrganizationOf): SumReads {
  const limit = createSearchLimit(organizationOf);
  const ofOrganization = (number: number) => ({ organizationId: String(number), projectId: '' });
  return {
    ...reads,
    find: limit(reads.find),
    listValues: limit(reads.listValues),
    summarise: limit(reads.summarise),
    statsOfUser: limit(reads.statsOfUser),
    summariseEvaluations: limit(reads.summariseEvaluations),
    listGroups: limit(reads.listGroups),
    summariseFeedback: limit(reads.summariseFeedback),
    sum: limitReads(reads.sum, ({ organizationNumber }) => ofOrganization(organizationNumber), SUMS),
  };
}
