/** Events that users of applications gave as feedback. */

import type { FeedbackStore, Recording } from '../../domain/feedback/feedback-event.ts';
import { type QueryRunner, queryInBatches, type Transact, type Transaction } from '../transaction.ts';

/** What an engine writes. */
export type FeedbackWriter = { recordFeedback: FeedbackStore['record'] };

type NamedTrace = { readonly projectNumber: number; readonly traceId: string; readonly nowMs: number };

export function createFeedbackWriter(transact: Transact): FeedbackWriter {
  return {
    async recordFeedback(recording) {
      const { projectNumber, event } = recording;
      const trace = { projectNumber, traceId: event.traceId, nowMs: event.receivedAtMs };
      const { outcome, isNoted } = await transact(async (tx) => {
        await lockTraceId(tx, trace);
        const outcome = await roomFor(tx, recording);
        if (outcome !== 'stored') return { outcome, isNoted: outcome === 'full' };
        const isNoted = await noteChange(tx, trace);
        await tx.change(tx.queries.feedback.insertEvent, rowOf(recording, !isNoted));
        return { outcome, isNoted };
      });
      // A trace that was stored meanwhile may be indexed without the event, so it is marked once that is committed. So is the
      // trace of a known event: the process that stored it may have ended before.
      if (!isNoted) await transact((tx) => noteChange(tx, trace));
      return outcome;
    },
  };
}

export function createFeedbackStore(
  { queries: { feedback: queries }, runQuery, idsPerQuery }: QueryRunner,
  writer: FeedbackWriter,
): FeedbackStore {
  return {
    record: writer.recordFeedback,
    listOf: (projectNumber, traceIds) =>
      queryInBatches(traceIds, idsPerQuery, (some) => runQuery(queries.listEvents, { projectNumber, traceIds: some })),
  };
}

/** Until the transaction ends no other one changes what is kept by the id of the trace. */
export async function lockTraceId(
  { isSingleProcess, runQuery, queries }: Transaction,
  { projectNumber, traceId }: Omit<NamedTrace, 'nowMs'>,
): Promise<void> {
  if (!isSingleProcess) await runQuery(queries.feedback.lockTraceId, { name: `trace ${projectNumber} ${traceId}` });
}

async function roomFor({ runQuery, queries }: Transaction, recording: Recording): ReturnType<FeedbackStore['record']> {
  const { projectNumber, event, contentId, alikeWithinMs, bytes, room } = recording;
  const { traceId, eventId, occurredAtMs: atMs } = event;
  const { feedback } = queries;
  const known =
    contentId === null
      ? await runQuery(feedback.findEvent, { projectNumber, traceId, eventId })
      : await runQuery(feedback.findAlike, {
          ...{ projectNumber, traceId, contentId },
          ...{ fromMs: atMs - alikeWithinMs, toMs: atMs + alikeWithinMs },
        });
  if (known.length > 0) return 'known';
  const [used] = await runQuery(feedback.sumRoom, { projectNumber, traceId });
  const hasRoom = (used?.events ?? 0) < room.eventsMax && (used?.bytes ?? 0) + bytes <= room.bytesMax;
  return hasRoom ? 'stored' : 'full';
}

/** Notes that a trace has changed, for lists and the index of searches; false when there is none. */
export async function noteChange(
  { runQuery, change, queries }: Transaction,
  { projectNumber, traceId, nowMs }: NamedTrace,
): Promise<boolean> {
  const [found] = await runQuery(queries.traces.lockTrace, { projectNumber, traceId });
  if (found === undefined) return false;
  // Always later than before, even when the clock goes back: other processes find changes by this instant.
  const updatedAtMs = Math.max(found.updatedAtMs + 1, nowMs);
  await change(queries.feedback.noteChange, { projectNumber, traceId, updatedAtMs });
  await change(queries.searchIndex.markStored, { projectNumber, sequences: [found.sequence] });
  return true;
}

function rowOf({ projectNumber, event, contentId, bytes }: Recording, isWaiting: boolean) {
  return { ...event, projectNumber, contentId, bytes, isWaiting };
}
