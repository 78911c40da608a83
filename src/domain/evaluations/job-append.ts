/** Queues evaluation jobs inside the transaction of an append. */

import type { AppendTables, TraceKey } from '../events/append-tables.ts';
import { isSampled } from '../monitors/sampling.ts';
import type { Span, TraceAppend, TraceHead } from '../traces/trace.ts';
import { isOutdated, readAggregates, SPANS_READ_THROUGH_MAX } from '../traces/trace-aggregates.ts';
import { ALL_MONITORS, CALLS, type EvaluationJob, TRIGGERS, TRIGGERS_ON_RESULTS, touchJob } from './jobs.ts';

/** Whether an append changes what monitors evaluate; results of evaluations do not. */
export function isSeenByMonitors({ spans, metadataJson, expectedOutput }: TraceAppend): boolean {
  return spans.length > 0 || metadataJson !== null || expectedOutput !== undefined;
}

type Touch = { readonly spans: readonly Span[]; readonly nowMs: number };

type TouchOfTrace = Touch & {
  /** The trace before the append; undefined for a new one. */
  readonly record: TraceHead | undefined;
};

/** Stores one job when any monitor samples the trace and the queue of the project has room. */
export function enqueueJob(tables: AppendTables, traceKey: TraceKey, { spans, nowMs, record }: TouchOfTrace): void {
  const { asOf, monitors } = tables.activeMonitorsOf(traceKey.projectNumber);
  if (!monitors.some((monitor) => isSampled(monitor, traceKey.traceId))) return;
  const known = tables.findJob(traceKey, ALL_MONITORS);
  if (known === undefined && !tables.hasRoomForJob(traceKey.projectNumber)) return;
  const isRooted =
    known?.isRooted === true ||
    spans.some(({ parentId }) => parentId === null) ||
    (record !== undefined && hasRoot(tables, traceKey, record));
  touch(tables, traceKey, { known, sourceId: ALL_MONITORS, isRooted, nowMs, asOf });
}

/** Searches only small traces. Without a known root, the job of a large one waits longer. */
function hasRoot(tables: AppendTables, traceKey: TraceKey, record: TraceHead): boolean {
  const { spanCount, aggregatesJson } = record;
  if (spanCount <= SPANS_READ_THROUGH_MAX) return tables.hasRoot(traceKey);
  if (aggregatesJson === null || isOutdated(record)) return false;
  return readAggregates(aggregatesJson).lastTopLevel !== null;
}

/** Stores the job that corrects the requests of calls once the trace has settled. */
export function enqueueSettlement(tables: AppendTables, traceKey: TraceKey, { spans, nowMs }: Touch): void {
  const known = tables.findJob(traceKey, CALLS);
  // No search for a root among the spans of a large trace: without one the job only waits longer.
  const isRooted = known?.isRooted === true || spans.some(({ parentId }) => parentId === null);
  touch(tables, traceKey, { known, sourceId: CALLS, isRooted, nowMs, asOf: 0 });
}

/** Stores the job of the triggers on traces after a result of an evaluation, where any of them asks for results. */
export function enqueueTriggers(tables: AppendTables, traceKey: TraceKey, nowMs: number): void {
  const { asOf, monitors } = tables.activeMonitorsOf(traceKey.projectNumber);
  if (!monitors.some(({ id }) => id === TRIGGERS_ON_RESULTS)) return;
  const known = tables.findJob(traceKey, TRIGGERS);
  if (known === undefined && !tables.hasRoomForJob(traceKey.projectNumber)) return;
  touch(tables, traceKey, { known, sourceId: TRIGGERS, isRooted: true, nowMs, asOf });
}

type Touched = {
  readonly known: EvaluationJob | undefined;
  readonly sourceId: string;
  readonly isRooted: boolean;
  readonly nowMs: number;
  readonly asOf: number;
};

function touch(tables: AppendTables, traceKey: TraceKey, { known, sourceId, isRooted, nowMs, asOf }: Touched): void {
  const { projectNumber, sequence: traceSequence, traceId } = traceKey;
  const { jobQueue } = tables;
  const key = { projectNumber, traceSequence, traceId, sourceId };
  tables.storeJob(touchJob(known, key, { nowMs, isRooted, jobQueue, asOf }));
}
