/** Queues evaluation jobs inside the transaction of an append. */

import type { AppendTables, TraceKey } from '../events/append-tables.ts';
import { isSampled } from '../monitors/sampling.ts';
import type { Span, TraceAppend } from '../traces/trace.ts';
import { ALL_MONITORS, touchJob } from './jobs.ts';

/** Whether an append changes what monitors evaluate; results of evaluations do not. */
export function isSeenByMonitors({ spans, metadataJson, expectedOutput }: TraceAppend): boolean {
  return spans.length > 0 || metadataJson !== null || expectedOutput !== undefined;
}

/** Stores one job when any monitor samples the trace and the queue of the project has room. */
export function enqueueJob(
  tables: AppendTables,
  traceKey: TraceKey,
  { spans, nowMs }: { readonly spans: readonly Span[]; readonly nowMs: number },
): void {
  const { asOf, monitors } = tables.activeMonitorsOf(traceKey.projectNumber);
  if (!monitors.some((monitor) => isSampled(monitor, traceKey.traceId))) return;
  const known = tables.findJob(traceKey, ALL_MONITORS);
  if (known === undefined && !tables.hasRoomForJob(traceKey.projectNumber)) return;
  const isRooted =
    known?.isRooted === true || spans.some(({ parentId }) => parentId === null) || tables.hasRoot(traceKey);
  const { projectNumber, sequence: traceSequence, traceId } = traceKey;
  const { jobQueue } = tables;
  tables.storeJob(touchJob(known, { projectNumber, traceSequence, traceId }, { nowMs, isRooted, jobQueue, asOf }));
}
