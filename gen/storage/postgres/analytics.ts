// Compiled from src/storage/analytics/queries.ts by `npm run gen`: change it there.

import type { Compiled } from '../../../src/storage/queries.ts';
import type * as source from '../../../src/storage/analytics/queries.ts';

export const listDurations: Compiled<typeof source.listDurations> = {
  name: 'analytics.listDurations',
  text: "select \"sequence\" as \"sequence\", coalesce(\"started_at\", \"inserted_at\") as \"startMs\", \"traces\".\"inserted_at\" as \"insertedAtMs\", \"traces\".\"span_count\" as \"spanCount\", \"traces\".\"duration_ms\" as \"durationMs\", \"traces\".\"first_token_ms\" as \"firstTokenMs\" from \"traces\" where \"project_number\" + 0 = $1 and \"sequence\" = any($2)",
  cells: (params) => [params.projectNumber, params.sequences],
  row: (row) => row,
};

export const listLargeTraces: Compiled<typeof source.listLargeTraces> = {
  name: 'analytics.listLargeTraces',
  text: "select coalesce(\"started_at\", \"inserted_at\") as \"startMs\", \"traces\".\"sequence\" as \"sequence\", \"traces\".\"span_count\" as \"spanCount\", \"traces\".\"has_error\" as \"hasError\", \"traces\".\"prompt_tokens\" as \"promptTokens\", \"traces\".\"completion_tokens\" as \"completionTokens\", \"traces\".\"total_cost_nano_usd\" as \"totalCostNanoUsd\", \"traces\".\"first_token_ms\" as \"firstTokenMs\", \"traces\".\"duration_ms\" as \"durationMs\", octet_length(\"metadata\") as \"metadataBytes\", substr(\"aggregates\", 1, 100) as \"aggregatesJson\" from \"traces\" where \"project_number\" = $1 and coalesce(\"started_at\", \"inserted_at\") <= $2 and coalesce(\"started_at\", \"inserted_at\") >= $3 and (coalesce(\"started_at\", \"inserted_at\"), \"sequence\") > ($4, $5) and \"inserted_at\" >= $6 and \"inserted_at\" <= $7 and ($8::text is null or strpos(\"metadata\", $9::text) > 0) and ($10::text is null or strpos(\"metadata\", $11::text) > 0) and \"span_count\" > 200 order by coalesce(\"started_at\", \"inserted_at\"), \"sequence\" limit $12",
  cells: (params) => [params.projectNumber, params.toMs, params.afterMs, params.afterMs, params.afterSequence, params.receivedFromMs, params.receivedToMs, params.firstNeedle, params.firstNeedle, params.secondNeedle, params.secondNeedle, params.limit],
  row: (row) => row,
};

export const listMetadata: Compiled<typeof source.listMetadata> = {
  name: 'analytics.listMetadata',
  text: "select \"sequence\" as \"sequence\", \"metadata\" as \"metadataJson\" from \"traces\" where \"project_number\" + 0 = $1 and \"sequence\" = any($2)",
  cells: (params) => [params.projectNumber, params.sequences],
  row: (row) => row,
};

export const listSmallTraces: Compiled<typeof source.listSmallTraces> = {
  name: 'analytics.listSmallTraces',
  text: "select coalesce(\"started_at\", \"inserted_at\") as \"startMs\", \"traces\".\"sequence\" as \"sequence\", \"traces\".\"span_count\" as \"spanCount\", \"traces\".\"has_error\" as \"hasError\", \"traces\".\"prompt_tokens\" as \"promptTokens\", \"traces\".\"completion_tokens\" as \"completionTokens\", \"traces\".\"total_cost_nano_usd\" as \"totalCostNanoUsd\", \"traces\".\"first_token_ms\" as \"firstTokenMs\", \"traces\".\"duration_ms\" as \"durationMs\", octet_length(\"metadata\") as \"metadataBytes\", substr(\"aggregates\", 1, 100) as \"aggregatesJson\" from \"traces\" where \"project_number\" = $1 and coalesce(\"started_at\", \"inserted_at\") <= $2 and coalesce(\"started_at\", \"inserted_at\") >= $3 and (coalesce(\"started_at\", \"inserted_at\"), \"sequence\") > ($4, $5) and \"inserted_at\" >= $6 and \"inserted_at\" <= $7 and ($8::text is null or strpos(\"metadata\", $9::text) > 0) and ($10::text is null or strpos(\"metadata\", $11::text) > 0) and \"span_count\" <= 200 order by coalesce(\"started_at\", \"inserted_at\"), \"sequence\" limit $12",
  cells: (params) => [params.projectNumber, params.toMs, params.afterMs, params.afterMs, params.afterSequence, params.receivedFromMs, params.receivedToMs, params.firstNeedle, params.firstNeedle, params.secondNeedle, params.secondNeedle, params.limit],
  row: (row) => row,
};

