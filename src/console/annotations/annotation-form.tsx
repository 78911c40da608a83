/** The form in which a reviewer annotates a trace, a span, or a message of either. */

import { useEffect, useRef } from 'react';
import {
  type AnnotationScore,
  AnnotationScoreType,
  AnnotationService,
} from '../../../gen/spandrel/v1/annotations_pb.js';
import { Button } from '../design/button.tsx';
import { AreaField, Form, SelectField, TextField } from '../design/form.tsx';
import { nameControls } from '../design/format.ts';
import page from '../design/page.module.css';
import { useChange } from '../session/refresh.ts';
import { type AnnotationDraft, type OpenAnnotation, type Subject, toAnnotation } from './annotation-draft.ts';

type AnnotationFormProps = {
  readonly traceId: string;
  readonly annotation: OpenAnnotation;
  /** What one looks at, which may be another part of the trace by now. */
  readonly shown: Subject;
  readonly scores: readonly AnnotationScore[];
  /** The comment gets the focus when this grows. */
  readonly calls: number;
  readonly onChange: (part: Partial<AnnotationDraft>) => void;
  readonly onMove: (subject: Subject) => void;
  readonly onClose: () => void;
};

const THUMBS = [
  ['none', 'No vote'],
  ['up', 'Thumbs up'],
  ['down', 'Thumbs down'],
] as const;

const NO_SCORE = ['', 'Not given'] as const;
const YES_OR_NO = [NO_SCORE, ['true', 'Yes'], ['false', 'No']] as const;

export function AnnotationForm({ annotation, onChange, onClose, ...props }: AnnotationFormProps) {
  const { traceId, shown, scores, calls, onMove } = props;
  const { subject, draft } = annotation;
  const make = useChange(AnnotationService.method.createAnnotation, onClose);
  const isSending = useRef(false);
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (calls > 0) box.current?.querySelector('textarea')?.focus();
  }, [calls]);
  const submit = () => {
    // A second press may come before the form is drawn again.
    if (isSending.current) return;
    isSending.current = true;
    make.mutate(toAnnotation(annotation, { traceId, scores }), {
      onSettled: () => {
        isSending.current = false;
      },
    });
  };
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
        <SubjectLine subject={subject} shown={shown} onMove={onMove} />
        <AreaField
          label="Comment"
          hint="Ctrl Enter saves it."
          field="comment"
          rows={3}
          value={draft.comment}
          onChange={(comment) => onChange({ comment })}
        />
        <div className={page.row}>
          <SelectField label="Vote" value={draft.thumb} options={THUMBS} onChange={(thumb) => onChange({ thumb })} />
          <SelectField
            label="About"
            value={draft.about}
            options={
              [
                ['whole', subject === null ? 'The whole trace' : 'The whole span'],
                ['input', 'Its input'],
                ['output', 'Its output'],
              ] as const
            }
            onChange={(about) => onChange({ about })}
          />
        </div>
        {scores.map((score) => (
          <ScoreField
            key={score.id}
            score={score}
            value={draft.scores[score.id] ?? ''}
            onChange={(value) => onChange({ scores: { ...draft.scores, [score.id]: value } })}
          />
        ))}
        <AreaField
          label="Expected output"
          field="expectedOutput"
          rows={2}
          value={draft.expected}
          onChange={(expected) => onChange({ expected })}
        />
      </Form>
    </div>
  );
}

type SubjectLineProps = Pick<AnnotationFormProps, 'shown' | 'onMove'> & { readonly subject: Subject };

/** What the annotation is about: what was chosen as the form was opened. */
function SubjectLine({ subject, shown, onMove }: SubjectLineProps) {
  const isMoved = subject?.spanId !== shown?.spanId;
  return (
    <div className={page.row}>
      <span>
        {subject === null ? 'About the whole trace' : `About the span ${nameControls(subject.name) || subject.spanId}`}
      </span>
      {isMoved && (
        <Button small onClick={() => onMove(shown)}>
          {shown === null ? 'Make it about the whole trace' : 'Make it about the chosen span'}
        </Button>
      )}
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
