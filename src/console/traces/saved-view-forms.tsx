/** Saves, renames and deletes a view of the list. */

import type { DescMessage, DescMethodUnary, MessageShape } from '@bufbuild/protobuf';
import { createConnectQueryKey, useMutation } from '@connectrpc/connect-query';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { type SavedView, SavedViewService, SavedViewVisibility } from '../../../gen/spandrel/v1/saved_views_pb.js';
import { Button } from '../design/button.tsx';
import { FailureNotice } from '../design/failure.tsx';
import { Form, SelectField, TextField } from '../design/form.tsx';
import { nameControls } from '../design/format.ts';
import page from '../design/page.module.css';
import { useSession } from '../session/session.tsx';
import styles from './saved-views.module.css';

const { PROJECT, PERSONAL } = SavedViewVisibility;
const NAME_CHARACTERS = 128;

/** A call that changes views, which are then read again; the traces of the list are not. */
export function useViewChange<I extends DescMessage, O extends DescMessage>(
  method: DescMethodUnary<I, O>,
  onDone?: (answer: MessageShape<O>) => void,
) {
  const client = useQueryClient();
  const queryKey = createConnectQueryKey({ schema: SavedViewService, cardinality: undefined });
  return useMutation(method, {
    async onSuccess(answer) {
      await client.invalidateQueries({ queryKey });
      onDone?.(answer);
    },
  });
}

type SaveFormProps = {
  readonly now: string;
  readonly onCancel: () => void;
  readonly onSaved: (view: SavedView) => void;
};

export function SaveForm({ now, onCancel, onSaved }: SaveFormProps) {
  const { may, account } = useSession();
  const [name, setName] = useState('');
  const options = [
    ...(account.isOfProject ? [] : ([[PERSONAL, 'Only you']] as const)),
    ...(may('traces:update') ? ([[PROJECT, 'Everyone in the project']] as const) : []),
  ];
  const [visibility, setVisibility] = useState<SavedViewVisibility>(options[0]?.[0] ?? PERSONAL);
  const create = useViewChange(
    SavedViewService.method.createSavedView,
    ({ savedView }) => savedView && onSaved(savedView),
  );
  return (
    <Form
      className={styles.form}
      action="Save view"
      disabled={create.isPending || name.trim() === ''}
      error={create.error}
      onSubmit={() => create.mutate({ name: name.trim(), search: now, visibility })}
      onCancel={onCancel}
    >
      <TextField label="Name" field="name" autoFocus maxLength={NAME_CHARACTERS} value={name} onChange={setName} />
      <SelectField label="Seen by" field="visibility" value={visibility} options={options} onChange={setVisibility} />
    </Form>
  );
}

export function RenameForm({ view, onEnd }: { readonly view: SavedView; readonly onEnd: () => void }) {
  const [name, setName] = useState(view.name ?? '');
  const rename = useViewChange(SavedViewService.method.updateSavedView, onEnd);
  return (
    <Form
      className={styles.form}
      action="Rename"
      disabled={rename.isPending || name.trim() === ''}
      error={rename.error}
      onSubmit={() => rename.mutate({ savedViewId: view.id, savedView: { name: name.trim() } })}
      onCancel={onEnd}
    >
      <TextField label="Name" field="name" autoFocus maxLength={NAME_CHARACTERS} value={name} onChange={setName} />
    </Form>
  );
}

type DeleteViewProps = {
  readonly view: SavedView;
  readonly onCancel: () => void;
  readonly onDeleted: () => void;
};

export function DeleteView({ view, onCancel, onDeleted }: DeleteViewProps) {
  // Reading it once more would find nothing.
  const remove = useMutation(SavedViewService.method.deleteSavedView, { onSuccess: onDeleted });
  return (
    <div className={styles.form}>
      <p>
        Delete the view <strong>{nameControls(view.name ?? '')}</strong>?
        {view.visibility === PROJECT && ' Everyone in the project loses it.'} No trace goes.
      </p>
      {remove.isError && <FailureNotice error={remove.error} />}
      <div className={page.row}>
        <Button variant="destroy" disabled={remove.isPending} onClick={() => remove.mutate({ savedViewId: view.id })}>
          Delete the view
        </Button>
        <Button onClick={onCancel}>Cancel</Button>
      </div>
    </div>
  );
}
