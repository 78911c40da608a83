/** Patches the metadata of stored traces and removes traces, one transaction each. */

import type { Backlog } from '../../domain/evaluations/backlog.ts';
import { ALL_MONITORS, type JobQueueOptions, touchJob } from '../../domain/evaluations/jobs.ts';
import { isSampled } from '../../domain/monitors/sampling.ts';
import type { NamedTrace, TraceChangeStore } from '../../domain/traces/trace-changes.ts';
import { patchMetadata } from '../../domain/traces/trace-metadata-patch.ts';
import { subtractFromHours } from '../analytics/hour-changes.ts';
import { dropBesides, toHidden } from '../retention/expired-traces.ts';
import type { Transact, Transaction } from '../transaction.ts';
import { placeText } from './trace-texts.ts';

/** A trace with more spans or evaluations is hidden, and retention removes it step by step. */
const PARTS_AT_ONCE_MAX = 200;

/** What enqueuing a changed trace for its monitors needs. */
export type Enqueuing = { readonly jobQueue: JobQueueOptions; readonly backlog: Backlog };

export function createTraceChanges(transact: Transact, enqueuing: Enqueuing): TraceChangeStore {
  /** Locks the trace; null if there is none or it is past its term. */
  async function lock(
    { runQuery, queries: { traces } }: Transaction,
    { projectNumber, traceId, expiredBeforeMs }: NamedTrace,
  ) {
    const [found] = await runQuery(traces.lockTrace, { projectNumber, traceId });
    if (found === undefined) return null;
    return expiredBeforeMs !== null && found.insertedAtMs < expiredBeforeMs ? null : found;
  }

  async function isSmall(
    { runQuery, queries: { traces } }: Transaction,
    trace: OfTrace & { readonly spanCount: number },
  ): Promise<boolean> {
    if (trace.spanCount > PARTS_AT_ONCE_MAX) return false;
    const { projectNumber, sequence } = trace;
    const more = await runQuery(traces.findEvaluationBeyond, { projectNumber, sequence, count: PARTS_AT_ONCE_MAX });
    return more.length === 0;
  }

  return {
    removeTrace: (trace) =>
      transact(async (tx) => {
        const { projectNumber, traceId } = trace;
        const { retention } = tx.queries;
        const found = await lock(tx, trace);
        if (found === null) return false;
        const { sequence, spanCount } = found;
        await tx.change(tx.queries.searchIndex.markStored, { projectNumber, sequences: [sequence] });
        await subtractFromHours(tx, retention, [{ projectNumber, sequence }]);
        // In the order in which processes renew leases: a deletion in another order could deadlock with them.
        await tx.runQuery(retention.lockJobs, { projectNumber, sequences: [sequence] });
        await tx.change(retention.removeJobs, { projectNumber, sequences: [sequence] });
        await tx.change(retention.dropRecordsOf, { projectNumber, traceId });
        await dropBesides(tx, retention, { projectNumber, traceIds: [traceId] });
        if (await isSmall(tx, { projectNumber, sequence, spanCount })) {
          await tx.change(retention.removeSpans, { projectNumber, sequences: [sequence] });
          await tx.change(retention.removeTexts, { projectNumber, sequences: [sequence] });
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
        const found = await lock(tx, trace);
        if (found === null) return null;
        const [stored] = await tx.runQuery(tx.queries.traces.findMetadata, { projectNumber, traceId });
        const metadataJson = patchMetadata(stored?.metadataJson ?? '{}', patch);
        if (metadataJson === null) return 'too_large';
        // Always later than before, even when the clock goes back: other processes find changes by this instant.
        const updatedAtMs = Math.max(found.updatedAtMs + 1, nowMs);
        await keepMetadata(tx, { projectNumber, traceId, sequence: found.sequence, metadataJson, updatedAtMs });
        await tx.change(tx.queries.searchIndex.markStored, { projectNumber, sequences: [found.sequence] });
        await enqueue(tx, { projectNumber, traceId, sequence: found.sequence }, { ...enqueuing, nowMs });
        return { metadataJson };
      }),
  };
}

type ChangedMetadata = OfTrace & {
  readonly traceId: string;
  readonly metadataJson: string;
  readonly updatedAtMs: number;
};

async function keepMetadata(
  { change, queries: { traces } }: Transaction,
  { projectNumber, traceId, sequence, metadataJson, updatedAtMs }: ChangedMetadata,
): Promise<void> {
  const { inline, apartBytes } = placeText(metadataJson);
  const kept = { projectNumber, traceId, metadataJson: inline ?? '', metadataBytes: apartBytes, updatedAtMs };
  await change(traces.keepMetadata, kept);
  const key = { projectNumber, traceSequence: sequence, name: 'metadata' };
  if (inline === null) await change(traces.storeText, { ...key, text: metadataJson });
  else await change(traces.removeText, key);
}

/** Enqueues the trace for its monitors, as an append does. */
async function enqueue(
  { runQuery, change, queries: { monitors, evaluations, traces } }: Transaction,
  { projectNumber, traceId, sequence }: OfTrace & { readonly traceId: string },
  { nowMs, jobQueue, backlog }: Enqueuing & { readonly nowMs: number },
): Promise<void> {
  // Read before the monitors: a monitor that starts later has another change number.
  const [last] = await runQuery(monitors.findChange, { projectNumber });
  const running = last === undefined ? [] : await runQuery(monitors.listRunningOf, { projectNumber });
  if (last === undefined || !running.some((monitor) => isSampled(monitor, traceId))) return;
  const trace = { projectNumber, traceSequence: sequence, traceId };
  const [known] = await runQuery(evaluations.lockJob, { ...trace, sourceId: ALL_MONITORS });
  if (known === undefined) {
    const isFull = backlog.isFull(projectNumber);
    backlog.note(projectNumber, isFull ? { made: 0, refused: 1 } : { made: 1, refused: 0 });
    if (isFull) return;
  }
  const isRooted =
    known?.isRooted === true || (await runQuery(traces.findRootSpan, { projectNumber, sequence })).length > 0;
  await change(evaluations.storeJob, touchJob(known, trace, { nowMs, jobQueue, isRooted, asOf: last.number }));
}

type OfTrace = { readonly projectNumber: number; readonly sequence: number };
