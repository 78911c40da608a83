/** What is asked and stored of datasets. What is deleted is found by nobody, and its entries are gone. */

import { insert, insertNew, remove } from '../plain-questions.ts';
import { change, type Db, question, type Row, type Words } from '../questions.ts';

type InProject = { readonly projectId: string };
type OneOf = InProject & { readonly id: string };

export const countDatasets = question<InProject>()((db, { projectId }) =>
  db
    .selectFrom('Dataset')
    .where('projectId', '=', projectId)
    .where('deletedAtMs', 'is', null)
    .select(({ fn }) => fn.countAll<number>().as('count')),
);

export const findDataset = question<OneOf>()((db, { projectId, id }, words) =>
  livingOf(db, projectId, words).where('id', '=', id),
);

export const findDatasetBySlug = question<InProject & { readonly slug: string }>()((db, { projectId, slug }, words) =>
  livingOf(db, projectId, words).where('slug', '=', slug),
);

export const listDatasets = question<InProject & { readonly limit: number }>()((db, { projectId, limit }, words) =>
  livingOf(db, projectId, words).orderBy('createdAtMs', 'desc').orderBy('id', 'desc').limit(limit),
);

function livingOf(db: Db, projectId: string, { find }: Words) {
  return find(db, 'Dataset', { projectId }, 'deletedAtMs').where('deletedAtMs', 'is', null);
}

export const listParts = question<InProject & { readonly datasetId: string; readonly version: number }>()(
  (db, { projectId, datasetId, version }, { find }) =>
    find(db, 'DatasetPart', { projectId, datasetId }, 'projectId', 'datasetId')
      .where('version', '<=', version)
      .orderBy('version'),
);

/** Nothing, when the slug or the id is taken. */
export const insertDataset = insertNew('Dataset');

export const insertPart = insert('DatasetPart');

type Growth = OneOf &
  Pick<Row<'Dataset'>, 'entryCount' | 'totalBytes' | 'updatedAtMs' | 'version'> & {
    readonly knownVersion: number;
  };

/** Nothing, when the dataset has another version than the known one. */
export const growDataset = change<Growth>((db, given, { update }) =>
  update(db, 'Dataset', { projectId: given.projectId, id: given.id, version: given.knownVersion })
    .where('deletedAtMs', 'is', null)
    .set({
      version: given.version,
      entryCount: given.entryCount,
      totalBytes: given.totalBytes,
      updatedAtMs: given.updatedAtMs,
    }),
);

export const removeDataset = change<OneOf & { readonly deletedAtMs: number }>(
  (db, { projectId, id, deletedAtMs }, { update }) =>
    update(db, 'Dataset', { projectId, id }).where('deletedAtMs', 'is', null).set({ deletedAtMs }),
);

export const removeParts = remove('DatasetPart', ['projectId', 'datasetId']);
