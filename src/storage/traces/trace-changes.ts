/** Changing and removing traces that are stored: each change is one transaction. */

import { ALL_MONITORS, type Settle, touchJob } from '../../domain/evaluations/jobs.ts';
import { isSampled } from '../../domain/evaluations/sampling.ts';
import type { NamedTrace, TraceChangeStore } from '../../domain/trace-changes.ts';
import { patchMetadata } from '../../domain/trace-metadata-patch.ts';
import { takeOffHours } from '../analytics/removed-hours.ts';
import type { Backlog } from '../evaluations/backlog.ts';
import type { Managing } from '../management.ts';
import type { Changing } from '../questions.ts';
import { toHidden } from '../retention/expired-traces.ts';

/** Removed at once; what has more is put out of reach, and retention erases it step by step. */
const PARTS_AT_ONCE_MAX = 200;

/** How monitors hear of what has changed. */
export type Enqueuing = { readonly settle: Settle; readonly backlog: Backlog };

export function createTraceChanges({ transact }: Managing, enqueuing: Enqueuing): TraceChangeStore {
  /** Held, so that nobody else changes it meanwhile. */
  async function hold({ ask, questions: { traces } }: Changing, { projectNumber, traceId, goneBeforeMs }: NamedTrace) {
    const [found] = await ask(traces.holdTrace, { projectNumber, traceId });
    if (found === undefined) return null;
    return goneBeforeMs !== null && found.insertedAtMs < goneBeforeMs ? null : found;
  }

  async function isSmall(
    { ask, questions: { traces } }: Changing,
    trace: OfTrace & { readonly spanCount: number },
  ): Promise<boolean> {
    if (trace.spanCount > PARTS_AT_ONCE_MAX) return false;
    const { projectNumber, sequence } = trace;
    const more = await ask(traces.findEvaluationBeyond, { projectNumber, sequence, count: PARTS_AT_ONCE_MAX });
    return more.length === 0;
  }

  return {
    removeTrace: (trace) =>
      transact(async (tx) => {
        const { projectNumber, traceId } = trace;
        const { retention } = tx.questions;
        const found = await hold(tx, trace);
        if (found === null) return false;
        const { sequence, spanCount } = found;
        await tx.change(tx.questions.searchIndex.markStored, { projectNumber, sequences: [sequence] });
        await takeOffHours(tx, retention, [{ projectNumber, sequence }]);
        await tx.change(retention.removeJobs, { projectNumber, sequences: [sequence] });
        if (await isSmall(tx, { projectNumber, sequence, spanCount })) {
          await tx.change(retention.removeSpans, { projectNumber, sequences: [sequence] });
          await tx.change(retention.removeEvaluations, { projectNumber, sequences: [sequence] });
          await tx.change(retention.removeTraces, { projectNumber, traceIds: [traceId] });
        } else {
          await tx.change(retention.hideTrace, toHidden({ projectNumber, traceId, sequence }));
        }
        return true;
      }),

    patchMetadata: (trace, patch, nowMs) =>
      transact(async (tx) => {
        const { projectNumber, traceId } = trace;
        const found = await hold(tx, trace);
        if (found === null) return null;
        const metadataJson = patchMetadata(found.metadataJson, patch);
        if (metadataJson === null) return 'too_large';
        // Later than before by any clock: other processes find changes by that.
        const updatedAtMs = Math.max(found.updatedAtMs + 1, nowMs);
        await tx.change(tx.questions.traces.keepMetadata, { projectNumber, traceId, metadataJson, updatedAtMs });
        await tx.change(tx.questions.searchIndex.markStored, { projectNumber, sequences: [found.sequence] });
        await enqueue(tx, { projectNumber, traceId, sequence: found.sequence }, { ...enqueuing, nowMs });
        return { metadataJson };
      }),
  };
}

/** As an append does for the monitors that look at the trace. */
async function enqueue(
  { ask, change, questions: { monitors, evaluations, traces } }: Changing,
  { projectNumber, traceId, sequence }: OfTrace & { readonly traceId: string },
  { nowMs, settle, backlog }: Enqueuing & { readonly nowMs: number },
): Promise<void> {
  // The change comes first: what begins to run after it has another number.
  const [last] = await ask(monitors.findChange, { projectNumber });
  const running = last === undefined ? [] : await ask(monitors.listRunningOf, { projectNumber });
  if (last === undefined || !running.some((monitor) => isSampled(monitor, traceId))) return;
  const trace = { projectNumber, traceSequence: sequence, traceId };
  const [known] = await ask(evaluations.holdJob, { ...trace, sourceId: ALL_MONITORS });
  if (known === undefined) {
    const isFull = backlog.isFull(projectNumber);
    backlog.note(projectNumber, isFull ? { made: 0, refused: 1 } : { made: 1, refused: 0 });
    if (isFull) return;
  }
  const isRooted = known?.isRooted === true || (await ask(traces.findRootSpan, { projectNumber, sequence })).length > 0;
  await change(evaluations.storeJob, touchJob(known, trace, { nowMs, settle, isRooted, asOf: last.number }));
}

type OfTrace = { readonly projectNumber: number; readonly sequence: number };
