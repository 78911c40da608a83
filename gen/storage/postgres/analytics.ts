// Compiled from src/storage/analytics/queries.ts by `npm run gen`: change it there.

import type { Compiled } from '../../../src/storage/queries.ts';
import { int4Array } from '../../../src/storage/engine/postgres/binary-arrays.ts';
import { int8Array } from '../../../src/storage/engine/postgres/binary-arrays.ts';
import { spanTypes } from '../../../src/storage/rows/codes.ts';
import { textArray } from '../../../src/storage/engine/postgres/binary-arrays.ts';
import type * as source from '../../../src/storage/analytics/queries.ts';

export const addHour: Compiled<typeof source.addHour> = {
  name: 'analytics.addHour',
  text: "insert into \"analytics_hours\" (\"project_number\", \"grouping\", \"hour\", \"received_hour\", \"model\", \"traces\", \"spans\", \"errors\", \"prompt_tokens\", \"prompt_known\", \"completion_tokens\", \"completion_known\", \"cost_usd\", \"cost_rest_nano_usd\", \"cost_known\", \"writer\") values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, pg_backend_pid()) on conflict (\"project_number\", \"grouping\", \"hour\", \"received_hour\", \"model\", \"writer\") do update set \"traces\" = \"analytics_hours\".\"traces\" + \"excluded\".\"traces\", \"spans\" = \"analytics_hours\".\"spans\" + \"excluded\".\"spans\", \"errors\" = \"analytics_hours\".\"errors\" + \"excluded\".\"errors\", \"prompt_tokens\" = \"analytics_hours\".\"prompt_tokens\" + \"excluded\".\"prompt_tokens\", \"prompt_known\" = \"analytics_hours\".\"prompt_known\" + \"excluded\".\"prompt_known\", \"completion_tokens\" = \"analytics_hours\".\"completion_tokens\" + \"excluded\".\"completion_tokens\", \"completion_known\" = \"analytics_hours\".\"completion_known\" + \"excluded\".\"completion_known\", \"cost_usd\" = \"analytics_hours\".\"cost_usd\" + \"excluded\".\"cost_usd\", \"cost_rest_nano_usd\" = \"analytics_hours\".\"cost_rest_nano_usd\" + \"excluded\".\"cost_rest_nano_usd\", \"cost_known\" = \"analytics_hours\".\"cost_known\" + \"excluded\".\"cost_known\"",
  cells: (params) => [params.projectNumber, params.grouping, params.hour, params.receivedHour, params.model, params.traces, params.spans, params.errors, params.promptTokens, params.promptKnown, params.completionTokens, params.completionKnown, params.costUsd, params.costRestNanoUsd, params.costKnown],
};

