// Compiled from src/storage/traces/queries.ts by `npm run gen`: change it there.

import type { Compiled } from '../../../src/storage/queries.ts';
import { fillParameters } from '../../../src/storage/engine/sqlite/compact-ids.ts';
import { packId } from '../../../src/storage/engine/sqlite/compact-ids.ts';
import { packIds } from '../../../src/storage/engine/sqlite/compact-ids.ts';
import { spanTypes } from '../../../src/storage/rows/codes.ts';
import { unpackCostSource } from '../../../src/storage/rows/codes.ts';
import { unpackTyped } from '../../../src/storage/rows/codes.ts';
import type * as source from '../../../src/storage/traces/queries.ts';

export const findEvaluationBeyond: Compiled<typeof source.findEvaluationBeyond> = {
  name: 'traces.findEvaluationBeyond',
  text: "select \"evaluation_id\" as \"evaluationId\" from \"evaluations\" where \"project_number\" = ? and \"trace_sequence\" = ? limit ? offset ?",
  cells: (params) => [params.projectNumber, params.sequence, 1, params.count],
  row: (row: any) => ({
    evaluationId: row[0],
  }),
};

export const findEvaluations: Compiled<typeof source.findEvaluations> = {
  name: 'traces.findEvaluations',
  text: "select \"evaluations\".\"evaluation_id\" as \"evaluationId\", \"evaluations\".\"inserted_at\" as \"insertedAtMs\", \"evaluations\".\"evaluator_id\" as \"evaluatorId\", \"evaluations\".\"name\" as \"name\", \"evaluations\".\"type\" as \"type\", \"evaluations\".\"span_id\" as \"spanId\", \"evaluations\".\"thread_id\" as \"threadId\", \"evaluations\".\"is_guardrail\" as \"isGuardrail\", \"evaluations\".\"status\" as \"status\", \"evaluations\".\"passed\" as \"passed\", \"evaluations\".\"score\" as \"score\", \"evaluations\".\"label\" as \"label\", \"evaluations\".\"monitor_id\" as \"monitorId\", \"evaluations\".\"started_at\" as \"startedAtMs\", \"evaluations\".\"finished_at\" as \"finishedAtMs\", \"evaluations\".\"details\" as \"details\", \"evaluations\".\"error\" as \"errorJson\", \"evaluations\".\"inputs\" as \"inputsJson\", \"evaluations\".\"cost\" as \"costJson\" from \"evaluations\" where \"project_number\" = ? and \"trace_sequence\" = ? and \"evaluation_id\" in (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
  cells: (params) => [params.projectNumber, params.sequence, ...fillParameters(params.ids)],
  row: (row: any) => ({
    evaluationId: row[0],
    insertedAtMs: row[1],
    evaluatorId: row[2],
    name: row[3],
    type: row[4],
    spanId: row[5],
    threadId: row[6],
    isGuardrail: row[7] === 1,
    status: row[8],
    passed: row[9] === null ? null : row[9] === 1,
    score: row[10],
    label: row[11],
    monitorId: row[12],
    startedAtMs: row[13],
    finishedAtMs: row[14],
    details: row[15],
    errorJson: row[16],
    inputsJson: row[17],
    costJson: row[18],
  }),
};

export const findMetadata: Compiled<typeof source.findMetadata> = {
  name: 'traces.findMetadata',
  text: "select case when \"metadata_bytes\" is null then \"metadata\" else (select \"trace_texts\".\"text\" as \"text\" from \"trace_texts\" where \"trace_texts\".\"project_number\" = \"traces\".\"project_number\" and \"trace_texts\".\"trace_sequence\" = \"traces\".\"sequence\" and \"trace_texts\".\"name\" = 'metadata') end as \"metadataJson\" from \"traces\" where \"project_number\" = ? and \"trace_id\" = ?",
  cells: (params) => [params.projectNumber, packId(params.traceId)],
  row: (row: any) => ({
    metadataJson: row[0],
  }),
};

