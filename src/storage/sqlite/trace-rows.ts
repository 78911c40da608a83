/** How traces and spans are stored. */

import type { Span } from '../../domain/trace.ts';
import type { TraceState } from '../append/tables.ts';
import { packCostSource, spanTypes } from '../rows/codes.ts';
import { packTyped } from '../rows/typed-text.ts';
import { packId } from './compact-ids.ts';

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
