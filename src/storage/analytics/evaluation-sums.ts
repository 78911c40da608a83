/** Sums up the evaluations on the traces of a project, range by range, and yields to other reads in between. */

import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import type {
  EvaluationAnalyticsAnswer,
  EvaluationAnalyticsQuery,
} from '../../domain/analytics/trace-analytics-store.ts';
import { createEvaluationTallies, type EvaluationTallies } from '../../domain/evaluations/analytics/tallies.ts';
import { READ_MAX_MS, readPages } from '../long-reads.ts';
import type { RowOf } from '../statements/statement.ts';
import type { AnalyticsQueries, AnalyticsRunner } from './trace-scan.ts';

type ScanPosition = { readonly afterMs: number; readonly afterSequence: number };

const TRACES_AT_ONCE = 2_000;
const EVALUATIONS_AT_ONCE = 1_000;
const FIRST_SEQUENCE = -1;

export async function summariseEvaluations(
  runner: AnalyticsRunner,
  query: EvaluationAnalyticsQuery,
): Promise<EvaluationAnalyticsAnswer> {
  const { queries, runQuery } = runner;
  const { projectNumber, fromMs, toMs } = query;
  const tallies = createEvaluationTallies(query);
  const endsAtMs = runner.nowMs() + READ_MAX_MS;
  let position: ScanPosition = { afterMs: fromMs, afterSequence: FIRST_SEQUENCE };
  for (;;) {
    const [last] = await runQuery(queries.findTraceBehind, { projectNumber, toMs, ...position, count: TRACES_AT_ONCE });
    const lastMs = last?.startMs ?? toMs;
    const lastSequence = last?.sequence ?? Number.MAX_SAFE_INTEGER;
    const isCounted = await addRange(runner, tallies, { query, ...position, lastMs, lastSequence, endsAtMs });
    // Also after a range without evaluations: a project may have many traces and few evaluations.
    await yieldToEventLoop();
    if (runner.nowMs() > endsAtMs) return { kind: 'too_long' };
    if (last === undefined || !isCounted) return tallies.answer();
    position = { afterMs: lastMs, afterSequence: lastSequence };
  }
}

type EvaluationRow = RowOf<AnalyticsQueries['listEvaluations']>;

type Range = ScanPosition & {
  readonly query: EvaluationAnalyticsQuery;
  readonly lastMs: number;
  readonly lastSequence: number;
  readonly endsAtMs: number;
};

/** False: the memory limit is exceeded. */
async function addRange(
  { queries, runQuery, nowMs }: AnalyticsRunner,
  tallies: EvaluationTallies,
  { query, endsAtMs, afterMs, afterSequence, lastMs, lastSequence }: Range,
): Promise<boolean> {
  const { projectNumber, expiredBeforeMs } = query;
  const receivedFromMs = expiredBeforeMs ?? Number.MIN_SAFE_INTEGER;
  const pages = readPages<EvaluationRow>(EVALUATIONS_AT_ONCE, (last) =>
    runQuery(queries.listEvaluations, {
      ...{ projectNumber, receivedFromMs, lastMs, lastSequence, limit: EVALUATIONS_AT_ONCE },
      afterMs: last?.startMs ?? afterMs,
      // The first page begins with the trace after the previous range.
      afterSequence: last?.sequence ?? afterSequence + 1,
      afterId: last?.evaluationId ?? '',
    }),
  );
  for await (const rows of pages) {
    for (const row of rows) if (!tallies.add(row)) return false;
    if (nowMs() > endsAtMs) break;
    await yieldToEventLoop();
  }
  return true;
}
