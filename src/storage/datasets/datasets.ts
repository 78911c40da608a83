/** Stores datasets. */

import type { DatasetStore } from '../../domain/datasets/dataset.ts';
import type { QueryRunner, Transact } from '../queries.ts';
import { findByIdOrSlug, hasRoom, insertUnlessTaken, type Verbs } from '../slugs.ts';

export function createDatasetStore(
  { queries: { datasets }, runQuery }: QueryRunner,
  { insertDataset, appendDataset, removeDataset }: DatasetWriter,
): DatasetStore {
  return {
    find: (projectId, idOrSlug) => findByIdOrSlug({ queries: datasets, runQuery }, projectId, idOrSlug),
    list: (projectId, limit) => runQuery(datasets.listNewest, { projectId, limit }),
    versions: ({ projectId, id }, version) => runQuery(datasets.listParts, { projectId, datasetId: id, version }),
    insert: insertDataset,
    append: appendDataset,
    remove: removeDataset,
  };
}

type DatasetWriter = Verbs<DatasetStore, 'insert' | 'append' | 'remove', 'Dataset'>;

export function createDatasetWriter(transact: Transact): DatasetWriter {
  return {
    insertDataset: (dataset, first, liveMax) =>
      transact(async (tx) => {
        const { datasets } = tx.queries;
        const { id, projectId } = dataset;
        if (!(await hasRoom(tx, datasets, { projectId, liveMax }))) return 'limit_reached';
        const outcome = await insertUnlessTaken(
          tx,
          { queries: datasets, kind: 'a dataset' },
          { ...dataset, deletedAtMs: null },
        );
        if (outcome === 'stored') await tx.change(datasets.insertPart, { ...first, projectId, datasetId: id });
        return outcome;
      }),
    appendDataset: ({ name: _name, slug: _slug, createdAtMs: _createdAtMs, ...grown }, next) =>
      transact(async ({ change, queries: { datasets } }) => {
        const { projectId, id } = grown;
        const knownVersion = next.version - 1;
        if ((await change(datasets.growDataset, { ...grown, knownVersion })) === 0) return 'stale';
        await change(datasets.insertPart, { ...next, projectId, datasetId: id });
        return 'stored';
      }),
    removeDataset: (projectId, id, nowMs) =>
      transact(async ({ change, queries: { datasets } }) => {
        if ((await change(datasets.hide, { projectId, id, deletedAtMs: nowMs })) === 0) return false;
        await change(datasets.removeParts, { projectId, datasetId: id });
        return true;
      }),
  };
}
