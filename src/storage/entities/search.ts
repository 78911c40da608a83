/** What the databases themselves know of the search index of traces. SQLite has the index in a file of its own. */

import { bigInteger, id, integer, table } from './kinds.ts';

/** Traces to index: new ones, and those that changed since they were indexed. */
export const SearchPending = table('SearchPending', 'search_pending', {
  projectNumber: integer().primary(),
  traceSequence: bigInteger().primary(),
  // Differs after every change, so that a trace that changes during indexing is not taken for indexed.
  mark: bigInteger(),
});

/**
 * SQLite: the last step of the indexer, in its only row. The file of the index has it too, and is not of this database, or
 * of another time of it, where they differ (engine/sqlite/search-steps.ts).
 */
export const SearchState = table('SearchState', 'search_state', {
  step: id().primary(),
});