export const findRootSpan: Compiled<typeof source.findRootSpan> = {
  name: 'traces.findRootSpan',
  text: "select \"trace_sequence\" as \"sequence\" from \"spans\" where \"project_number\" = ? and \"trace_sequence\" = ? and \"parent_id\" is null limit ?",
  cells: (params) => [params.projectNumber, params.sequence, 1],
  row: (row: any) => ({
    sequence: row[0],
  }),
};

export const findSpans: Compiled<typeof source.findSpans> = {
  name: 'traces.findSpans',
  text: "select \"spans\".\"type\" as \"type\", \"spans\".\"started_at\" as \"startedAtMs\", \"spans\".\"started_ns\" as \"startedNs\", \"spans\".\"finished_ns\" as \"finishedNs\", \"spans\".\"prompt_tokens\" as \"promptTokens\", \"spans\".\"completion_tokens\" as \"completionTokens\", \"spans\".\"reasoning_tokens\" as \"reasoningTokens\", \"spans\".\"cache_read_input_tokens\" as \"cacheReadInputTokens\", \"spans\".\"cache_creation_input_tokens\" as \"cacheCreationInputTokens\", \"spans\".\"cost_nano_usd\" as \"costNanoUsd\", \"spans\".\"cost_source\" as \"costSource\", \"spans\".\"tokens_estimated\" as \"tokensEstimated\", \"spans\".\"cached_tokens_in_prompt\" as \"cachedTokensInPrompt\", \"spans\".\"call_row\" as \"callRow\", \"spans\".\"total_input\" as \"totalInput\", \"spans\".\"total_output\" as \"totalOutput\", \"spans\".\"share_rates\" as \"shareRates\", \"spans\".\"name\" as \"name\", \"spans\".\"vendor\" as \"vendor\", \"spans\".\"model\" as \"model\", \"spans\".\"params\" as \"paramsJson\", \"spans\".\"other_metrics\" as \"otherMetricsJson\", \"spans\".\"error\" as \"errorJson\", \"spans\".\"contexts\" as \"contextsJson\", \"spans\".\"telemetry\" as \"telemetryJson\", \"spans\".\"input\" as \"inputJson\", \"spans\".\"output\" as \"outputJson\", iif(typeof(\"spans\".\"span_id\") = 'blob', lower(hex(\"spans\".\"span_id\")), \"spans\".\"span_id\") as \"spanId\", iif(typeof(\"spans\".\"parent_id\") = 'blob', lower(hex(\"spans\".\"parent_id\")), \"spans\".\"parent_id\") as \"parentId\", \"started_at\" + \"duration_ms\" as \"finishedAtMs\", \"started_at\" + \"first_token_ms\" as \"firstTokenAtMs\" from \"spans\" where \"project_number\" = ? and \"trace_sequence\" = ? and \"span_id\" in (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
  cells: (params) => [params.projectNumber, params.sequence, ...packIds(params.ids)],
  row: (row: any) => ({
    type: spanTypes.value(row[0]),
    startedAtMs: row[1],
    startedNs: row[2],
    finishedNs: row[3],
    promptTokens: row[4],
    completionTokens: row[5],
    reasoningTokens: row[6],
    cacheReadInputTokens: row[7],
    cacheCreationInputTokens: row[8],
    costNanoUsd: row[9],
    costSource: unpackCostSource(row[10]),
    tokensEstimated: row[11] === 1,
    cachedTokensInPrompt: row[12] === null ? null : row[12] === 1,
    callRow: row[13],
    totalInput: row[14],
    totalOutput: row[15],
    shareRates: row[16],
    name: row[17],
    vendor: row[18],
    model: row[19],
    paramsJson: row[20],
    otherMetricsJson: row[21],
    errorJson: row[22],
    contextsJson: row[23],
    telemetryJson: row[24],
    inputJson: unpackTyped(row[25]),
    outputJson: unpackTyped(row[26]),
    spanId: row[27],
    parentId: row[28],
    finishedAtMs: row[29],
    firstTokenAtMs: row[30],
  }),
};

