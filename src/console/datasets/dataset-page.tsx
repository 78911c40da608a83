/** One dataset: its versions and its entries, page by page. */

import { useQuery } from '@connectrpc/connect-query';
import { getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';
import { type Dataset, DatasetService } from '../../../gen/spandrel/v1/datasets_pb.js';
import { CopyButton } from '../design/button.tsx';
import { DeleteForGood, ModalButton } from '../design/confirm.tsx';
import { Form, Select } from '../design/form.tsx';
import { formatCount, nameControls } from '../design/format.ts';
import { Instant } from '../design/instant.tsx';
import page from '../design/page.module.css';
import { Back, Page, Pending, PendingPage } from '../design/page.tsx';
import { Tabs } from '../design/tabs.tsx';
import { useRefresh } from '../session/refresh.ts';
import { useSession } from '../session/session.tsx';
import { EntrySource, NO_ENTRIES } from './entry-source.tsx';
import { EntryTable } from './entry-table.tsx';
import { FromTraces } from './from-traces.tsx';
import { UploadState, useUpload } from './upload.tsx';

const route = getRouteApi('/$slug/datasets/$datasetId');

const TABS = [
  ['entries', 'Entries'],
  ['traces', 'Add from traces'],
] as const;

export default function DatasetPage() {
  const { slug, datasetId } = route.useParams();
  const { may } = useSession();
  const { tab = 'entries', version, page: number = 1 } = route.useSearch();
  const navigate = route.useNavigate();
  const found = useQuery(DatasetService.method.getDataset, {
    slugOrId: datasetId,
    ...(version !== undefined && { version }),
  });
  const dataset = found.data?.dataset;
  const back = <Back to="/$slug/datasets" params={{ slug }} label="Datasets" />;
  if (!found.data || !dataset) return <PendingPage back={back} found={found} />;
  return (
    <Page
      back={back}
      title={nameControls(dataset.name)}
      sub={
        <>
          {nameControls(dataset.slug)} · {formatCount(found.data.data.length)} entries · changed{' '}
          <Instant at={dataset.updatedAt} />
        </>
      }
      actions={<Actions dataset={dataset} />}
    >
      <Pending found={found} />
      {may('datasets:update') && may('traces:view') && (
        <Tabs
          label="Parts of the dataset"
          tabs={TABS}
          shown={tab}
          onShow={(name) => void navigate({ search: name === 'entries' ? {} : { tab: name } })}
        />
      )}
      {tab === 'traces' ? (
        <FromTraces dataset={dataset} />
      ) : (
        <>
          <VersionPicker dataset={dataset} />
          <EntryTable
            entries={found.data.data}
            number={number}
            onNumber={(next) => void navigate({ search: (now) => ({ ...now, page: next }) })}
          />
        </>
      )}
    </Page>
  );
}

/** Every addition makes a version, even of one entry, so there can be thousands. */
const VERSIONS_OFFERED = 100;

function VersionPicker({ dataset: { version: newest } }: { readonly dataset: Dataset }) {
  const { version = newest } = route.useSearch();
  const navigate = route.useNavigate();
  if (newest < 2) return null;
  const last = Array.from({ length: Math.min(newest, VERSIONS_OFFERED) }, (_, index) => newest - index);
  const offered = last.includes(version) ? last : [...last, version];
  return (
    // biome-ignore lint/a11y/noLabelWithoutControl: the control is in Select
    <label className={page.row}>
      Version
      <Select
        value={version}
        options={offered.map((each) => [each, `${each}${each === newest ? ', the newest' : ''}`] as const)}
        onChange={(chosen) => void navigate({ search: chosen === newest ? {} : { version: chosen } })}
      />
    </label>
  );
}

function Actions({ dataset }: { readonly dataset: Dataset }) {
  const { slug } = route.useParams();
  const { may } = useSession();
  const navigate = route.useNavigate();
  return (
    <div className={page.row}>
      <CopyButton text={dataset.slug}>Copy slug</CopyButton>
      {may('datasets:update') && (
        <ModalButton label="Add entries">
          {(close) => <AddEntries datasetId={dataset.id} onClose={close} />}
        </ModalButton>
      )}
      {may('datasets:delete') && (
        <DeleteForGood
          label="Delete"
          name={dataset.name}
          method={DatasetService.method.deleteDataset}
          input={{ slugOrId: dataset.id }}
          onDone={() => navigate({ to: '/$slug/datasets', params: { slug } })}
        >
          All of its versions and entries are deleted with it. This cannot be undone.
        </DeleteForGood>
      )}
    </div>
  );
}

function AddEntries({ datasetId, onClose }: { readonly datasetId: string; readonly onClose: () => void }) {
  const [source, setSource] = useState(NO_ENTRIES);
  const refresh = useRefresh();
  const { upload, mutation, goesOn } = useUpload({
    source,
    async onDone() {
      await refresh();
      onClose();
    },
  });
  return (
    <Form
      action={goesOn ? 'Add the rest' : 'Add them'}
      disabled={mutation.isPending || source.text.trim() === ''}
      error={mutation.error}
      onSubmit={() => mutation.mutate({ datasetId })}
      onCancel={onClose}
    >
      <EntrySource source={source} onChange={setSource} />
      <UploadState upload={upload} error={mutation.error} />
    </Form>
  );
}
