// Compiled from src/storage/traces/queries.ts by `npm run gen`: change it there.

import type { Compiled } from '../../../src/storage/queries.ts';
import { spanTypes } from '../../../src/storage/rows/codes.ts';
import { unpackTyped } from '../../../src/storage/rows/codes.ts';
import type * as source from '../../../src/storage/traces/queries.ts';

export const findEvaluationBeyond: Compiled<typeof source.findEvaluationBeyond> = {
  name: 'traces.findEvaluationBeyond',
  text: "select \"evaluation_id\" as \"evaluationId\" from \"evaluations\" where \"project_number\" = $1 and \"trace_sequence\" = $2 limit $3 offset $4",
  cells: (params) => [params.projectNumber, params.sequence, 1, params.count],
  row: (row) => row,
};

export const findEvaluations: Compiled<typeof source.findEvaluations> = {
  name: 'traces.findEvaluations',
  text: "select \"evaluations\".\"evaluation_id\" as \"evaluationId\", \"evaluations\".\"inserted_at\" as \"insertedAtMs\", \"evaluations\".\"evaluator_id\" as \"evaluatorId\", \"evaluations\".\"name\" as \"name\", \"evaluations\".\"type\" as \"type\", \"evaluations\".\"span_id\" as \"spanId\", \"evaluations\".\"thread_id\" as \"threadId\", \"evaluations\".\"is_guardrail\" as \"isGuardrail\", \"evaluations\".\"status\" as \"status\", \"evaluations\".\"passed\" as \"passed\", \"evaluations\".\"score\" as \"score\", \"evaluations\".\"label\" as \"label\", \"evaluations\".\"monitor_id\" as \"monitorId\", \"evaluations\".\"started_at\" as \"startedAtMs\", \"evaluations\".\"finished_at\" as \"finishedAtMs\", \"evaluations\".\"details\" as \"details\", \"evaluations\".\"error\" as \"errorJson\", \"evaluations\".\"inputs\" as \"inputsJson\", \"evaluations\".\"cost\" as \"costJson\" from \"evaluations\" where \"project_number\" = $1 and \"trace_sequence\" = $2 and \"evaluation_id\" = any($3)",
  cells: (params) => [params.projectNumber, params.sequence, params.ids],
  row: (row) => row,
};

export const findMetadata: Compiled<typeof source.findMetadata> = {
  name: 'traces.findMetadata',
  text: "select case when \"metadata_bytes\" is null then \"metadata\" else (select \"trace_texts\".\"text\" as \"text\" from \"trace_texts\" where \"trace_texts\".\"project_number\" = \"traces\".\"project_number\" and \"trace_texts\".\"trace_sequence\" = \"traces\".\"sequence\" and \"trace_texts\".\"name\" = 'metadata') end as \"metadataJson\" from \"traces\" where \"project_number\" = $1 and \"trace_id\" = $2",
  cells: (params) => [params.projectNumber, params.traceId],
  row: (row) => row,
};

export const findRootSpan: Compiled<typeof source.findRootSpan> = {
  name: 'traces.findRootSpan',
  text: "select \"trace_sequence\" as \"sequence\" from \"spans\" where \"project_number\" = $1 and \"trace_sequence\" = $2 and \"parent_id\" is null limit $3",
  cells: (params) => [params.projectNumber, params.sequence, 1],
  row: (row) => row,
};