export const findSummaries: Compiled<typeof source.findSummaries> = {
  name: 'traces.findSummaries',
  text: "select \"spans\".\"type\" as \"type\", \"spans\".\"name\" as \"name\", \"spans\".\"model\" as \"model\", \"spans\".\"started_at\" as \"startedAtMs\", \"spans\".\"started_ns\" as \"startedNs\", \"spans\".\"finished_ns\" as \"finishedNs\", \"spans\".\"prompt_tokens\" as \"promptTokens\", \"spans\".\"completion_tokens\" as \"completionTokens\", \"spans\".\"reasoning_tokens\" as \"reasoningTokens\", \"spans\".\"cache_read_input_tokens\" as \"cacheReadInputTokens\", \"spans\".\"cache_creation_input_tokens\" as \"cacheCreationInputTokens\", \"spans\".\"cost_nano_usd\" as \"costNanoUsd\", \"spans\".\"tokens_estimated\" as \"tokensEstimated\", \"spans\".\"cost_source\" as \"costSource\", \"spans\".\"call_row\" as \"callRow\", \"spans\".\"total_input\" as \"totalInput\", \"spans\".\"total_output\" as \"totalOutput\", \"spans\".\"share_rates\" as \"shareRates\", iif(typeof(\"spans\".\"span_id\") = 'blob', lower(hex(\"spans\".\"span_id\")), \"spans\".\"span_id\") as \"spanId\", iif(typeof(\"spans\".\"parent_id\") = 'blob', lower(hex(\"spans\".\"parent_id\")), \"spans\".\"parent_id\") as \"parentId\", \"started_at\" + \"duration_ms\" as \"finishedAtMs\", \"started_at\" + \"first_token_ms\" as \"firstTokenAtMs\", \"input\" is not null as \"hasInput\", \"output\" is not null as \"hasOutput\", \"error\" is not null as \"hasError\" from \"spans\" where \"project_number\" = ? and \"trace_sequence\" = ? and \"span_id\" in (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
  cells: (params) => [params.projectNumber, params.sequence, ...packIds(params.ids)],
  row: (row: any) => ({
    type: spanTypes.value(row[0]),
    name: row[1],
    model: row[2],
    startedAtMs: row[3],
    startedNs: row[4],
    finishedNs: row[5],
    promptTokens: row[6],
    completionTokens: row[7],
    reasoningTokens: row[8],
    cacheReadInputTokens: row[9],
    cacheCreationInputTokens: row[10],
    costNanoUsd: row[11],
    tokensEstimated: row[12] === 1,
    costSource: unpackCostSource(row[13]),
    callRow: row[14],
    totalInput: row[15],
    totalOutput: row[16],
    shareRates: row[17],
    spanId: row[18],
    parentId: row[19],
    finishedAtMs: row[20],
    firstTokenAtMs: row[21],
    hasInput: row[22] === 1,
    hasOutput: row[23] === 1,
    hasError: row[24] === 1,
  }),
};

