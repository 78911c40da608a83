/** What an engine writes of what people say about traces: feedback, annotations and queues of traces to review. */

import { createFeedbackWriter, type FeedbackWriter } from '../feedback/feedback.ts';
import type { Enqueuing } from '../traces/trace-changes.ts';
import type { Transact } from '../transaction.ts';
import { type AnnotationWriter, createAnnotationWriter } from './annotations.ts';
import { createQueueWriter, type QueueWriter } from './queues.ts';

export type PeopleWriter = FeedbackWriter & AnnotationWriter & QueueWriter;

export function createPeopleWriter(transact: Transact, enqueuing: Enqueuing): PeopleWriter {
  return {
    ...createFeedbackWriter(transact, enqueuing),
    ...createAnnotationWriter(transact, enqueuing),
    ...createQueueWriter(transact),
  };
}
