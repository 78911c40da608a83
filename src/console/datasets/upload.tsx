import { createClient, type Transport } from '@connectrpc/connect';
import { useTransport } from '@connectrpc/connect-query';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { DatasetService } from '../../../gen/spandrel/v1/datasets_pb.js';
import { Progress } from '../design/button.tsx';
import { splitIntoBatches, toEntriesField } from './entry-batches.ts';
import type { EntryText } from './entry-source.tsx';

type Upload = {
  /** Null until the dataset is created. */
  readonly datasetId: string | null;
  readonly done: number;
  readonly all: number;
};

type Target = { readonly datasetId: string } | { readonly name: string };
type UploadRequest = { readonly target: Target; readonly source: EntryText; readonly onStep: (upload: Upload) => void };

/** Each batch makes a version. Batches added before a failure stay. */
async function uploadBatches(transport: Transport, { target, source, onStep }: UploadRequest): Promise<string> {
  const client = createClient(DatasetService, transport);
  const isEmpty = source.text.trim() === '';
  const parts = isEmpty ? [] : splitIntoBatches(source.format, source.text);
  let datasetId = 'datasetId' in target ? target.datasetId : null;
  let done = 0;
  onStep({ datasetId, done, all: parts.length });
  if ('name' in target) {
    const [first] = parts;
    const entries = first === undefined ? {} : toEntriesField(source.format, first);
    const { dataset } = await client.createDataset({ name: target.name, ...entries });
    datasetId = dataset?.id ?? '';
    done = first === undefined ? 0 : 1;
    onStep({ datasetId, done, all: parts.length });
  }
  for (const part of parts.slice(done)) {
    await client.addDatasetEntries({ slugOrId: datasetId ?? '', ...toEntriesField(source.format, part) });
    done += 1;
    onStep({ datasetId, done, all: parts.length });
  }
  return datasetId ?? '';
}

/** Uploads entries in as many requests as needed, and reports progress. */
export function useUpload(onDone: (datasetId: string) => unknown) {
  const transport = useTransport();
  const [upload, setUpload] = useState<Upload | null>(null);
  const mutation = useMutation({
    mutationFn: (order: Omit<UploadRequest, 'onStep'>) => uploadBatches(transport, { ...order, onStep: setUpload }),
    onSuccess: onDone,
  });
  return { upload, mutation };
}

type UploadStateProps = { readonly upload: Upload | null; readonly error: unknown };

/** Shows the progress of an upload, and how much of a failed one stays. */
export function UploadState({ upload, error }: UploadStateProps) {
  return (
    <div role="status">
      {upload && upload.all > 1 && (
        <>
          <Progress label="Uploaded parts" done={upload.done} all={upload.all} />
          <p>
            {upload.done} of {upload.all} parts are there
            {error != null && upload.done > 0 && ', and stay'}.
          </p>
        </>
      )}
    </div>
  );
}
