/** A dataset as rules and storage see it: a named list of entries that only grows, one version at a time. */

export type Dataset = {
  readonly id: string;
  readonly projectId: string;
  readonly name: string;
  readonly slug: string;
  /** Of the newest entries; 1 when it was made. */
  readonly version: number;
  /** Of all versions together. */
  readonly entryCount: number;
  readonly totalBytes: number;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
};

/** The entries that came with one version. */
export type DatasetPart = {
  readonly version: number;
  /** How many there are before them. */
  readonly firstPosition: number;
  /** The compact JSON text of one object a line: read apart without being parsed. */
  readonly entryLines: string;
  readonly createdAtMs: number;
};

export type DatasetStore = {
  /**
   * MUST keep ids and slugs unique in the project: answers `slug_taken` without storing when the slug is used, and
   * `limit_reached` when the project already holds `liveMax` datasets. Stores the first part with it.
   */
  insert(dataset: Dataset, part: DatasetPart, liveMax: number): Promise<'stored' | 'slug_taken' | 'limit_reached'>;
  /** By id first, then by slug, case-sensitive; null for another project's and for one that is deleted. */
  find(projectId: string, idOrSlug: string): Promise<Dataset | null>;
  /** The newest first, `limit` at most. */
  list(projectId: string, limit: number): Promise<readonly Dataset[]>;
  /** The parts up to a version, in their order. */
  parts(dataset: Pick<Dataset, 'projectId' | 'id'>, version: number): Promise<readonly DatasetPart[]>;
  /** MUST answer `stale` and store nothing when the dataset is deleted, or its version is not the one before the part's. */
  append(dataset: Dataset, part: DatasetPart): Promise<'stored' | 'stale'>;
  /** MUST hide the dataset from every read from now on, remove its entries, and free its slug. False when there is none. */
  remove(projectId: string, id: string, nowMs: number): Promise<boolean>;
};