export const listSpans: Compiled<typeof source.listSpans> = {
  name: 'analytics.listSpans',
  text: "select \"trace_sequence\" as \"traceSequence\", \"span_id\" as \"spanId\", \"spans\".\"model\" as \"model\", \"spans\".\"started_at\" as \"startedAtMs\", \"spans\".\"prompt_tokens\" as \"promptTokens\", \"spans\".\"completion_tokens\" as \"completionTokens\", \"spans\".\"cost_nano_usd\" as \"costNanoUsd\", \"spans\".\"first_token_ms\" as \"firstTokenMs\", \"spans\".\"duration_ms\" as \"durationMs\", \"error\" is not null as \"hasError\" from \"spans\" where \"project_number\" = $1 and \"trace_sequence\" = any($2)",
  cells: (params) => [params.projectNumber, params.sequences],
  row: (row) => row,
};

export const listSpansBehind: Compiled<typeof source.listSpansBehind> = {
  name: 'analytics.listSpansBehind',
  text: "select \"trace_sequence\" as \"traceSequence\", \"span_id\" as \"spanId\", \"spans\".\"model\" as \"model\", \"spans\".\"started_at\" as \"startedAtMs\", \"spans\".\"prompt_tokens\" as \"promptTokens\", \"spans\".\"completion_tokens\" as \"completionTokens\", \"spans\".\"cost_nano_usd\" as \"costNanoUsd\", \"spans\".\"first_token_ms\" as \"firstTokenMs\", \"spans\".\"duration_ms\" as \"durationMs\", \"error\" is not null as \"hasError\" from \"spans\" where \"project_number\" = $1 and \"trace_sequence\" = $2 and \"span_id\" > $3 order by \"span_id\" limit $4",
  cells: (params) => [params.projectNumber, params.sequence, params.after, params.limit],
  row: (row) => row,
};

export const listTraces: Compiled<typeof source.listTraces> = {
  name: 'analytics.listTraces',
  text: "select coalesce(\"started_at\", \"inserted_at\") as \"startMs\", \"traces\".\"sequence\" as \"sequence\", \"traces\".\"span_count\" as \"spanCount\", \"traces\".\"has_error\" as \"hasError\", \"traces\".\"prompt_tokens\" as \"promptTokens\", \"traces\".\"completion_tokens\" as \"completionTokens\", \"traces\".\"total_cost_nano_usd\" as \"totalCostNanoUsd\", \"traces\".\"first_token_ms\" as \"firstTokenMs\", \"traces\".\"duration_ms\" as \"durationMs\", octet_length(\"metadata\") as \"metadataBytes\", substr(\"aggregates\", 1, 100) as \"aggregatesJson\" from \"traces\" where \"project_number\" = $1 and coalesce(\"started_at\", \"inserted_at\") <= $2 and coalesce(\"started_at\", \"inserted_at\") >= $3 and (coalesce(\"started_at\", \"inserted_at\"), \"sequence\") > ($4, $5) and \"inserted_at\" >= $6 and \"inserted_at\" <= $7 and ($8::text is null or strpos(\"metadata\", $9::text) > 0) and ($10::text is null or strpos(\"metadata\", $11::text) > 0) order by coalesce(\"started_at\", \"inserted_at\"), \"sequence\" limit $12",
  cells: (params) => [params.projectNumber, params.toMs, params.afterMs, params.afterMs, params.afterSequence, params.receivedFromMs, params.receivedToMs, params.firstNeedle, params.firstNeedle, params.secondNeedle, params.secondNeedle, params.limit],
  row: (row) => row,
};
