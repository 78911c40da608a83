/** Stores datasets. */

import type { DatasetStore } from '../../domain/datasets/dataset.ts';
import type { QueryRunner, Transact } from '../queries.ts';

export function createDatasetStore(
  { queries: { datasets }, runQuery }: QueryRunner,
  { insertDataset, appendDataset, removeDataset }: DatasetWriter,
): DatasetStore {
  return {
    async find(projectId, idOrSlug) {
      const [found] = await runQuery(datasets.findDataset, { projectId, id: idOrSlug });
      return found ?? (await runQuery(datasets.findDatasetBySlug, { projectId, slug: idOrSlug }))[0] ?? null;
    },
    list: (projectId, limit) => runQuery(datasets.listDatasets, { projectId, limit }),
    versions: ({ projectId, id }, version) => runQuery(datasets.listParts, { projectId, datasetId: id, version }),
    insert: insertDataset,
    append: appendDataset,
    remove: removeDataset,
  };
}

export type DatasetWriter = {
  insertDataset: DatasetStore['insert'];
  appendDataset: DatasetStore['append'];
  removeDataset: DatasetStore['remove'];
};

export function createDatasetWriter(transact: Transact): DatasetWriter {
  return {
    insertDataset: (dataset, first, liveMax) =>
      transact(async ({ runQuery, change, queries: { datasets, evaluators } }) => {
        const { id, projectId, slug } = dataset;
        // Locks the project, so that no other transaction counts its datasets meanwhile.
        await runQuery(evaluators.holdProject, { projectId });
        const [live] = await runQuery(datasets.countDatasets, { projectId });
        if (live === undefined || live.count >= liveMax) return 'limit_reached';
        if ((await change(datasets.insertDataset, { ...dataset, deletedAtMs: null })) > 0) {
          await change(datasets.insertPart, { ...first, projectId, datasetId: id });
          return 'stored';
        }
        const [taken] = await runQuery(datasets.findDatasetBySlug, { projectId, slug });
        if (taken === undefined || taken.id === id) throw new Error('the id of a dataset is taken');
        return 'slug_taken';
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
        if ((await change(datasets.removeDataset, { projectId, id, deletedAtMs: nowMs })) === 0) return false;
        await change(datasets.removeParts, { projectId, datasetId: id });
        return true;
      }),
  };
}