export const findSpans: Compiled<typeof source.findSpans> = {
  name: 'traces.findSpans',
  text: "select \"spans\".\"type\" as \"type\", \"spans\".\"started_at\" as \"startedAtMs\", \"spans\".\"started_ns\" as \"startedNs\", \"spans\".\"finished_ns\" as \"finishedNs\", \"spans\".\"prompt_tokens\" as \"promptTokens\", \"spans\".\"completion_tokens\" as \"completionTokens\", \"spans\".\"reasoning_tokens\" as \"reasoningTokens\", \"spans\".\"cache_read_input_tokens\" as \"cacheReadInputTokens\", \"spans\".\"cache_creation_input_tokens\" as \"cacheCreationInputTokens\", \"spans\".\"cost_nano_usd\" as \"costNanoUsd\", \"spans\".\"cost_source\" as \"costSource\", \"spans\".\"tokens_estimated\" as \"tokensEstimated\", \"spans\".\"cached_tokens_in_prompt\" as \"cachedTokensInPrompt\", \"spans\".\"call_row\" as \"callRow\", \"spans\".\"total_input\" as \"totalInput\", \"spans\".\"total_output\" as \"totalOutput\", \"spans\".\"share_rates\" as \"shareRates\", \"spans\".\"name\" as \"name\", \"spans\".\"vendor\" as \"vendor\", \"spans\".\"model\" as \"model\", \"spans\".\"params\" as \"paramsJson\", \"spans\".\"other_metrics\" as \"otherMetricsJson\", \"spans\".\"error\" as \"errorJson\", \"spans\".\"contexts\" as \"contextsJson\", \"spans\".\"telemetry\" as \"telemetryJson\", \"spans\".\"input\" as \"inputJson\", \"spans\".\"output\" as \"outputJson\", \"spans\".\"span_id\" as \"spanId\", \"spans\".\"parent_id\" as \"parentId\", \"started_at\" + \"duration_ms\" as \"finishedAtMs\", \"started_at\" + \"first_token_ms\" as \"firstTokenAtMs\" from \"spans\" where \"project_number\" = $1 and \"trace_sequence\" = $2 and \"span_id\" = any($3)",
  cells: (params) => [params.projectNumber, params.sequence, params.ids],
  row: (row: any) => ({
    type: spanTypes.value(row.type),
    startedAtMs: row.startedAtMs,
    startedNs: row.startedNs,
    finishedNs: row.finishedNs,
    promptTokens: row.promptTokens,
    completionTokens: row.completionTokens,
    reasoningTokens: row.reasoningTokens,
    cacheReadInputTokens: row.cacheReadInputTokens,
    cacheCreationInputTokens: row.cacheCreationInputTokens,
    costNanoUsd: row.costNanoUsd,
    costSource: row.costSource,
    tokensEstimated: row.tokensEstimated,
    cachedTokensInPrompt: row.cachedTokensInPrompt,
    callRow: row.callRow,
    totalInput: row.totalInput,
    totalOutput: row.totalOutput,
    shareRates: row.shareRates,
    name: row.name,
    vendor: row.vendor,
    model: row.model,
    paramsJson: row.paramsJson,
    otherMetricsJson: row.otherMetricsJson,
    errorJson: row.errorJson,
    contextsJson: row.contextsJson,
    telemetryJson: row.telemetryJson,
    inputJson: unpackTyped(row.inputJson),
    outputJson: unpackTyped(row.outputJson),
    spanId: row.spanId,
    parentId: row.parentId,
    finishedAtMs: row.finishedAtMs,
    firstTokenAtMs: row.firstTokenAtMs,
  }),
};

