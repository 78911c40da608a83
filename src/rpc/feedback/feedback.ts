/** FeedbackService: message <-> domain values. */

import type { MessageInitShape } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import type { FeedbackService, TrackEventRequest } from '../../../gen/spandrel/v1/feedback_pb.js';
import type { TraceEventSchema } from '../../../gen/spandrel/v1/traces_pb.js';
import type { Project } from '../../domain/caller.ts';
import type { Feedback } from '../../domain/feedback/feedback.ts';
import type { FeedbackDraft } from '../../domain/feedback/feedback-draft.ts';
import type { FeedbackEvent } from '../../domain/feedback/feedback-event.ts';
import { msOfTimestamp } from '../epoch-ms.ts';
import type { Implementation } from '../method.ts';
import { projectOf } from '../scope.ts';

export function createFeedbackRpc({
  feedback,
}: {
  readonly feedback: Feedback;
}): Implementation<typeof FeedbackService> {
  return {
    async trackEvent(request, context) {
      await feedback.track(projectOf(context), toDraft(request), context.nowMs);
      return { message: 'Event tracked' };
    },
  };
}

function toDraft(request: TrackEventRequest): FeedbackDraft {
  const { traceId = '', eventType = '', metricsJson = '{}', eventDetailsJson, eventId, timestamp } = request;
  return {
    ...{ traceId, eventType, metricsJson },
    detailsJson: eventDetailsJson ?? null,
    eventId: eventId ?? null,
    timestampMs: timestamp === undefined ? null : msOfTimestamp(timestamp),
  };
}

/** A stored event as traces show it. */
export function eventMessage(event: FeedbackEvent, project: Project): MessageInitShape<typeof TraceEventSchema> {
  const insertedAt = timestampFromMs(event.receivedAtMs);
  return {
    eventId: event.eventId,
    eventType: event.type,
    projectId: project.id,
    traceId: event.traceId,
    metricsJson: event.metricsJson,
    eventDetailsJson: event.detailsJson,
    timestamps: { startedAt: timestampFromMs(event.occurredAtMs), insertedAt, updatedAt: insertedAt },
  };
}
