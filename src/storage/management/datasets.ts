/** Datasets. The entries of a deleted dataset are removed. */

import { raw } from '@mikro-orm/core';
import type { DatasetRoom } from '../datasets/datasets.ts';
import { DatasetPartRow, DatasetRow } from '../entities/datasets.ts';
import { findLive, hasRoom, hide, insertUnlessTaken, listNewest } from './slugs.ts';
import { lockNotification, sentAt } from './trigger-states.ts';
import type { Units } from './units.ts';

export function createDatasetRoom({ read, transact }: Units): DatasetRoom {
  return {
    find: (projectId, idOrSlug) => read((em) => findLive(em, DatasetRow, { projectId, idOrSlug })),
    list: (projectId, limit) => read((em) => listNewest(em, DatasetRow, { projectId, limit })),
    // Rows, because a dataset may have thousands of versions: entities of them would cost ten times as much.
    sizes: ({ projectId, id: datasetId }, { after, upTo }, limit) =>
      read((em) =>
        em
          .createQueryBuilder(DatasetPartRow)
          // Neither database reads the text for this.
          .select(['version', 'firstPosition', 'createdAtMs', raw('octet_length(entry_lines)').as('bytes')])
          .where({ projectId, datasetId, version: { $gt: after, $lte: upTo } })
          .orderBy({ version: 'asc' })
          .limit(limit)
          .execute('all'),
      ),
    lines: ({ projectId, id: datasetId }, { from, to, after, limit }) =>
      read((em) =>
        em
          .createQueryBuilder(DatasetPartRow)
          .select(['version', raw('substr(entry_lines, ?, ?)', [after + 1, limit]).as('lines')])
          .where({ projectId, datasetId, version: { $gte: from, $lte: to } })
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