export const findTrace: Compiled<typeof source.findTrace> = {
  name: 'traces.findTrace',
  text: "select \"traces\".\"sequence\" as \"sequence\", \"traces\".\"inserted_at\" as \"insertedAtMs\", \"traces\".\"updated_at\" as \"updatedAtMs\", \"traces\".\"span_count\" as \"spanCount\", \"traces\".\"started_at\" as \"startedAtMs\", \"traces\".\"first_token_ms\" as \"firstTokenMs\", \"traces\".\"prompt_tokens\" as \"promptTokens\", \"traces\".\"completion_tokens\" as \"completionTokens\", \"traces\".\"reasoning_tokens\" as \"reasoningTokens\", \"traces\".\"cache_read_input_tokens\" as \"cacheReadInputTokens\", \"traces\".\"cache_creation_input_tokens\" as \"cacheCreationInputTokens\", \"traces\".\"total_cost_nano_usd\" as \"totalCostNanoUsd\", \"traces\".\"unpriced_spans\" as \"unpricedSpans\", \"traces\".\"tokens_estimated\" as \"tokensEstimated\", \"traces\".\"has_error\" as \"hasError\", \"traces\".\"aggregates\" as \"aggregatesJson\", \"traces\".\"anchor_at\" as \"anchorAtMs\", iif(typeof(\"trace_id\") = 'blob', lower(hex(\"trace_id\")), \"trace_id\") as \"traceId\", \"started_at\" + \"duration_ms\" as \"finishedAtMs\", max(0, \"duration_ms\") as \"totalTimeMs\", case when \"metadata_bytes\" is null then \"metadata\" else (select \"trace_texts\".\"text\" as \"text\" from \"trace_texts\" where \"trace_texts\".\"project_number\" = \"traces\".\"project_number\" and \"trace_texts\".\"trace_sequence\" = \"traces\".\"sequence\" and \"trace_texts\".\"name\" = 'metadata') end as \"metadataJson\", case when \"expected_output_is_apart\" is null then \"expected_output\" else (select \"trace_texts\".\"text\" as \"text\" from \"trace_texts\" where \"trace_texts\".\"project_number\" = \"traces\".\"project_number\" and \"trace_texts\".\"trace_sequence\" = \"traces\".\"sequence\" and \"trace_texts\".\"name\" = 'expected_output') end as \"expectedOutput\" from \"traces\" where \"project_number\" = ? and \"trace_id\" = ?",
  cells: (params) => [params.projectNumber, packId(params.traceId)],
  row: (row: any) => ({
    sequence: row[0],
    insertedAtMs: row[1],
    updatedAtMs: row[2],
    spanCount: row[3],
    startedAtMs: row[4],
    firstTokenMs: row[5],
    promptTokens: row[6],
    completionTokens: row[7],
    reasoningTokens: row[8],
    cacheReadInputTokens: row[9],
    cacheCreationInputTokens: row[10],
    totalCostNanoUsd: row[11],
    unpricedSpans: row[12],
    tokensEstimated: row[13] === 1,
    hasError: row[14] === 1,
    aggregatesJson: row[15],
    anchorAtMs: row[16],
    traceId: row[17],
    finishedAtMs: row[18],
    totalTimeMs: row[19],
    metadataJson: row[20],
    expectedOutput: row[21],
  }),
};

export const keepMetadata: Compiled<typeof source.keepMetadata> = {
  name: 'traces.keepMetadata',
  text: "update \"traces\" set \"metadata\" = ?, \"metadata_bytes\" = ?, \"updated_at\" = ? where (\"project_number\" = ? and \"trace_id\" = ?)",
  cells: (params) => [params.metadataJson, params.metadataBytes ?? null, params.updatedAtMs, params.projectNumber, packId(params.traceId)],
};

export const keepSums: Compiled<typeof source.keepSums> = {
  name: 'traces.keepSums',
  text: "update \"traces\" set \"span_count\" = ?, \"started_at\" = ?, \"duration_ms\" = ?, \"first_token_ms\" = ?, \"prompt_tokens\" = ?, \"completion_tokens\" = ?, \"reasoning_tokens\" = ?, \"cache_read_input_tokens\" = ?, \"cache_creation_input_tokens\" = ?, \"total_cost_nano_usd\" = ?, \"unpriced_spans\" = ?, \"tokens_estimated\" = ?, \"has_error\" = ?, \"aggregates\" = ? where (\"project_number\" = ? and \"trace_id\" = ? and \"sequence\" = ?) and \"aggregates\" is not distinct from ?",
  cells: (params) => [params.spanCount, params.startedAtMs ?? null, params.durationMs ?? null, params.firstTokenMs ?? null, params.promptTokens ?? null, params.completionTokens ?? null, params.reasoningTokens ?? null, params.cacheReadInputTokens ?? null, params.cacheCreationInputTokens ?? null, params.totalCostNanoUsd ?? null, params.unpricedSpans, Number(params.tokensEstimated), Number(params.hasError), params.aggregatesJson ?? null, params.projectNumber, packId(params.traceId), params.sequence, params.foundJson],
};

