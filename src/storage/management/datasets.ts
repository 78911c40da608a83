/** Datasets. The entries of a deleted dataset are removed. */

import type { DatasetStore } from '../../domain/datasets/dataset.ts';
import { DatasetPartRow, DatasetRow } from '../entities/datasets.ts';
import { findLive, hasRoom, hide, insertUnlessTaken, listNewest } from './slugs.ts';
import { lockNotification, sentAt } from './trigger-states.ts';
import type { Units } from './units.ts';

export function createDatasetStore({ read, transact }: Units): DatasetStore {
  return {
    find: (projectId, idOrSlug) => read((em) => findLive(em, DatasetRow, { projectId, idOrSlug })),
    list: (projectId, limit) => read((em) => listNewest(em, DatasetRow, { projectId, limit })),
    versions: ({ projectId, id: datasetId }, version) =>
      // Rows, because a dataset may have thousands of versions: entities of them would cost ten times as much.
      read((em) =>
        em
          .createQueryBuilder(DatasetPartRow)
          .select(['version', 'firstPosition', 'entryLines', 'createdAtMs'])
          .where({ projectId, datasetId, version: { $lte: version } })
          .orderBy({ version: 'asc' })
          .execute('all'),
      ),
    insert: (dataset, first, liveMax) =>
      transact(async ({ em }) => {
        const { id, projectId } = dataset;
        if (!(await hasRoom(em, DatasetRow, { projectId, liveMax }))) return 'limit_reached';
        const outcome = await insertUnlessTaken(em, DatasetRow, { ...dataset, deletedAtMs: null });
        if (outcome === 'stored') await em.insert(DatasetPartRow, { ...first, projectId, datasetId: id });
        return outcome;
      }),
    append: ({ projectId, id, version, entryCount, totalBytes, updatedAtMs }, next, asked) =>
      transact(async ({ em }) => {
        const claimed = asked === undefined ? null : await lockNotification(em, asked);
        if (asked !== undefined && claimed === null) return 'stale';
        const known = { projectId, id, version: next.version - 1, deletedAtMs: null };
        const grown = { version, entryCount, totalBytes, updatedAtMs };
        if ((await em.nativeUpdate(DatasetRow, known, grown)) === 0) return 'stale';
        await em.insert(DatasetPartRow, { ...next, projectId, datasetId: id });
        if (claimed !== null) Object.assign(claimed, sentAt(updatedAtMs));
        return 'stored';
      }),
    remove: (projectId, id, nowMs) =>
      transact(async ({ em }) => {
        if (!(await hide(em, DatasetRow, { projectId, id, nowMs }))) return false;
        await em.nativeDelete(DatasetPartRow, { projectId, datasetId: id });
        return true;
      }),
  };
}
