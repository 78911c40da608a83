/** What appends do to the queue of evaluations, inside the transaction of the append. */

import type { AppendTables, TracePlace } from '../append-tables.ts';
import type { Span, TraceAppend } from '../trace.ts';
import { ALL_MONITORS, touchJob } from './jobs.ts';
import { isSampled, type SampledMonitor } from './sampling.ts';

/** The monitors of a project that run by themselves. */
export type Watch = {
  /** Of the last change of which monitors do; see EvaluationJob. */
  readonly asOf: number;
  readonly monitors: readonly SampledMonitor[];
};

/** Whether an append brings something that monitors look at; results of evaluations are nothing of the kind. */
export function isSeenByMonitors({ spans, metadataJson, expectedOutput }: TraceAppend): boolean {
  return spans.length > 0 || metadataJson !== null || expectedOutput !== undefined;
}

/** One job, where any monitor looks at the trace and not too many wait. */
export function enqueueJob(
  tables: AppendTables,
  place: TracePlace,
  { spans, nowMs }: { readonly spans: readonly Span[]; readonly nowMs: number },
): void {
  const { asOf, monitors } = tables.watchOf(place.projectNumber);
  if (!monitors.some((monitor) => isSampled(monitor, place.traceId))) return;
  const known = tables.findJob(place, ALL_MONITORS);
  if (known === undefined && !tables.hasRoomForJob(place.projectNumber)) return;
  const isRooted = known?.isRooted === true || spans.some(({ parentId }) => parentId === null) || tables.hasRoot(place);
  const { projectNumber, sequence: traceSequence, traceId } = place;
  const { settle } = tables;
  tables.storeJob(touchJob(known, { projectNumber, traceSequence, traceId }, { nowMs, isRooted, settle, asOf }));
}