export const listEvaluationOrder: Compiled<typeof source.listEvaluationOrder> = {
  name: 'traces.listEvaluationOrder',
  text: "select \"inserted_at\" as \"atMs\", \"evaluation_id\" as \"id\", coalesce(octet_length(\"label\"), 0) + coalesce(octet_length(\"details\"), 0) + coalesce(octet_length(\"error\"), 0) + coalesce(octet_length(\"inputs\"), 0) + coalesce(octet_length(\"cost\"), 0) as \"bytes\" from \"evaluations\" where \"project_number\" = ? and \"trace_sequence\" = ? and (\"inserted_at\", \"evaluation_id\") > (?, ?) order by \"inserted_at\", \"evaluation_id\" limit ?",
  cells: (params) => [params.projectNumber, params.sequence, params.atMs, params.id, params.limit],
  row: (row: any) => ({
    atMs: row[0],
    id: row[1],
    bytes: row[2],
  }),
};

export const listFirstOfType: Compiled<typeof source.listFirstOfType> = {
  name: 'traces.listFirstOfType',
  text: "select iif(typeof(\"span_id\") = 'blob', lower(hex(\"span_id\")), \"span_id\") as \"spanId\" from \"spans\" where \"project_number\" = ? and \"trace_sequence\" = ? and \"type\" = ? order by \"started_at\" asc, coalesce(\"started_ns\", 0) asc, \"duration_ms\" desc, coalesce(\"finished_ns\", 0) desc, iif(typeof(\"span_id\") = 'blob', lower(hex(\"span_id\")), \"span_id\") asc limit ?",
  cells: (params) => [params.projectNumber, params.sequence, params.type, params.limit],
  row: (row: any) => ({
    spanId: row[0],
  }),
};

export const listLastOfType: Compiled<typeof source.listLastOfType> = {
  name: 'traces.listLastOfType',
  text: "select iif(typeof(\"span_id\") = 'blob', lower(hex(\"span_id\")), \"span_id\") as \"spanId\" from \"spans\" where \"project_number\" = ? and \"trace_sequence\" = ? and \"type\" = ? order by \"started_at\" desc, coalesce(\"started_ns\", 0) desc, \"duration_ms\" asc, coalesce(\"finished_ns\", 0) asc, iif(typeof(\"span_id\") = 'blob', lower(hex(\"span_id\")), \"span_id\") desc limit ?",
  cells: (params) => [params.projectNumber, params.sequence, params.type, params.limit],
  row: (row: any) => ({
    spanId: row[0],
  }),
};

