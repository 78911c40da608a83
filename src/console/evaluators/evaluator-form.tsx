/** The name of an evaluator and its settings. */

import type { EvaluatorTypeInfo } from '../../../gen/spandrel/v1/evaluations_pb.js';
import { type Call, FORM_CARD, Form, SelectField, TextField, useDraft } from '../design/form.tsx';
import { SettingField } from './setting-field.tsx';
import { type EvaluatorConfig, readSchemas, type Settings, settingsToSend } from './settings.ts';

const NAME_CHARACTERS = 255;

type EvaluatorDraft = Omit<EvaluatorConfig, 'evaluatorType'> & { readonly name: string };

type EvaluatorFormProps = {
  readonly type: EvaluatorTypeInfo;
  readonly start: EvaluatorDraft;
  readonly action: string;
  readonly call: Call;
  readonly onSubmit: (draft: EvaluatorDraft) => void;
};

export function EvaluatorForm({ type, start, action, call, onSubmit }: EvaluatorFormProps) {
  const [draft, change] = useDraft(start);
  const set = (key: string, value: Settings[string]) => change({ settings: { ...draft.settings, [key]: value } });
  const schemas = readSchemas(type.settingsJsonSchemaJson);
  return (
    <Form
      className={FORM_CARD}
      action={action}
      disabled={call.isPending || draft.name.trim() === ''}
      error={call.error}
      onSubmit={() => {
        const settings = settingsToSend(type.settingsJsonSchemaJson, draft.settings);
        onSubmit({ ...draft, name: draft.name.trim(), settings });
      }}
    >
      <TextField
        label="Name"
        maxLength={NAME_CHARACTERS}
        value={draft.name}
        onChange={(text) => change({ name: text })}
      />
      {schemas.map(([key, schema]) => (
        <SettingField
          key={key}
          name={key}
          schema={schema}
          value={draft.settings[key]}
          onChange={(value) => set(key, value)}
        />
      ))}
      {type.isGuardrail && (
        <SelectField
          label="When it fails as a guardrail"
          value={draft.onError}
          options={[
            ['pass', 'Let pass'],
            ['block', 'Block'],
          ]}
          onChange={(onError) => change({ onError })}
        />
      )}
    </Form>
  );
}