export const findSummaries: Compiled<typeof source.findSummaries> = {
  name: 'traces.findSummaries',
  text: "select \"spans\".\"type\" as \"type\", \"spans\".\"name\" as \"name\", \"spans\".\"model\" as \"model\", \"spans\".\"started_at\" as \"startedAtMs\", \"spans\".\"started_ns\" as \"startedNs\", \"spans\".\"finished_ns\" as \"finishedNs\", \"spans\".\"prompt_tokens\" as \"promptTokens\", \"spans\".\"completion_tokens\" as \"completionTokens\", \"spans\".\"reasoning_tokens\" as \"reasoningTokens\", \"spans\".\"cache_read_input_tokens\" as \"cacheReadInputTokens\", \"spans\".\"cache_creation_input_tokens\" as \"cacheCreationInputTokens\", \"spans\".\"cost_nano_usd\" as \"costNanoUsd\", \"spans\".\"tokens_estimated\" as \"tokensEstimated\", \"spans\".\"cost_source\" as \"costSource\", \"spans\".\"call_row\" as \"callRow\", \"spans\".\"total_input\" as \"totalInput\", \"spans\".\"total_output\" as \"totalOutput\", \"spans\".\"share_rates\" as \"shareRates\", \"spans\".\"span_id\" as \"spanId\", \"spans\".\"parent_id\" as \"parentId\", \"started_at\" + \"duration_ms\" as \"finishedAtMs\", \"started_at\" + \"first_token_ms\" as \"firstTokenAtMs\", \"input\" is not null as \"hasInput\", \"output\" is not null as \"hasOutput\", \"error\" is not null as \"hasError\" from \"spans\" where \"project_number\" = $1 and \"trace_sequence\" = $2 and \"span_id\" = any($3)",
  cells: (params) => [params.projectNumber, params.sequence, params.ids],
  row: (row: any) => ({
    type: spanTypes.value(row.type),
    name: row.name,
    model: row.model,
    startedAtMs: row.startedAtMs,
    startedNs: row.startedNs,
    finishedNs: row.finishedNs,
    promptTokens: row.promptTokens,
    completionTokens: row.completionTokens,
    reasoningTokens: row.reasoningTokens,
    cacheReadInputTokens: row.cacheReadInputTokens,
    cacheCreationInputTokens: row.cacheCreationInputTokens,
    costNanoUsd: row.costNanoUsd,
    tokensEstimated: row.tokensEstimated,
    costSource: row.costSource,
    callRow: row.callRow,
    totalInput: row.totalInput,
    totalOutput: row.totalOutput,
    shareRates: row.shareRates,
    spanId: row.spanId,
    parentId: row.parentId,
    finishedAtMs: row.finishedAtMs,
    firstTokenAtMs: row.firstTokenAtMs,
    hasInput: row.hasInput,
    hasOutput: row.hasOutput,
    hasError: row.hasError,
  }),
};

export const findTrace: Compiled<typeof source.findTrace> = {
  name: 'traces.findTrace',
  text: "select \"traces\".\"sequence\" as \"sequence\", \"traces\".\"inserted_at\" as \"insertedAtMs\", \"traces\".\"updated_at\" as \"updatedAtMs\", \"traces\".\"span_count\" as \"spanCount\", \"traces\".\"started_at\" as \"startedAtMs\", \"traces\".\"first_token_ms\" as \"firstTokenMs\", \"traces\".\"prompt_tokens\" as \"promptTokens\", \"traces\".\"completion_tokens\" as \"completionTokens\", \"traces\".\"reasoning_tokens\" as \"reasoningTokens\", \"traces\".\"cache_read_input_tokens\" as \"cacheReadInputTokens\", \"traces\".\"cache_creation_input_tokens\" as \"cacheCreationInputTokens\", \"traces\".\"total_cost_nano_usd\" as \"totalCostNanoUsd\", \"traces\".\"unpriced_spans\" as \"unpricedSpans\", \"traces\".\"tokens_estimated\" as \"tokensEstimated\", \"traces\".\"has_error\" as \"hasError\", \"traces\".\"aggregates\" as \"aggregatesJson\", \"traces\".\"anchor_at\" as \"anchorAtMs\", \"trace_id\" as \"traceId\", \"started_at\" + \"duration_ms\" as \"finishedAtMs\", case when \"duration_ms\" < 0 then 0 else \"duration_ms\" end as \"totalTimeMs\", case when \"metadata_bytes\" is null then \"metadata\" else (select \"trace_texts\".\"text\" as \"text\" from \"trace_texts\" where \"trace_texts\".\"project_number\" = \"traces\".\"project_number\" and \"trace_texts\".\"trace_sequence\" = \"traces\".\"sequence\" and \"trace_texts\".\"name\" = 'metadata') end as \"metadataJson\", case when \"expected_output_is_apart\" is null then \"expected_output\" else (select \"trace_texts\".\"text\" as \"text\" from \"trace_texts\" where \"trace_texts\".\"project_number\" = \"traces\".\"project_number\" and \"trace_texts\".\"trace_sequence\" = \"traces\".\"sequence\" and \"trace_texts\".\"name\" = 'expected_output') end as \"expectedOutput\" from \"traces\" where \"project_number\" = $1 and \"trace_id\" = $2",
  cells: (params) => [params.projectNumber, params.traceId],
  row: (row) => row,
};

