/** Traces, their spans and evaluations. Durations replace second instants because they are shorter. */

import { defineEntity } from '@mikro-orm/core';
import type { Evaluation, SpanType } from '../../domain/traces/trace.ts';
import { OUTDATED_START } from '../../domain/traces/trace-aggregates.ts';
import type { SavedView } from '../../domain/traces/views/saved-view.ts';
import {
  bigInteger,
  bytes,
  enumCode,
  enumText,
  flag,
  id,
  instant,
  integer,
  json,
  nanoUsd,
  packedId,
  packedText,
  real,
  searchRun,
  table,
  text,
  times,
  typedJson,
} from './kinds.ts';

const tokens = () => ({
  firstTokenMs: bigInteger().strictNullable(),
  promptTokens: bigInteger().strictNullable(),
  completionTokens: bigInteger().strictNullable(),
  reasoningTokens: bigInteger().strictNullable(),
  cacheReadInputTokens: bigInteger().strictNullable(),
  cacheCreationInputTokens: bigInteger().strictNullable(),
});

/** Columns that are computed from all spans of a trace. */
const columns = {
  insertedAtMs: instant('inserted_at'),
  updatedAtMs: instant('updated_at'),
  spanCount: integer(),
  startedAtMs: instant('started_at').strictNullable(),
  durationMs: bigInteger().strictNullable(),
  ...tokens(),
  totalCostNanoUsd: nanoUsd('total_cost_nano_usd').strictNullable(),
  unpricedSpans: integer(),
  tokensEstimated: flag(),
  hasError: flag(),
  // Empty, and null, for a text that lies in trace_texts: then the column after it has the bytes of the
  // metadata, or true.
  metadataJson: json('metadata'),
  metadataBytes: integer().strictNullable(),
  expectedOutput: text().strictNullable(),
  expectedOutputIsApart: flag().strictNullable(),
  // In the format of trace-aggregates.ts. Null: the trace is small, or its next append computes them.
  aggregatesJson: json('aggregates').strictNullable(),
  anchorAtMs: instant('anchor_at').strictNullable(),
};

/** New traces nearly follow the order of these indexes, so that their entries lie next to each other. */
const BY_START = 'create index traces_by_start on traces (project_number, coalesce(started_at, inserted_at))';

// True of every row, and of every query by the indexed value. Without it, PostgreSQL could also use these indexes to find a trace
// by its key, and takes them for the cheaper way while the table is young.
const IS_START = 'coalesce(started_at, inserted_at) is not null';
const IS_UPDATE = 'updated_at is not null';

/** Traces that are in no hourly sum (see entities/analytics.ts): they have more than 200 spans. */
const LARGE_BY_START = {
  name: 'large_traces_by_start',
  expression:
    'create index large_traces_by_start on traces (project_number, coalesce(started_at, inserted_at)) where span_count > 200',
};

/** Large traces whose totals are to be recomputed before a search; hardly ever any. */
const OUTDATED = {
  name: 'outdated_traces',
  expression: `create index outdated_traces on traces (project_number) where span_count > 200 and substr(aggregates, 1, 12) = '${OUTDATED_START}'`,
};

/**
 * SQLite: the sequence is the row number, and spans lie in the order in which traces came. The random id of a trace
 * costs an index of its own.
 */
export const TraceOnSqlite = defineEntity({
  name: 'Trace',
  tableName: 'traces',
  properties: {
    projectNumber: integer(),
    traceId: packedId(),
    sequence: integer().primary().autoincrement(false),
    ...columns,
  },
  uniques: [{ name: 'traces_by_id', properties: ['projectNumber', 'traceId'] }],
  indexes: [
    { name: 'traces_by_start', expression: BY_START },
    LARGE_BY_START,
    OUTDATED,
    { name: 'traces_by_update', properties: ['projectNumber', 'updatedAtMs'] },
  ],
});

/** PostgreSQL: rows have no order that would help, so the id is the key. The sequence contains the month of the spans. */
export const TraceOnPostgres = defineEntity({
  name: 'Trace',
  tableName: 'traces',
  properties: {
    projectNumber: integer().primary(),
    traceId: packedId().primary(),
    sequence: bigInteger(),
    ...columns,
  },
  indexes: [
    // Ascending, so it is always written at its end: retention reads traces as they came.
    { name: 'traces_by_sequence', properties: 'sequence' },
    { name: 'traces_by_start', expression: `${BY_START} where ${IS_START}` },
    LARGE_BY_START,
    OUTDATED,
    { name: 'traces_by_update', properties: ['projectNumber', 'updatedAtMs'], where: IS_UPDATE },
  ],
});

/** Large texts of traces (traces/trace-texts.ts): appends rewrite the rows of traces, and need few of these. */
export const TraceTextRow = table('TraceText', 'trace_texts', {
  projectNumber: integer().primary(),
  traceSequence: bigInteger().primary(),
  name: id().primary(),
  text: text(),
});

/**
 * SQLite: texts that rows of spans and evaluations hold by number (engine/sqlite/large-texts.ts). A row that holds none of them
 * is cheap to replace and to remove.
 */
export const LargeText = table('LargeText', 'large_texts', {
  number: integer().primary().autoincrement(false),
  text: text(),
});

/** SQLite: the numbers of large texts that no row holds any more. Triggers of those rows add them. */
export const UnusedText = table('UnusedText', 'unused_texts', { number: integer().primary().autoincrement(false) });

