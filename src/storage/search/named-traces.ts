/** The traces of some ids as a search lists them: few enough to be put in order here. */

import type { SearchPlace, SearchQuestion } from '../../domain/trace-search-store.ts';
import { askInTurns, type RowOf } from '../questions.ts';
import type { SearchAsking, SearchQuestions } from './trace-search.ts';

type Found = RowOf<SearchQuestions['findByIds']>;
type Ranked = Found & SearchPlace;

export async function rankByIds({ questions, ask, idsAtOnce }: SearchAsking, question: SearchQuestion) {
  const { projectNumber, started, updated, sort, isAscending } = question;
  const goneBeforeMs = question.goneBeforeMs ?? Number.MIN_SAFE_INTEGER;
  const find = (ids: readonly string[]) => ask(questions.findByIds, { projectNumber, ids });
  const found = await askInTurns(question.traceIds ?? [], idsAtOnce, find);
  const last = isAscending ? Number.MAX_SAFE_INTEGER : -1;
  const sign = isAscending ? 1 : -1;
  const ranked: readonly Ranked[] = found
    .filter(({ insertedAtMs }) => insertedAtMs >= goneBeforeMs)
    .filter(({ startMs }) => startMs >= started.fromMs && startMs <= started.toMs)
    .filter(({ updatedAtMs }) => updatedAtMs >= updated.fromMs && updatedAtMs <= updated.toMs)
    .map((row) => ({ ...row, key: VALUES[sort](row) ?? last }))
    .sort((one, other) => sign * compare(one, other));
  return async (after: SearchPlace | null, limit: number): Promise<readonly Ranked[]> =>
    ranked.filter((row) => after === null || sign * compare(row, after) > 0).slice(0, limit);
}

const VALUES: Readonly<Record<SearchQuestion['sort'], (row: Found) => number | null>> = {
  started_at: ({ startMs }) => startMs,
  updated_at: ({ updatedAtMs }) => updatedAtMs,
  total_cost: ({ totalCostNanoUsd }) => totalCostNanoUsd,
  total_time_ms: ({ totalTimeMs }) => totalTimeMs,
  first_token_ms: ({ firstTokenMs }) => firstTokenMs,
};

/** Ids by their bytes, as databases order them. */
function compare(one: SearchPlace, other: SearchPlace): number {
  return one.key - other.key || Buffer.compare(Buffer.from(one.traceId), Buffer.from(other.traceId));
}