export const keepMetadata: Compiled<typeof source.keepMetadata> = {
  name: 'traces.keepMetadata',
  text: "update \"traces\" set \"metadata\" = $1, \"metadata_bytes\" = $2, \"updated_at\" = $3 where (\"project_number\" = $4 and \"trace_id\" = $5)",
  cells: (params) => [params.metadataJson, params.metadataBytes ?? null, params.updatedAtMs, params.projectNumber, params.traceId],
};

export const keepSums: Compiled<typeof source.keepSums> = {
  name: 'traces.keepSums',
  text: "update \"traces\" set \"span_count\" = $1, \"started_at\" = $2, \"duration_ms\" = $3, \"first_token_ms\" = $4, \"prompt_tokens\" = $5, \"completion_tokens\" = $6, \"reasoning_tokens\" = $7, \"cache_read_input_tokens\" = $8, \"cache_creation_input_tokens\" = $9, \"total_cost_nano_usd\" = $10, \"unpriced_spans\" = $11, \"tokens_estimated\" = $12, \"has_error\" = $13, \"aggregates\" = $14 where (\"project_number\" = $15 and \"trace_id\" = $16 and \"sequence\" = $17) and \"aggregates\" is not distinct from $18",
  cells: (params) => [params.spanCount, params.startedAtMs ?? null, params.durationMs ?? null, params.firstTokenMs ?? null, params.promptTokens ?? null, params.completionTokens ?? null, params.reasoningTokens ?? null, params.cacheReadInputTokens ?? null, params.cacheCreationInputTokens ?? null, params.totalCostNanoUsd ?? null, params.unpricedSpans, params.tokensEstimated, params.hasError, params.aggregatesJson ?? null, params.projectNumber, params.traceId, params.sequence, params.foundJson],
};

export const listEvaluationOrder: Compiled<typeof source.listEvaluationOrder> = {
  name: 'traces.listEvaluationOrder',
  text: "select \"inserted_at\" as \"atMs\", \"evaluation_id\" as \"id\", coalesce(octet_length(\"label\"), 0) + coalesce(octet_length(\"details\"), 0) + coalesce(octet_length(\"error\"), 0) + coalesce(octet_length(\"inputs\"), 0) + coalesce(octet_length(\"cost\"), 0) as \"bytes\" from \"evaluations\" where \"project_number\" = $1 and \"trace_sequence\" = $2 and (\"inserted_at\", \"evaluation_id\") > ($3, $4) order by \"inserted_at\", \"evaluation_id\" limit $5",
  cells: (params) => [params.projectNumber, params.sequence, params.atMs, params.id, params.limit],
  row: (row) => row,
};

export const listFirstOfType: Compiled<typeof source.listFirstOfType> = {
  name: 'traces.listFirstOfType',
  text: "select \"span_id\" as \"spanId\" from \"spans\" where \"project_number\" = $1 and \"trace_sequence\" = $2 and \"type\" = $3 order by \"started_at\" asc, coalesce(\"started_ns\", 0) asc, \"duration_ms\" desc, coalesce(\"finished_ns\", 0) desc, \"span_id\" asc limit $4",
  cells: (params) => [params.projectNumber, params.sequence, params.type, params.limit],
  row: (row) => row,
};

