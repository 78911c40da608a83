/** Events that users of applications gave as feedback. */

import { TRIGGERS, touchJob } from '../../domain/evaluations/jobs.ts';
import type { FeedbackStore, Recording } from '../../domain/feedback/feedback-event.ts';
import type { Enqueuing } from '../traces/trace-changes.ts';
import { type QueryRunner, queryInBatches, type Transact, type Transaction } from '../transaction.ts';

/** What an engine writes. */
export type FeedbackWriter = { recordFeedback: FeedbackStore['record'] };

type NamedTrace = { readonly projectNumber: number; readonly traceId: string; readonly nowMs: number };

export function createFeedbackWriter(transact: Transact, enqueuing: Enqueuing): FeedbackWriter {
  const note = (tx: Transaction, trace: NamedTrace) => noteChange(tx, trace, { ...enqueuing, about: 'feedback' });
  return {
    async recordFeedback(recording) {
      const { projectNumber, event } = recording;
      const trace = { projectNumber, traceId: event.traceId, nowMs: event.receivedAtMs };
      const { outcome, isNoted } = await transact(async (tx) => {
        if (recording.contentId === null) await lockEventId(tx, recording);
        await lockTraceId(tx, trace);
        const outcome = await roomFor(tx, recording);
        if (outcome !== 'stored') return { outcome, isNoted: outcome === 'full' };
        const isNoted = await note(tx, trace);
        await tx.change(tx.queries.feedback.insertEvent, rowOf(recording, !isNoted));
        return { outcome, isNoted };
      });
      // A trace that was stored meanwhile may be indexed without the event, so it is marked once that is committed. So is the
      // trace of a known event: the process that stored it may have ended before.
      if (!isNoted) await transact((tx) => note(tx, trace));
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

/** One id stands for one event, whatever trace it names. Always locked before the trace. */
async function lockEventId({ isSingleProcess, runQuery, queries }: Transaction, { projectNumber, event }: Recording) {
  if (isSingleProcess) return;
  await runQuery(queries.feedback.lockTraceId, { name: `event ${projectNumber} ${event.eventId}` });
}

async function roomFor({ runQuery, queries }: Transaction, recording: Recording): ReturnType<FeedbackStore['record']> {
  const { projectNumber, event, contentId, alikeWithinMs, bytes, room } = recording;
  const { traceId, eventId, occurredAtMs: atMs } = event;
  const { feedback } = queries;
  const known =
    contentId === null
      ? [
          ...(await runQuery(feedback.findEvent, { projectNumber, eventId })),
          ...(await runQuery(feedback.findEventOfTrace, { projectNumber, traceId, eventId })),
        ]
      : await runQuery(feedback.findAlike, {
          ...{ projectNumber, traceId, contentId },
          ...{ fromMs: atMs - alikeWithinMs, toMs: atMs + alikeWithinMs },
        });
  if (known.length > 0) return 'known';
  const [used] = await runQuery(feedback.sumRoom, { projectNumber, traceId });
  const hasRoom = (used?.events ?? 0) < room.eventsMax && (used?.bytes ?? 0) + bytes <= room.bytesMax;
  return hasRoom ? 'stored' : 'full';
}

type Noted = Enqueuing & { readonly about: 'feedback' | 'annotations' };

/** Notes that a trace has changed, for lists, the index of searches and triggers; false when there is none. */
export async function noteChange(
  tx: Transaction,
  { projectNumber, traceId, nowMs }: NamedTrace,
  noted: Noted,
): Promise<boolean> {
  const { runQuery, change, queries } = tx;
  const [found] = await runQuery(queries.traces.lockTrace, { projectNumber, traceId });
  if (found === undefined) return false;
  // Always later than before, even when the clock goes back: other processes find changes by this instant.
  const updatedAtMs = Math.max(found.updatedAtMs + 1, nowMs);
  await change(queries.feedback.noteChange, { projectNumber, traceId, updatedAtMs });
  await change(queries.searchIndex.markStored, { projectNumber, sequences: [found.sequence] });
  await enqueueTriggers(tx, { projectNumber, traceId, traceSequence: found.sequence }, { ...noted, nowMs });
  return true;
}

type OfTrace = { readonly projectNumber: number; readonly traceId: string; readonly traceSequence: number };

/** Stores the job of the triggers on traces, where any of them asks for what has come. */
async function enqueueTriggers(
  { runQuery, change, queries: { monitors, evaluations } }: Transaction,
  trace: OfTrace,
  { about, nowMs, jobQueue, backlog }: Noted & { readonly nowMs: number },
): Promise<void> {
  const { projectNumber } = trace;
  // Read before the triggers: one that starts later has another change number.
  const [last] = await runQuery(monitors.findChange, { projectNumber });
  if (last === undefined) return;
  const find = about === 'feedback' ? monitors.findAskingFeedback : monitors.findAskingAnnotations;
  if ((await runQuery(find, { projectNumber })).length === 0) return;
  const [known] = await runQuery(evaluations.lockJob, { ...trace, sourceId: TRIGGERS });
  if (known === undefined) {
    const isFull = backlog.isFull(projectNumber);
    backlog.note(projectNumber, isFull ? { made: 0, refused: 1 } : { made: 1, refused: 0 });
    if (isFull) return;
  }
  const touched = { nowMs, jobQueue, isRooted: true, asOf: last.number };
  await change(evaluations.storeJob, touchJob(known, { ...trace, sourceId: TRIGGERS }, touched));
}

function rowOf({ projectNumber, event, contentId, bytes }: Recording, isWaiting: boolean) {
  return { ...event, projectNumber, contentId, bytes, isWaiting };
}
