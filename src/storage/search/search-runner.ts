/** What searches run their queries with. */

import type { Queries, QueryRunner } from '../transaction.ts';

export type SearchQueries = Queries['search'] & Queries['searchIndex'];
export type SearchRunner = QueryRunner<SearchQueries> & {
  /** Monotonic milliseconds. */
  readonly nowMs: () => number;
};
