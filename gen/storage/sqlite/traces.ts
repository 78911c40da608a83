// Compiled from src/storage/traces/questions.ts by `npm run gen`: change it there.

import type { Compiled } from '../../../src/storage/questions.ts';
import { fillPlaces } from '../../../src/storage/engine/sqlite/id-lists.ts';
import { packId } from '../../../src/storage/engine/sqlite/compact-ids.ts';
import { packIds } from '../../../src/storage/engine/sqlite/id-lists.ts';
import { spanTypes } from '../../../src/storage/rows/codes.ts';
import { unpackCostSource } from '../../../src/storage/rows/codes.ts';
import { unpackTyped } from '../../../src/storage/rows/codes.ts';
import type * as source from '../../../src/storage/traces/questions.ts';

export const findEvaluationBeyond: Compiled<typeof source.findEvaluationBeyond> = {
  name: 'traces.findEvaluationBeyond',
  text: "select \"evaluation_id\" as \"evaluationId\" from \"evaluations\" where \"project_number\" = ? and \"trace_sequence\" = ? limit ? offset ?",
  cells: (given) => [given.projectNumber, given.sequence, 1, given.count],
  row: (row: any) => ({
    evaluationId: row[0],
  }),
};

export const findEvaluations: Compiled<typeof source.findEvaluations> = {
  name: 'traces.findEvaluations',
  text: "select \"evaluation_id\" as \"evaluationId\", \"evaluator_id\" as \"evaluatorId\", \"name\" as \"name\", \"type\" as \"type\", \"span_id\" as \"spanId\", \"thread_id\" as \"threadId\", \"is_guardrail\" as \"isGuardrail\", \"status\" as \"status\", \"passed\" as \"passed\", \"score\" as \"score\", \"label\" as \"label\", \"details\" as \"details\", \"error\" as \"errorJson\", \"inputs\" as \"inputsJson\", \"cost\" as \"costJson\", \"monitor_id\" as \"monitorId\", \"inserted_at\" as \"insertedAtMs\", \"started_at\" as \"startedAtMs\", \"finished_at\" as \"finishedAtMs\" from \"evaluations\" where \"project_number\" = ? and \"trace_sequence\" = ? and \"evaluation_id\" in (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
  cells: (given) => [given.projectNumber, given.sequence, ...fillPlaces(given.ids)],
  row: (row: any) => ({
    evaluationId: row[0],
    evaluatorId: row[1],
    name: row[2],
    type: row[3],
    spanId: row[4],
    threadId: row[5],
    isGuardrail: row[6] === 1,
    status: row[7],
    passed: row[8] === null ? null : row[8] === 1,
    score: row[9],
    label: row[10],
    details: row[11],
    errorJson: row[12],
    inputsJson: row[13],
    costJson: row[14],
    monitorId: row[15],
    insertedAtMs: row[16],
    startedAtMs: row[17],
    finishedAtMs: row[18],
  }),
};

