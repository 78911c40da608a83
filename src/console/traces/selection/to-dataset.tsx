/** Adds the selected traces to a dataset. */

import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { useMutation } from '@connectrpc/connect-query';
import { DatasetService } from '../../../../gen/spandrel/v1/datasets_pb.js';
import { Added, NEW_DATASET, NoDataset, useDatasetChoice } from '../../datasets/dataset-choice.tsx';
import { Form } from '../../design/form.tsx';
import { formatCount, nameControls } from '../../design/format.ts';
import { Pending } from '../../design/page.tsx';
import { useRefresh } from '../../session/refresh.ts';
import { SELECTED_MAX } from './use-selection.ts';

/** Requests without a start search the last thirty days. */
const EVER = timestampFromMs(0);

type ToDatasetProps = { readonly traceIds: readonly string[]; readonly onClose: () => void };

export function ToDataset({ traceIds, onClose }: ToDatasetProps) {
  const { found, id, name, choose, isComplete, fields } = useDatasetChoice();
  const refresh = useRefresh();
  const create = useMutation(DatasetService.method.createDataset);
  const add = useMutation(DatasetService.method.addTracesToDataset, { onSuccess: refresh });
  if (!found.data) return <Pending found={found} />;
  const submit = async () => {
    // If the addition fails, the next attempt finds the dataset there.
    const slugOrId = id === NEW_DATASET ? (await create.mutateAsync({ name })).dataset?.id : id;
    if (slugOrId == null) return;
    choose(slugOrId);
    await found.refetch();
    add.mutate({ slugOrId, traceIds: [...traceIds], startDate: EVER, limit: SELECTED_MAX });
  };
  const { dataset, added, leftOut } = add.data ?? {};
  if (dataset) {
    return (
      <Added datasetId={dataset.id} onClose={onClose}>
        {formatCount(added)} {added === 1 ? 'entry was' : 'entries were'} added to {nameControls(dataset.name)}
        {leftOut !== undefined && leftOut > 0 && `; ${formatCount(leftOut)} did not fit`}.
      </Added>
    );
  }
  if (id === null) return <NoDataset />;
  return (
    <Form
      action={`Add ${formatCount(traceIds.length)} ${traceIds.length === 1 ? 'trace' : 'traces'}`}
      disabled={create.isPending || add.isPending || !isComplete}
      error={create.error ?? add.error}
      onSubmit={() => void submit().catch(() => undefined)}
      onCancel={onClose}
    >
      {fields}
      <p>
        An entry has the input of a trace as <code>input</code>, its expected output (or else its output) as{' '}
        <code>expected_output</code>, its metadata and its id. They make a new version.
      </p>
    </Form>
  );
}
