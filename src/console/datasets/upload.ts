import { createClient, type Transport } from '@connectrpc/connect';
import { useTransport } from '@connectrpc/connect-query';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { DatasetService } from '../../../gen/spandrel/v1/datasets_pb.js';
import type { Source } from './entry-source.tsx';
import { entriesOf, partsOf } from './parts.ts';

export type Upload = {
  /** Null until the dataset is made. */
  readonly datasetId: string | null;
  readonly done: number;
  readonly all: number;
};

type Target = { readonly datasetId: string } | { readonly name: string };
type Order = { readonly target: Target; readonly source: Source; readonly onStep: (upload: Upload) => void };

/** Each part makes a version of its own; those that were added before a failure stay. */
async function uploadParts(transport: Transport, { target, source, onStep }: Order): Promise<string> {
  const client = createClient(DatasetService, transport);
  const isEmpty = source.text.trim() === '';
  const parts = isEmpty ? [] : partsOf(source.format, source.text);
  let datasetId = 'datasetId' in target ? target.datasetId : null;
  let done = 0;
  onStep({ datasetId, done, all: parts.length });
  if ('name' in target) {
    const [first] = parts;
    const entries = first === undefined ? {} : entriesOf(source.format, first);
    const { dataset } = await client.createDataset({ name: target.name, ...entries });
    datasetId = dataset?.id ?? '';
    done = first === undefined ? 0 : 1;
    onStep({ datasetId, done, all: parts.length });
  }
  for (const part of parts.slice(done)) {
    await client.addDatasetEntries({ slugOrId: datasetId ?? '', ...entriesOf(source.format, part) });
    done += 1;
    onStep({ datasetId, done, all: parts.length });
  }
  return datasetId ?? '';
}

/** Uploads entries in as many requests as they need, and says how far that is. */
export function useUpload(onDone: (datasetId: string) => unknown) {
  const transport = useTransport();
  const [upload, setUpload] = useState<Upload | null>(null);
  const mutation = useMutation({
    mutationFn: (order: Omit<Order, 'onStep'>) => uploadParts(transport, { ...order, onStep: setUpload }),
    onSuccess: onDone,
  });
  return { upload, mutation };
}
