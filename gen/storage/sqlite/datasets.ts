// Compiled from src/storage/datasets/queries.ts by `npm run gen`: change it there.

import type { Compiled } from '../../../src/storage/queries.ts';
import type * as source from '../../../src/storage/datasets/queries.ts';

export const countLive: Compiled<typeof source.countLive> = {
  name: 'datasets.countLive',
  text: "select count(*) as \"count\" from \"datasets\" where (\"project_id\" = ? and \"deleted_at\" is null)",
  cells: (params) => [params.projectId],
  row: (row: any) => ({
    count: row[0],
  }),
};

export const findById: Compiled<typeof source.findById> = {
  name: 'datasets.findById',
  text: "select \"datasets\".\"project_id\" as \"projectId\", \"datasets\".\"id\" as \"id\", \"datasets\".\"name\" as \"name\", \"datasets\".\"slug\" as \"slug\", \"datasets\".\"version\" as \"version\", \"datasets\".\"entry_count\" as \"entryCount\", \"datasets\".\"total_bytes\" as \"totalBytes\", \"datasets\".\"created_at\" as \"createdAtMs\", \"datasets\".\"updated_at\" as \"updatedAtMs\" from \"datasets\" where (\"project_id\" = ? and \"id\" = ? and \"deleted_at\" is null)",
  cells: (params) => [params.projectId, params.id],
  row: (row: any) => ({
    projectId: row[0],
    id: row[1],
    name: row[2],
    slug: row[3],
    version: row[4],
    entryCount: row[5],
    totalBytes: row[6],
    createdAtMs: row[7],
    updatedAtMs: row[8],
  }),
};

export const findBySlug: Compiled<typeof source.findBySlug> = {
  name: 'datasets.findBySlug',
  text: "select \"datasets\".\"project_id\" as \"projectId\", \"datasets\".\"id\" as \"id\", \"datasets\".\"name\" as \"name\", \"datasets\".\"slug\" as \"slug\", \"datasets\".\"version\" as \"version\", \"datasets\".\"entry_count\" as \"entryCount\", \"datasets\".\"total_bytes\" as \"totalBytes\", \"datasets\".\"created_at\" as \"createdAtMs\", \"datasets\".\"updated_at\" as \"updatedAtMs\" from \"datasets\" where (\"project_id\" = ? and \"slug\" = ? and \"deleted_at\" is null)",
  cells: (params) => [params.projectId, params.slug],
  row: (row: any) => ({
    projectId: row[0],
    id: row[1],
    name: row[2],
    slug: row[3],
    version: row[4],
    entryCount: row[5],
    totalBytes: row[6],
    createdAtMs: row[7],
    updatedAtMs: row[8],
  }),
};

export const growDataset: Compiled<typeof source.growDataset> = {
  name: 'datasets.growDataset',
  text: "update \"datasets\" set \"version\" = ?, \"entry_count\" = ?, \"total_bytes\" = ?, \"updated_at\" = ? where (\"project_id\" = ? and \"id\" = ? and \"version\" = ? and \"deleted_at\" is null)",
  cells: (params) => [params.version, params.entryCount, params.totalBytes, params.updatedAtMs, params.projectId, params.id, params.knownVersion],
};

export const hide: Compiled<typeof source.hide> = {
  name: 'datasets.hide',
  text: "update \"datasets\" set \"deleted_at\" = ? where (\"project_id\" = ? and \"id\" = ? and \"deleted_at\" is null)",
  cells: (params) => [params.deletedAtMs ?? null, params.projectId, params.id],
};

export const insertPart: Compiled<typeof source.insertPart> = {
  name: 'datasets.insertPart',
  text: "insert into \"dataset_parts\" (\"project_id\", \"dataset_id\", \"version\", \"first_position\", \"entry_lines\", \"created_at\") values (?, ?, ?, ?, ?, ?)",
  cells: (params) => [params.projectId, params.datasetId, params.version, params.firstPosition, params.entryLines, params.createdAtMs],
};

export const insertUnlessTaken: Compiled<typeof source.insertUnlessTaken> = {
  name: 'datasets.insertUnlessTaken',
  text: "insert into \"datasets\" (\"project_id\", \"id\", \"name\", \"slug\", \"version\", \"entry_count\", \"total_bytes\", \"created_at\", \"updated_at\", \"deleted_at\") values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) on conflict do nothing",
  cells: (params) => [params.projectId, params.id, params.name, params.slug, params.version, params.entryCount, params.totalBytes, params.createdAtMs, params.updatedAtMs, params.deletedAtMs ?? null],
};

export const listNewest: Compiled<typeof source.listNewest> = {
  name: 'datasets.listNewest',
  text: "select \"datasets\".\"project_id\" as \"projectId\", \"datasets\".\"id\" as \"id\", \"datasets\".\"name\" as \"name\", \"datasets\".\"slug\" as \"slug\", \"datasets\".\"version\" as \"version\", \"datasets\".\"entry_count\" as \"entryCount\", \"datasets\".\"total_bytes\" as \"totalBytes\", \"datasets\".\"created_at\" as \"createdAtMs\", \"datasets\".\"updated_at\" as \"updatedAtMs\" from \"datasets\" where (\"project_id\" = ? and \"deleted_at\" is null) order by \"created_at\" desc, \"id\" desc limit ?",
  cells: (params) => [params.projectId, params.limit],
  row: (row: any) => ({
    projectId: row[0],
    id: row[1],
    name: row[2],
    slug: row[3],
    version: row[4],
    entryCount: row[5],
    totalBytes: row[6],
    createdAtMs: row[7],
    updatedAtMs: row[8],
  }),
};

export const listParts: Compiled<typeof source.listParts> = {
  name: 'datasets.listParts',
  text: "select \"dataset_parts\".\"version\" as \"version\", \"dataset_parts\".\"first_position\" as \"firstPosition\", \"dataset_parts\".\"entry_lines\" as \"entryLines\", \"dataset_parts\".\"created_at\" as \"createdAtMs\" from \"dataset_parts\" where (\"project_id\" = ? and \"dataset_id\" = ?) and \"version\" <= ? order by \"version\"",
  cells: (params) => [params.projectId, params.datasetId, params.version],
  row: (row: any) => ({
    version: row[0],
    firstPosition: row[1],
    entryLines: row[2],
    createdAtMs: row[3],
  }),
};

export const removeParts: Compiled<typeof source.removeParts> = {
  name: 'datasets.removeParts',
  text: "delete from \"dataset_parts\" where (\"project_id\" = ? and \"dataset_id\" = ?)",
  cells: (params) => [params.projectId, params.datasetId],
};
