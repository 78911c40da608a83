/** Queries of datasets. Deleted datasets are never found, and their entries are removed. */

import { insert, pick, remove, slugQueries } from '../plain-queries.ts';
import { change, query, type Row } from '../queries.ts';

type InProject = { readonly projectId: string };

export const { countLive, findById, findBySlug, listNewest, insertUnlessTaken, hide } = slugQueries('Dataset');

export const listParts = query<InProject & { readonly datasetId: string; readonly version: number }>()(
  (db, { projectId, datasetId, version }, { find }) =>
    find(db, 'DatasetPart', { projectId, datasetId }, 'projectId', 'datasetId')
      .where('version', '<=', version)
      .orderBy('version'),
);

export const insertPart = insert('DatasetPart');

type Growth = Pick<Row<'Dataset'>, 'projectId' | 'id' | 'entryCount' | 'totalBytes' | 'updatedAtMs' | 'version'> & {
  readonly knownVersion: number;
};

/** Changes nothing unless the dataset has the known version. */
export const growDataset = change<Growth>((db, params, { update }) =>
  update(db, 'Dataset', {
    projectId: params.projectId,
    id: params.id,
    version: params.knownVersion,
    deletedAtMs: null,
  }).set(pick(params, 'version', 'entryCount', 'totalBytes', 'updatedAtMs')),
);

export const removeParts = remove('DatasetPart', ['projectId', 'datasetId']);
