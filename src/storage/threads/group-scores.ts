/** Reads the results of evaluations on the traces of groups. */

import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import type { GroupScores } from '../../domain/threads/group-store.ts';
import type { AnalyticsRunner } from '../analytics/trace-scan.ts';

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
