/** What a reviewer types into the form of an annotation. */

import { create } from '@bufbuild/protobuf';
import { describe, expect, it } from 'vitest';
import {
  AnnotationAnchorKind,
  AnnotationScoreSchema,
  AnnotationScoreType,
} from '../../gen/spandrel/v1/annotations_pb.js';
import { EMPTY_DRAFT, isBlank, toAnnotation } from '../../src/console/annotations/annotation-draft.ts';
import { isClaimLost, isRenewalDue } from '../../src/console/annotations/claim.ts';
import {
  annotationKey,
  dropAnnotation,
  hasUnsaved,
  keepAnnotation,
  recallAnnotation,
} from '../../src/console/annotations/open-annotations.ts';

const commented = (comment: string) => ({ subject: null, draft: { ...EMPTY_DRAFT, comment } });

describe('an open annotation', () => {
  it('stays with its trace, also beside those of other traces', () => {
    const [a, b] = [annotationKey('project_1', 'a'), annotationKey('project_1', 'b')];
    keepAnnotation(a, commented('about a'));
    expect(recallAnnotation(b)).toBeNull();
    keepAnnotation(b, commented('about b'));
    expect(recallAnnotation(a)?.draft.comment).toBe('about a');
    expect(hasUnsaved(annotationKey('project_2', 'a'))).toBe(false);
    dropAnnotation(a);
    expect([hasUnsaved(a), hasUnsaved(b)]).toEqual([false, true]);
    dropAnnotation(b);
  });

  it('is unsaved once something is typed or chosen', () => {
    const key = annotationKey('project_1', 'c');
    keepAnnotation(key, { subject: { spanId: 's', name: 'ask' }, draft: EMPTY_DRAFT });
    expect(hasUnsaved(key)).toBe(false);
    keepAnnotation(key, commented('x'));
    expect(hasUnsaved(key)).toBe(true);
    dropAnnotation(key);
  });

  it('is one of a limited number', () => {
    for (let index = 0; index < 101; index += 1) keepAnnotation(String(index), commented('x'));
    expect([recallAnnotation('0'), hasUnsaved('1'), hasUnsaved('100')]).toEqual([null, true, true]);
    for (let index = 0; index < 101; index += 1) dropAnnotation(String(index));
  });

  it.each([
    [EMPTY_DRAFT, true],
    [{ ...EMPTY_DRAFT, about: 'input' as const, comment: ' \n', scores: { score_1: '' } }, true],
    [{ ...EMPTY_DRAFT, thumb: 'up' as const }, false],
    [{ ...EMPTY_DRAFT, expected: 'yes' }, false],
    [{ ...EMPTY_DRAFT, scores: { score_1: '4' } }, false],
  ])('with %o is blank: %s', (draft, expected) => {
    expect(isBlank(draft)).toBe(expected);
  });

  it('is sent about what it was opened for', () => {
    const scores = [
      create(AnnotationScoreSchema, { id: 'score_1', dataType: AnnotationScoreType.NUMERIC }),
      create(AnnotationScoreSchema, { id: 'score_2', dataType: AnnotationScoreType.BOOLEAN }),
      create(AnnotationScoreSchema, { id: 'score_3', dataType: AnnotationScoreType.CATEGORICAL }),
    ];
    const draft = { ...EMPTY_DRAFT, comment: 'Slow.', thumb: 'down', about: 'output', expected: 'Fast.' } as const;
    const given = { score_1: '4', score_2: 'false', score_3: '' };
    const annotation = { subject: { spanId: 'span_1', name: 'ask' }, draft: { ...draft, scores: given } };
    expect(toAnnotation(annotation, { traceId: 'a', scores })).toEqual({
      ...{ traceId: 'a', spanId: 'span_1', comment: 'Slow.', isThumbsUp: false, expectedOutput: 'Fast.' },
      ...{ anchorKind: AnnotationAnchorKind.MESSAGE, anchorPath: 'output' },
      scoreOptionsJson: '{"score_1":{"value":4},"score_2":{"value":false}}',
    });
    expect(toAnnotation(commented('Slow.'), { traceId: 'a', scores })).toEqual({
      ...{ traceId: 'a', comment: 'Slow.', scoreOptionsJson: '{}' },
    });
  });
});

describe('the claim of a trace', () => {
  it.each([
    [{ isVisible: true, renewedAtMs: 0, nowMs: 179_999 }, false],
    [{ isVisible: true, renewedAtMs: 0, nowMs: 180_000 }, true],
    [{ isVisible: false, renewedAtMs: 0, nowMs: 600_000 }, false],
  ])('at %o is renewed: %s', (renewal, expected) => {
    expect(isRenewalDue(renewal)).toBe(expected);
  });

  it.each([
    ['annotation_queue_item_not_claimed', true],
    ['annotation_queue_empty', true],
    ['unavailable', false],
    [null, false],
  ])('with the refusal %s is lost: %s', (code, expected) => {
    expect(isClaimLost(code)).toBe(expected);
  });
});
