/** Adds a trace to a dataset, with the output that a reviewer expected. */

import { useQuery } from '@connectrpc/connect-query';
import { useState } from 'react';
import { DatasetService } from '../../../gen/spandrel/v1/datasets_pb.js';
import type { Trace } from '../../../gen/spandrel/v1/traces_pb.js';
import { Button } from '../design/button.tsx';
import { Form, SelectField } from '../design/form.tsx';
import { nameControls } from '../design/format.ts';
import { Pending } from '../design/page.tsx';
import { useChange } from '../session/refresh.ts';

type EntryFormProps = { readonly trace: Trace; readonly expectedOutput: string; readonly onClose: () => void };

export function EntryForm({ trace, expectedOutput, onClose }: EntryFormProps) {
  const [chosen, setChosen] = useState('');
  const found = useQuery(DatasetService.method.listDatasets);
  const add = useChange(DatasetService.method.addDatasetEntries, onClose);
  const datasets = found.data?.data ?? [];
  const slugOrId = chosen === '' ? (datasets[0]?.id ?? '') : chosen;
  if (found.isPending || found.isError) return <Pending found={found} />;
  if (datasets.length === 0) {
    return (
      <>
        <p>There is no dataset yet: make one on the page Datasets.</p>
        <div>
          <Button onClick={onClose}>Close</Button>
        </div>
      </>
    );
  }
  return (
    <Form
      action="Add it"
      disabled={add.isPending}
      error={add.error}
      onSubmit={() => add.mutate({ slugOrId, entriesJson: entryOf(trace, expectedOutput) })}
      onCancel={onClose}
    >
      <p>The entry has the input of the trace, the expected output, its metadata and its id.</p>
      <SelectField
        label="Dataset"
        value={slugOrId}
        options={datasets.map(({ id, name }) => [id, nameControls(name)] as const)}
        onChange={setChosen}
      />
    </Form>
  );
}

function entryOf({ traceId, input, metadataJson }: Trace, expectedOutput: string): string {
  const texts = JSON.stringify({ input: input?.value ?? '', expected_output: expectedOutput }).slice(0, -1);
  // The text of the metadata, so that its numbers stay as they are.
  return `[${texts},"metadata":${metadataJson},"trace_id":${JSON.stringify(traceId)}}]`;
}
