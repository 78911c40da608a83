/** How traces, spans and evaluations look in rows, in both directions. */

import type { Span, SpanSummary, TraceRecord } from '../../domain/trace.ts';
import type { LinkedSummary } from '../../domain/trace-recomputation.ts';
import type { StoredSpan, TraceState } from '../append/tables.ts';
import { packCostSource, spanTypes, unpackCostSource } from '../rows/codes.ts';
import { packTyped, unpackTyped } from '../rows/typed-text.ts';
import { idTextSql, packId } from './compact-ids.ts';

export type Cell = string | number | Buffer | null;

const TOTALS_COLUMNS = [
  'span_count',
  'started_at',
  'duration_ms',
  'first_token_ms',
  'prompt_tokens',
  'completion_tokens',
  'reasoning_tokens',
  'cache_read_input_tokens',
  'cache_creation_input_tokens',
  'total_cost_nano_usd',
  'unpriced_spans',
  'tokens_estimated',
  'has_error',
] as const;

/** What is kept of all spans together, in the order of `sumsCells`. */
export const SUMS_COLUMNS = [...TOTALS_COLUMNS, 'aggregates'] as const;
/** The columns of a trace that appends change, in the order of `traceCells`. */
export const TRACE_COLUMNS = [...SUMS_COLUMNS, 'metadata', 'expected_output', 'updated_at'] as const;

export function traceCells(state: TraceState): Cell[] {
  return [...sumsCells(state), state.metadataJson, state.expectedOutput, state.updatedAtMs];
}

export function sumsCells({ totals, aggregatesJson }: Pick<TraceState, 'totals' | 'aggregatesJson'>): Cell[] {
  const { startedAtMs, finishedAtMs } = totals;
  return [
    totals.spanCount,
    startedAtMs,
    startedAtMs === null || finishedAtMs === null ? null : finishedAtMs - startedAtMs,
    totals.firstTokenMs,
    totals.promptTokens,
    totals.completionTokens,
    totals.reasoningTokens,
    totals.cacheReadInputTokens,
    totals.cacheCreationInputTokens,
    totals.totalCostNanoUsd,
    totals.unpricedSpans,
    Number(totals.tokensEstimated),
    Number(totals.hasError),
    aggregatesJson,
  ];
}

export const TRACE_SELECT = `SELECT
  sequence,
  ${idTextSql('trace_id')} AS traceId,
  metadata AS metadataJson,
  expected_output AS expectedOutput,
  inserted_at AS insertedAtMs,
  updated_at AS updatedAtMs,
  span_count AS spanCount,
  started_at AS startedAtMs,
  started_at + duration_ms AS finishedAtMs,
  max(0, duration_ms) AS totalTimeMs,
  first_token_ms AS firstTokenMs,
  prompt_tokens AS promptTokens,
  completion_tokens AS completionTokens,
  reasoning_tokens AS reasoningTokens,
  cache_read_input_tokens AS cacheReadInputTokens,
  cache_creation_input_tokens AS cacheCreationInputTokens,
  total_cost_nano_usd AS totalCostNanoUsd,
  unpriced_spans AS unpricedSpans,
  tokens_estimated AS tokensEstimated,
  has_error AS hasError,
  aggregates AS aggregatesJson
FROM traces`;

export type TraceRow = Stored<TraceRecord, 'tokensEstimated' | 'hasError'>;

/** What SQLite answers for T: it has no booleans. */
type Stored<T, Flags extends keyof T> = { readonly [K in keyof T]: K extends Flags ? number : T[K] };

export function toTraceRecord(row: TraceRow): TraceRecord {
  return { ...row, tokensEstimated: row.tokensEstimated === 1, hasError: row.hasError === 1 };
}

/** The columns of a span as it was sent, in the order of `spanCells`. */
export const SPAN_COLUMNS = [
  'project_number',
  'trace_sequence',
  'span_id',
  'parent_id',
  'type',
  'started_at',
  'duration_ms',
  'first_token_ms',
  'prompt_tokens',
  'completion_tokens',
  'reasoning_tokens',
  'cache_read_input_tokens',
  'cache_creation_input_tokens',
  'cost_nano_usd',
  'cost_source',
  'tokens_estimated',
  'cached_tokens_in_prompt',
  'name',
  'vendor',
  'model',
  'params',
  'other_metrics',
  'error',
  'contexts',
  'input',
  'output',
] as const;

