/** What people said about traces, as reads and lists show it. */

import type { AnnotationStore } from '../annotations/annotation.ts';
import type { FeedbackEvent, FeedbackStore } from '../feedback/feedback-event.ts';

export type Said = {
  readonly events: readonly FeedbackEvent[];
  readonly annotationCount: number;
};

export type SaidDeps = {
  readonly feedback: Pick<FeedbackStore, 'listOf'>;
  readonly annotations: Pick<AnnotationStore, 'countOf'>;
};

/** Returns what was said about each of the traces. */
export async function readSaid(
  { feedback, annotations }: SaidDeps,
  projectNumber: number,
  traceIds: readonly string[],
): Promise<(traceId: string) => Said> {
  const [events, counts] = await Promise.all([
    feedback.listOf(projectNumber, traceIds),
    annotations.countOf(projectNumber, traceIds),
  ]);
  const byTrace = Map.groupBy(events, ({ traceId }) => traceId);
  const countOf = new Map(counts.map(({ traceId, count }) => [traceId, count]));
  return (traceId) => ({ events: byTrace.get(traceId) ?? [], annotationCount: countOf.get(traceId) ?? 0 });
}
