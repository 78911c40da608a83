/** Datasets and their port. A dataset is a named list of entries that only grows, one version at a time. */

import type { Resource, ResourceStore } from '../resources.ts';
import type { NotificationKey } from '../triggers/trigger-store.ts';

export type Dataset = Resource & {
  /** The newest version; the first is 1. */
  readonly version: number;
  /** Over all versions. */
  readonly entryCount: number;
  readonly totalBytes: number;
};

/** The entries that one version added. */
export type DatasetVersion = {
  readonly version: number;
  /** How many entries earlier versions have. */
  readonly firstPosition: number;
  /** One compact JSON object per line, so that entries can be split without parsing. */
  readonly entryLines: string;
  readonly createdAtMs: number;
};

/** `remove` MUST remove the entries, too. */
export type DatasetStore = ResourceStore<Dataset> & {
  /**
   * MUST keep ids and slugs unique in the project: returns `slug_taken` without storing when the slug is used, and
   * `limit_reached` when the project already holds `liveMax` datasets. Stores the first version with it.
   */
  insert(dataset: Dataset, first: DatasetVersion, liveMax: number): Promise<'stored' | 'slug_taken' | 'limit_reached'>;
  /** The newest first, at most `limit`. */
  list(projectId: string, limit: number): Promise<readonly Dataset[]>;
  /**
   * Up to a version, in ascending order; none where the dataset is removed meanwhile. MUST leave room for other work in
   * between, however long the entries are.
   */
  versions(dataset: Pick<Dataset, 'projectId' | 'id'>, version: number): Promise<readonly DatasetVersion[]>;
  /**
   * MUST return `stale` and store nothing when the dataset is deleted, or its newest version is not the one before. Ends the
   * notification that asked for the entries in the same transaction, if there is one, and returns `stale` when another
   * process has claimed it.
   */
  append(dataset: Dataset, next: DatasetVersion, asked?: NotificationKey): Promise<'stored' | 'stale'>;
};
