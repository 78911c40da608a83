/** What people say about traces: feedback of users, annotations of reviewers with their scores, and queues of traces to review. */

import { defineEntity } from '@mikro-orm/core';
import type { AnchorKind, ScoreType } from '../../domain/annotations/annotation.ts';
import type { Scores } from '../../domain/annotations/score.ts';
import { enumText, flag, id, instant, integer, json, packedId, parsed, real, text, times } from './kinds.ts';

export const AnnotationRow = defineEntity({
  name: 'Annotation',
  tableName: 'annotations',
  properties: {
    projectNumber: integer().primary(),
    id: id().primary(),
    traceId: packedId(),
    spanId: packedId().strictNullable(),
    anchorKind: enumText<AnchorKind>(),
    anchorPath: text().strictNullable(),
    isThumbsUp: flag().strictNullable(),
    userId: id().strictNullable(),
    email: text().strictNullable(),
    ...times(),
    comment: text(),
    scores: parsed<Scores>('scores'),
    expectedOutput: text().strictNullable(),
  },
  indexes: [
    { name: 'annotations_by_trace', properties: ['projectNumber', 'traceId'] },
    { name: 'annotations_by_creation', properties: ['projectNumber', 'createdAtMs', 'id'] },
  ],
});

/** A deleted definition stays: annotations may have its scores. */
export const AnnotationScoreRow = defineEntity({
  name: 'AnnotationScore',
  tableName: 'annotation_scores',
  properties: {
    projectNumber: integer().primary(),
    id: id().primary(),
    name: id(),
    dataType: enumText<ScoreType>(),
    options: parsed<readonly string[]>('options'),
    min: real().strictNullable(),
    max: real().strictNullable(),
    active: flag(),
    ...times(),
    deletedAtMs: instant('deleted_at').strictNullable(),
  },
  uniques: [
    { name: 'annotation_scores_by_live_name', properties: ['projectNumber', 'name'], where: 'deleted_at is null' },
  ],
});

export const AnnotationQueueRow = defineEntity({
  name: 'AnnotationQueue',
  tableName: 'annotation_queues',
  properties: {
    projectNumber: integer().primary(),
    id: id().primary(),
    name: id(),
    description: text(),
    scoreIds: parsed<readonly string[]>('score_ids'),
    ...times(),
  },
  uniques: [{ name: 'annotation_queues_by_name', properties: ['projectNumber', 'name'] }],
});

/** A trace in a queue. */
export const AnnotationQueueItemRow = defineEntity({
  name: 'AnnotationQueueItem',
  tableName: 'annotation_queue_items',
  properties: {
    projectNumber: integer().primary(),
    queueId: id().primary(),
    id: id().primary(),
    traceId: packedId(),
    addedAtMs: instant('added_at'),
    // Who holds it until the instant below; both are of the last claim.
    claimedBy: id().strictNullable(),
    claimedUntilMs: instant('claimed_until'),
    doneBy: id().strictNullable(),
    doneAtMs: instant('done_at').strictNullable(),
  },
  uniques: [{ name: 'annotation_queue_items_by_trace', properties: ['projectNumber', 'traceId', 'queueId'] }],
  indexes: [
    {
      name: 'annotation_queue_items_open',
      properties: ['projectNumber', 'queueId', 'addedAtMs', 'id'],
      where: 'done_at is null',
    },
  ],
});

/** Feedback: by the id of the trace, which may come later than its events. */
export const FeedbackEventRow = defineEntity({
  name: 'FeedbackEvent',
  tableName: 'feedback_events',
  properties: {
    projectNumber: integer().primary(),
    traceId: packedId().primary(),
    eventId: id().primary(),
    type: id(),
    occurredAtMs: instant('occurred_at'),
    receivedAtMs: instant('received_at'),
    // Null for an event whose sender gave it an id.
    contentId: id().strictNullable(),
    bytes: integer(),
    // Whether there was no such trace yet when the event came, nor when retention last looked.
    isWaiting: flag(),
    metricsJson: json('metrics'),
    detailsJson: json('details'),
  },
  indexes: [
    { name: 'feedback_events_by_receipt', properties: ['projectNumber', 'receivedAtMs', 'traceId', 'eventId'] },
    // One id stands for one event, whatever trace it names.
    { name: 'feedback_events_by_id', properties: ['projectNumber', 'eventId'], where: 'content_id is null' },
    // For retention; few events come before their trace.
    { name: 'waiting_feedback_events', properties: ['receivedAtMs'], where: 'is_waiting = true' },
  ],
});