export const addHours: Compiled<typeof source.addHours> = {
  name: 'analytics.addHours',
  text: "insert into \"analytics_hours\" (\"project_number\", \"grouping\", \"hour\", \"received_hour\", \"model\", \"traces\", \"spans\", \"errors\", \"prompt_tokens\", \"prompt_known\", \"completion_tokens\", \"completion_known\", \"cost_usd\", \"cost_rest_nano_usd\", \"cost_known\", \"writer\") select \"given\".\"v0\", \"given\".\"v1\", \"given\".\"v2\", \"given\".\"v3\", \"given\".\"v4\", \"given\".\"v5\", \"given\".\"v6\", \"given\".\"v7\", \"given\".\"v8\", \"given\".\"v9\", \"given\".\"v10\", \"given\".\"v11\", \"given\".\"v12\", \"given\".\"v13\", \"given\".\"v14\", pg_backend_pid() from unnest($1::int[], $2::int[], $3::int[], $4::int[], $5::text[], $6::bigint[], $7::bigint[], $8::bigint[], $9::bigint[], $10::bigint[], $11::bigint[], $12::bigint[], $13::bigint[], $14::bigint[], $15::bigint[]) as given (v0, v1, v2, v3, v4, v5, v6, v7, v8, v9, v10, v11, v12, v13, v14) on conflict (\"project_number\", \"grouping\", \"hour\", \"received_hour\", \"model\", \"writer\") do update set \"traces\" = \"analytics_hours\".\"traces\" + \"excluded\".\"traces\", \"spans\" = \"analytics_hours\".\"spans\" + \"excluded\".\"spans\", \"errors\" = \"analytics_hours\".\"errors\" + \"excluded\".\"errors\", \"prompt_tokens\" = \"analytics_hours\".\"prompt_tokens\" + \"excluded\".\"prompt_tokens\", \"prompt_known\" = \"analytics_hours\".\"prompt_known\" + \"excluded\".\"prompt_known\", \"completion_tokens\" = \"analytics_hours\".\"completion_tokens\" + \"excluded\".\"completion_tokens\", \"completion_known\" = \"analytics_hours\".\"completion_known\" + \"excluded\".\"completion_known\", \"cost_usd\" = \"analytics_hours\".\"cost_usd\" + \"excluded\".\"cost_usd\", \"cost_rest_nano_usd\" = \"analytics_hours\".\"cost_rest_nano_usd\" + \"excluded\".\"cost_rest_nano_usd\", \"cost_known\" = \"analytics_hours\".\"cost_known\" + \"excluded\".\"cost_known\"",
  cells: (rows) => [int4Array(rows, (params) => params.projectNumber), int4Array(rows, (params) => params.grouping), int4Array(rows, (params) => params.hour), int4Array(rows, (params) => params.receivedHour), textArray(rows, (params) => params.model), int8Array(rows, (params) => params.traces), int8Array(rows, (params) => params.spans), int8Array(rows, (params) => params.errors), int8Array(rows, (params) => params.promptTokens), int8Array(rows, (params) => params.promptKnown), int8Array(rows, (params) => params.completionTokens), int8Array(rows, (params) => params.completionKnown), int8Array(rows, (params) => params.costUsd), int8Array(rows, (params) => params.costRestNanoUsd), int8Array(rows, (params) => params.costKnown)],
};

export const findTraceBehind: Compiled<typeof source.findTraceBehind> = {
  name: 'analytics.findTraceBehind',
  text: "select coalesce(\"traces\".\"started_at\", \"traces\".\"inserted_at\") as \"startMs\", \"traces\".\"sequence\" as \"sequence\" from \"traces\" where \"traces\".\"project_number\" = $1 and coalesce(\"traces\".\"started_at\", \"traces\".\"inserted_at\") <= $2 and coalesce(\"traces\".\"started_at\", \"traces\".\"inserted_at\") >= $3 and (coalesce(\"traces\".\"started_at\", \"traces\".\"inserted_at\"), \"traces\".\"sequence\") > ($4, $5) order by coalesce(\"traces\".\"started_at\", \"traces\".\"inserted_at\"), \"traces\".\"sequence\" limit $6 offset $7",
  cells: (params) => [params.projectNumber, params.toMs, params.afterMs, params.afterMs, params.afterSequence, 1, params.count],
  row: (row) => row,
};

export const listCounted: Compiled<typeof source.listCounted> = {
  name: 'analytics.listCounted',
  text: "select \"traces\".\"project_number\" as \"projectNumber\", \"traces\".\"sequence\" as \"sequence\", \"traces\".\"started_at\" as \"startedAtMs\", \"traces\".\"inserted_at\" as \"insertedAtMs\", \"traces\".\"span_count\" as \"spanCount\", \"traces\".\"has_error\" as \"hasError\", \"traces\".\"prompt_tokens\" as \"promptTokens\", \"traces\".\"completion_tokens\" as \"completionTokens\", \"traces\".\"total_cost_nano_usd\" as \"totalCostNanoUsd\" from \"traces\" where \"project_number\" + 0 = $1 and \"sequence\" = any($2)",
  cells: (params) => [params.projectNumber, params.sequences],
  row: (row) => row,
};

export const listDurations: Compiled<typeof source.listDurations> = {
  name: 'analytics.listDurations',
  text: "select \"sequence\" as \"sequence\", coalesce(\"started_at\", \"inserted_at\") as \"startMs\", \"traces\".\"inserted_at\" as \"insertedAtMs\", \"traces\".\"span_count\" as \"spanCount\", \"traces\".\"duration_ms\" as \"durationMs\", \"traces\".\"first_token_ms\" as \"firstTokenMs\" from \"traces\" where \"project_number\" + 0 = $1 and \"sequence\" = any($2)",
  cells: (params) => [params.projectNumber, params.sequences],
  row: (row) => row,
};

