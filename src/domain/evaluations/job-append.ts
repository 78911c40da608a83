/** What appends do to the queue of evaluations, inside the transaction of the append. */

import { createHash } from 'node:crypto';
import type { AppendTables, TracePlace } from '../append-tables.ts';
import type { Span, TraceAppend } from '../trace.ts';
import { touchJob } from './jobs.ts';

/** A monitor that runs by itself, with the share of traces that it looks at. */
export type SampledMonitor = { readonly id: string; readonly sample: number };

const BYTES = 8;
const SCALE = 2 ** 64;

/** Whether the monitor looks at the trace: always the same answer. */
export function isSampled({ id, sample }: SampledMonitor, traceId: string): boolean {
  if (sample >= 1 || sample <= 0) return sample >= 1;
  const digest = createHash('sha256').update(`${id}:${traceId}`).digest();
  return Number(digest.subarray(0, BYTES).readBigUInt64BE()) / SCALE < sample;
}

/** Whether an append brings something that monitors look at; results of evaluations are nothing of the kind. */
export function isSeenByMonitors({ spans, metadataJson, expectedOutput }: TraceAppend): boolean {
  return spans.length > 0 || metadataJson !== null || expectedOutput !== undefined;
}

/** One job for each monitor that looks at the trace. */
export function enqueueJobs(
  tables: AppendTables,
  place: TracePlace,
  { spans, nowMs }: { readonly spans: readonly Span[]; readonly nowMs: number },
): void {
  const monitors = tables.monitorsOf(place.projectNumber);
  if (monitors.length === 0) return;
  const { projectNumber, sequence: traceSequence, traceId } = place;
  // Looked for once, and only where somebody asks: a batch may have many spans, and a project many monitors.
  let isRootKnown: boolean | null = null;
  const hasRoot = () => {
    isRootKnown ??= spans.some(({ parentId }) => parentId === null) || tables.hasRoot(place);
    return isRootKnown;
  };
  for (const monitor of monitors) {
    if (!isSampled(monitor, traceId)) continue;
    const key = { projectNumber, traceSequence, sourceId: monitor.id };
    const known = tables.findJob(place, key.sourceId);
    const isRooted = known?.isRooted === true || hasRoot();
    tables.storeJob(touchJob(known, { ...key, traceId }, { nowMs, isRooted, settle: tables.settle }));
  }
}
