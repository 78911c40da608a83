import { defineEntity } from '@mikro-orm/core';
import { bigInteger, id, instant, integer, slugged, table, text } from './kinds.ts';

export const DatasetRow = defineEntity(
  slugged('Dataset', 'datasets', { version: integer(), entryCount: integer(), totalBytes: bigInteger() }),
);

/** The entries that came with one version of a dataset. */
export const DatasetPartRow = table('DatasetPart', 'dataset_parts', {
  projectId: id().primary(),
  datasetId: id().primary(),
  version: integer().primary(),
  firstPosition: integer(),
  entryLines: text(),
  createdAtMs: instant('created_at'),
});
