/** Values for the variables of a prompt, and what a model answers. */

import { useMutation } from '@connectrpc/connect-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import {
  type Prompt,
  PromptInputType,
  PromptService,
  type TryPromptResponse,
} from '../../../gen/spandrel/v1/prompts_pb.js';
import { Badge, Button } from '../design/button.tsx';
import { Facts } from '../design/facts.tsx';
import { FailureNotice } from '../design/failure.tsx';
import { AreaField, Form, Select, SelectField } from '../design/form.tsx';
import { formatCost, formatCount, formatDuration, nameControls } from '../design/format.ts';
import page from '../design/page.module.css';
import {
  isJsonType,
  type PromptDraft,
  TYPES,
  toContent,
  toVariables,
  type Values,
  type Variable,
  variablesOf,
} from './draft.ts';
import { useGatewayKey } from './gateway-key.tsx';
import styles from './prompts.module.css';

type TryOutProps = {
  readonly slug: string;
  readonly prompt: Prompt;
  readonly draft: PromptDraft;
  /** Whether the draft is of no stored version. */
  readonly isChanged: boolean;
  /** What is wrong with the draft; null: nothing. */
  readonly problem: string | null;
  /** Null: the reader changes nothing. */
  readonly onTypes: ((types: PromptDraft['types']) => void) | null;
};

export function TryOut({ slug, prompt, draft, isChanged, problem, onTypes }: TryOutProps) {
  const [values, setValues] = useState<Values>({});
  const key = useGatewayKey();
  const run = useMutation(PromptService.method.tryPrompt);
  const variables = variablesOf(draft);
  const sent = toVariables(variables, values);
  const wrong = problem ?? (typeof sent === 'string' ? sent : null);
  const submit = () => {
    if (key.id === null || typeof sent === 'string') return;
    const content = isChanged ? { draft: toContent(draft) } : { version: prompt.version };
    run.mutate({ id: prompt.id, virtualKeyId: key.id, variablesJson: sent.json, ...content });
  };
  return (
    <section className={`${page.card} ${page.padded}`}>
      <h2>Try it</h2>
      <Form
        action={key.id === null ? null : run.isPending ? 'Asking…' : 'Try it'}
        disabled={run.isPending || wrong !== null}
        outcome={wrong ?? undefined}
        onSubmit={submit}
      >
        {variables.length === 0 && <p className={page.soft}>The texts have no variables: {'{{name}}'} makes one.</p>}
        {variables.map((variable) => (
          <VariableFields
            key={variable.name}
            variable={variable}
            value={values[variable.name] ?? ''}
            onValue={(value) => setValues({ ...values, [variable.name]: value })}
            onType={onTypes && ((type) => onTypes({ ...draft.types, [variable.name]: type }))}
            onRemove={onTypes && (() => onTypes(without(draft.types, variable.name)))}
          />
        ))}
        {key.field}
      </Form>
      <div role="status" className={styles.outcome}>
        {run.isError && <FailureNotice error={run.error} />}
        {run.data && <Answer slug={slug} tried={run.data} />}
      </div>
    </section>
  );
}

function without(types: PromptDraft['types'], name: string): PromptDraft['types'] {
  return Object.fromEntries(Object.entries(types).filter(([each]) => each !== name));
}

type VariableFieldsProps = {
  readonly variable: Variable;
  readonly value: string;
  readonly onValue: (value: string) => void;
  readonly onType: ((type: PromptInputType) => void) | null;
  readonly onRemove: (() => void) | null;
};

const TRUTHS = [
  ['', 'not set'],
  ['true', 'true'],
  ['false', 'false'],
] as const;

function VariableFields({ variable, value, onValue, onType, onRemove }: VariableFieldsProps) {
  const { name, type, isUsed } = variable;
  const hint = isUsed ? (isJsonType(type) ? 'JSON' : undefined) : 'No text uses it.';
  return (
    <div className={styles.variable}>
      {type === PromptInputType.BOOL ? (
        <SelectField label={name} hint={hint} value={value} options={TRUTHS} onChange={onValue} />
      ) : (
        <AreaField label={name} hint={hint} rows={2} value={value} onChange={onValue} />
      )}
      {onType && <Select aria-label={`Type of ${name}`} value={type} options={TYPES} onChange={onType} />}
      {onRemove && !isUsed && (
        <Button small onClick={onRemove}>
          Remove {name}
        </Button>
      )}
    </div>
  );
}

function Answer({ slug, tried }: { readonly slug: string; readonly tried: TryPromptResponse }) {
  const { output, error, traceId } = tried;
  return (
    <>
      {error && (
        <div className={page.row}>
          <Badge tone="bad">{nameControls(error.code)}</Badge>
          <span>{nameControls(error.message)}</span>
        </div>
      )}
      {output !== undefined && <p className={`${page.prose} ${styles.answer}`}>{nameControls(output)}</p>}
      <Facts
        facts={[
          ['Model', tried.model !== undefined && nameControls(tried.model)],
          ['Tokens in', tried.inputTokens !== undefined && formatCount(tried.inputTokens)],
          ['Tokens out', tried.outputTokens !== undefined && formatCount(tried.outputTokens)],
          ['Cost', tried.inputTokens !== undefined && formatCost(tried.cost)],
          ['Duration', formatDuration(tried.durationMs)],
        ]}
      />
      {traceId !== undefined && (
        <Link to="/$slug/traces/$traceId" params={{ slug, traceId }}>
          Open the trace
        </Link>
      )}
    </>
  );
}
