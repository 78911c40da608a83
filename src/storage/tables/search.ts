/**
 * The index of traces. Traces that were looked at together are a block: for every value that filters know, a block says
 * which of its traces have it. Blocks are written once, in the order of their keys, and removed as a whole.
 */

import { defineEntity } from '@mikro-orm/core';
import { bytes, instant, large, whole } from './kinds.ts';

/** Traces that have changed since they were put into a block, or are in none yet. */
export const SearchPending = defineEntity({
  name: 'SearchPending',
  tableName: 'search_pending',
  properties: {
    projectNumber: whole().primary(),
    traceSequence: large().primary(),
    // Another one after every change, so that nobody takes a trace for indexed that has changed meanwhile.
    mark: large(),
  },
});

/** Where the index of a project is, and who is at it. */
export const SearchHead = defineEntity({
  name: 'SearchHead',
  tableName: 'search_heads',
  properties: {
    projectNumber: whole().primary().autoincrement(false),
    // Another one whenever something is taken out of a block.
    generation: large(),
    nextBlock: whole(),
    // A block that is being written, and one that is being removed.
    writtenBlock: whole().strictNullable(),
    removedBlock: whole().strictNullable(),
    leasedUntilMs: instant('leased_until'),
  },
});

export const SearchBlock = defineEntity({
  name: 'SearchBlock',
  tableName: 'search_blocks',
  properties: {
    projectNumber: whole().primary(),
    block: whole().primary(),
    traces: whole(),
    firstSequence: large(),
    lastSequence: large(),
    startedFromMs: instant('started_from'),
    startedToMs: instant('started_to'),
    updatedFromMs: instant('updated_from'),
    updatedToMs: instant('updated_to'),
    insertedFromMs: instant('inserted_from'),
    // Traces that have too many facets.
    crowdedCount: whole(),
    // Into how many slices the texts are sorted.
    textSlices: whole(),
    // Traces of the block that are in a later one or gone, a bit each.
    gone: bytes(),
    goneCount: whole(),
  },
});

/** Which traces of a block have a value: their places, or a bit for each trace. */
export const SearchFacet = defineEntity({
  name: 'SearchFacet',
  tableName: 'search_facets',
  properties: {
    projectNumber: whole().primary(),
    block: whole().primary(),
    facet: large().primary(),
    places: bytes(),
  },
});

/** What is known of all traces of a block: a number of each, or slices of their texts. */
export const SearchPart = defineEntity({
  name: 'SearchPart',
  tableName: 'search_parts',
  properties: {
    projectNumber: whole().primary(),
    block: whole().primary(),
    part: whole().primary(),
    content: bytes(),
  },
});
