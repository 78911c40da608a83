/** Datasets. */

import type { DatasetStore } from '../../domain/datasets/dataset.ts';
import type { Managing } from '../management.ts';
import type { Asking } from '../questions.ts';

export function createDatasetStore(
  { questions: { datasets }, ask }: Asking,
  { insertDataset, appendDataset, removeDataset }: DatasetWriter,
): DatasetStore {
  return {
    async find(projectId, idOrSlug) {
      const [found] = await ask(datasets.findDataset, { projectId, id: idOrSlug });
      return found ?? (await ask(datasets.findDatasetBySlug, { projectId, slug: idOrSlug }))[0] ?? null;
    },
    list: (projectId, limit) => ask(datasets.listDatasets, { projectId, limit }),
    parts: ({ projectId, id }, version) => ask(datasets.listParts, { projectId, datasetId: id, version }),
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

export function createDatasetWriter({ transact }: Managing): DatasetWriter {
  return {
    insertDataset: (dataset, part, liveMax) =>
      transact(async ({ ask, change, questions: { datasets, evaluators } }) => {
        const { id, projectId, slug } = dataset;
        // Until the transaction ends nobody else counts what the project holds.
        await ask(evaluators.holdProject, { projectId });
        const [live] = await ask(datasets.countDatasets, { projectId });
        if (live === undefined || live.count >= liveMax) return 'limit_reached';
        if ((await change(datasets.insertDataset, { ...dataset, deletedAtMs: null })) > 0) {
          await change(datasets.insertPart, { ...part, projectId, datasetId: id });
          return 'stored';
        }
        const [taken] = await ask(datasets.findDatasetBySlug, { projectId, slug });
        if (taken === undefined || taken.id === id) throw new Error('the id of a dataset is taken');
        return 'slug_taken';
      }),
    appendDataset: ({ name: _name, slug: _slug, createdAtMs: _createdAtMs, ...grown }, part) =>
      transact(async ({ change, questions: { datasets } }) => {
        const { projectId, id } = grown;
        const knownVersion = part.version - 1;
        if ((await change(datasets.growDataset, { ...grown, knownVersion })) === 0) return 'stale';
        await change(datasets.insertPart, { ...part, projectId, datasetId: id });
        return 'stored';
      }),
    removeDataset: (projectId, id, nowMs) =>
      transact(async ({ change, questions: { datasets } }) => {
        if ((await change(datasets.removeDataset, { projectId, id, deletedAtMs: nowMs })) === 0) return false;
        await change(datasets.removeParts, { projectId, datasetId: id });
        return true;
      }),
  };
}
