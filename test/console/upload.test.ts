/** Uploads of entries that need several requests. */

import { Code, ConnectError, createClient, createRouterTransport } from '@connectrpc/connect';
import { describe, expect, it } from 'vitest';
import { DatasetService } from '../../gen/spandrel/v1/datasets_pb.js';
import {
  type EntryText,
  partsThere,
  type Target,
  type Upload,
  uploadParts,
} from '../../src/console/datasets/upload-parts.ts';

const LINE = JSON.stringify({ input: 'x'.repeat(299_000) });
/** Three lines fit a part. */
const linesOf = (count: number) => Array.from({ length: count }, (_, index) => LINE.replace('x', String(index % 10)));
const SOURCE: EntryText = { format: 'jsonl', text: linesOf(8).join('\n') };

/** A server with one dataset, which refuses one of the requests. */
function openDatasets(refused: number) {
  const entries: string[] = [];
  const made: string[] = [];
  let requests = 0;
  const add = (jsonl: string | undefined) => {
    requests += 1;
    if (requests === refused) throw new ConnectError('away', Code.Unavailable);
    entries.push(...(jsonl ?? '').split('\n').filter((line) => line !== ''));
  };
  const transport = createRouterTransport(({ service }) => {
    service(DatasetService, {
      createDataset({ name, jsonl }) {
        add(jsonl);
        made.push(name ?? '');
        return { dataset: { id: 'dataset_1' } };
      },
      addDatasetEntries({ jsonl }) {
        add(jsonl);
        return { dataset: { id: 'dataset_1' } };
      },
    });
  });
  let upload: Upload | null = null;
  const client = createClient(DatasetService, transport);
  const onStep = (step: Upload) => {
    upload = step;
  };
  return {
    entries,
    made,
    upload: () => upload,
    send: (target: Target, source: EntryText) => uploadParts({ client, target, source, failed: upload, onStep }),
  };
}

describe('an upload that failed', () => {
  it.each<[string, Target]>([
    ['a dataset that exists', { datasetId: 'dataset_1' }],
    ['a new dataset', { name: 'Greetings' }],
  ])('goes on where it failed, and each entry is in %s once', async (_, target) => {
    const datasets = openDatasets(3);
    await expect(datasets.send(target, SOURCE)).rejects.toThrow('away');
    expect(datasets.upload()).toMatchObject({ done: 2 });
    expect(datasets.entries).toEqual(linesOf(6));
    expect(await datasets.send(target, SOURCE)).toBe('dataset_1');
    expect(datasets.entries).toEqual(linesOf(8));
    expect(datasets.made).toEqual('name' in target ? ['Greetings'] : []);
  });

  it('makes the dataset in the next try if it could not be made', async () => {
    const datasets = openDatasets(1);
    await expect(datasets.send({ name: 'Greetings' }, SOURCE)).rejects.toThrow('away');
    await datasets.send({ name: 'Greetings' }, SOURCE);
    expect([datasets.made, datasets.entries]).toEqual([['Greetings'], linesOf(8)]);
  });

  it('goes on where a part was mended that is not there yet', async () => {
    const datasets = openDatasets(3);
    await expect(datasets.send({ datasetId: 'dataset_1' }, SOURCE)).rejects.toThrow('away');
    const mended = [...linesOf(7), '{"input": "mended"}'];
    await datasets.send({ datasetId: 'dataset_1' }, { format: 'jsonl', text: mended.join('\n') });
    expect(datasets.entries).toEqual(mended);
  });

  it('begins at the beginning with another source, format or dataset', async () => {
    const datasets = openDatasets(3);
    await expect(datasets.send({ datasetId: 'dataset_1' }, SOURCE)).rejects.toThrow('away');
    const failed = datasets.upload();
    expect(partsThere(failed, SOURCE)).toBe(2);
    expect(partsThere(failed, { ...SOURCE, text: `${LINE}\n${SOURCE.text}` })).toBe(0);
    expect(partsThere(failed, { ...SOURCE, format: 'csv' })).toBe(0);
    await datasets.send({ datasetId: 'dataset_2' }, SOURCE);
    expect(datasets.entries).toEqual([...linesOf(6), ...linesOf(8)]);
  });
});
