/** The tags of a version, and the form that lets a tag name it. */

import { useQuery } from '@connectrpc/connect-query';
import { useState } from 'react';
import { type Prompt, PromptService, type PromptTag } from '../../../gen/spandrel/v1/prompts_pb.js';
import { Badge } from '../design/button.tsx';
import { Form, SelectField, TextField } from '../design/form.tsx';
import { nameControls } from '../design/format.ts';
import page from '../design/page.module.css';
import { Pending } from '../design/page.tsx';
import { useChange } from '../session/refresh.ts';
import { useSession } from '../session/session.tsx';

const LATEST = 'latest';
const MANAGE = 'prompts:manage';

/** `latest` follows the newest version by itself, so it looks otherwise. */
export function TagBadges({ prompt: { tags } }: { readonly prompt: Prompt }) {
  return (
    <span className={page.row}>
      {tags.map(({ name }) => (
        <Badge key={name} tone={name === LATEST ? 'quiet' : 'accent'}>
          {nameControls(name)}
        </Badge>
      ))}
    </span>
  );
}

/** Stands for a tag that does not exist yet. */
const NEW_TAG = '';

type TagFormProps = { readonly version: Prompt; readonly onClose: () => void };

export function TagForm({ version, onClose }: TagFormProps) {
  const { may } = useSession();
  const found = useQuery(PromptService.method.listPromptTags);
  const [chosen, choose] = useState<string | null>(null);
  const [typed, setTyped] = useState('');
  const create = useChange(PromptService.method.createPromptTag);
  const assign = useChange(PromptService.method.assignPromptTag, onClose);
  const tags = found.data?.tags ?? [];
  const name = chosen ?? tags[0]?.name ?? NEW_TAG;
  const tag = tags.find((each) => each.name === name);
  const isLocked = tag?.protected === true && !may(MANAGE);
  const submit = async () => {
    const fresh = typed.trim();
    if (name === NEW_TAG) await create.mutateAsync({ name: fresh });
    assign.mutate({ id: version.id, tag: name === NEW_TAG ? fresh : name, versionId: version.versionId });
  };
  if (!found.data) return <Pending found={found} />;
  return (
    <Form
      action={`Let it name version ${version.version}`}
      disabled={create.isPending || assign.isPending || isLocked || (name === NEW_TAG && typed.trim() === '')}
      error={create.error ?? assign.error}
      onSubmit={() => void submit().catch(() => undefined)}
      onCancel={onClose}
    >
      <SelectField label="Tag" value={name} options={optionsOf(tags, may(MANAGE))} onChange={choose} />
      {name === NEW_TAG && (
        <TextField
          label="Name of the tag"
          field="name"
          hint="A small letter, then small letters, digits, - and _."
          maxLength={128}
          value={typed}
          onChange={setTyped}
        />
      )}
      <p className={page.soft}>
        A tag names one version of the prompt: it leaves the one that it named before. Applications that read the tag
        get this version at once.
      </p>
      {isLocked && (
        <p role="status">
          {nameControls(name)} is protected: to move it you need the permission <code>{MANAGE}</code>.
        </p>
      )}
    </Form>
  );
}

function optionsOf(tags: readonly PromptTag[], mayManage: boolean) {
  const known = tags.map(
    ({ name, protected: isProtected }) =>
      [name, isProtected ? `${nameControls(name)} (protected)` : nameControls(name)] as const,
  );
  return mayManage || known.length === 0 ? [...known, [NEW_TAG, 'A new tag'] as const] : known;
}
