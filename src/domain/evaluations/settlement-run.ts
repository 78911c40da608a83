/** Runs the job that corrects the requests of the calls of a trace: reads the calls, and leaves the rest to the commit. */

import type { Clock } from '../clock.ts';
import { SETTLED_AT_ONCE } from '../traces/call-settlement.ts';
import type { TraceStore } from '../traces/telemetry-port.ts';
import { CALLS, type ClaimedJob, type JobOutcome } from './jobs.ts';

type SettlementDeps = { readonly traces: Pick<TraceStore, 'find' | 'calls'>; readonly clock: Clock };

type RunJob = (job: ClaimedJob, signal: AbortSignal) => Promise<JobOutcome>;

/** Runs these jobs, and leaves all others to `run`. */
export function withSettlements({ traces, clock }: SettlementDeps, run: RunJob): RunJob {
  return (job, signal) => (job.sourceId === CALLS ? settle(job) : run(job, signal));

  async function settle({ projectNumber, traceId, traceSequence, asOf }: ClaimedJob): Promise<JobOutcome> {
    const record = await traces.find(projectNumber, traceId);
    if (record === null || record.sequence !== traceSequence) return { kind: 'drop' };
    const listed = await traces.calls({ ...record, projectNumber });
    const all = listed.filter(({ isUnsettled }) => isUnsettled);
    const calls = all.slice(asOf, asOf + SETTLED_AT_ONCE);
    if (calls.length === 0) return { kind: 'drop' };
    const end = asOf + calls.length;
    const settlement = { traceId: record.traceId, updatedAtMs: record.updatedAtMs, calls, nowMs: clock() };
    return { kind: 'settle', settlement, next: end < all.length ? end : null };
  }
}
