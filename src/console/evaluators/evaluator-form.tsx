/** The name of an evaluator and its settings. */

import { useState } from 'react';
import type { EvaluatorTypeInfo } from '../../../gen/spandrel/v1/evaluations_pb.js';
import { Button, Field } from '../design/button.tsx';
import { FailureNotice } from '../design/failure.tsx';
import page from '../design/page.module.css';
import { SettingField } from './setting-field.tsx';
import { type EvaluatorConfig, readSchemas, type Settings, settingsToSend } from './settings.ts';

const NAME_CHARACTERS = 255;

type EvaluatorDraft = Omit<EvaluatorConfig, 'evaluatorType'> & { readonly name: string };

type EvaluatorFormProps = {
  readonly type: EvaluatorTypeInfo;
  readonly start: EvaluatorDraft;
  readonly action: string;
  readonly pending: boolean;
  readonly error: unknown;
  readonly onSubmit: (draft: EvaluatorDraft) => void;
};

export function EvaluatorForm({ type, start, action, pending, error, onSubmit }: EvaluatorFormProps) {
  const [draft, setDraft] = useState(start);
  const change = (part: Partial<EvaluatorDraft>) => setDraft({ ...draft, ...part });
  const set = (key: string, value: Settings[string]) => change({ settings: { ...draft.settings, [key]: value } });
  const schemas = readSchemas(type.settingsJsonSchemaJson);
  return (
    <form
      className={`${page.card} ${page.padded} ${page.narrow}`}
      onSubmit={(event) => {
        event.preventDefault();
        const settings = settingsToSend(type.settingsJsonSchemaJson, draft.settings);
        onSubmit({ ...draft, name: draft.name.trim(), settings });
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
        <Field label="When it fails as a guardrail">
          {(props) => (
            <select
              {...props}
              value={draft.onError}
              onChange={({ target }) => change({ onError: target.value === 'block' ? 'block' : 'pass' })}
            >
              <option value="pass">Let pass</option>
              <option value="block">Block</option>
            </select>
          )}
        </Field>
      )}
      {error != null && <FailureNotice error={error} />}
      <div>
        <Button type="submit" variant="primary" disabled={pending || draft.name.trim() === ''}>
          {action}
        </Button>
      </div>
    </form>
  );
}
