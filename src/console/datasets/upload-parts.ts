/** Sends entries in as many requests as needed. Each makes a version, and what was added before a failure stays. */

import type { Client } from '@connectrpc/connect';
import type { DatasetService } from '../../../gen/spandrel/v1/datasets_pb.js';
import { type Format, splitIntoBatches, toEntriesField } from './entry-batches.ts';

/** Entries as they were chosen or typed. */
export type EntryText = { readonly format: Format; readonly text: string };

export type Upload = {
  /** Null until the dataset is created. */
  readonly datasetId: string | null;
  readonly format: Format;
  readonly parts: readonly string[];
  /** How many of the parts are in the dataset. */
  readonly done: number;
};

export type Target = { readonly datasetId: string } | { readonly name: string };

export type UploadRequest = {
  readonly client: Pick<Client<typeof DatasetService>, 'createDataset' | 'addDatasetEntries'>;
  readonly target: Target;
  readonly source: EntryText;
  /** The one before, which failed. */
  readonly failed: Upload | null;
  readonly onStep: (upload: Upload) => void;
};

/** Returns the id of the dataset. Goes on with a failed upload: the dataset it made is not made again, nor a part sent again. */
export async function uploadParts({ client, target, source, failed, onStep }: UploadRequest): Promise<string> {
  const before = 'datasetId' in target && failed?.datasetId !== target.datasetId ? null : failed;
  const { format } = source;
  const parts = partsOf(source);
  let datasetId = 'datasetId' in target ? target.datasetId : (before?.datasetId ?? null);
  let done = partsThere(before, source);
  const tell = () => onStep({ datasetId, format, parts, done });
  tell();
  if (datasetId === null && 'name' in target) {
    const [first] = parts;
    const entries = first === undefined ? {} : toEntriesField(format, first);
    const { dataset } = await client.createDataset({ name: target.name, ...entries });
    datasetId = dataset?.id ?? '';
    done = first === undefined ? 0 : 1;
    tell();
  }
  for (const part of parts.slice(done)) {
    await client.addDatasetEntries({ slugOrId: datasetId ?? '', ...toEntriesField(format, part) });
    done += 1;
    tell();
  }
  return datasetId ?? '';
}

/**
 * How many parts of a source a failed upload has added: all it had, if the source begins with them. So a source whose later
 * part was mended goes on too, and another one begins at its beginning.
 */
export function partsThere(failed: Upload | null, source: EntryText): number {
  if (failed === null || failed.format !== source.format) return 0;
  const parts = partsOf(source);
  return failed.parts.slice(0, failed.done).every((part, index) => part === parts[index]) ? failed.done : 0;
}

function partsOf({ format, text }: EntryText): readonly string[] {
  return text.trim() === '' ? [] : splitIntoBatches(format, text);
}