export const findSpans: Compiled<typeof source.findSpans> = {
  name: 'traces.findSpans',
  text: "select iif(typeof(\"spans\".\"span_id\") = 'blob', lower(hex(\"spans\".\"span_id\")), \"spans\".\"span_id\") as \"spanId\", iif(typeof(\"spans\".\"parent_id\") = 'blob', lower(hex(\"spans\".\"parent_id\")), \"spans\".\"parent_id\") as \"parentId\", \"type\" as \"type\", \"name\" as \"name\", \"model\" as \"model\", \"started_at\" as \"startedAtMs\", \"started_at\" + \"duration_ms\" as \"finishedAtMs\", \"started_at\" + \"first_token_ms\" as \"firstTokenAtMs\", \"prompt_tokens\" as \"promptTokens\", \"completion_tokens\" as \"completionTokens\", \"reasoning_tokens\" as \"reasoningTokens\", \"cache_read_input_tokens\" as \"cacheReadInputTokens\", \"cache_creation_input_tokens\" as \"cacheCreationInputTokens\", \"cost_nano_usd\" as \"costNanoUsd\", \"tokens_estimated\" as \"tokensEstimated\", \"vendor\" as \"vendor\", \"input\" as \"inputJson\", \"output\" as \"outputJson\", \"params\" as \"paramsJson\", \"cached_tokens_in_prompt\" as \"cachedTokensInPrompt\", \"other_metrics\" as \"otherMetricsJson\", \"cost_source\" as \"costSource\", \"error\" as \"errorJson\", \"contexts\" as \"contextsJson\", \"telemetry\" as \"telemetryJson\" from \"spans\" where \"project_number\" = ? and \"trace_sequence\" = ? and \"span_id\" in (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
  cells: (given) => [given.projectNumber, given.sequence, ...packIds(given.ids)],
  row: (row: any) => ({
    spanId: row[0],
    parentId: row[1],
    type: spanTypes.word(row[2]),
    name: row[3],
    model: row[4],
    startedAtMs: row[5],
    finishedAtMs: row[6],
    firstTokenAtMs: row[7],
    promptTokens: row[8],
    completionTokens: row[9],
    reasoningTokens: row[10],
    cacheReadInputTokens: row[11],
    cacheCreationInputTokens: row[12],
    costNanoUsd: row[13],
    tokensEstimated: row[14] === 1,
    vendor: row[15],
    inputJson: unpackTyped(row[16]),
    outputJson: unpackTyped(row[17]),
    paramsJson: row[18],
    cachedTokensInPrompt: row[19] === null ? null : row[19] === 1,
    otherMetricsJson: row[20],
    costSource: unpackCostSource(row[21]),
    errorJson: row[22],
    contextsJson: row[23],
    telemetryJson: row[24],
  }),
};

export const findSummaries: Compiled<typeof source.findSummaries> = {
  name: 'traces.findSummaries',
  text: "select iif(typeof(\"spans\".\"span_id\") = 'blob', lower(hex(\"spans\".\"span_id\")), \"spans\".\"span_id\") as \"spanId\", iif(typeof(\"spans\".\"parent_id\") = 'blob', lower(hex(\"spans\".\"parent_id\")), \"spans\".\"parent_id\") as \"parentId\", \"type\" as \"type\", \"name\" as \"name\", \"model\" as \"model\", \"started_at\" as \"startedAtMs\", \"started_at\" + \"duration_ms\" as \"finishedAtMs\", \"started_at\" + \"first_token_ms\" as \"firstTokenAtMs\", \"prompt_tokens\" as \"promptTokens\", \"completion_tokens\" as \"completionTokens\", \"reasoning_tokens\" as \"reasoningTokens\", \"cache_read_input_tokens\" as \"cacheReadInputTokens\", \"cache_creation_input_tokens\" as \"cacheCreationInputTokens\", \"cost_nano_usd\" as \"costNanoUsd\", \"tokens_estimated\" as \"tokensEstimated\", \"input\" is not null as \"hasInput\", \"output\" is not null as \"hasOutput\", \"error\" is not null as \"hasError\" from \"spans\" where \"project_number\" = ? and \"trace_sequence\" = ? and \"span_id\" in (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
  cells: (given) => [given.projectNumber, given.sequence, ...packIds(given.ids)],
  row: (row: any) => ({
    spanId: row[0],
    parentId: row[1],
    type: spanTypes.word(row[2]),
    name: row[3],
    model: row[4],
    startedAtMs: row[5],
    finishedAtMs: row[6],
    firstTokenAtMs: row[7],
    promptTokens: row[8],
    completionTokens: row[9],
    reasoningTokens: row[10],
    cacheReadInputTokens: row[11],
    cacheCreationInputTokens: row[12],
    costNanoUsd: row[13],
    tokensEstimated: row[14] === 1,
    hasInput: row[15] === 1,
    hasOutput: row[16] === 1,
    hasError: row[17] === 1,
  }),
};