export const listEvaluations: Compiled<typeof source.listEvaluations> = {
  name: 'analytics.listEvaluations',
  text: "select coalesce(\"traces\".\"started_at\", \"traces\".\"inserted_at\") as \"startMs\", \"traces\".\"sequence\" as \"sequence\", \"evaluations\".\"evaluation_id\" as \"evaluationId\", \"evaluations\".\"evaluator_id\" as \"evaluatorId\", \"evaluations\".\"label\" as \"label\", \"evaluations\".\"monitor_id\" as \"monitorId\", \"evaluations\".\"status\" as \"status\", \"evaluations\".\"passed\" as \"passed\", \"evaluations\".\"score\" as \"score\" from \"traces\" cross join \"evaluations\" where \"evaluations\".\"project_number\" = \"traces\".\"project_number\" and \"evaluations\".\"trace_sequence\" = \"traces\".\"sequence\" and \"traces\".\"project_number\" = $1 and coalesce(\"traces\".\"started_at\", \"traces\".\"inserted_at\") >= $2 and coalesce(\"traces\".\"started_at\", \"traces\".\"inserted_at\") <= $3 and (coalesce(\"traces\".\"started_at\", \"traces\".\"inserted_at\"), \"traces\".\"sequence\", \"evaluations\".\"evaluation_id\") > ($4, $5, $6) and (coalesce(\"traces\".\"started_at\", \"traces\".\"inserted_at\"), \"traces\".\"sequence\") <= ($7, $8) and \"traces\".\"inserted_at\" >= $9 order by coalesce(\"traces\".\"started_at\", \"traces\".\"inserted_at\"), \"traces\".\"sequence\", \"evaluations\".\"evaluation_id\" limit $10",
  cells: (params) => [params.projectNumber, params.afterMs, params.lastMs, params.afterMs, params.afterSequence, params.afterId, params.lastMs, params.lastSequence, params.receivedFromMs, params.limit],
  row: (row) => row,
};

export const listHours: Compiled<typeof source.listHours> = {
  name: 'analytics.listHours',
  text: "select \"analytics_hours\".\"hour\" as \"hour\", \"analytics_hours\".\"received_hour\" as \"receivedHour\", \"analytics_hours\".\"model\" as \"model\", \"analytics_hours\".\"writer\" as \"writer\", \"analytics_hours\".\"traces\" as \"traces\", \"analytics_hours\".\"spans\" as \"spans\", \"analytics_hours\".\"errors\" as \"errors\", \"analytics_hours\".\"prompt_tokens\" as \"promptTokens\", \"analytics_hours\".\"prompt_known\" as \"promptKnown\", \"analytics_hours\".\"completion_tokens\" as \"completionTokens\", \"analytics_hours\".\"completion_known\" as \"completionKnown\", \"analytics_hours\".\"cost_usd\" as \"costUsd\", \"analytics_hours\".\"cost_rest_nano_usd\" as \"costRestNanoUsd\", \"analytics_hours\".\"cost_known\" as \"costKnown\" from \"analytics_hours\" where (\"project_number\" = $1 and \"grouping\" = $2) and \"hour\" >= $3 and \"hour\" <= $4 and \"received_hour\" >= $5 and (\"hour\", \"received_hour\", \"model\", \"writer\") > ($6, $7, $8, $9) order by \"hour\", \"received_hour\", \"model\", \"writer\" limit $10",
  cells: (params) => [params.projectNumber, params.grouping, params.afterHour, params.lastHour, params.firstReceivedHour, params.afterHour, params.afterReceivedHour, params.afterModel, params.afterWriter, params.limit],
  row: (row) => row,
};

