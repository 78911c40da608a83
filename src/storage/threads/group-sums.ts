/** Adds up the traces of a group, and the results of the evaluations on its newest ones. */

import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import type { SummedTrace } from '../../domain/analytics/interval-sums.ts';
import { addTrace, costOf, noSums } from '../../domain/analytics/sums.ts';
import {
  type GroupPosition,
  type GroupScores,
  type GroupSort,
  SCORED_TRACES_MAX,
} from '../../domain/threads/group-store.ts';
import type { AnalyticsRunner } from '../analytics/trace-scan.ts';

type Added = Omit<SummedTrace, 'totalTimeMs' | 'firstTokenMs'> & { readonly sequence: number };
type Place = Pick<Added, 'startMs' | 'sequence'>;

export type GroupSum = ReturnType<typeof newGroupSum>;

const NANO_PER_USD = 1_000_000_000;
/** The newest ones are picked from at most so many. */
const LATEST_MAX = 2 * SCORED_TRACES_MAX;

export function newGroupSum(trace: Added) {
  const { startMs, sequence } = trace;
  const place = { startMs, sequence };
  const group = { sums: noSums(), first: place, last: place, latest: [place] };
  addTrace(group.sums, trace);
  return group;
}

export function addToGroup(group: GroupSum, trace: Added): void {
  const { startMs, sequence } = trace;
  const place = { startMs, sequence };
  addTrace(group.sums, trace);
  if (comparePlaces(place, group.first) < 0) group.first = place;
  if (comparePlaces(place, group.last) > 0) group.last = place;
  group.latest.push(place);
  if (group.latest.length >= LATEST_MAX) group.latest = newest(group);
}

/** The sequences of the newest traces. */
export function latestOf(group: GroupSum): readonly number[] {
  return newest(group).map(({ sequence }) => sequence);
}

function newest({ latest }: GroupSum): Place[] {
  return latest.toSorted((one, other) => comparePlaces(other, one)).slice(0, SCORED_TRACES_MAX);
}

function comparePlaces(one: Place, other: Place): number {
  return one.startMs - other.startMs || one.sequence - other.sequence;
}

/** What a sort orders a group by. Costs are in nano-USD. */
export function positionOf(number: number, { sums, last }: GroupSum, sort: GroupSort): GroupPosition {
  const keys: Readonly<Record<GroupSort, number>> = {
    last_activity: last.startMs,
    traces: sums.traces,
    total_cost: Math.round(costOf(sums) * NANO_PER_USD),
    tokens: sums.promptTokens + sums.completionTokens,
    errors: sums.errors,
  };
  return { key: keys[sort], lastMs: last.startMs, number };
}

type TraceScores = Omit<GroupScores, 'mean'> & { readonly scoreSum: number };

export const NO_SCORES: GroupScores = { mean: null, scored: 0, passed: 0, failed: 0 };
const TRACES_AT_ONCE = 500;

/** By the sequence of the trace; traces without results are left out. */
export async function readScores(
  { queries, runQuery }: AnalyticsRunner,
  projectNumber: number,
  traces: readonly number[],
): Promise<ReadonlyMap<number, TraceScores>> {
  const scores = new Map<number, TraceScores>();
  for (let start = 0; start < traces.length; start += TRACES_AT_ONCE) {
    const sequences = traces.slice(start, start + TRACES_AT_ONCE);
    for (const { sequence, scoreSum, ...counts } of await runQuery(queries.sumScores, { projectNumber, sequences })) {
      scores.set(sequence, { ...counts, scoreSum: scoreSum ?? 0 });
    }
    await yieldToEventLoop();
  }
  return scores;
}

export function addScores({ mean, ...sums }: GroupScores, { scoreSum, ...counts }: TraceScores): GroupScores {
  const scored = sums.scored + counts.scored;
  return {
    mean: scored === 0 ? null : ((mean ?? 0) * sums.scored + scoreSum) / scored,
    scored,
    passed: sums.passed + counts.passed,
    failed: sums.failed + counts.failed,
  };
}
