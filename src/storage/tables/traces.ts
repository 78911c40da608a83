/** Traces, their spans and evaluations. Durations stand for second instants because they take less room. */

import { defineEntity } from '@mikro-orm/core';
import type { Evaluation, SpanType } from '../../domain/trace.ts';
import {
  codeOf,
  flag,
  id,
  instant,
  json,
  large,
  nanoUsd,
  packedId,
  packedWord,
  real,
  text,
  typedJson,
  whole,
  word,
} from './kinds.ts';

/** What is known of all spans of a trace together. */
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

/** New traces come nearly in the order of these indexes, so that their entries lie next to each other. */
const BY_START = {
  name: 'traces_by_start',
  expression: 'create index traces_by_start on traces (project_number, coalesce(started_at, inserted_at))',
};

/** Those that are in no hour (see tables/analytics.ts), for whoever sums them up: they have more than 200 spans. */
const LARGE_BY_START = {
  name: 'large_traces_by_start',
  expression:
    'create index large_traces_by_start on traces (project_number, coalesce(started_at, inserted_at)) where span_count > 200',
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
  indexes: [BY_START, LARGE_BY_START, { name: 'traces_by_update', properties: ['projectNumber', 'updatedAtMs'] }],
});

/** PostgreSQL: rows have no order to win by, so what a trace is called is the key. The sequence says in which month the spans are. */
export const TraceOnPostgres = defineEntity({
  name: 'Trace',
  tableName: 'traces',
  properties: {
    projectNumber: whole().primary(),
    traceId: packedId().primary(),
    sequence: large(),
    ...columns,
  },
  indexes: [
    // In order, so it is always written at its end: retention goes through traces as they came.
    { name: 'traces_by_sequence', properties: 'sequence' },
    BY_START,
    LARGE_BY_START,
    { name: 'traces_by_update', properties: ['projectNumber', 'updatedAtMs'] },
  ],
});

/** What is short and often read comes before free text, which may spill over to further pages. */
export const SpanRow = defineEntity({
  name: 'Span',
  tableName: 'spans',
  properties: {
    projectNumber: whole().primary(),
    traceSequence: large().primary(),
    spanId: packedId().primary(),
    parentId: packedId().strictNullable(),
    type: codeOf<SpanType>('spanTypes'),
    startedAtMs: instant('started_at'),
    durationMs: large(),
    firstTokenMs: large().strictNullable(),
    promptTokens: large().strictNullable(),
    completionTokens: large().strictNullable(),
    reasoningTokens: large().strictNullable(),
    cacheReadInputTokens: large().strictNullable(),
    cacheCreationInputTokens: large().strictNullable(),
    costNanoUsd: nanoUsd('cost_nano_usd').strictNullable(),
    costSource: packedWord().strictNullable(),
    tokensEstimated: flag(),
    cachedTokensInPrompt: flag().strictNullable(),
    // Kept only where the span had its event and what it says since would give another id.
    emittedRequestId: text().strictNullable(),
    name: text().strictNullable(),
    vendor: text().strictNullable(),
    model: text().strictNullable(),
    paramsJson: json('params').strictNullable(),
    otherMetricsJson: json('other_metrics').strictNullable(),
    errorJson: json('error').strictNullable(),
    contextsJson: json('contexts').strictNullable(),
    telemetryJson: json('telemetry').strictNullable(),
    // As codes.ts has them.
    inputJson: typedJson('input').strictNullable(),
    outputJson: typedJson('output').strictNullable(),
  },
});

/** Results of evaluators, as they were sent with a trace. */
export const EvaluationRow = defineEntity({
  name: 'Evaluation',
  tableName: 'evaluations',
  properties: {
    projectNumber: whole().primary(),
    traceSequence: large().primary(),
    evaluationId: id().primary(),
    insertedAtMs: instant('inserted_at'),
    evaluatorId: text(),
    name: text(),
    type: text().strictNullable(),
    spanId: text().strictNullable(),
    threadId: text().strictNullable(),
    isGuardrail: flag(),
    status: word<Evaluation['status']>(),
    passed: flag().strictNullable(),
    score: real().strictNullable(),
    label: text().strictNullable(),
    monitorId: text().strictNullable(),
    startedAtMs: instant('started_at').strictNullable(),
    finishedAtMs: instant('finished_at').strictNullable(),
    details: text().strictNullable(),
    errorJson: json('error').strictNullable(),
    inputsJson: json('inputs').strictNullable(),
    costJson: json('cost').strictNullable(),
  },
});