export const listLastOfType: Compiled<typeof source.listLastOfType> = {
  name: 'traces.listLastOfType',
  text: "select \"span_id\" as \"spanId\" from \"spans\" where \"project_number\" = $1 and \"trace_sequence\" = $2 and \"type\" = $3 order by \"started_at\" desc, coalesce(\"started_ns\", 0) desc, \"duration_ms\" asc, coalesce(\"finished_ns\", 0) asc, \"span_id\" desc limit $4",
  cells: (params) => [params.projectNumber, params.sequence, params.type, params.limit],
  row: (row) => row,
};

export const listLinkedSummaries: Compiled<typeof source.listLinkedSummaries> = {
  name: 'traces.listLinkedSummaries',
  text: "select \"spans\".\"type\" as \"type\", \"spans\".\"name\" as \"name\", \"spans\".\"model\" as \"model\", \"spans\".\"started_at\" as \"startedAtMs\", \"spans\".\"started_ns\" as \"startedNs\", \"spans\".\"finished_ns\" as \"finishedNs\", \"spans\".\"prompt_tokens\" as \"promptTokens\", \"spans\".\"completion_tokens\" as \"completionTokens\", \"spans\".\"reasoning_tokens\" as \"reasoningTokens\", \"spans\".\"cache_read_input_tokens\" as \"cacheReadInputTokens\", \"spans\".\"cache_creation_input_tokens\" as \"cacheCreationInputTokens\", \"spans\".\"cost_nano_usd\" as \"costNanoUsd\", \"spans\".\"tokens_estimated\" as \"tokensEstimated\", \"spans\".\"cost_source\" as \"costSource\", \"spans\".\"call_row\" as \"callRow\", \"spans\".\"total_input\" as \"totalInput\", \"spans\".\"total_output\" as \"totalOutput\", \"spans\".\"share_rates\" as \"shareRates\", \"spans\".\"span_id\" as \"spanId\", \"spans\".\"parent_id\" as \"parentId\", \"started_at\" + \"duration_ms\" as \"finishedAtMs\", \"started_at\" + \"first_token_ms\" as \"firstTokenAtMs\", \"input\" is not null as \"hasInput\", \"output\" is not null as \"hasOutput\", \"error\" is not null as \"hasError\", (\"parent_id\" is null or not exists (select \"parent\".\"span_id\" as \"spanId\" from \"spans\" as \"parent\" where \"parent\".\"project_number\" = $1 and \"parent\".\"trace_sequence\" = $2 and \"parent\".\"span_id\" = \"spans\".\"parent_id\")) as \"isParentless\" from \"spans\" where \"project_number\" = $3 and \"trace_sequence\" = $4",
  cells: (params) => [params.projectNumber, params.sequence, params.projectNumber, params.sequence],
  row: (row: any) => ({
    type: spanTypes.value(row.type),
    name: row.name,
    model: row.model,
    startedAtMs: row.startedAtMs,
    startedNs: row.startedNs,
    finishedNs: row.finishedNs,
    promptTokens: row.promptTokens,
    completionTokens: row.completionTokens,
    reasoningTokens: row.reasoningTokens,
    cacheReadInputTokens: row.cacheReadInputTokens,
    cacheCreationInputTokens: row.cacheCreationInputTokens,
    costNanoUsd: row.costNanoUsd,
    tokensEstimated: row.tokensEstimated,
    costSource: row.costSource,
    callRow: row.callRow,
    totalInput: row.totalInput,
    totalOutput: row.totalOutput,
    shareRates: row.shareRates,
    spanId: row.spanId,
    parentId: row.parentId,
    finishedAtMs: row.finishedAtMs,
    firstTokenAtMs: row.firstTokenAtMs,
    hasInput: row.hasInput,
    hasOutput: row.hasOutput,
    hasError: row.hasError,
    isParentless: row.isParentless,
  }),
};

