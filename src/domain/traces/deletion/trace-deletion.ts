/** Deletions of all traces that a search finds. */

import type { SearchRun, SearchRunStore } from '../search/search-run.ts';

export type TraceDeletion = SearchRun & {
  /** The number of traces deleted so far. */
  readonly deleted: number;
};

export type TraceDeletionStore = SearchRunStore<TraceDeletion>;
