/** The datasets of a project, and the form for a new one. */

import { useQuery } from '@connectrpc/connect-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useState } from 'react';
import { DatasetService } from '../../../gen/spandrel/v1/datasets_pb.js';
import { Button, Field, Loading } from '../design/button.tsx';
import { Modal } from '../design/confirm.tsx';
import { FailureNotice } from '../design/failure.tsx';
import { formatCount, nameControls } from '../design/format.ts';
import { Instant } from '../design/instant.tsx';
import page from '../design/page.module.css';
import { Table } from '../design/table.tsx';
import { useRefresh } from '../session/refresh.ts';
import { useSession } from '../session/session.tsx';
import { EntrySource, NO_ENTRIES } from './entry-source.tsx';
import { UploadState, useUpload } from './upload.tsx';

const route = getRouteApi('/$slug/datasets');
const NAME_CHARACTERS = 255;

export function DatasetListPage() {
  const { slug } = route.useParams();
  const { may } = useSession();
  const [isMaking, setMaking] = useState(false);
  const found = useQuery(DatasetService.method.listDatasets);
  return (
    <div className={page.page}>
      <div className={page.head}>
        <div>
          <h1>Datasets</h1>
          <p className={page.sub}>Lists of entries to run an application on. Each addition makes a new version.</p>
        </div>
        {may('datasets:create') && (
          <Button variant="primary" onClick={() => setMaking(true)}>
            New dataset
          </Button>
        )}
      </div>
      {found.isPending && <Loading />}
      {found.isError && <FailureNotice error={found.error} retry={found.refetch} />}
      {found.data?.data.length === 0 && (
        <div className={`${page.card} ${page.empty}`}>
          <h2>No dataset yet</h2>
          <p>
            An entry is a JSON object, by convention with input, expected_output and metadata. Upload a CSV file or
            lines of JSON, and read them in an experiment by the slug of the dataset.
          </p>
        </div>
      )}
      {found.data && found.data.data.length > 0 && (
        <div className={`${page.card} ${page.scroll}`}>
          <Table columns={['Name', 'Slug', { number: 'Entries' }, { number: 'Version' }, 'Changed']}>
            {found.data.data.map((dataset) => (
              <tr key={dataset.id}>
                <td>
                  <Link to="/$slug/datasets/$datasetId" params={{ slug, datasetId: dataset.id }}>
                    {nameControls(dataset.name)}
                  </Link>
                </td>
                <td className={page.mono}>{nameControls(dataset.slug)}</td>
                <td className={page.number}>{formatCount(dataset.entryCount)}</td>
                <td className={page.number}>{dataset.version}</td>
                <td className={page.nowrap}>
                  <Instant at={dataset.updatedAt} />
                </td>
              </tr>
            ))}{' '}
          </Table>
        </div>
      )}
      <Modal open={isMaking} onClose={() => setMaking(false)} title="New dataset">
        <NewDataset onClose={() => setMaking(false)} />
      </Modal>
    </div>
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
  const { upload, mutation } = useUpload(open);
  // If a later batch fails, the dataset exists with the earlier batches.
  const made = mutation.isError ? (upload?.datasetId ?? null) : null;
  return (
    <form
      className={page.form}
      onSubmit={(event) => {
        event.preventDefault();
        mutation.mutate({ target: { name: name.trim() }, source });
      }}
    >
      <Field label="Name">
        {(props) => (
          <input {...props} maxLength={NAME_CHARACTERS} value={name} onChange={({ target }) => setName(target.value)} />
        )}
      </Field>
      <EntrySource source={source} onChange={setSource} />
      <UploadState upload={upload} error={mutation.error} />
      <div className={page.row}>
        {made === null ? (
          <Button type="submit" variant="primary" disabled={mutation.isPending || name.trim() === ''}>
            Create the dataset
          </Button>
        ) : (
          <Button variant="primary" onClick={() => void open(made)}>
            Open what is there
          </Button>
        )}
        <Button onClick={onClose}>Cancel</Button>
      </div>
    </form>
  );
}