export const listLinks: Compiled<typeof source.listLinks> = {
  name: 'traces.listLinks',
  text: "select \"span_id\" as \"spanId\", \"parent_id\" as \"parentId\" from \"spans\" where \"project_number\" = $1 and \"trace_sequence\" = $2 order by \"started_at\" asc, coalesce(\"started_ns\", 0) asc, \"duration_ms\" desc, coalesce(\"finished_ns\", 0) desc, \"span_id\" asc",
  cells: (params) => [params.projectNumber, params.sequence],
  row: (row) => row,
};

export const listOutdated: Compiled<typeof source.listOutdated> = {
  name: 'traces.listOutdated',
  text: "select \"trace_id\" as \"traceId\", \"traces\".\"sequence\" as \"sequence\", \"traces\".\"span_count\" as \"spanCount\", \"traces\".\"aggregates\" as \"aggregatesJson\" from \"traces\" where \"project_number\" = $1 and \"span_count\" > 200 and substr(\"aggregates\", 1, 12) = '{\"outdated\":' limit $2",
  cells: (params) => [params.projectNumber, params.limit],
  row: (row) => row,
};

export const listSharers: Compiled<typeof source.listSharers> = {
  name: 'traces.listSharers',
  text: "select \"span_id\" as \"spanId\" from \"spans\" where \"project_number\" = $1 and \"trace_sequence\" = $2 and \"shared_request_id\" is not null",
  cells: (params) => [params.projectNumber, params.sequence],
  row: (row) => row,
};

export const listSpanOrder: Compiled<typeof source.listSpanOrder> = {
  name: 'traces.listSpanOrder',
  text: "select \"started_at\" as \"atMs\", \"spans\".\"duration_ms\" as \"durationMs\", coalesce(\"started_ns\", 0) as \"startedNs\", coalesce(\"finished_ns\", 0) as \"finishedNs\", \"span_id\" as \"id\", coalesce(octet_length(\"name\"), 0) + coalesce(octet_length(\"params\"), 0) + coalesce(octet_length(\"other_metrics\"), 0) + coalesce(octet_length(\"error\"), 0) + coalesce(octet_length(\"contexts\"), 0) + coalesce(octet_length(\"telemetry\"), 0) + coalesce(octet_length(\"input\"), 0) + coalesce(octet_length(\"output\"), 0) as \"bytes\" from \"spans\" where \"project_number\" = $1 and \"trace_sequence\" = $2 and (\"started_at\", coalesce(\"started_ns\", 0), $3, $4, \"span_id\")\n    > ($5, $6, \"duration_ms\", coalesce(\"finished_ns\", 0), $7) order by \"started_at\" asc, coalesce(\"started_ns\", 0) asc, \"duration_ms\" desc, coalesce(\"finished_ns\", 0) desc, \"span_id\" asc limit $8",
  cells: (params) => [params.projectNumber, params.sequence, params.durationMs, params.finishedNs, params.atMs, params.startedNs, params.id, params.limit],
  row: (row) => row,
};