export const findTrace: Compiled<typeof source.findTrace> = {
  name: 'traces.findTrace',
  text: "select iif(typeof(\"trace_id\") = 'blob', lower(hex(\"trace_id\")), \"trace_id\") as \"traceId\", \"sequence\" as \"sequence\", \"metadata\" as \"metadataJson\", \"expected_output\" as \"expectedOutput\", \"inserted_at\" as \"insertedAtMs\", \"updated_at\" as \"updatedAtMs\", \"span_count\" as \"spanCount\", \"started_at\" as \"startedAtMs\", \"started_at\" + \"duration_ms\" as \"finishedAtMs\", max(0, \"duration_ms\") as \"totalTimeMs\", \"first_token_ms\" as \"firstTokenMs\", \"prompt_tokens\" as \"promptTokens\", \"completion_tokens\" as \"completionTokens\", \"reasoning_tokens\" as \"reasoningTokens\", \"cache_read_input_tokens\" as \"cacheReadInputTokens\", \"cache_creation_input_tokens\" as \"cacheCreationInputTokens\", \"total_cost_nano_usd\" as \"totalCostNanoUsd\", \"unpriced_spans\" as \"unpricedSpans\", \"tokens_estimated\" as \"tokensEstimated\", \"has_error\" as \"hasError\", \"aggregates\" as \"aggregatesJson\" from \"traces\" where \"project_number\" = ? and \"trace_id\" = ?",
  cells: (given) => [given.projectNumber, packId(given.traceId)],
  row: (row: any) => ({
    traceId: row[0],
    sequence: row[1],
    metadataJson: row[2],
    expectedOutput: row[3],
    insertedAtMs: row[4],
    updatedAtMs: row[5],
    spanCount: row[6],
    startedAtMs: row[7],
    finishedAtMs: row[8],
    totalTimeMs: row[9],
    firstTokenMs: row[10],
    promptTokens: row[11],
    completionTokens: row[12],
    reasoningTokens: row[13],
    cacheReadInputTokens: row[14],
    cacheCreationInputTokens: row[15],
    totalCostNanoUsd: row[16],
    unpricedSpans: row[17],
    tokensEstimated: row[18] === 1,
    hasError: row[19] === 1,
    aggregatesJson: row[20],
  }),
};

export const keepSums: Compiled<typeof source.keepSums> = {
  name: 'traces.keepSums',
  text: "update \"traces\" set \"span_count\" = ?, \"started_at\" = ?, \"duration_ms\" = ?, \"first_token_ms\" = ?, \"prompt_tokens\" = ?, \"completion_tokens\" = ?, \"reasoning_tokens\" = ?, \"cache_read_input_tokens\" = ?, \"cache_creation_input_tokens\" = ?, \"total_cost_nano_usd\" = ?, \"unpriced_spans\" = ?, \"tokens_estimated\" = ?, \"has_error\" = ?, \"aggregates\" = ? where \"project_number\" = ? and \"trace_id\" = ? and \"sequence\" = ? and \"aggregates\" is not distinct from ?",
  cells: (given) => [given.spanCount, given.startedAtMs ?? null, given.durationMs ?? null, given.firstTokenMs ?? null, given.promptTokens ?? null, given.completionTokens ?? null, given.reasoningTokens ?? null, given.cacheReadInputTokens ?? null, given.cacheCreationInputTokens ?? null, given.totalCostNanoUsd ?? null, given.unpricedSpans, Number(given.tokensEstimated), Number(given.hasError), given.aggregatesJson ?? null, given.projectNumber, packId(given.traceId), given.sequence, given.foundJson],
};

