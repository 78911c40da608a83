/** Datasets and their port. A dataset is a named list of entries that only grows, one version at a time. */

export type Dataset = {
  readonly id: string;
  readonly projectId: string;
  readonly name: string;
  readonly slug: string;
  /** The newest version; the first is 1. */
  readonly version: number;
  /** Over all versions. */
  readonly entryCount: number;
  readonly totalBytes: number;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
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

export type DatasetStore = {
  /**
   * MUST keep ids and slugs unique in the project: returns `slug_taken` without storing when the slug is used, and
   * `limit_reached` when the project already holds `liveMax` datasets. Stores the first version with it.
   */
  insert(dataset: Dataset, first: DatasetVersion, liveMax: number): Promise<'stored' | 'slug_taken' | 'limit_reached'>;
  /** By id first, then by slug, case-sensitive; null for a dataset of another project or a deleted one. */
  find(projectId: string, idOrSlug: string): Promise<Dataset | null>;
  /** The newest first, at most `limit`. */
  list(projectId: string, limit: number): Promise<readonly Dataset[]>;
  /** Up to a version, in ascending order. */
  versions(dataset: Pick<Dataset, 'projectId' | 'id'>, version: number): Promise<readonly DatasetVersion[]>;
  /** MUST answer `stale` and store nothing when the dataset is deleted, or its newest version is not the one before. */
  append(dataset: Dataset, next: DatasetVersion): Promise<'stored' | 'stale'>;
  /** MUST hide the dataset from every later read, remove its entries, and free its slug. False when it does not exist. */
  remove(projectId: string, id: string, nowMs: number): Promise<boolean>;
};
