/** Ends evaluation jobs inside the transaction that stores their results. */

import type { AppendTables } from '../events/append-tables.ts';
import { settleCalls } from '../traces/call-settlement.ts';
import type { TraceAppend } from '../traces/trace.ts';
import { applyAppend } from '../traces/trace-append.ts';
import { type EvaluationJob, endJob, type JobEnd, type JobOutcome, UNTRIED } from './jobs.ts';

/** See EvaluationJobStore.end. */
export function applyJobEnd(tables: AppendTables, end: JobEnd): 'recorded' | 'stale' {
  const { projectNumber, traceSequence: sequence, sourceId, fence, outcome } = end;
  const traceKey = { projectNumber, sequence, traceId: '' };
  const job = tables.findJob(traceKey, sourceId);
  if (job === undefined || job.fence !== fence) return 'stale';
  if (outcome.kind === 'store') storeResult(tables, sequence, outcome.append);
  const next = outcome.kind === 'settle' ? settle(tables, job, outcome) : endJob(job, outcome);
  if (next === null) tables.removeJob(job);
  else tables.storeJob(next);
  return 'recorded';
}

type Settle = Extract<JobOutcome, { kind: 'settle' }>;

/** The job for what is left to correct; null: all is. */
function settle(tables: AppendTables, job: EvaluationJob, { settlement, next }: Settle): EvaluationJob | null {
  const { projectNumber, traceSequence: sequence, traceId } = job;
  const isSettled = settleCalls(tables, { projectNumber, sequence, traceId }, settlement);
  if (isSettled && next === null) return null;
  return { ...job, ...UNTRIED, dueAtMs: settlement.nowMs, asOf: isSettled ? (next ?? 0) : 0 };
}

/** A removed or expired trace gets no result. */
function storeResult(tables: AppendTables, sequence: number, append: TraceAppend): void {
  const record = tables.findTrace(append.projectNumber, append.traceId);
  if (record === undefined || record.sequence !== sequence) return;
  if (append.expiredBeforeMs !== null && record.insertedAtMs < append.expiredBeforeMs) return;
  applyAppend(tables, append);
}
