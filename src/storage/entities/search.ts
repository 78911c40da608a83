/**
 * The search index of traces. A block covers traces that were indexed together and says, for each value of a filter,
 * which of them have it. Blocks are written once, in the order of their keys, and removed whole.
 */

import { bigInteger, bytes, instant, integer, table } from './kinds.ts';

/** Traces to index: new ones, and those that changed since they were indexed. */
export const SearchPending = table('SearchPending', 'search_pending', {
  projectNumber: integer().primary(),
  traceSequence: bigInteger().primary(),
  // Differs after every change, so that a trace that changes during indexing is not taken for indexed.
  mark: bigInteger(),
});

/** The state of a project's index, and the lease of its indexer. */
export const SearchHead = table('SearchHead', 'search_heads', {
  projectNumber: integer().primary().autoincrement(false),
  // Changes whenever traces are removed from a block.
  generation: bigInteger(),
  nextBlock: integer(),
  // The block being written, and the one being removed.
  writtenBlock: integer().strictNullable(),
  removedBlock: integer().strictNullable(),
  leasedUntilMs: instant('leased_until'),
});

export const SearchBlock = table('SearchBlock', 'search_blocks', {
  projectNumber: integer().primary(),
  block: integer().primary(),
  traces: integer(),
  firstSequence: bigInteger(),
  lastSequence: bigInteger(),
  startedFromMs: instant('started_from'),
  startedToMs: instant('started_to'),
  updatedFromMs: instant('updated_from'),
  updatedToMs: instant('updated_to'),
  insertedFromMs: instant('inserted_from'),
  // Traces with too many facets.
  crowdedCount: integer(),
  // The number of slices of the texts.
  textSlices: integer(),
  // A bit for each trace of the block; set once it is removed, or indexed again in a later block.
  deleted: bytes(),
  deletedCount: integer(),
});

/** The traces of a block that have a value: their indexes in the block, or a bit for each trace. */
export const SearchFacet = table('SearchFacet', 'search_facets', {
  projectNumber: integer().primary(),
  block: integer().primary(),
  facet: bigInteger().primary(),
  traceSet: bytes(),
});

/** A column of a block: a number for each trace, or slices of their texts. */
export const SearchPart = table('SearchPart', 'search_parts', {
  projectNumber: integer().primary(),
  block: integer().primary(),
  part: integer().primary(),
  content: bytes(),
});
