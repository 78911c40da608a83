/** What is typed into the form of an annotation, and the request that it makes. */

import {
  AnnotationAnchorKind,
  type AnnotationScore,
  AnnotationScoreType,
} from '../../../gen/spandrel/v1/annotations_pb.js';

export type Thumb = 'none' | 'up' | 'down';
export type About = 'whole' | 'input' | 'output';

export type AnnotationDraft = {
  readonly thumb: Thumb;
  readonly about: About;
  readonly comment: string;
  readonly expected: string;
  /** Typed values, by the id of their definition. */
  readonly scores: Readonly<Record<string, string>>;
};

export const EMPTY_DRAFT: AnnotationDraft = { thumb: 'none', about: 'whole', comment: '', expected: '', scores: {} };

/** A span; null: the trace as a whole. */
export type Subject = { readonly spanId: string; readonly name: string } | null;

export type OpenAnnotation = { readonly subject: Subject; readonly draft: AnnotationDraft };

/** Whether nothing would be lost with it. */
export function isBlank({ thumb, comment, expected, scores }: AnnotationDraft): boolean {
  const texts = [comment, expected, ...Object.values(scores)];
  return thumb === 'none' && texts.every((text) => text.trim() === '');
}

export function toAnnotation(
  { subject, draft }: OpenAnnotation,
  { traceId, scores }: { readonly traceId: string; readonly scores: readonly AnnotationScore[] },
) {
  const given = scores.flatMap((score) => {
    const typed = draft.scores[score.id] ?? '';
    return typed === '' ? [] : [[score.id, { value: scoreValue(score, typed) }] as const];
  });
  return {
    traceId,
    comment: draft.comment,
    ...(draft.thumb !== 'none' && { isThumbsUp: draft.thumb === 'up' }),
    ...(draft.expected !== '' && { expectedOutput: draft.expected }),
    ...(subject !== null && { spanId: subject.spanId }),
    ...(draft.about !== 'whole' && { anchorKind: AnnotationAnchorKind.MESSAGE, anchorPath: draft.about }),
    scoreOptionsJson: JSON.stringify(Object.fromEntries(given)),
  };
}

function scoreValue({ dataType }: AnnotationScore, typed: string): string | number | boolean {
  if (dataType === AnnotationScoreType.BOOLEAN) return typed === 'true';
  return dataType === AnnotationScoreType.NUMERIC ? Number(typed) : typed;
}