/** Short columns that are read often come before free text, which may spill over to further pages. */
export const SpanRow = table('Span', 'spans', {
  projectNumber: integer().primary(),
  traceSequence: bigInteger().primary(),
  spanId: packedId().primary(),
  parentId: packedId().strictNullable(),
  type: enumCode<SpanType>('spanTypes'),
  startedAtMs: instant('started_at'),
  durationMs: bigInteger(),
  // What a millisecond is too coarse for, to order spans; see trace.ts.
  startedNs: integer().strictNullable(),
  finishedNs: integer().strictNullable(),
  ...tokens(),
  costNanoUsd: nanoUsd('cost_nano_usd').strictNullable(),
  costSource: packedText().strictNullable(),
  tokensEstimated: flag(),
  cachedTokensInPrompt: flag().strictNullable(),
  // See SpanUsage.
  callRow: bigInteger().strictNullable(),
  totalInput: bigInteger().strictNullable(),
  totalOutput: bigInteger().strictNullable(),
  shareRates: text().strictNullable(),
  // The request in which a call is counted that has none of its own.
  sharedRequestId: text().strictNullable(),
  // Null unless the span emitted an event and its present content would give another id.
  emittedRequestId: text().strictNullable(),
  // How often the row has been replaced or changed; null: never. A store that only adds rows tells by it which one counts.
  version: integer().strictNullable(),
  name: text().strictNullable(),
  vendor: text().strictNullable(),
  model: text().strictNullable(),
  paramsJson: json('params').strictNullable(),
  otherMetricsJson: json('other_metrics').strictNullable(),
  errorJson: json('error').strictNullable(),
  contextsJson: json('contexts').strictNullable(),
  telemetryJson: json('telemetry').strictNullable(),
  // In the form of codes.ts.
  inputJson: typedJson('input').strictNullable(),
  outputJson: typedJson('output').strictNullable(),
});

/** What a large trace keeps of its spans to add up their usage; a narrow row, because ancestors change often. */
export const UsageNodeRow = table('UsageNode', 'usage_nodes', {
  projectNumber: integer().primary(),
  traceSequence: bigInteger().primary(),
  spanId: packedId().primary(),
  nodeJson: json('node'),
});

/** Results of evaluators, as they were sent with a trace. */
export const EvaluationRow = table('Evaluation', 'evaluations', {
  projectNumber: integer().primary(),
  traceSequence: bigInteger().primary(),
  evaluationId: id().primary(),
  insertedAtMs: instant('inserted_at'),
  evaluatorId: text(),
  name: text(),
  type: text().strictNullable(),
  spanId: text().strictNullable(),
  threadId: text().strictNullable(),
  isGuardrail: flag(),
  status: enumText<Evaluation['status']>(),
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
});

/** Log records that tell of a span, as events of it, for a day: the span may come later, or be sent again. */
export const LogRecordRow = defineEntity({
  name: 'LogRecord',
  tableName: 'log_records',
  properties: {
    projectNumber: integer().primary(),
    traceId: packedId().primary(),
    spanId: packedId().primary(),
    recordId: id().primary(),
    receivedAtMs: instant('received_at'),
    bytes: integer(),
    // Whether the span has it.
    isJoined: flag(),
    eventJson: json('event'),
  },
  indexes: [
    // Narrow, and with all that adding up the bytes of a project needs.
    { name: 'log_records_by_project', properties: ['projectNumber', 'receivedAtMs', 'bytes'] },
    { name: 'log_records_by_receipt', properties: 'receivedAtMs' },
  ],
});

/** Deletions of all traces that match a search. */
export const TraceDeletionRow = defineEntity({
  name: 'TraceDeletion',
  tableName: 'trace_deletions',
  properties: { ...searchRun(), deleted: bigInteger() },
  indexes: [
    { name: 'trace_deletions_by_creation', properties: ['projectId', 'createdAtMs'] },
    // For the instant at which a project was last served, ended runs included.
    { name: 'trace_deletions_by_turn', properties: ['projectId', 'leasedUntilMs'] },
    // For workers, who look for running runs of all projects; there are few at any time.
    { name: 'trace_deletions_by_lease', properties: ['leasedUntilMs'], where: "status = 'running'" },
  ],
});

/** Links by which anyone reads a trace. */
export const TraceShareRow = defineEntity({
  name: 'TraceShare',
  tableName: 'trace_shares',
  properties: {
    projectId: id().primary(),
    id: id().primary(),
    secretHash: bytes(),
    traceId: text(),
    createdBy: id().strictNullable(),
    createdAtMs: instant('created_at'),
    expiresAtMs: instant('expires_at'),
  },
  indexes: [{ name: 'trace_shares_by_creation', properties: ['projectId', 'createdAtMs'] }],
  uniques: [{ name: 'trace_shares_by_secret', properties: ['secretHash'] }],
});

/** Named states of the list of traces. */
export const SavedViewRow = defineEntity({
  name: 'SavedView',
  tableName: 'saved_views',
  properties: {
    projectId: id().primary(),
    id: id().primary(),
    name: text(),
    search: text(),
    visibility: enumText<SavedView['visibility']>(),
    createdBy: id().strictNullable(),
    ...times(),
  },
  indexes: [
    { name: 'saved_views_by_creation', properties: ['projectId', 'createdAtMs', 'id'] },
    // For the views that go with a member.
    { name: 'saved_views_by_person', properties: 'createdBy', where: "visibility = 'PERSONAL'" },
  ],
});
