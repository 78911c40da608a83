/** How traces and spans look in rows, in both directions. */

import type { Span, SpanSummary } from '../../domain/trace.ts';
import type { TracePlace, TraceState } from '../append/tables.ts';
import { spanTypes } from '../rows/codes.ts';
import { packTyped } from '../rows/typed-text.ts';
import type { Cell } from './binary-rows.ts';

/** A value of the type `trace_row`. */
export function traceRow(place: TracePlace & { readonly insertedAtMs: number }, state: TraceState): Cell[] {
  const { totals } = state;
  const { startedAtMs, finishedAtMs } = totals;
  return [
    place.projectNumber,
    place.traceId,
    place.sequence,
    place.insertedAtMs,
    state.updatedAtMs,
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
    totals.tokensEstimated,
    totals.hasError,
    state.metadataJson,
    state.expectedOutput,
  ];
}

/** A value of the type `span_row`. */
export function spanRow(projectNumber: number, sequence: number, span: Span, emittedRequestId: string | null): Cell[] {
  return [
    projectNumber,
    sequence,
    span.spanId,
    span.parentId,
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
    span.costSource,
    span.tokensEstimated,
    span.cachedTokensInPrompt,
    emittedRequestId,
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

/** Answers records of traces as they are. */
export const TRACE_SELECT = `SELECT
  sequence,
  trace_id AS "traceId",
  metadata AS "metadataJson",
  expected_output AS "expectedOutput",
  inserted_at AS "insertedAtMs",
  updated_at AS "updatedAtMs",
  span_count AS "spanCount",
  started_at AS "startedAtMs",
  started_at + duration_ms AS "finishedAtMs",
  CASE WHEN duration_ms < 0 THEN 0 ELSE duration_ms END AS "totalTimeMs",
  first_token_ms AS "firstTokenMs",
  prompt_tokens AS "promptTokens",
  completion_tokens AS "completionTokens",
  reasoning_tokens AS "reasoningTokens",
  cache_read_input_tokens AS "cacheReadInputTokens",
  cache_creation_input_tokens AS "cacheCreationInputTokens",
  total_cost_nano_usd AS "totalCostNanoUsd",
  unpriced_spans AS "unpricedSpans",
  tokens_estimated AS "tokensEstimated",
  has_error AS "hasError",
  aggregates AS "aggregatesJson"
FROM traces`;

const SPAN_BASE = `
  span_id AS "spanId",
  parent_id AS "parentId",
  type,
  name,
  model,
  started_at AS "startedAtMs",
  started_at + duration_ms AS "finishedAtMs",
  started_at + first_token_ms AS "firstTokenAtMs",
  prompt_tokens AS "promptTokens",
  completion_tokens AS "completionTokens",
  reasoning_tokens AS "reasoningTokens",
  cache_read_input_tokens AS "cacheReadInputTokens",
  cache_creation_input_tokens AS "cacheCreationInputTokens",
  cost_nano_usd AS "costNanoUsd",
  tokens_estimated AS "tokensEstimated"`;

export const SUMMARY_COLUMNS = `${SPAN_BASE},
  input IS NOT NULL AS "hasInput",
  output IS NOT NULL AS "hasOutput",
  error IS NOT NULL AS "hasError"`;

export const SUMMARY_SELECT = `SELECT ${SUMMARY_COLUMNS} FROM spans`;

export type SummaryRow = Omit<SpanSummary, 'type'> & { readonly type: number };

export function toSummary(row: SummaryRow): SpanSummary {
  return { ...row, type: spanTypes.word(row.type) };
}
