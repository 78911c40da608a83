/** What is known of all spans of a trace together. Durations stand for second instants because they take less room. */

import { defineEntity } from '@mikro-orm/core';
import { flag, instant, json, large, nanoUsd, packedId, text, whole } from './kinds.ts';

const columns = {
  insertedAtMs: instant('inserted_at'),
  updatedAtMs: instant('updated_at'),
  spanCount: whole(),
  startedAtMs: instant('started_at').strictNullable(),
  durationMs: large().strictNullable(),
  firstTokenMs: large().strictNullable(),
  promptTokens: large().strictNullable(),
  completionTokens: large().strictNullable(),
  reasoningTokens: large().strictNullable(),
  cacheReadInputTokens: large().strictNullable(),
  cacheCreationInputTokens: large().strictNullable(),
  totalCostNanoUsd: nanoUsd('total_cost_nano_usd').strictNullable(),
  unpricedSpans: whole(),
  tokensEstimated: flag(),
  hasError: flag(),
  metadataJson: json('metadata'),
  expectedOutput: text().strictNullable(),
  // As trace-aggregates.ts has it. Null: the trace is small, or the next append to it computes them.
  aggregatesJson: json('aggregates').strictNullable(),
};

/**
 * SQLite: the sequence is the row's own number, by which spans are found in the order in which traces came; what a
 * trace is called is random, and costs an index beside.
 */
export const TraceOnSqlite = defineEntity({
  name: 'Trace',
  tableName: 'traces',
  properties: {
    projectNumber: whole(),
    traceId: packedId(),
    sequence: whole().primary().autoincrement(false),
    ...columns,
  },
  uniques: [{ name: 'traces_by_id', properties: ['projectNumber', 'traceId'] }],
});

/** PostgreSQL: rows have no order to win by, so one index does. The sequence says in which month the spans are. */
export const TraceOnPostgres = defineEntity({
  name: 'Trace',
  tableName: 'traces',
  properties: {
    projectNumber: whole().primary(),
    traceId: packedId().primary(),
    sequence: large(),
    ...columns,
  },
});
