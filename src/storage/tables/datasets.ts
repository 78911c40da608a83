import { defineEntity } from '@mikro-orm/core';
import { bigInteger, id, instant, integer, text } from './kinds.ts';

export const DatasetRow = defineEntity({
  name: 'Dataset',
  tableName: 'datasets',
  properties: {
    projectId: id().primary(),
    id: id().primary(),
    name: text(),
    slug: id(),
    version: integer(),
    entryCount: integer(),
    totalBytes: bigInteger(),
    createdAtMs: instant('created_at'),
    updatedAtMs: instant('updated_at'),
    // Deleted datasets stay, while their slugs are free again.
    deletedAtMs: instant('deleted_at').strictNullable(),
  },
  uniques: [{ name: 'datasets_by_live_slug', properties: ['projectId', 'slug'], where: 'deleted_at is null' }],
});

/** The entries that came with one version of a dataset. */
export const DatasetPartRow = defineEntity({
  name: 'DatasetPart',
  tableName: 'dataset_parts',
  properties: {
    projectId: id().primary(),
    datasetId: id().primary(),
    version: integer().primary(),
    firstPosition: integer(),
    entryLines: text(),
    createdAtMs: instant('created_at'),
  },
});
