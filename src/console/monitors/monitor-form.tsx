/** The form of a monitor: evaluator, mode, sample, preconditions and mappings. */

import { useQuery } from '@connectrpc/connect-query';
import { useState } from 'react';
import { EvaluatorService, EvaluatorType } from '../../../gen/spandrel/v1/evaluators_pb.js';
import { Button, Field } from '../design/button.tsx';
import { FailureNotice } from '../design/failure.tsx';
import { nameControls } from '../design/format.ts';
import page from '../design/page.module.css';
import { ConditionFields } from './condition-fields.tsx';
import { isComplete, type MonitorDraft } from './draft.ts';
import { MappingFields } from './mapping-fields.tsx';
import { MODES } from './monitor-enums.ts';

const NAME_CHARACTERS = 255;

type MonitorFormProps = {
  readonly start: MonitorDraft;
  readonly action: string;
  readonly pending: boolean;
  readonly error: unknown;
  readonly onSubmit: (draft: MonitorDraft) => void;
};

export function MonitorForm({ start, action, pending, error, onSubmit }: MonitorFormProps) {
  const [draft, setDraft] = useState(start);
  const change = (part: Partial<MonitorDraft>) => setDraft({ ...draft, ...part });
  const found = useQuery(EvaluatorService.method.listEvaluators);
  const evaluators =
    found.data?.evaluators.filter(({ evaluatorType }) => evaluatorType === EvaluatorType.EVALUATOR) ?? [];
  const evaluator = evaluators.find(({ id, slug }) => draft.evaluatorId === id || draft.evaluatorId === slug);
  return (
    <form
      className={`${page.card} ${page.padded} ${page.narrow}`}
      onSubmit={(event) => {
        event.preventDefault();
        onSubmit(draft);
      }}
    >
      <Field label="Name">
        {(props) => (
          <input
            {...props}
            maxLength={NAME_CHARACTERS}
            value={draft.name}
            onChange={({ target }) => change({ name: target.value })}
          />
        )}
      </Field>
      <Field label="Evaluator">
        {(props) => (
          <select
            {...props}
            value={evaluator?.id ?? ''}
            onChange={({ target }) => change({ evaluatorId: target.value, mappings: {} })}
          >
            <option value="">Choose…</option>
            {evaluators.map(({ id, name, slug }) => (
              <option key={id} value={id}>
                {nameControls(name ?? slug)}
              </option>
            ))}
          </select>
        )}
      </Field>
      <Field label="Runs" hint={MODES.find(([mode]) => mode === draft.executionMode)?.[2]}>
        {(props) => (
          <select
            {...props}
            value={draft.executionMode}
            onChange={({ target }) => change({ executionMode: Number(target.value) })}
          >
            {MODES.map(([mode, label]) => (
              <option key={mode} value={mode}>
                {label}
              </option>
            ))}
          </select>
        )}
      </Field>
      <Field label="Share of traces, in percent" hint="The same traces are chosen however often they are sent.">
        {(props) => (
          <input
            {...props}
            type="number"
            min={0}
            max={100}
            step="any"
            value={draft.percent}
            onChange={({ target }) => change({ percent: target.value })}
          />
        )}
      </Field>
      <ConditionFields conditions={draft.conditions} onChange={(conditions) => change({ conditions })} />
      <MappingFields
        fields={evaluator?.fields ?? []}
        mappings={draft.mappings}
        onChange={(mappings) => change({ mappings })}
      />
      {(error ?? found.error) != null && <FailureNotice error={error ?? found.error} />}
      <div>
        <Button type="submit" variant="primary" disabled={pending || !isComplete(draft)}>
          {action}
        </Button>
      </div>
    </form>
  );
}
