/**
 * What the databases themselves know of the search index of traces, and of texts that are moved to ClickHouse
 * (engine/postgres/text-mover.ts). SQLite has the index in a file of its own.
 */

import { defineEntity } from '@mikro-orm/core';
import { bigInteger, bigIntegers, flag, id, instant, integer, nanoUsd, smallIntegers, table, text } from './kinds.ts';

/** Traces to index: new ones, and those that changed since they were indexed. */
export const SearchPending = table('SearchPending', 'search_pending', {
  projectNumber: integer().primary(),
  traceSequence: bigInteger().primary(),
  // Differs after every change, so that a trace that changes during indexing is not taken for indexed.
  mark: bigInteger(),
});

/**
 * The last step of the indexer, in its only row, where the index lies elsewhere: in a file beside a SQLite database, or in
 * ClickHouse. The index has it too, and is not of this database, or of another time of it, where they differ
 * (search/index-steps.ts).
 */
export const SearchState = table('SearchState', 'search_state', {
  step: id().primary(),
});

/** PostgreSQL: a trace as searches and analytics see it (search/trace-index.ts), once it is indexed. */
export const IndexedTraceRow = defineEntity({
  name: 'IndexedTrace',
  tableName: 'indexed_traces',
  properties: {
    projectNumber: integer().primary(),
    traceSequence: bigInteger().primary(),
    traceId: id(),
    startedAtMs: instant('started_at'),
    updatedAtMs: instant('updated_at'),
    insertedAtMs: instant('inserted_at'),
    totalTimeMs: bigInteger().strictNullable(),
    totalCostNanoUsd: nanoUsd('total_cost_nano_usd').strictNullable(),
    totalTokens: bigInteger().strictNullable(),
    firstTokenMs: bigInteger().strictNullable(),
    spanCount: integer(),
    hasError: flag(),
    promptTokens: bigInteger().strictNullable(),
    completionTokens: bigInteger().strictNullable(),
    userValue: bigInteger().strictNullable(),
    customerValue: bigInteger().strictNullable(),
    threadValue: bigInteger().strictNullable(),
    labels: bigIntegers(),
    // Null: the trace has none, or was indexed before there were any.
    promptNames: bigIntegers().strictNullable(),
    prompts: bigIntegers().strictNullable(),
    promptVersions: bigIntegers().strictNullable(),
    // The durations of its spans, and the models and kinds of these, one after the other (engine/postgres/model-durations.ts).
    durationModels: bigIntegers().strictNullable(),
    durationKinds: smallIntegers().strictNullable(),
    durationValues: bigIntegers().strictNullable(),
    // The update of the trace that the durations are of; null: it was indexed before there were any.
    durationsAtMs: instant('durations_at').strictNullable(),
    facets: bigIntegers(),
    // Numbers of the triples of characters in the texts (engine/postgres/text-triples.ts). pg_trgm would ignore characters that
    // the locale of the database does not know, may be forbidden, and needs the texts a second time.
    triples: smallIntegers(),
  },
  indexes: [
    { name: 'indexed_traces_by_term', properties: ['facets', 'triples'], type: 'gin' },
    {
      name: 'indexed_traces_without_durations',
      properties: ['projectNumber', 'traceSequence'],
      where: 'durations_at is distinct from updated_at',
    },
    // Equal values are few, and are sorted by the id of the trace when they are read.
    ...Object.entries({
      start: 'startedAtMs',
      update: 'updatedAtMs',
      duration: 'totalTimeMs',
      cost: 'totalCostNanoUsd',
      first_token: 'firstTokenMs',
    } as const).map(([order, property]) => ({
      name: `indexed_traces_by_${order}`,
      properties: ['projectNumber' as const, property],
    })),
  ],
});

/** PostgreSQL: how many traces of the index that began on a day have a duration in a bucket (domain/number-buckets.ts). */
export const IndexedDuration = table('IndexedDuration', 'indexed_durations', {
  projectNumber: integer().primary(),
  // Counted from 1970, in UTC.
  day: integer().primary(),
  // The column of the duration.
  name: id().primary(),
  bucket: integer().primary(),
  traces: bigInteger(),
  // When the first of them was received. It may be gone.
  insertedFromMs: instant('inserted_from'),
});

/** PostgreSQL: how many spans of a model, in traces of the index that began on a day, have a duration in a bucket. */
export const IndexedModelDuration = table('IndexedModelDuration', 'indexed_model_durations', {
  projectNumber: integer().primary(),
  day: integer().primary(),
  // See modelNumber.
  model: bigInteger().primary(),
  // Whether it is the wait for the first token.
  isFirstToken: flag().primary(),
  bucket: integer().primary(),
  spans: bigInteger(),
  // When the first of these traces was received. It may be gone.
  insertedFromMs: instant('inserted_from'),
});

/** PostgreSQL: what may go in ClickHouse: the text at a place (rows/moved-text.ts), or all texts of a trace. Triggers of spans and of traces add it. */
export const RemovedText = table('RemovedText', 'removed_texts', {
  id: bigInteger().primary().autoincrement(),
  place: text().strictNullable(),
  projectNumber: integer().strictNullable(),
  traceSequence: bigInteger().strictNullable(),
});

/** PostgreSQL: how far the texts of a project were copied and moved, in the order of the last change of their traces. */
export const TextMove = table('TextMove', 'text_moves', {
  projectNumber: integer().primary().autoincrement(false),
  copiedToMs: instant('copied_to'),
  copiedId: id(),
  movedToMs: instant('moved_to'),
  movedId: id(),
});

/**
 * PostgreSQL: the random name of this database in the ClickHouse that has its texts, and how often it told that what may go; in its only row,
 * once texts were copied.
 */
export const TextOwner = table('TextOwner', 'text_owner', {
  owner: id().primary(),
  step: bigInteger(),
});