export const listLinkedSummaries: Compiled<typeof source.listLinkedSummaries> = {
  name: 'traces.listLinkedSummaries',
  text: "select \"spans\".\"type\" as \"type\", \"spans\".\"name\" as \"name\", \"spans\".\"model\" as \"model\", \"spans\".\"started_at\" as \"startedAtMs\", \"spans\".\"started_ns\" as \"startedNs\", \"spans\".\"finished_ns\" as \"finishedNs\", \"spans\".\"prompt_tokens\" as \"promptTokens\", \"spans\".\"completion_tokens\" as \"completionTokens\", \"spans\".\"reasoning_tokens\" as \"reasoningTokens\", \"spans\".\"cache_read_input_tokens\" as \"cacheReadInputTokens\", \"spans\".\"cache_creation_input_tokens\" as \"cacheCreationInputTokens\", \"spans\".\"cost_nano_usd\" as \"costNanoUsd\", \"spans\".\"tokens_estimated\" as \"tokensEstimated\", \"spans\".\"cost_source\" as \"costSource\", \"spans\".\"call_row\" as \"callRow\", \"spans\".\"total_input\" as \"totalInput\", \"spans\".\"total_output\" as \"totalOutput\", \"spans\".\"share_rates\" as \"shareRates\", iif(typeof(\"spans\".\"span_id\") = 'blob', lower(hex(\"spans\".\"span_id\")), \"spans\".\"span_id\") as \"spanId\", iif(typeof(\"spans\".\"parent_id\") = 'blob', lower(hex(\"spans\".\"parent_id\")), \"spans\".\"parent_id\") as \"parentId\", \"started_at\" + \"duration_ms\" as \"finishedAtMs\", \"started_at\" + \"first_token_ms\" as \"firstTokenAtMs\", \"input\" is not null as \"hasInput\", \"output\" is not null as \"hasOutput\", \"error\" is not null as \"hasError\", (\"parent_id\" is null or not exists (select \"parent\".\"span_id\" as \"spanId\" from \"spans\" as \"parent\" where \"parent\".\"project_number\" = ? and \"parent\".\"trace_sequence\" = ? and \"parent\".\"span_id\" = \"spans\".\"parent_id\")) as \"isParentless\" from \"spans\" where \"project_number\" = ? and \"trace_sequence\" = ?",
  cells: (params) => [params.projectNumber, params.sequence, params.projectNumber, params.sequence],
  row: (row: any) => ({
    type: spanTypes.value(row[0]),
    name: row[1],
    model: row[2],
    startedAtMs: row[3],
    startedNs: row[4],
    finishedNs: row[5],
    promptTokens: row[6],
    completionTokens: row[7],
    reasoningTokens: row[8],
    cacheReadInputTokens: row[9],
    cacheCreationInputTokens: row[10],
    costNanoUsd: row[11],
    tokensEstimated: row[12] === 1,
    costSource: unpackCostSource(row[13]),
    callRow: row[14],
    totalInput: row[15],
    totalOutput: row[16],
    shareRates: row[17],
    spanId: row[18],
    parentId: row[19],
    finishedAtMs: row[20],
    firstTokenAtMs: row[21],
    hasInput: row[22] === 1,
    hasOutput: row[23] === 1,
    hasError: row[24] === 1,
    isParentless: row[25] === 1,
  }),
};

export const listLinks: Compiled<typeof source.listLinks> = {
  name: 'traces.listLinks',
  text: "select iif(typeof(\"span_id\") = 'blob', lower(hex(\"span_id\")), \"span_id\") as \"spanId\", iif(typeof(\"parent_id\") = 'blob', lower(hex(\"parent_id\")), \"parent_id\") as \"parentId\" from \"spans\" where \"project_number\" = ? and \"trace_sequence\" = ? order by \"started_at\" asc, coalesce(\"started_ns\", 0) asc, \"duration_ms\" desc, coalesce(\"finished_ns\", 0) desc, iif(typeof(\"span_id\") = 'blob', lower(hex(\"span_id\")), \"span_id\") asc",
  cells: (params) => [params.projectNumber, params.sequence],
  row: (row: any) => ({
    spanId: row[0],
    parentId: row[1],
  }),
};

export const listOutdated: Compiled<typeof source.listOutdated> = {
  name: 'traces.listOutdated',
  text: "select iif(typeof(\"trace_id\") = 'blob', lower(hex(\"trace_id\")), \"trace_id\") as \"traceId\", \"traces\".\"sequence\" as \"sequence\", \"traces\".\"span_count\" as \"spanCount\", \"traces\".\"aggregates\" as \"aggregatesJson\" from \"traces\" where \"project_number\" = ? and \"span_count\" > 200 and substr(\"aggregates\", 1, 12) = '{\"outdated\":' limit ?",
  cells: (params) => [params.projectNumber, params.limit],
  row: (row: any) => ({
    traceId: row[0],
    sequence: row[1],
    spanCount: row[2],
    aggregatesJson: row[3],
  }),
};