export const listLargeTraces: Compiled<typeof source.listLargeTraces> = {
  name: 'analytics.listLargeTraces',
  text: "select coalesce(\"started_at\", \"inserted_at\") as \"startMs\", \"traces\".\"sequence\" as \"sequence\", \"traces\".\"span_count\" as \"spanCount\", \"traces\".\"has_error\" as \"hasError\", \"traces\".\"prompt_tokens\" as \"promptTokens\", \"traces\".\"completion_tokens\" as \"completionTokens\", \"traces\".\"total_cost_nano_usd\" as \"totalCostNanoUsd\", \"traces\".\"first_token_ms\" as \"firstTokenMs\", \"traces\".\"duration_ms\" as \"durationMs\", coalesce(\"metadata_bytes\", octet_length(\"metadata\")) as \"metadataBytes\", substr(\"aggregates\", 1, 100) as \"aggregatesJson\" from \"traces\" where \"project_number\" = $1 and coalesce(\"started_at\", \"inserted_at\") <= $2 and coalesce(\"started_at\", \"inserted_at\") >= $3 and (coalesce(\"started_at\", \"inserted_at\"), \"sequence\") > ($4, $5) and \"inserted_at\" >= $6 and \"inserted_at\" <= $7 and ($8::text is null or strpos(case when \"metadata_bytes\" is null then \"metadata\" else (select \"trace_texts\".\"text\" as \"text\" from \"trace_texts\" where \"trace_texts\".\"project_number\" = \"traces\".\"project_number\" and \"trace_texts\".\"trace_sequence\" = \"traces\".\"sequence\" and \"trace_texts\".\"name\" = 'metadata') end, $9::text) > 0) and ($10::text is null or strpos(case when \"metadata_bytes\" is null then \"metadata\" else (select \"trace_texts\".\"text\" as \"text\" from \"trace_texts\" where \"trace_texts\".\"project_number\" = \"traces\".\"project_number\" and \"trace_texts\".\"trace_sequence\" = \"traces\".\"sequence\" and \"trace_texts\".\"name\" = 'metadata') end, $11::text) > 0) and \"span_count\" > 200 order by coalesce(\"started_at\", \"inserted_at\"), \"sequence\" limit $12",
  cells: (params) => [params.projectNumber, params.toMs, params.afterMs, params.afterMs, params.afterSequence, params.receivedFromMs, params.receivedToMs, params.firstNeedle, params.firstNeedle, params.secondNeedle, params.secondNeedle, params.limit],
  row: (row) => row,
};

export const listMetadata: Compiled<typeof source.listMetadata> = {
  name: 'analytics.listMetadata',
  text: "select \"sequence\" as \"sequence\", case when \"metadata_bytes\" is null then \"metadata\" else (select \"trace_texts\".\"text\" as \"text\" from \"trace_texts\" where \"trace_texts\".\"project_number\" = \"traces\".\"project_number\" and \"trace_texts\".\"trace_sequence\" = \"traces\".\"sequence\" and \"trace_texts\".\"name\" = 'metadata') end as \"metadataJson\" from \"traces\" where \"project_number\" + 0 = $1 and \"sequence\" = any($2)",
  cells: (params) => [params.projectNumber, params.sequences],
  row: (row) => row,
};

export const listSmallTraces: Compiled<typeof source.listSmallTraces> = {
  name: 'analytics.listSmallTraces',
  text: "select coalesce(\"started_at\", \"inserted_at\") as \"startMs\", \"traces\".\"sequence\" as \"sequence\", \"traces\".\"span_count\" as \"spanCount\", \"traces\".\"has_error\" as \"hasError\", \"traces\".\"prompt_tokens\" as \"promptTokens\", \"traces\".\"completion_tokens\" as \"completionTokens\", \"traces\".\"total_cost_nano_usd\" as \"totalCostNanoUsd\", \"traces\".\"first_token_ms\" as \"firstTokenMs\", \"traces\".\"duration_ms\" as \"durationMs\", coalesce(\"metadata_bytes\", octet_length(\"metadata\")) as \"metadataBytes\", substr(\"aggregates\", 1, 100) as \"aggregatesJson\" from \"traces\" where \"project_number\" = $1 and coalesce(\"started_at\", \"inserted_at\") <= $2 and coalesce(\"started_at\", \"inserted_at\") >= $3 and (coalesce(\"started_at\", \"inserted_at\"), \"sequence\") > ($4, $5) and \"inserted_at\" >= $6 and \"inserted_at\" <= $7 and ($8::text is null or strpos(case when \"metadata_bytes\" is null then \"metadata\" else (select \"trace_texts\".\"text\" as \"text\" from \"trace_texts\" where \"trace_texts\".\"project_number\" = \"traces\".\"project_number\" and \"trace_texts\".\"trace_sequence\" = \"traces\".\"sequence\" and \"trace_texts\".\"name\" = 'metadata') end, $9::text) > 0) and ($10::text is null or strpos(case when \"metadata_bytes\" is null then \"metadata\" else (select \"trace_texts\".\"text\" as \"text\" from \"trace_texts\" where \"trace_texts\".\"project_number\" = \"traces\".\"project_number\" and \"trace_texts\".\"trace_sequence\" = \"traces\".\"sequence\" and \"trace_texts\".\"name\" = 'metadata') end, $11::text) > 0) and \"span_count\" <= 200 order by coalesce(\"started_at\", \"inserted_at\"), \"sequence\" limit $12",
  cells: (params) => [params.projectNumber, params.toMs, params.afterMs, params.afterMs, params.afterSequence, params.receivedFromMs, params.receivedToMs, params.firstNeedle, params.firstNeedle, params.secondNeedle, params.secondNeedle, params.limit],
  row: (row) => row,
};

