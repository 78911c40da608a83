/** Takes the feedback of the users of applications. */

import { createHash } from 'node:crypto';
import { canonicalJson } from '../../json/canonical-json.ts';
import type { Project } from '../caller.ts';
import type { RandomBytes } from '../clock.ts';
import { Fault } from '../fault.ts';
import { newId } from '../ids.ts';
import { refuseProblems } from '../reasons.ts';
import { normaliseTraceId } from '../traces/trace-ids.ts';
import { type FeedbackDraft, readFeedback } from './feedback-draft.ts';
import { type FeedbackEvent, type FeedbackStore, feedbackBytes } from './feedback-event.ts';

type FeedbackDeps = {
  readonly store: Pick<FeedbackStore, 'record'>;
  readonly random: RandomBytes;
  /** How far ahead of now an event may be. */
  readonly futureMaxMs: number;
};

export type Feedback = ReturnType<typeof createFeedback>;

/** Of one trace. */
const ROOM = { eventsMax: 1_000, bytesMax: 128 * 1024 };
const ALIKE_WITHIN_MS = 1_000;

export function createFeedback({ store, random, futureMaxMs }: FeedbackDeps) {
  return {
    /** Resolves once the event is durable. Throws validation_error and feedback_limit_reached. */
    async track(project: Project, draft: FeedbackDraft, nowMs: number): Promise<void> {
      const { metrics, details, reasons } = readFeedback(draft, { nowMs, futureMaxMs });
      refuseProblems(reasons);
      const event: FeedbackEvent = {
        eventId: draft.eventId ?? newId('event', random),
        traceId: normaliseTraceId(draft.traceId),
        type: draft.eventType,
        metricsJson: JSON.stringify(metrics),
        detailsJson: JSON.stringify(details),
        occurredAtMs: draft.timestampMs ?? nowMs,
        receivedAtMs: nowMs,
      };
      const outcome = await store.record({
        projectNumber: project.number,
        event,
        contentId: draft.eventId === null ? contentIdOf(event.type, { metrics, details }) : null,
        bytes: feedbackBytes([event]),
        room: ROOM,
        alikeWithinMs: ALIKE_WITHIN_MS,
      });
      if (outcome !== 'full') return;
      const message = `A trace holds at most ${ROOM.eventsMax} events, and ${ROOM.bytesMax} bytes of them.`;
      throw new Fault('feedback_limit_reached', message);
    },
  };
}

function contentIdOf(type: string, content: Parameters<typeof canonicalJson>[0]): string {
  return createHash('sha256')
    .update(`${type} ${canonicalJson(content)}`)
    .digest('hex');
}