export const listSharers: Compiled<typeof source.listSharers> = {
  name: 'traces.listSharers',
  text: "select iif(typeof(\"span_id\") = 'blob', lower(hex(\"span_id\")), \"span_id\") as \"spanId\" from \"spans\" where \"project_number\" = ? and \"trace_sequence\" = ? and \"shared_request_id\" is not null",
  cells: (params) => [params.projectNumber, params.sequence],
  row: (row: any) => ({
    spanId: row[0],
  }),
};

export const listSpanOrder: Compiled<typeof source.listSpanOrder> = {
  name: 'traces.listSpanOrder',
  text: "select \"started_at\" as \"atMs\", \"spans\".\"duration_ms\" as \"durationMs\", coalesce(\"started_ns\", 0) as \"startedNs\", coalesce(\"finished_ns\", 0) as \"finishedNs\", iif(typeof(\"span_id\") = 'blob', lower(hex(\"span_id\")), \"span_id\") as \"id\", coalesce(octet_length(\"name\"), 0) + coalesce(octet_length(\"params\"), 0) + coalesce(octet_length(\"other_metrics\"), 0) + coalesce(octet_length(\"error\"), 0) + coalesce(octet_length(\"contexts\"), 0) + coalesce(octet_length(\"telemetry\"), 0) + coalesce(octet_length(\"input\"), 0) + coalesce(octet_length(\"output\"), 0) as \"bytes\" from \"spans\" where \"project_number\" = ? and \"trace_sequence\" = ? and (\"started_at\", coalesce(\"started_ns\", 0), ?, ?, iif(typeof(\"span_id\") = 'blob', lower(hex(\"span_id\")), \"span_id\"))\n    > (?, ?, \"duration_ms\", coalesce(\"finished_ns\", 0), ?) order by \"started_at\" asc, coalesce(\"started_ns\", 0) asc, \"duration_ms\" desc, coalesce(\"finished_ns\", 0) desc, iif(typeof(\"span_id\") = 'blob', lower(hex(\"span_id\")), \"span_id\") asc limit ?",
  cells: (params) => [params.projectNumber, params.sequence, params.durationMs, params.finishedNs, params.atMs, params.startedNs, params.id, params.limit],
  row: (row: any) => ({
    atMs: row[0],
    durationMs: row[1],
    startedNs: row[2],
    finishedNs: row[3],
    id: row[4],
    bytes: row[5],
  }),
};

