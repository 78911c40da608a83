/** Some traces as a search lists them: few enough to be put in order here. */

import type { SearchPlace, SearchQuestion } from '../../domain/trace-search-store.ts';
import { askInTurns, type RowOf } from '../questions.ts';
import type { SearchAsking, SearchQuestions } from './trace-search.ts';

type Found = RowOf<SearchQuestions['findByIds']>;
export type Ranked = Found & SearchPlace;

export async function rankByIds({ questions, ask, idsAtOnce }: SearchAsking, question: SearchQuestion) {
  const { projectNumber } = question;
  const find = (ids: readonly string[]) => ask(questions.findByIds, { projectNumber, ids });
  const ranked = rankFound(await askInTurns(question.traceIds ?? [], idsAtOnce, find), question);
  return async (after: SearchPlace | null, limit: number): Promise<readonly Ranked[]> =>
    ranked.filter((row) => isBehind(row, after, question)).slice(0, limit);
}

const SEQUENCES_AT_ONCE = 500;

/** In any order, of any time; none of those that are gone. */
export async function findBySequences(
  { questions, ask }: SearchAsking,
  projectNumber: number,
  sequences: readonly number[],
): Promise<readonly Found[]> {
  const find = (some: readonly number[]) => ask(questions.findBySequences, { projectNumber, sequences: some });
  return await askInTurns(sequences, SEQUENCES_AT_ONCE, find);
}

/** Those of the times that are asked for, in the order that is. */
export function rankFound(found: readonly Found[], question: SearchQuestion): readonly Ranked[] {
  const { started, updated, goneBeforeMs } = question;
  return found
    .filter(({ insertedAtMs }) => insertedAtMs >= (goneBeforeMs ?? Number.MIN_SAFE_INTEGER))
    .filter(({ startMs }) => startMs >= started.fromMs && startMs <= started.toMs)
    .filter(({ updatedAtMs }) => updatedAtMs >= updated.fromMs && updatedAtMs <= updated.toMs)
    .map((row) => ({ ...row, key: VALUES[question.sort](row) ?? lastKey(question) }))
    .sort((one, other) => comparePlaces(one, other, question));
}

/** What stands for the value of those without one: they come last. */
export function lastKey({ isAscending }: Pick<SearchQuestion, 'isAscending'>): number {
  return isAscending ? Number.MAX_SAFE_INTEGER : -1;
}

export function isBehind(row: SearchPlace, after: SearchPlace | null, question: SearchQuestion): boolean {
  return after === null || comparePlaces(row, after, question) > 0;
}

/** Ids by their bytes, as databases order them. */
export function comparePlaces(one: SearchPlace, other: SearchPlace, { isAscending }: SearchQuestion): number {
  const difference = one.key - other.key || Buffer.compare(Buffer.from(one.traceId), Buffer.from(other.traceId));
  return isAscending ? difference : -difference;
}

const VALUES: Readonly<Record<SearchQuestion['sort'], (row: Found) => number | null>> = {
  started_at: ({ startMs }) => startMs,
  updated_at: ({ updatedAtMs }) => updatedAtMs,
  total_cost: ({ totalCostNanoUsd }) => totalCostNanoUsd,
  total_time_ms: ({ totalTimeMs }) => totalTimeMs,
  first_token_ms: ({ firstTokenMs }) => firstTokenMs,
};
