/** Cuts that remove nothing, and runs of the tasks of one port or several. */

import type { LogCuts } from '../../../src/domain/events/log-port.ts';
import { beginWalk, type RetentionCounts, type RetentionTask } from '../../../src/domain/retention-walk.ts';
import type { TelemetryCuts } from '../../../src/domain/traces/telemetry-port.ts';

export const NO_LOG_CUTS: LogCuts = { eventsBeforeMs: 0, answersBeforeMs: 0 };
export const NO_TELEMETRY_CUTS: TelemetryCuts = { traces: [], logRecordsBeforeMs: 0, feedbackBeforeMs: 0 };
export const NONE: RetentionCounts = { events: 0, traces: 0, logRecords: 0, auditEntries: 0, months: 0 };

/** Runs all steps until none is left, or another process is at work. */
export async function finish(tasks: readonly RetentionTask[], rowsMax = 50): Promise<RetentionCounts> {
  const takeStep = beginWalk(tasks);
  const sum = { ...NONE };
  for (;;) {
    const { outcome, removed } = await takeStep(rowsMax);
    for (const name of Object.keys(sum) as (keyof RetentionCounts)[]) sum[name] += removed[name];
    if (outcome === 'done' || outcome === 'busy') return sum;
  }
}

/** Runs every task twice, as after an answer that was lost. */
export function repeating(tasks: readonly RetentionTask[]): readonly RetentionTask[] {
  return tasks.map((task) => async (rowsMax) => {
    await task(rowsMax);
    const { end, ...times } = await task(rowsMax);
    return { ...times, end: typeof end === 'string' ? end : { ...end, next: repeating(end.next) } };
  });
}
