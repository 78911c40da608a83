/** The form in which a reviewer annotates a trace, a span, or a message of either. */

import { useEffect, useRef } from 'react';
import {
  AnnotationAnchorKind,
  type AnnotationScore,
  AnnotationScoreType,
  AnnotationService,
} from '../../../gen/spandrel/v1/annotations_pb.js';
import { AreaField, Form, SelectField, TextField, useDraft } from '../design/form.tsx';
import page from '../design/page.module.css';
import { useChange } from '../session/refresh.ts';

type AnnotationFormProps = {
  readonly traceId: string;
  /** Null: the trace as a whole. */
  readonly spanId: string | null;
  readonly scores: readonly AnnotationScore[];
  readonly onClose: () => void;
};

type Thumb = 'none' | 'up' | 'down';
type About = 'whole' | 'input' | 'output';

const THUMBS = [
  ['none', 'No vote'],
  ['up', 'Thumbs up'],
  ['down', 'Thumbs down'],
] as const;

const NO_SCORE = ['', 'Not given'] as const;
const YES_OR_NO = [NO_SCORE, ['true', 'Yes'], ['false', 'No']] as const;

type Draft = {
  readonly thumb: Thumb;
  readonly about: About;
  readonly comment: string;
  readonly expected: string;
  readonly scores: Readonly<Record<string, string>>;
};

const EMPTY: Draft = { thumb: 'none', about: 'whole', comment: '', expected: '', scores: {} };

export function AnnotationForm({ traceId, spanId, scores, onClose }: AnnotationFormProps) {
  const [draft, change] = useDraft(EMPTY);
  const make = useChange(AnnotationService.method.createAnnotation, onClose);
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => box.current?.querySelector('textarea')?.focus(), []);
  const given = Object.fromEntries(
    scores.flatMap((score) => {
      const typed = draft.scores[score.id] ?? '';
      return typed === '' ? [] : [[score.id, { value: scoreValue(score, typed) }]];
    }),
  );
  const submit = () =>
    make.mutate({
      traceId,
      comment: draft.comment,
      ...(draft.thumb !== 'none' && { isThumbsUp: draft.thumb === 'up' }),
      ...(draft.expected !== '' && { expectedOutput: draft.expected }),
      ...(spanId !== null && { spanId }),
      ...(draft.about !== 'whole' && { anchorKind: AnnotationAnchorKind.MESSAGE, anchorPath: draft.about }),
      scoreOptionsJson: JSON.stringify(given),
    });
  const whole = spanId === null ? 'The whole trace' : 'The chosen span';
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: it listens for a key of the fields inside.
    <div
      ref={box}
      onKeyDown={({ key, ctrlKey, metaKey }) => {
        if (key === 'Enter' && (ctrlKey || metaKey)) submit();
      }}
    >
      <Form
        action="Save the annotation"
        disabled={make.isPending}
        error={make.error}
        onSubmit={submit}
        onCancel={onClose}
      >
        <AreaField
          label="Comment"
          hint="Ctrl Enter saves it."
          field="comment"
          rows={3}
          value={draft.comment}
          onChange={(comment) => change({ comment })}
        />
        <div className={page.row}>
          <SelectField label="Vote" value={draft.thumb} options={THUMBS} onChange={(thumb) => change({ thumb })} />
          <SelectField
            label="About"
            value={draft.about}
            options={
              [
                ['whole', whole],
                ['input', 'Its input'],
                ['output', 'Its output'],
              ] as const
            }
            onChange={(about) => change({ about })}
          />
        </div>
        {scores.map((score) => (
          <ScoreField
            key={score.id}
            score={score}
            value={draft.scores[score.id] ?? ''}
            onChange={(value) => change({ scores: { ...draft.scores, [score.id]: value } })}
          />
        ))}
        <AreaField
          label="Expected output"
          field="expectedOutput"
          rows={2}
          value={draft.expected}
          onChange={(expected) => change({ expected })}
        />
      </Form>
    </div>
  );
}

type ScoreFieldProps = {
  readonly score: AnnotationScore;
  readonly value: string;
  readonly onChange: (value: string) => void;
};

function ScoreField({ score, value, onChange }: ScoreFieldProps) {
  const { name = score.id, dataType, options, min, max } = score;
  const field = `scoreOptions.${score.id}.value`;
  if (dataType === AnnotationScoreType.BOOLEAN || dataType === AnnotationScoreType.CATEGORICAL) {
    const choices =
      dataType === AnnotationScoreType.BOOLEAN
        ? YES_OR_NO
        : [NO_SCORE, ...options.map((option) => [option, option] as const)];
    return <SelectField label={name} field={field} value={value} options={choices} onChange={onChange} />;
  }
  const isNumber = dataType === AnnotationScoreType.NUMERIC;
  return (
    <TextField
      label={name}
      field={field}
      value={value}
      onChange={onChange}
      {...(isNumber && { type: 'number', step: 'any', min, max })}
    />
  );
}

function scoreValue({ dataType }: AnnotationScore, typed: string): string | number | boolean {
  if (dataType === AnnotationScoreType.BOOLEAN) return typed === 'true';
  return dataType === AnnotationScoreType.NUMERIC ? Number(typed) : typed;
}
