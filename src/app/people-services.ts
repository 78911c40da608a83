/** Wires the services of what people say about traces. */

import { AnnotationQueueService } from '../../gen/spandrel/v1/annotation_queues_pb.js';
import { AnnotationScoreService, AnnotationService } from '../../gen/spandrel/v1/annotations_pb.js';
import { FeedbackService } from '../../gen/spandrel/v1/feedback_pb.js';
import { createAnnotations } from '../domain/annotations/annotations.ts';
import { createReviewQueues, type ReviewQueues } from '../domain/annotations/queues.ts';
import { createScoreDefinitions } from '../domain/annotations/score-definitions.ts';
import { createFeedback } from '../domain/feedback/feedback.ts';
import type { AddToQueue } from '../domain/triggers/notifying.ts';
import { createAnnotationQueueRpc } from '../rpc/annotation-queues/annotation-queues.ts';
import { createAnnotationRpc, createAnnotationScoreRpc } from '../rpc/annotations/annotations.ts';
import { createFeedbackRpc } from '../rpc/feedback/feedback.ts';
import type { Method } from '../rpc/method.ts';
import type { Deps } from './deps.ts';
import type { ServiceParts } from './service-parts.ts';

export function compilePeople(deps: Deps, { compile }: ServiceParts): Method[] {
  const { store, random, config } = deps;
  const { futureMaxMs } = config.limits.traces;
  const { traces, feedback, annotations, annotationScores } = store;
  const shared = { scores: annotationScores, random, traceDefaultDays: config.traceRetentionDays };
  return [
    ...compile(
      FeedbackService,
      createFeedbackRpc({ feedback: createFeedback({ store: feedback, random, futureMaxMs }) }),
    ),
    ...compile(
      AnnotationService,
      createAnnotationRpc({ annotations: createAnnotations({ ...shared, store: annotations, traces }) }),
    ),
    ...compile(
      AnnotationScoreService,
      createAnnotationScoreRpc({ scores: createScoreDefinitions({ store: annotationScores, random }) }),
    ),
    ...compile(AnnotationQueueService, createAnnotationQueueRpc({ queues: createQueues(deps) })),
  ];
}

/** Adds traces to a queue of its project. */
export function createAddToQueue(deps: Deps): AddToQueue {
  const queues = createQueues(deps);
  return (project, { queueId, traceIds, nowMs }) => queues.addItems({ project, nowMs }, queueId, traceIds);
}

/** Queues of traces to review, for requests and for what adds traces by itself. */
export function createQueues({ store, random, config }: Deps): ReviewQueues {
  const { annotationQueues, annotationScores: scores } = store;
  return createReviewQueues({ store: annotationQueues, scores, random, traceDefaultDays: config.traceRetentionDays });
}