export const listEvaluationOrder: Compiled<typeof source.listEvaluationOrder> = {
  name: 'traces.listEvaluationOrder',
  text: "select \"inserted_at\" as \"atMs\", \"evaluation_id\" as \"id\", coalesce(octet_length(\"label\"), 0) + coalesce(octet_length(\"details\"), 0) + coalesce(octet_length(\"error\"), 0) + coalesce(octet_length(\"inputs\"), 0) + coalesce(octet_length(\"cost\"), 0) as \"bytes\" from \"evaluations\" where \"project_number\" = ? and \"trace_sequence\" = ? and (\"inserted_at\", \"evaluation_id\") > (?, ?) order by \"inserted_at\", \"evaluation_id\" limit ?",
  cells: (given) => [given.projectNumber, given.sequence, given.atMs, given.id, given.limit],
  row: (row: any) => ({
    atMs: row[0],
    id: row[1],
    bytes: row[2],
  }),
};

export const listLinkedSummaries: Compiled<typeof source.listLinkedSummaries> = {
  name: 'traces.listLinkedSummaries',
  text: "select iif(typeof(\"spans\".\"span_id\") = 'blob', lower(hex(\"spans\".\"span_id\")), \"spans\".\"span_id\") as \"spanId\", iif(typeof(\"spans\".\"parent_id\") = 'blob', lower(hex(\"spans\".\"parent_id\")), \"spans\".\"parent_id\") as \"parentId\", \"type\" as \"type\", \"name\" as \"name\", \"model\" as \"model\", \"started_at\" as \"startedAtMs\", \"started_at\" + \"duration_ms\" as \"finishedAtMs\", \"started_at\" + \"first_token_ms\" as \"firstTokenAtMs\", \"prompt_tokens\" as \"promptTokens\", \"completion_tokens\" as \"completionTokens\", \"reasoning_tokens\" as \"reasoningTokens\", \"cache_read_input_tokens\" as \"cacheReadInputTokens\", \"cache_creation_input_tokens\" as \"cacheCreationInputTokens\", \"cost_nano_usd\" as \"costNanoUsd\", \"tokens_estimated\" as \"tokensEstimated\", \"input\" is not null as \"hasInput\", \"output\" is not null as \"hasOutput\", \"error\" is not null as \"hasError\", (\"parent_id\" is null or not exists (select \"parent\".\"span_id\" as \"spanId\" from \"spans\" as \"parent\" where \"parent\".\"project_number\" = ? and \"parent\".\"trace_sequence\" = ? and \"parent\".\"span_id\" = \"spans\".\"parent_id\")) as \"isParentless\" from \"spans\" where \"project_number\" = ? and \"trace_sequence\" = ?",
  cells: (given) => [given.projectNumber, given.sequence, given.projectNumber, given.sequence],
  row: (row: any) => ({
    spanId: row[0],
    parentId: row[1],
    type: spanTypes.word(row[2]),
    name: row[3],
    model: row[4],
    startedAtMs: row[5],
    finishedAtMs: row[6],
    firstTokenAtMs: row[7],
    promptTokens: row[8],
    completionTokens: row[9],
    reasoningTokens: row[10],
    cacheReadInputTokens: row[11],
    cacheCreationInputTokens: row[12],
    costNanoUsd: row[13],
    tokensEstimated: row[14] === 1,
    hasInput: row[15] === 1,
    hasOutput: row[16] === 1,
    hasError: row[17] === 1,
    isParentless: row[18] === 1,
  }),
};

export const listLinks: Compiled<typeof source.listLinks> = {
  name: 'traces.listLinks',
  text: "select iif(typeof(\"span_id\") = 'blob', lower(hex(\"span_id\")), \"span_id\") as \"spanId\", iif(typeof(\"parent_id\") = 'blob', lower(hex(\"parent_id\")), \"parent_id\") as \"parentId\" from \"spans\" where \"project_number\" = ? and \"trace_sequence\" = ? order by \"started_at\", iif(typeof(\"span_id\") = 'blob', lower(hex(\"span_id\")), \"span_id\")",
  cells: (given) => [given.projectNumber, given.sequence],
  row: (row: any) => ({
    spanId: row[0],
    parentId: row[1],
  }),
};

