/** The form of a monitor: evaluator, mode, sample, preconditions and mappings. */

import { useQuery } from '@connectrpc/connect-query';
import { EvaluatorService, EvaluatorType } from '../../../gen/spandrel/v1/evaluators_pb.js';
import { type Call, FORM_CARD, Form, SelectField, TextField, useDraft } from '../design/form.tsx';
import { nameControls } from '../design/format.ts';
import { ConditionFields } from './condition-fields.tsx';
import { isComplete, type MonitorDraft } from './draft.ts';
import { MappingFields } from './mapping-fields.tsx';
import { MODES } from './monitor-enums.ts';

const NAME_CHARACTERS = 255;

type MonitorFormProps = {
  readonly start: MonitorDraft;
  readonly action: string;
  readonly call: Call;
  readonly onSubmit: (draft: MonitorDraft) => void;
};

export function MonitorForm({ start, action, call, onSubmit }: MonitorFormProps) {
  const [draft, change] = useDraft(start);
  const found = useQuery(EvaluatorService.method.listEvaluators);
  const evaluators =
    found.data?.evaluators.filter(({ evaluatorType }) => evaluatorType === EvaluatorType.EVALUATOR) ?? [];
  const evaluator = evaluators.find(({ id, slug }) => draft.evaluatorId === id || draft.evaluatorId === slug);
  return (
    <Form
      className={FORM_CARD}
      action={action}
      disabled={call.isPending || !isComplete(draft)}
      error={call.error ?? found.error}
      onSubmit={() => onSubmit(draft)}
    >
      <TextField
        label="Name"
        maxLength={NAME_CHARACTERS}
        value={draft.name}
        onChange={(text) => change({ name: text })}
      />
      <SelectField
        label="Evaluator"
        value={evaluator?.id ?? ''}
        options={[
          ['', 'Choose…'],
          ...evaluators.map(({ id, name, slug }) => [id, nameControls(name ?? slug)] as const),
        ]}
        onChange={(chosen) => change({ evaluatorId: chosen, mappings: {} })}
      />
      <SelectField
        label="Runs"
        hint={MODES.find(([mode]) => mode === draft.executionMode)?.[2]}
        value={draft.executionMode}
        options={MODES}
        onChange={(chosen) => change({ executionMode: chosen })}
      />
      <TextField
        label="Sample of traces, in percent"
        hint="The sample is stable: a trace that is sent again is chosen again or not at all."
        type="number"
        min={0}
        max={100}
        step="any"
        value={draft.percent}
        onChange={(text) => change({ percent: text })}
      />
      <ConditionFields conditions={draft.conditions} onChange={(conditions) => change({ conditions })} />
      <MappingFields
        fields={evaluator?.fields ?? []}
        mappings={draft.mappings}
        onChange={(mappings) => change({ mappings })}
      />
    </Form>
  );
}
