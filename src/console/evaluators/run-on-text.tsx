/** Runs an evaluator on typed text, and shows the outcome. */

import { useMutation } from '@connectrpc/connect-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { type EvaluateResponse, EvaluationService } from '../../../gen/spandrel/v1/evaluations_pb.js';
import type { Evaluator, EvaluatorField } from '../../../gen/spandrel/v1/evaluators_pb.js';
import { Badge } from '../design/button.tsx';
import { FailureNotice } from '../design/failure.tsx';
import { AreaField, Form, TextField } from '../design/form.tsx';
import { formatCost, nameControls } from '../design/format.ts';
import page from '../design/page.module.css';
import { outcomeOf, toneOf } from '../trace/evaluations.tsx';
import styles from './evaluators.module.css';

const LIST = 'list';

type RunOnTextProps = { readonly slug: string; readonly evaluator: Evaluator };

export function RunOnText({ slug, evaluator }: RunOnTextProps) {
  const [texts, setTexts] = useState<{ readonly [field: string]: string }>({});
  const [traceId, setTraceId] = useState('');
  const run = useMutation(EvaluationService.method.evaluate);
  return (
    <div className={styles.columns}>
      <Form
        className={`${page.card} ${page.padded}`}
        action={run.isPending ? 'Running…' : 'Run it'}
        disabled={run.isPending}
        onSubmit={() =>
          run.mutate({
            savedEvaluator: evaluator.id,
            dataJson: dataOf(evaluator.fields, texts),
            ...(traceId.trim() && { traceId: traceId.trim() }),
          })
        }
      >
        {evaluator.fields.map(({ identifier, isOptional, valueType }) => (
          <AreaField
            key={identifier}
            label={`${identifier}${isOptional ? ' (optional)' : ''}`}
            hint={valueType === LIST ? 'One per line.' : undefined}
            rows={3}
            value={texts[identifier] ?? ''}
            onChange={(text) => setTexts({ ...texts, [identifier]: text })}
          />
        ))}
        <TextField
          label="Trace id (optional)"
          hint="With it, the result is stored on that trace; without it, nothing is stored."
          value={traceId}
          onChange={setTraceId}
        />
      </Form>
      <div role="status">
        {run.isError && <FailureNotice error={run.error} />}
        {run.data && <Outcome outcome={run.data} slug={slug} traceId={run.variables?.traceId ?? null} />}
        {!run.data && !run.isError && (
          <p className={`${page.card} ${page.padded} ${page.soft}`}>
            Enter an input and an output, then run the evaluator. The result appears here.
          </p>
        )}
      </div>
    </div>
  );
}

type OutcomeProps = { readonly outcome: EvaluateResponse; readonly slug: string; readonly traceId: string | null };

function Outcome({ outcome, slug, traceId }: OutcomeProps) {
  return (
    <div className={`${page.card} ${page.padded}`}>
      <div className={page.row}>
        <Badge tone={toneOf(outcome)}>{outcomeOf(outcome)}</Badge>
        {outcome.score !== undefined && <span>Score {outcome.score}</span>}
        {outcome.label !== undefined && <span>{nameControls(outcome.label)}</span>}
        {outcome.cost && <span className={page.soft}>{formatCost(outcome.cost.amount)}</span>}
        {outcome.errorType !== undefined && <code>{outcome.errorType}</code>}
      </div>
      {outcome.details !== undefined && <p className={page.prose}>{nameControls(outcome.details)}</p>}
      {traceId !== null && outcome.stored === true && (
        <Link to="/$slug/traces/$traceId" params={{ slug, traceId }}>
          Stored on its trace
        </Link>
      )}
      {traceId !== null && outcome.stored === false && <p>It could not be stored on the trace.</p>}
    </div>
  );
}

/** Omits empty optional fields; a required field may be empty. */
function dataOf(fields: readonly EvaluatorField[], texts: { readonly [field: string]: string }): string {
  const members = fields.flatMap(({ identifier, isOptional, valueType }) => {
    const text = texts[identifier] ?? '';
    if (text === '' && isOptional) return [];
    const value = valueType === LIST ? text.split('\n').filter((line) => line !== '') : text;
    return [[identifier, value] as const];
  });
  return JSON.stringify(Object.fromEntries(members));
}
