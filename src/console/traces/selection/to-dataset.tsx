/** Adds the selected traces to a dataset. */

import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { useMutation, useQuery } from '@connectrpc/connect-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { DatasetService } from '../../../../gen/spandrel/v1/datasets_pb.js';
import { Button, buttonClass } from '../../design/button.tsx';
import { Form, SelectField, TextField } from '../../design/form.tsx';
import { formatCount, nameControls } from '../../design/format.ts';
import page from '../../design/page.module.css';
import { Pending } from '../../design/page.tsx';
import { useRefresh } from '../../session/refresh.ts';
import { useProject, useSession } from '../../session/session.tsx';
import { SELECTED_MAX } from './use-selection.ts';

/** Stands for a dataset that does not exist yet. */
const NEW = '';
const NAME_CHARACTERS = 255;
/** Requests without a start search the last thirty days. */
const EVER = timestampFromMs(0);

type ToDatasetProps = { readonly traceIds: readonly string[]; readonly onClose: () => void };

export function ToDataset({ traceIds, onClose }: ToDatasetProps) {
  const { slug } = useProject();
  const { may } = useSession();
  const found = useQuery(DatasetService.method.listDatasets);
  const refresh = useRefresh();
  const [chosen, setChosen] = useState<string | null>(null);
  const [name, setName] = useState('');
  const create = useMutation(DatasetService.method.createDataset);
  const add = useMutation(DatasetService.method.addTracesToDataset, { onSuccess: refresh });
  if (!found.data) return <Pending found={found} />;
  const datasets = found.data.data;
  const options = [
    ...datasets.map((dataset) => [dataset.id, nameControls(dataset.name)] as const),
    ...(may('datasets:create') ? ([[NEW, 'A new dataset']] as const) : []),
  ];
  const id = chosen ?? options[0]?.[0];
  const submit = async () => {
    // If the addition fails, the next attempt finds the dataset there.
    const slugOrId = id === NEW ? (await create.mutateAsync({ name: name.trim() })).dataset?.id : id;
    if (slugOrId === undefined) return;
    setChosen(slugOrId);
    await found.refetch();
    add.mutate({ slugOrId, traceIds: [...traceIds], startDate: EVER, limit: SELECTED_MAX });
  };
  const { dataset, added, leftOut } = add.data ?? {};
  if (dataset) {
    return (
      <>
        <p role="status">
          {formatCount(added)} {added === 1 ? 'entry was' : 'entries were'} added to {nameControls(dataset.name)}
          {leftOut !== undefined && leftOut > 0 && `; ${formatCount(leftOut)} did not fit`}.
        </p>
        <div className={page.row}>
          <Link
            className={buttonClass('primary')}
            to="/$slug/datasets/$datasetId"
            params={{ slug, datasetId: dataset.id }}
          >
            Open the dataset
          </Link>
          <Button onClick={onClose}>Close</Button>
        </div>
      </>
    );
  }
  if (id === undefined) return <p>There is no dataset, and you may not create one.</p>;
  const isBusy = create.isPending || add.isPending;
  return (
    <Form
      action={`Add ${formatCount(traceIds.length)} ${traceIds.length === 1 ? 'trace' : 'traces'}`}
      disabled={isBusy || (id === NEW && name.trim() === '')}
      error={create.error ?? add.error}
      onSubmit={() => void submit().catch(() => undefined)}
      onCancel={onClose}
    >
      <SelectField label="Dataset" value={id} options={options} onChange={setChosen} />
      {id === NEW && (
        <TextField label="Name" field="name" maxLength={NAME_CHARACTERS} value={name} onChange={setName} />
      )}
      <p>
        An entry has the input of a trace as <code>input</code>, its expected output (or else its output) as{' '}
        <code>expected_output</code>, its metadata and its id. They make a new version.
      </p>
    </Form>
  );
}