export const listSummaries: Compiled<typeof source.listSummaries> = {
  name: 'traces.listSummaries',
  text: "select \"spans\".\"type\" as \"type\", \"spans\".\"name\" as \"name\", \"spans\".\"model\" as \"model\", \"spans\".\"started_at\" as \"startedAtMs\", \"spans\".\"started_ns\" as \"startedNs\", \"spans\".\"finished_ns\" as \"finishedNs\", \"spans\".\"prompt_tokens\" as \"promptTokens\", \"spans\".\"completion_tokens\" as \"completionTokens\", \"spans\".\"reasoning_tokens\" as \"reasoningTokens\", \"spans\".\"cache_read_input_tokens\" as \"cacheReadInputTokens\", \"spans\".\"cache_creation_input_tokens\" as \"cacheCreationInputTokens\", \"spans\".\"cost_nano_usd\" as \"costNanoUsd\", \"spans\".\"tokens_estimated\" as \"tokensEstimated\", \"spans\".\"cost_source\" as \"costSource\", \"spans\".\"call_row\" as \"callRow\", \"spans\".\"total_input\" as \"totalInput\", \"spans\".\"total_output\" as \"totalOutput\", \"spans\".\"share_rates\" as \"shareRates\", iif(typeof(\"spans\".\"span_id\") = 'blob', lower(hex(\"spans\".\"span_id\")), \"spans\".\"span_id\") as \"spanId\", iif(typeof(\"spans\".\"parent_id\") = 'blob', lower(hex(\"spans\".\"parent_id\")), \"spans\".\"parent_id\") as \"parentId\", \"started_at\" + \"duration_ms\" as \"finishedAtMs\", \"started_at\" + \"first_token_ms\" as \"firstTokenAtMs\", \"input\" is not null as \"hasInput\", \"output\" is not null as \"hasOutput\", \"error\" is not null as \"hasError\" from \"spans\" where \"project_number\" = ? and \"trace_sequence\" = ?",
  cells: (params) => [params.projectNumber, params.sequence],
  row: (row: any) => ({
    type: spanTypes.value(row[0]),
    name: row[1],
    model: row[2],
    startedAtMs: row[3],
    startedNs: row[4],
    finishedNs: row[5],
    promptTokens: row[6],
    completionTokens: row[7],
    reasoningTokens: row[8],
    cacheReadInputTokens: row[9],
    cacheCreationInputTokens: row[10],
    costNanoUsd: row[11],
    tokensEstimated: row[12] === 1,
    costSource: unpackCostSource(row[13]),
    callRow: row[14],
    totalInput: row[15],
    totalOutput: row[16],
    shareRates: row[17],
    spanId: row[18],
    parentId: row[19],
    finishedAtMs: row[20],
    firstTokenAtMs: row[21],
    hasInput: row[22] === 1,
    hasOutput: row[23] === 1,
    hasError: row[24] === 1,
  }),
};

export const listTraceIds: Compiled<typeof source.listTraceIds> = {
  name: 'traces.listTraceIds',
  text: "select iif(typeof(\"trace_id\") = 'blob', lower(hex(\"trace_id\")), \"trace_id\") as \"traceId\" from \"traces\" where \"project_number\" = ? and \"trace_id\" >= ? and \"trace_id\" <= ? and \"inserted_at\" >= ? order by \"trace_id\" limit ?",
  cells: (params) => [params.projectNumber, params.first, params.last, params.sinceMs, params.limit],
  row: (row: any) => ({
    traceId: row[0],
  }),
};

export const lockTrace: Compiled<typeof source.lockTrace> = {
  name: 'traces.lockTrace',
  text: "select \"traces\".\"sequence\" as \"sequence\", \"traces\".\"span_count\" as \"spanCount\", \"traces\".\"inserted_at\" as \"insertedAtMs\", \"traces\".\"updated_at\" as \"updatedAtMs\" from \"traces\" where \"project_number\" = ? and \"trace_id\" = ?",
  cells: (params) => [params.projectNumber, packId(params.traceId)],
  row: (row: any) => ({
    sequence: row[0],
    spanCount: row[1],
    insertedAtMs: row[2],
    updatedAtMs: row[3],
  }),
};

export const removeText: Compiled<typeof source.removeText> = {
  name: 'traces.removeText',
  text: "delete from \"trace_texts\" where (\"project_number\" = ? and \"trace_sequence\" = ? and \"name\" = ?)",
  cells: (params) => [params.projectNumber, params.traceSequence, params.name],
};

export const storeText: Compiled<typeof source.storeText> = {
  name: 'traces.storeText',
  text: "insert into \"trace_texts\" (\"project_number\", \"trace_sequence\", \"name\", \"text\") values (?, ?, ?, ?) on conflict (\"project_number\", \"trace_sequence\", \"name\") do update set \"text\" = \"excluded\".\"text\"",
  cells: (params) => [params.projectNumber, params.traceSequence, params.name, params.text],
};