export function spanCells(projectNumber: number, sequence: number, span: Span): Cell[] {
  return [
    projectNumber,
    sequence,
    packId(span.spanId),
    span.parentId === null ? null : packId(span.parentId),
    spanTypes.code(span.type),
    span.startedAtMs,
    span.finishedAtMs - span.startedAtMs,
    span.firstTokenAtMs === null ? null : span.firstTokenAtMs - span.startedAtMs,
    span.promptTokens,
    span.completionTokens,
    span.reasoningTokens,
    span.cacheReadInputTokens,
    span.cacheCreationInputTokens,
    span.costNanoUsd,
    packCostSource(span.costSource),
    Number(span.tokensEstimated),
    span.cachedTokensInPrompt === null ? null : Number(span.cachedTokensInPrompt),
    span.name,
    span.vendor,
    span.model,
    span.paramsJson,
    span.otherMetricsJson,
    span.errorJson,
    span.contextsJson,
    packTyped(span.inputJson),
    packTyped(span.outputJson),
  ];
}

const SPAN_BASE = `
  ${idTextSql('span_id')} AS spanId,
  ${idTextSql('parent_id')} AS parentId,
  type,
  name,
  model,
  started_at AS startedAtMs,
  started_at + duration_ms AS finishedAtMs,
  started_at + first_token_ms AS firstTokenAtMs,
  prompt_tokens AS promptTokens,
  completion_tokens AS completionTokens,
  reasoning_tokens AS reasoningTokens,
  cache_read_input_tokens AS cacheReadInputTokens,
  cache_creation_input_tokens AS cacheCreationInputTokens,
  cost_nano_usd AS costNanoUsd,
  tokens_estimated AS tokensEstimated`;

const SUMMARY_BASE = `${SPAN_BASE},
  input IS NOT NULL AS hasInput,
  output IS NOT NULL AS hasOutput,
  error IS NOT NULL AS hasError`;

export const SUMMARY_SELECT = `SELECT ${SUMMARY_BASE} FROM spans`;

/** With whether the span stands at root level for want of a stored parent. */
export const LINKED_SUMMARY_SELECT = `SELECT ${SUMMARY_BASE},
  parent_id IS NULL OR NOT EXISTS (
    SELECT 1 FROM spans AS parents
    WHERE parents.project_number = spans.project_number AND parents.trace_sequence = spans.trace_sequence
      AND parents.span_id = spans.parent_id
  ) AS isParentless
FROM spans`;

/** With what tells whether a stored span had its event. */
export const STORED_SPAN_SELECT = `SELECT ${SUMMARY_BASE},
  params AS paramsJson,
  emitted_request_id AS emittedRequestId
FROM spans`;

type SummaryFlags = 'tokensEstimated' | 'hasInput' | 'hasOutput' | 'hasError';
export type SummaryRow = Omit<Stored<SpanSummary, SummaryFlags>, 'type'> & { readonly type: number };
export type LinkedSummaryRow = SummaryRow & { readonly isParentless: number };
export type StoredSpanRow = SummaryRow & Omit<StoredSpan, 'summary'>;

export function toLinkedSummary({ isParentless, ...row }: LinkedSummaryRow): LinkedSummary {
  return { ...toSummary(row), isParentless: isParentless === 1 };
}

export function toStoredSpan({ paramsJson, emittedRequestId, ...row }: StoredSpanRow): StoredSpan {
  return { summary: toSummary(row), paramsJson, emittedRequestId };
}

export function toSummary(row: SummaryRow): SpanSummary {
  return {
    ...row,
    type: spanTypes.word(row.type),
    tokensEstimated: row.tokensEstimated === 1,
    hasInput: row.hasInput === 1,
    hasOutput: row.hasOutput === 1,
    hasError: row.hasError === 1,
  };
}

export const SPAN_SELECT = `SELECT ${SPAN_BASE},
  vendor,
  input AS inputJson,
  output AS outputJson,
  params AS paramsJson,
  cached_tokens_in_prompt AS cachedTokensInPrompt,
  other_metrics AS otherMetricsJson,
  cost_source AS costSource,
  error AS errorJson,
  contexts AS contextsJson
FROM spans`;

/** SQL for about how many bytes the texts of a span have; none of them is read for it. */
export const SPAN_BYTES = ['name', 'params', 'other_metrics', 'error', 'contexts', 'input', 'output']
  .map((column) => `ifnull(octet_length(${column}), 0)`)
  .join(' + ');

export type SpanRow = Omit<Stored<Span, 'tokensEstimated'>, 'type' | 'costSource' | 'cachedTokensInPrompt'> & {
  readonly type: number;
  readonly costSource: string | number | null;
  readonly cachedTokensInPrompt: number | null;
};

export function toSpan(row: SpanRow): Span {
  return {
    ...row,
    type: spanTypes.word(row.type),
    inputJson: unpackTyped(row.inputJson),
    outputJson: unpackTyped(row.outputJson),
    costSource: unpackCostSource(row.costSource),
    tokensEstimated: row.tokensEstimated === 1,
    cachedTokensInPrompt: row.cachedTokensInPrompt === null ? null : row.cachedTokensInPrompt === 1,
  };
}
