/** The editor of a prompt: its messages and settings, beside what a model makes of them. */

import { useState } from 'react';
import { type Prompt, PromptMessageRole, PromptService } from '../../../gen/spandrel/v1/prompts_pb.js';
import { Button } from '../design/button.tsx';
import { readFailure } from '../design/failure.tsx';
import { AreaField, Form, Select, TextField } from '../design/form.tsx';
import page from '../design/page.module.css';
import { useChange, useRefresh } from '../session/refresh.ts';
import { type DraftMessage, type PromptDraft, problemOf, ROLES, roleName, toContent, toDraft } from './draft.ts';
import { type KeptDraft, useKeptDraft } from './kept-draft.ts';
import styles from './prompts.module.css';
import { TryOut } from './try-out.tsx';

const TEXT_CHARACTERS = 16_384;
const CONFLICT = 'revision_mismatch';

type EditorProps = {
  readonly slug: string;
  readonly prompt: Prompt;
  readonly mayChange: boolean;
  /** Shows what others have changed. */
  readonly onCompare: (from: string, to: string) => void;
};

export function Editor({ slug, prompt, mayChange, onCompare }: EditorProps) {
  const kept = useKeptDraft(prompt.id, { base: prompt.version, draft: toDraft(prompt) });
  const [message, setMessage] = useState('');
  const [saved, setSaved] = useState<number | null>(null);
  const refresh = useRefresh();
  const update = useChange(PromptService.method.updatePrompt, (answer) => {
    kept.discard();
    setMessage('');
    setSaved(answer.prompt?.version ?? null);
  });
  const { draft, base, isChanged } = kept;
  const problem = problemOf(draft);
  const change = (part: Partial<PromptDraft>) => {
    setSaved(null);
    kept.change(part);
  };
  const save = () => {
    const content = { ...toContent(draft), commitMessage: message.trim() };
    // What others saved meanwhile is shown.
    const onError = (error: unknown) => void (isConflict(error) && refresh());
    update.mutate({ id: prompt.id, expectedVersion: base, draft: content }, { onError });
  };
  return (
    <div className={styles.columns}>
      <Form
        className={`${page.card} ${page.padded}`}
        action={mayChange ? `Save as version ${prompt.version + 1}` : null}
        disabled={update.isPending || !isChanged || problem !== null || message.trim() === '' || base < prompt.version}
        error={isConflict(update.error) ? null : update.error}
        outcome={outcomeOf({ saved, problem, isChanged, message })}
        onSubmit={save}
      >
        {isChanged && <Changed kept={kept} newest={prompt.version} onCompare={onCompare} />}
        <fieldset className={styles.fields} disabled={!mayChange}>
          <Messages draft={draft} change={change} />
          <Settings draft={draft} change={change} />
          {mayChange && (
            <TextField
              label="What changes"
              field="commitMessage"
              hint="Required: the list of versions shows it."
              maxLength={TEXT_CHARACTERS}
              value={message}
              onChange={setMessage}
            />
          )}
        </fieldset>
      </Form>
      <TryOut
        slug={slug}
        prompt={prompt}
        draft={draft}
        isChanged={isChanged}
        problem={problem}
        onTypes={mayChange ? (types) => change({ types }) : null}
      />
    </div>
  );
}

function isConflict(error: unknown): boolean {
  return error != null && readFailure(error).code === CONFLICT;
}

type Outcome = {
  readonly saved: number | null;
  readonly problem: string | null;
  readonly isChanged: boolean;
  readonly message: string;
};

function outcomeOf({ saved, problem, isChanged, message }: Outcome): string | undefined {
  if (saved !== null) return `Saved as version ${saved}.`;
  if (!isChanged) return undefined;
  return problem ?? (message.trim() === '' ? 'Say what changes, then save.' : undefined);
}

type ChangedProps = {
  readonly kept: KeptDraft;
  readonly newest: number;
  readonly onCompare: EditorProps['onCompare'];
};

/** Text that is not saved, and what somebody else has saved since it was begun. */
function Changed({ kept, newest, onCompare }: ChangedProps) {
  const { base, rebase, discard } = kept;
  const isBehind = base < newest;
  return (
    <div className={page.row} role="status">
      {isBehind ? (
        <span className={page.warned}>
          Version {newest} was saved meanwhile; your text began from version {base}.
        </span>
      ) : (
        <span className={page.soft}>Not saved yet. This tab keeps your text until you save or discard it.</span>
      )}
      {isBehind && (
        <>
          <Button small onClick={() => onCompare(String(base), String(newest))}>
            What they changed
          </Button>
          <Button small onClick={() => rebase(newest)}>
            Keep mine
          </Button>
        </>
      )}
      <Button small onClick={discard}>
        Discard my text
      </Button>
    </div>
  );
}

type PartProps = { readonly draft: PromptDraft; readonly change: (part: Partial<PromptDraft>) => void };

function Messages({ draft, change }: PartProps) {
  const { messages } = draft;
  const set = (key: number, part: Partial<DraftMessage>) =>
    change({ messages: messages.map((each) => (each.key === key ? { ...each, ...part } : each)) });
  const add = () => {
    const key = 1 + Math.max(-1, ...messages.map((each) => each.key));
    const role =
      messages.at(-1)?.role === PromptMessageRole.USER ? PromptMessageRole.ASSISTANT : PromptMessageRole.USER;
    change({ messages: [...messages, { key, role, content: '' }] });
  };
  return (
    <>
      <AreaField
        label="System message"
        field="prompt"
        rows={6}
        maxLength={TEXT_CHARACTERS}
        value={draft.system}
        onChange={(system) => change({ system })}
      />
      {messages.map((message, index) => (
        <div key={message.key} className={styles.message}>
          <AreaField
            label={`Message ${index + 1}, ${roleName(message).toLowerCase()}`}
            field={`messages.${index}.content`}
            rows={4}
            maxLength={TEXT_CHARACTERS}
            value={message.content}
            onChange={(content) => set(message.key, { content })}
          />
          <div className={page.row}>
            <Select
              aria-label={`Speaker of message ${index + 1}`}
              value={message.role}
              options={ROLES}
              onChange={(role) => set(message.key, { role })}
            />
            <Button small onClick={() => change({ messages: messages.filter(({ key }) => key !== message.key) })}>
              Remove message {index + 1}
            </Button>
          </div>
        </div>
      ))}
      <div>
        <Button onClick={add}>Add a message</Button>
      </div>
    </>
  );
}

function Settings({ draft, change }: PartProps) {
  return (
    <>
      <TextField
        label="Model"
        field="model"
        maxLength={255}
        spellCheck={false}
        value={draft.model}
        onChange={(model) => change({ model })}
      />
      <div className={styles.pair}>
        <TextField
          label="Temperature"
          field="temperature"
          hint="Empty: that of the model."
          inputMode="decimal"
          value={draft.temperature}
          onChange={(temperature) => change({ temperature })}
        />
        <TextField
          label="Max tokens"
          field="maxTokens"
          hint="Empty: no limit of the prompt."
          inputMode="numeric"
          value={draft.maxTokens}
          onChange={(maxTokens) => change({ maxTokens })}
        />
      </div>
      <AreaField
        label="Parameters"
        field="parameters"
        hint="For the application: a JSON object."
        rows={3}
        spellCheck={false}
        value={draft.parameters}
        onChange={(parameters) => change({ parameters })}
      />
    </>
  );
}