export const listSummaries: Compiled<typeof source.listSummaries> = {
  name: 'traces.listSummaries',
  text: "select \"spans\".\"type\" as \"type\", \"spans\".\"name\" as \"name\", \"spans\".\"model\" as \"model\", \"spans\".\"started_at\" as \"startedAtMs\", \"spans\".\"started_ns\" as \"startedNs\", \"spans\".\"finished_ns\" as \"finishedNs\", \"spans\".\"prompt_tokens\" as \"promptTokens\", \"spans\".\"completion_tokens\" as \"completionTokens\", \"spans\".\"reasoning_tokens\" as \"reasoningTokens\", \"spans\".\"cache_read_input_tokens\" as \"cacheReadInputTokens\", \"spans\".\"cache_creation_input_tokens\" as \"cacheCreationInputTokens\", \"spans\".\"cost_nano_usd\" as \"costNanoUsd\", \"spans\".\"tokens_estimated\" as \"tokensEstimated\", \"spans\".\"cost_source\" as \"costSource\", \"spans\".\"call_row\" as \"callRow\", \"spans\".\"total_input\" as \"totalInput\", \"spans\".\"total_output\" as \"totalOutput\", \"spans\".\"share_rates\" as \"shareRates\", \"spans\".\"span_id\" as \"spanId\", \"spans\".\"parent_id\" as \"parentId\", \"started_at\" + \"duration_ms\" as \"finishedAtMs\", \"started_at\" + \"first_token_ms\" as \"firstTokenAtMs\", \"input\" is not null as \"hasInput\", \"output\" is not null as \"hasOutput\", \"error\" is not null as \"hasError\" from \"spans\" where \"project_number\" = $1 and \"trace_sequence\" = $2",
  cells: (params) => [params.projectNumber, params.sequence],
  row: (row: any) => ({
    type: spanTypes.value(row.type),
    name: row.name,
    model: row.model,
    startedAtMs: row.startedAtMs,
    startedNs: row.startedNs,
    finishedNs: row.finishedNs,
    promptTokens: row.promptTokens,
    completionTokens: row.completionTokens,
    reasoningTokens: row.reasoningTokens,
    cacheReadInputTokens: row.cacheReadInputTokens,
    cacheCreationInputTokens: row.cacheCreationInputTokens,
    costNanoUsd: row.costNanoUsd,
    tokensEstimated: row.tokensEstimated,
    costSource: row.costSource,
    callRow: row.callRow,
    totalInput: row.totalInput,
    totalOutput: row.totalOutput,
    shareRates: row.shareRates,
    spanId: row.spanId,
    parentId: row.parentId,
    finishedAtMs: row.finishedAtMs,
    firstTokenAtMs: row.firstTokenAtMs,
    hasInput: row.hasInput,
    hasOutput: row.hasOutput,
    hasError: row.hasError,
  }),
};

export const listTraceIds: Compiled<typeof source.listTraceIds> = {
  name: 'traces.listTraceIds',
  text: "select \"trace_id\" as \"traceId\" from \"traces\" where \"project_number\" = $1 and \"trace_id\" >= $2 and \"trace_id\" <= $3 and \"inserted_at\" >= $4 order by \"trace_id\" limit $5",
  cells: (params) => [params.projectNumber, params.first, params.last, params.sinceMs, params.limit],
  row: (row) => row,
};

export const lockTrace: Compiled<typeof source.lockTrace> = {
  name: 'traces.lockTrace',
  text: "select \"traces\".\"sequence\" as \"sequence\", \"traces\".\"span_count\" as \"spanCount\", \"traces\".\"inserted_at\" as \"insertedAtMs\", \"traces\".\"updated_at\" as \"updatedAtMs\" from \"traces\" where \"project_number\" = $1 and \"trace_id\" = $2 for update",
  cells: (params) => [params.projectNumber, params.traceId],
  row: (row) => row,
};

export const removeText: Compiled<typeof source.removeText> = {
  name: 'traces.removeText',
  text: "delete from \"trace_texts\" where (\"project_number\" = $1 and \"trace_sequence\" = $2 and \"name\" = $3)",
  cells: (params) => [params.projectNumber, params.traceSequence, params.name],
};

export const storeText: Compiled<typeof source.storeText> = {
  name: 'traces.storeText',
  text: "insert into \"trace_texts\" (\"project_number\", \"trace_sequence\", \"name\", \"text\") values ($1, $2, $3, $4) on conflict (\"project_number\", \"trace_sequence\", \"name\") do update set \"text\" = \"excluded\".\"text\"",
  cells: (params) => [params.projectNumber, params.traceSequence, params.name, params.text],
};
