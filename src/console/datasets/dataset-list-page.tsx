/** The datasets of a project, and the form for a new one. */

import { useQuery } from '@connectrpc/connect-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useState } from 'react';
import { DatasetService } from '../../../gen/spandrel/v1/datasets_pb.js';
import { Button } from '../design/button.tsx';
import { ModalButton } from '../design/confirm.tsx';
import dialog from '../design/dialog.module.css';
import { FailureNotice } from '../design/failure.tsx';
import { TextField } from '../design/form.tsx';
import { formatCount, nameControls } from '../design/format.ts';
import { ListPage } from '../design/frame.tsx';
import page from '../design/page.module.css';
import { InstantCell } from '../design/table.tsx';
import { useRefresh } from '../session/refresh.ts';
import { useSession } from '../session/session.tsx';
import { EntrySource, NO_ENTRIES } from './entry-source.tsx';
import { UploadState, useUpload } from './upload.tsx';

const route = getRouteApi('/$slug/datasets');
const NAME_CHARACTERS = 255;

export default function DatasetListPage() {
  const { slug } = route.useParams();
  const { may } = useSession();
  const found = useQuery(DatasetService.method.listDatasets);
  return (
    <ListPage
      title="Datasets"
      sub="Lists of entries to run an application on. Each addition makes a new version."
      actions={
        may('datasets:create') && (
          <ModalButton label="New dataset" variant="primary">
            {(close) => <NewDataset onClose={close} />}
          </ModalButton>
        )
      }
      found={found}
      items={({ data }) => data}
      empty={{
        title: 'No dataset yet',
        text: 'An entry is a JSON object, by convention with input, expected_output and metadata. Upload a CSV file or lines of JSON, and read them in an experiment by the slug of the dataset.',
      }}
      columns={['Name', 'Slug', { number: 'Entries' }, { number: 'Version' }, 'Changed']}
      row={(dataset) => (
        <tr key={dataset.id}>
          <td>
            <Link to="/$slug/datasets/$datasetId" params={{ slug, datasetId: dataset.id }}>
              {nameControls(dataset.name)}
            </Link>
          </td>
          <td className={page.mono}>{nameControls(dataset.slug)}</td>
          <td className={page.number}>{formatCount(dataset.entryCount)}</td>
          <td className={page.number}>{dataset.version}</td>
          <InstantCell at={dataset.updatedAt} />
        </tr>
      )}
    />
  );
}

function NewDataset({ onClose }: { readonly onClose: () => void }) {
  const { slug } = route.useParams();
  const navigate = route.useNavigate();
  const refresh = useRefresh();
  const [name, setName] = useState('');
  const [source, setSource] = useState(NO_ENTRIES);
  const open = async (datasetId: string) => {
    await refresh();
    await navigate({ to: '/$slug/datasets/$datasetId', params: { slug, datasetId }, search: {} });
  };
  // If a later part fails, the dataset exists with the earlier ones.
  const { upload, mutation, goesOn, madeId } = useUpload({ source, onDone: open });
  return (
    <form
      className={page.form}
      onSubmit={(event) => {
        event.preventDefault();
        mutation.mutate({ name: name.trim() });
      }}
    >
      <TextField label="Name" maxLength={NAME_CHARACTERS} value={name} disabled={madeId !== null} onChange={setName} />
      <EntrySource source={source} onChange={setSource} />
      <UploadState upload={upload} error={mutation.error} />
      <div className={dialog.foot}>
        {mutation.error && <FailureNotice error={mutation.error} />}
        <div className={page.row}>
          <Button type="submit" variant="primary" disabled={mutation.isPending || name.trim() === ''}>
            {madeId === null ? 'Create the dataset' : goesOn ? 'Add the rest' : 'Add them'}
          </Button>
          {madeId !== null && (
            <Button disabled={mutation.isPending} onClick={() => void open(madeId)}>
              Open what is there
            </Button>
          )}
          <Button onClick={onClose}>Cancel</Button>
        </div>
      </div>
    </form>
  );
}
