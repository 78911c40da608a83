/** The form of a model provider. Its API key is only written: no answer of the server has it. */

import type { ModelProviderKind } from '../../../gen/spandrel/v1/model_providers_pb.js';
import { AreaField, type Call, Check, FORM_CARD, Form, SelectField, TextField, useDraft } from '../design/form.tsx';
import page from '../design/page.module.css';
import { ProjectChoice } from '../organization/project-choice.tsx';
import { hasDefaultUrl, isAzure, KINDS, needsKey, type ProviderDraft, providerProblems } from './provider-draft.ts';

const NAME_CHARACTERS = 128;

type ProviderFormProps = {
  readonly start: ProviderDraft;
  /** Of a stored provider; null for a new one. */
  readonly stored: { readonly keyHint: string | undefined } | null;
  readonly action: string;
  readonly call: Call;
  readonly outcome?: string | false;
  /** `onDone` empties what is sent only once. */
  readonly onSubmit: (draft: ProviderDraft, onDone: () => void) => void;
};

export function ProviderForm({ start, stored, action, call, outcome, onSubmit }: ProviderFormProps) {
  const [draft, change] = useDraft(start);
  const { kind } = draft;
  const problems = providerProblems(draft);
  const lacksKey = stored === null && needsKey(kind) && draft.apiKey.trim() === '';
  const lacksUrl = !hasDefaultUrl(kind) && draft.baseUrl.trim() === '';
  return (
    <Form
      className={FORM_CARD}
      action={action}
      disabled={call.isPending || draft.name.trim() === '' || lacksKey || lacksUrl || problems.length > 0}
      error={call.error}
      problems={problems}
      outcome={outcome}
      onSubmit={() => onSubmit(draft, () => change({ apiKey: '', forgetsKey: false }))}
    >
      {stored === null && (
        <SelectField
          label="Kind"
          hint="The API the provider offers. It cannot be changed later."
          field="kind"
          value={kind}
          options={KINDS}
          onChange={(chosen) => change({ kind: chosen })}
        />
      )}
      <TextField
        label="Name"
        field="name"
        maxLength={NAME_CHARACTERS}
        value={draft.name}
        onChange={(name) => change({ name })}
      />
      <TextField
        label={hasDefaultUrl(kind) ? 'Base URL (optional)' : 'Base URL'}
        hint="Paths such as /chat/completions are appended to it. It must use https and a public address, unless the server allows others."
        field="base_url"
        inputMode="url"
        spellCheck={false}
        placeholder={urlOf(kind)}
        value={draft.baseUrl}
        onChange={(baseUrl) => change({ baseUrl })}
      />
      <TextField
        label={needsKey(kind) ? 'API key' : 'API key (optional)'}
        hint={keyHintOf(stored)}
        field="api_key"
        type="password"
        autoComplete="off"
        spellCheck={false}
        disabled={draft.forgetsKey}
        value={draft.apiKey}
        onChange={(apiKey) => change({ apiKey })}
      />
      {stored !== null && !needsKey(kind) && (
        <Check checked={draft.forgetsKey} onChange={(forgetsKey) => change({ forgetsKey, apiKey: '' })}>
          Remove the stored API key
        </Check>
      )}
      {isAzure(kind) && (
        <TextField
          label="API version"
          hint="Sent as the api-version parameter."
          field="api_version"
          spellCheck={false}
          value={draft.apiVersion}
          onChange={(apiVersion) => change({ apiVersion })}
        />
      )}
      <ProjectChoice
        legend="Projects that use it"
        chosen={draft.projectIds}
        onChange={(projectIds) => change({ projectIds })}
      />
      <More draft={draft} onChange={change} />
    </Form>
  );
}

function keyHintOf(stored: ProviderFormProps['stored']): string {
  if (stored === null) return 'Stored encrypted, and never shown again.';
  const known = stored.keyHint === undefined ? '' : `The stored key ends with ${stored.keyHint}. `;
  return `${known}Empty: it stays. A base URL of another origin needs the key again.`;
}

function urlOf(kind: ModelProviderKind): string {
  if (isAzure(kind)) return 'https://my-resource.openai.azure.com/openai';
  return hasDefaultUrl(kind) ? 'that of the kind' : 'https://models.example.com/v1';
}

type MoreProps = { readonly draft: ProviderDraft; readonly onChange: (part: Partial<ProviderDraft>) => void };

function More({ draft, onChange }: MoreProps) {
  return (
    <fieldset className={page.group}>
      <legend>Models and requests</legend>
      <AreaField
        label="Models"
        hint="One per line; * matches any characters. Leave it empty for all."
        field="models"
        rows={2}
        spellCheck={false}
        placeholder="gpt-5*"
        value={draft.models}
        onChange={(models) => onChange({ models })}
      />
      <AreaField
        label="Model aliases"
        hint="One per line, with the provider’s name: name = model."
        field="aliases"
        rows={2}
        spellCheck={false}
        placeholder="fast = gpt-5-mini"
        value={draft.aliases}
        onChange={(aliases) => onChange({ aliases })}
      />
      <AreaField
        label="Additional headers"
        hint="One per line, as Name: text. They can be read back, so keep secrets out of them."
        field="extra_headers"
        rows={2}
        spellCheck={false}
        value={draft.headers}
        onChange={(headers) => onChange({ headers })}
      />
      <TextField
        label="Timeout for the first byte, in milliseconds"
        field="timeout_ms"
        type="number"
        min={1_000}
        max={600_000}
        required
        value={draft.timeoutMs}
        onChange={(timeoutMs) => onChange({ timeoutMs })}
      />
      <Check checked={draft.streamUsage} onChange={(streamUsage) => onChange({ streamUsage })}>
        Request token usage with streamed chats
      </Check>
    </fieldset>
  );
}