export const listSpanOrder: Compiled<typeof source.listSpanOrder> = {
  name: 'traces.listSpanOrder',
  text: "select \"started_at\" as \"atMs\", iif(typeof(\"span_id\") = 'blob', lower(hex(\"span_id\")), \"span_id\") as \"id\", coalesce(octet_length(\"name\"), 0) + coalesce(octet_length(\"params\"), 0) + coalesce(octet_length(\"other_metrics\"), 0) + coalesce(octet_length(\"error\"), 0) + coalesce(octet_length(\"contexts\"), 0) + coalesce(octet_length(\"telemetry\"), 0) + coalesce(octet_length(\"input\"), 0) + coalesce(octet_length(\"output\"), 0) as \"bytes\" from \"spans\" where \"project_number\" = ? and \"trace_sequence\" = ? and (\"started_at\", iif(typeof(\"span_id\") = 'blob', lower(hex(\"span_id\")), \"span_id\")) > (?, ?) order by \"started_at\", iif(typeof(\"span_id\") = 'blob', lower(hex(\"span_id\")), \"span_id\") limit ?",
  cells: (given) => [given.projectNumber, given.sequence, given.atMs, given.id, given.limit],
  row: (row: any) => ({
    atMs: row[0],
    id: row[1],
    bytes: row[2],
  }),
};

export const listSummaries: Compiled<typeof source.listSummaries> = {
  name: 'traces.listSummaries',
  text: "select iif(typeof(\"spans\".\"span_id\") = 'blob', lower(hex(\"spans\".\"span_id\")), \"spans\".\"span_id\") as \"spanId\", iif(typeof(\"spans\".\"parent_id\") = 'blob', lower(hex(\"spans\".\"parent_id\")), \"spans\".\"parent_id\") as \"parentId\", \"type\" as \"type\", \"name\" as \"name\", \"model\" as \"model\", \"started_at\" as \"startedAtMs\", \"started_at\" + \"duration_ms\" as \"finishedAtMs\", \"started_at\" + \"first_token_ms\" as \"firstTokenAtMs\", \"prompt_tokens\" as \"promptTokens\", \"completion_tokens\" as \"completionTokens\", \"reasoning_tokens\" as \"reasoningTokens\", \"cache_read_input_tokens\" as \"cacheReadInputTokens\", \"cache_creation_input_tokens\" as \"cacheCreationInputTokens\", \"cost_nano_usd\" as \"costNanoUsd\", \"tokens_estimated\" as \"tokensEstimated\", \"input\" is not null as \"hasInput\", \"output\" is not null as \"hasOutput\", \"error\" is not null as \"hasError\" from \"spans\" where \"project_number\" = ? and \"trace_sequence\" = ?",
  cells: (given) => [given.projectNumber, given.sequence],
  row: (row: any) => ({
    spanId: row[0],
    parentId: row[1],
    type: spanTypes.word(row[2]),
    name: row[3],
    model: row[4],
    startedAtMs: row[5],
    finishedAtMs: row[6],
    firstTokenAtMs: row[7],
    promptTokens: row[8],
    completionTokens: row[9],
    reasoningTokens: row[10],
    cacheReadInputTokens: row[11],
    cacheCreationInputTokens: row[12],
    costNanoUsd: row[13],
    tokensEstimated: row[14] === 1,
    hasInput: row[15] === 1,
    hasOutput: row[16] === 1,
    hasError: row[17] === 1,
  }),
};

export const listTraceIds: Compiled<typeof source.listTraceIds> = {
  name: 'traces.listTraceIds',
  text: "select iif(typeof(\"trace_id\") = 'blob', lower(hex(\"trace_id\")), \"trace_id\") as \"traceId\" from \"traces\" where \"project_number\" = ? and \"trace_id\" >= ? and \"trace_id\" <= ? and \"inserted_at\" >= ? order by \"trace_id\" limit ?",
  cells: (given) => [given.projectNumber, given.first, given.last, given.sinceMs, given.limit],
  row: (row: any) => ({
    traceId: row[0],
  }),
};
