/** Sorts traces in memory, for searches that name their traces by id or sequence. */

import type { SearchPosition, SearchQuery, SearchTotal } from '../../domain/traces/search/trace-search-store.ts';
import type { RowOf } from '../statements/statement.ts';
import { queryInBatches } from '../transaction.ts';
import type { SearchQueries, SearchRunner } from './search-runner.ts';

type Found = RowOf<SearchQueries['findByIds']>;
export type Ranked = Found & SearchPosition;

export async function rankByIds({ queries, runQuery, idsPerQuery }: SearchRunner, query: SearchQuery) {
  const { projectNumber } = query;
  const find = (ids: readonly string[]) => runQuery(queries.findByIds, { projectNumber, ids });
  const ranked = rankFound(await queryInBatches(query.traceIds ?? [], idsPerQuery, find), query);
  return async (after: SearchPosition | null, limit: number): Promise<readonly Ranked[]> =>
    ranked.filter((row) => isBehind(row, after, query)).slice(0, limit);
}

const SEQUENCES_AT_ONCE = 500;

/** In any order; removed traces are left out. */
export async function findBySequences(
  { queries, runQuery }: SearchRunner,
  projectNumber: number,
  sequences: readonly number[],
): Promise<readonly Found[]> {
  const find = (some: readonly number[]) => runQuery(queries.findBySequences, { projectNumber, sequences: some });
  return await queryInBatches(sequences, SEQUENCES_AT_ONCE, find);
}

/** Applies the time bounds and the order of the query. */
export function rankFound(found: readonly Found[], query: SearchQuery): readonly Ranked[] {
  const { started, updated, expiredBeforeMs } = query;
  return found
    .filter(({ insertedAtMs }) => insertedAtMs >= (expiredBeforeMs ?? Number.MIN_SAFE_INTEGER))
    .filter(({ startMs }) => startMs >= started.fromMs && startMs <= started.toMs)
    .filter(({ updatedAtMs }) => updatedAtMs >= updated.fromMs && updatedAtMs <= updated.toMs)
    .map((row) => ({ ...row, key: VALUES[query.sort](row) ?? lastKey(query) }))
    .sort((one, other) => comparePositions(one, other, query));
}

/** The key of traces without a value, which come last. */
export function lastKey({ isAscending }: Pick<SearchQuery, 'isAscending'>): number {
  return isAscending ? Number.MAX_SAFE_INTEGER : -1;
}

export function isBehind(row: SearchPosition, after: SearchPosition | null, query: SearchQuery): boolean {
  return after === null || comparePositions(row, after, query) > 0;
}

/** Compares by key, then by the bytes of the id, as the databases do. */
export function comparePositions(one: SearchPosition, other: SearchPosition, { isAscending }: SearchQuery): number {
  const difference = one.key - other.key || Buffer.compare(Buffer.from(one.traceId), Buffer.from(other.traceId));
  return isAscending ? difference : -difference;
}

const VALUES: Readonly<Record<SearchQuery['sort'], (row: Found) => number | null>> = {
  started_at: ({ startMs }) => startMs,
  updated_at: ({ updatedAtMs }) => updatedAtMs,
  total_cost: ({ totalCostNanoUsd }) => totalCostNanoUsd,
  total_time_ms: ({ totalTimeMs }) => totalTimeMs,
  first_token_ms: ({ firstTokenMs }) => firstTokenMs,
};

/** The position of a row, without its other members. */
export function positionOf({ key, traceId }: SearchPosition): SearchPosition {
  return { key, traceId };
}

/** After this time a page may be incomplete; its cursor continues the search. */
export const FIND_MAX_MS = 3_000;
const COUNT_MAX_MS = 3_000;
const COUNT_WITH_TEXT_MAX_MS = 50;

export function countMaxMsOf({ text }: SearchQuery['filter']): number {
  return text === '' ? COUNT_MAX_MS : COUNT_WITH_TEXT_MAX_MS;
}

/** Null when nothing is counted. */
export function totalOf(count: number, isExact: boolean, countMax: number | null): SearchTotal | null {
  if (countMax === null) return null;
  return { count: Math.min(count, countMax), isExact: isExact && count <= countMax };
}