export const listSpans: Compiled<typeof source.listSpans> = {
  name: 'analytics.listSpans',
  text: "select \"trace_sequence\" as \"traceSequence\", \"span_id\" as \"spanId\", \"parent_id\" as \"parentId\", \"spans\".\"type\" as \"type\", \"spans\".\"model\" as \"model\", \"spans\".\"started_at\" as \"startedAtMs\", \"spans\".\"prompt_tokens\" as \"promptTokens\", \"spans\".\"completion_tokens\" as \"completionTokens\", \"spans\".\"reasoning_tokens\" as \"reasoningTokens\", \"spans\".\"cache_read_input_tokens\" as \"cacheReadInputTokens\", \"spans\".\"cache_creation_input_tokens\" as \"cacheCreationInputTokens\", \"spans\".\"cost_nano_usd\" as \"costNanoUsd\", \"spans\".\"first_token_ms\" as \"firstTokenMs\", \"spans\".\"cost_source\" as \"costSource\", \"spans\".\"call_row\" as \"callRow\", \"spans\".\"total_input\" as \"totalInput\", \"spans\".\"total_output\" as \"totalOutput\", \"spans\".\"share_rates\" as \"shareRates\", \"spans\".\"duration_ms\" as \"durationMs\", \"error\" is not null as \"hasError\" from \"spans\" where \"project_number\" = $1 and \"trace_sequence\" = any($2)",
  cells: (params) => [params.projectNumber, params.sequences],
  row: (row: any) => ({
    traceSequence: row.traceSequence,
    spanId: row.spanId,
    parentId: row.parentId,
    type: spanTypes.value(row.type),
    model: row.model,
    startedAtMs: row.startedAtMs,
    promptTokens: row.promptTokens,
    completionTokens: row.completionTokens,
    reasoningTokens: row.reasoningTokens,
    cacheReadInputTokens: row.cacheReadInputTokens,
    cacheCreationInputTokens: row.cacheCreationInputTokens,
    costNanoUsd: row.costNanoUsd,
    firstTokenMs: row.firstTokenMs,
    costSource: row.costSource,
    callRow: row.callRow,
    totalInput: row.totalInput,
    totalOutput: row.totalOutput,
    shareRates: row.shareRates,
    durationMs: row.durationMs,
    hasError: row.hasError,
  }),
};

