/** Queries of datasets. Deleted datasets are never found, and their entries are removed. */

import { insert, insertNew, remove } from '../plain-queries.ts';
import { change, type Db, type Dialect, query, type Row } from '../queries.ts';

type InProject = { readonly projectId: string };
type OneOf = InProject & { readonly id: string };

export const countDatasets = query<InProject>()((db, { projectId }) =>
  db
    .selectFrom('Dataset')
    .where('projectId', '=', projectId)
    .where('deletedAtMs', 'is', null)
    .select(({ fn }) => fn.countAll<number>().as('count')),
);

export const findDataset = query<OneOf>()((db, { projectId, id }, dialect) =>
  livingOf(db, projectId, dialect).where('id', '=', id),
);

export const findDatasetBySlug = query<InProject & { readonly slug: string }>()((db, { projectId, slug }, dialect) =>
  livingOf(db, projectId, dialect).where('slug', '=', slug),
);

export const listDatasets = query<InProject & { readonly limit: number }>()((db, { projectId, limit }, dialect) =>
  livingOf(db, projectId, dialect).orderBy('createdAtMs', 'desc').orderBy('id', 'desc').limit(limit),
);

function livingOf(db: Db, projectId: string, { find }: Dialect) {
  return find(db, 'Dataset', { projectId }, 'deletedAtMs').where('deletedAtMs', 'is', null);
}

export const listParts = query<InProject & { readonly datasetId: string; readonly version: number }>()(
  (db, { projectId, datasetId, version }, { find }) =>
    find(db, 'DatasetPart', { projectId, datasetId }, 'projectId', 'datasetId')
      .where('version', '<=', version)
      .orderBy('version'),
);

/** Inserts nothing when the slug or the id is taken. */
export const insertDataset = insertNew('Dataset');

export const insertPart = insert('DatasetPart');

type Growth = OneOf &
  Pick<Row<'Dataset'>, 'entryCount' | 'totalBytes' | 'updatedAtMs' | 'version'> & {
    readonly knownVersion: number;
  };

/** Changes nothing unless the dataset has the known version. */
export const growDataset = change<Growth>((db, params, { update }) =>
  update(db, 'Dataset', { projectId: params.projectId, id: params.id, version: params.knownVersion })
    .where('deletedAtMs', 'is', null)
    .set({
      version: params.version,
      entryCount: params.entryCount,
      totalBytes: params.totalBytes,
      updatedAtMs: params.updatedAtMs,
    }),
);

export const removeDataset = change<OneOf & { readonly deletedAtMs: number }>(
  (db, { projectId, id, deletedAtMs }, { update }) =>
    update(db, 'Dataset', { projectId, id }).where('deletedAtMs', 'is', null).set({ deletedAtMs }),
);

export const removeParts = remove('DatasetPart', ['projectId', 'datasetId']);