export const listSpansBehind: Compiled<typeof source.listSpansBehind> = {
  name: 'analytics.listSpansBehind',
  text: "select \"trace_sequence\" as \"traceSequence\", \"span_id\" as \"spanId\", \"parent_id\" as \"parentId\", \"spans\".\"type\" as \"type\", \"spans\".\"model\" as \"model\", \"spans\".\"started_at\" as \"startedAtMs\", \"spans\".\"prompt_tokens\" as \"promptTokens\", \"spans\".\"completion_tokens\" as \"completionTokens\", \"spans\".\"reasoning_tokens\" as \"reasoningTokens\", \"spans\".\"cache_read_input_tokens\" as \"cacheReadInputTokens\", \"spans\".\"cache_creation_input_tokens\" as \"cacheCreationInputTokens\", \"spans\".\"cost_nano_usd\" as \"costNanoUsd\", \"spans\".\"first_token_ms\" as \"firstTokenMs\", \"spans\".\"cost_source\" as \"costSource\", \"spans\".\"call_row\" as \"callRow\", \"spans\".\"total_input\" as \"totalInput\", \"spans\".\"total_output\" as \"totalOutput\", \"spans\".\"share_rates\" as \"shareRates\", \"spans\".\"duration_ms\" as \"durationMs\", \"error\" is not null as \"hasError\" from \"spans\" where \"project_number\" = $1 and \"trace_sequence\" = $2 and \"span_id\" > $3 order by \"span_id\" limit $4",
  cells: (params) => [params.projectNumber, params.sequence, params.after, params.limit],
  row: (row: any) => ({
    traceSequence: row.traceSequence,
    spanId: row.spanId,
    parentId: row.parentId,
    type: spanTypes.value(row.type),
    model: row.model,
    startedAtMs: row.startedAtMs,
    promptTokens: row.promptTokens,
    completionTokens: row.completionTokens,
    reasoningTokens: row.reasoningTokens,
    cacheReadInputTokens: row.cacheReadInputTokens,
    cacheCreationInputTokens: row.cacheCreationInputTokens,
    costNanoUsd: row.costNanoUsd,
    firstTokenMs: row.firstTokenMs,
    costSource: row.costSource,
    callRow: row.callRow,
    totalInput: row.totalInput,
    totalOutput: row.totalOutput,
    shareRates: row.shareRates,
    durationMs: row.durationMs,
    hasError: row.hasError,
  }),
};

export const listTraces: Compiled<typeof source.listTraces> = {
  name: 'analytics.listTraces',
  text: "select coalesce(\"started_at\", \"inserted_at\") as \"startMs\", \"traces\".\"sequence\" as \"sequence\", \"traces\".\"span_count\" as \"spanCount\", \"traces\".\"has_error\" as \"hasError\", \"traces\".\"prompt_tokens\" as \"promptTokens\", \"traces\".\"completion_tokens\" as \"completionTokens\", \"traces\".\"total_cost_nano_usd\" as \"totalCostNanoUsd\", \"traces\".\"first_token_ms\" as \"firstTokenMs\", \"traces\".\"duration_ms\" as \"durationMs\", coalesce(\"metadata_bytes\", octet_length(\"metadata\")) as \"metadataBytes\", substr(\"aggregates\", 1, 100) as \"aggregatesJson\" from \"traces\" where \"project_number\" = $1 and coalesce(\"started_at\", \"inserted_at\") <= $2 and coalesce(\"started_at\", \"inserted_at\") >= $3 and (coalesce(\"started_at\", \"inserted_at\"), \"sequence\") > ($4, $5) and \"inserted_at\" >= $6 and \"inserted_at\" <= $7 and ($8::text is null or strpos(case when \"metadata_bytes\" is null then \"metadata\" else (select \"trace_texts\".\"text\" as \"text\" from \"trace_texts\" where \"trace_texts\".\"project_number\" = \"traces\".\"project_number\" and \"trace_texts\".\"trace_sequence\" = \"traces\".\"sequence\" and \"trace_texts\".\"name\" = 'metadata') end, $9::text) > 0) and ($10::text is null or strpos(case when \"metadata_bytes\" is null then \"metadata\" else (select \"trace_texts\".\"text\" as \"text\" from \"trace_texts\" where \"trace_texts\".\"project_number\" = \"traces\".\"project_number\" and \"trace_texts\".\"trace_sequence\" = \"traces\".\"sequence\" and \"trace_texts\".\"name\" = 'metadata') end, $11::text) > 0) order by coalesce(\"started_at\", \"inserted_at\"), \"sequence\" limit $12",
  cells: (params) => [params.projectNumber, params.toMs, params.afterMs, params.afterMs, params.afterSequence, params.receivedFromMs, params.receivedToMs, params.firstNeedle, params.firstNeedle, params.secondNeedle, params.secondNeedle, params.limit],
  row: (row) => row,
};
