// Compiled from src/storage/append/queries.ts by `npm run gen`: change it there.

import type { Compiled, CompiledMany } from '../../../src/storage/queries.ts';
import { int4Array } from '../../../src/storage/engine/postgres/binary-arrays.ts';
import { int8Array } from '../../../src/storage/engine/postgres/binary-arrays.ts';
import { packTyped } from '../../../src/storage/rows/codes.ts';
import { spanTypes } from '../../../src/storage/rows/codes.ts';
import { textArray } from '../../../src/storage/engine/postgres/binary-arrays.ts';
import type * as source from '../../../src/storage/append/queries.ts';

export const changeSpans: Compiled<typeof source.changeSpans> = {
  name: 'append.changeSpans',
  text: "update \"spans\" set \"cost_nano_usd\" = \"given\".\"v3\", \"cost_source\" = \"given\".\"v4\", \"call_row\" = \"given\".\"v5\", \"total_input\" = \"given\".\"v6\", \"total_output\" = \"given\".\"v7\", \"share_rates\" = \"given\".\"v8\", \"emitted_request_id\" = \"given\".\"v9\", \"shared_request_id\" = \"given\".\"v10\", \"version\" = \"given\".\"v11\" from unnest($1::int[], $2::bigint[], $3::text[], $4::bigint[], $5::text[], $6::bigint[], $7::bigint[], $8::bigint[], $9::text[], $10::text[], $11::text[], $12::int[]) as given (v0, v1, v2, v3, v4, v5, v6, v7, v8, v9, v10, v11) where (\"project_number\" = \"given\".\"v0\" and \"trace_sequence\" = \"given\".\"v1\" and \"span_id\" = \"given\".\"v2\")",
  cells: (rows) => [int4Array(rows, (params) => params.projectNumber), int8Array(rows, (params) => params.traceSequence), textArray(rows, (params) => params.spanId), int8Array(rows, (params) => params.costNanoUsd ?? null), textArray(rows, (params) => params.costSource ?? null), int8Array(rows, (params) => params.callRow ?? null), int8Array(rows, (params) => params.totalInput ?? null), int8Array(rows, (params) => params.totalOutput ?? null), textArray(rows, (params) => params.shareRates ?? null), textArray(rows, (params) => params.emittedRequestId ?? null), textArray(rows, (params) => params.sharedRequestId ?? null), int4Array(rows, (params) => params.version ?? null)],
};

export const emptyProbe: Compiled<typeof source.emptyProbe> = {
  name: 'append.emptyProbe',
  text: "delete from \"write_probe\"",
  cells: () => [],
};

export const fillProbe: Compiled<typeof source.fillProbe> = {
  name: 'append.fillProbe',
  text: "insert into \"write_probe\" (\"filler\") values ($1)",
  cells: (params) => [params.filler],
};

export const findCallTexts: CompiledMany<typeof source.findCallTexts> = {
  name: 'append.findCallTexts',
  text: "select \"project_number\" as \"projectNumber\", \"trace_sequence\" as \"traceSequence\", \"span_id\" as \"spanId\", case when octet_length(\"telemetry\") <= 65536\n        then \"telemetry\" end as \"telemetryJson\", substr(\"input\", 1, 64) as \"inputStart\" from \"spans\" inner join unnest($1::int[], $2::bigint[], $3::text[]) as \"given\" (key_0, key_1, key_2) on \"spans\".\"project_number\" = \"given\".key_0 and \"spans\".\"trace_sequence\" = \"given\".key_1 and \"spans\".\"span_id\" = \"given\".key_2",
  cells: (rows) => [int4Array(rows, (params) => params.projectNumber), int8Array(rows, (params) => params.traceSequence), textArray(rows, (params) => params.spanId)],
  row: (row) => row,
  nameOf: (params) => `${params.projectNumber} ${params.traceSequence} ${params.spanId}`,
};

export const findEvent: CompiledMany<typeof source.findEvent> = {
  name: 'append.findEvent',
  text: "select \"events\".\"organization_number\" as \"organizationNumber\", \"events\".\"created_at\" as \"createdAtMs\", \"events\".\"id\" as \"id\", \"envelope\" as \"envelope\" from \"events\" inner join unnest($1::int[], $2::bigint[], $3::text[]) as \"given\" (key_0, key_1, key_2) on \"events\".\"organization_number\" = \"given\".key_0 and \"events\".\"created_at\" = \"given\".key_1 and \"events\".\"id\" = \"given\".key_2",
  cells: (rows) => [int4Array(rows, (params) => params.organizationNumber), int8Array(rows, (params) => params.createdAtMs), textArray(rows, (params) => params.id)],
  row: (row) => row,
  nameOf: (params) => `${params.organizationNumber} ${params.createdAtMs} ${params.id}`,
};

export const findEventPosition: CompiledMany<typeof source.findEventPosition> = {
  name: 'append.findEventPosition',
  text: "select \"events\".\"organization_number\" as \"organizationNumber\", \"events\".\"created_at\" as \"createdAtMs\", \"events\".\"id\" as \"id\", \"events\".\"seq\" as \"seq\" from \"events\" inner join unnest($1::int[], $2::bigint[], $3::text[]) as \"given\" (key_0, key_1, key_2) on \"events\".\"organization_number\" = \"given\".key_0 and \"events\".\"created_at\" = \"given\".key_1 and \"events\".\"id\" = \"given\".key_2",
  cells: (rows) => [int4Array(rows, (params) => params.organizationNumber), int8Array(rows, (params) => params.createdAtMs), textArray(rows, (params) => params.id)],
  row: (row) => row,
  nameOf: (params) => `${params.organizationNumber} ${params.createdAtMs} ${params.id}`,
};

export const findGovernanceEvent: CompiledMany<typeof source.findGovernanceEvent> = {
  name: 'append.findGovernanceEvent',
  text: "select \"governance_events\".\"organization_number\" as \"organizationNumber\", \"governance_events\".\"id\" as \"id\" from \"governance_events\" inner join unnest($1::int[], $2::text[]) as \"given\" (key_0, key_1) on \"governance_events\".\"organization_number\" = \"given\".key_0 and \"governance_events\".\"id\" = \"given\".key_1",
  cells: (rows) => [int4Array(rows, (params) => params.organizationNumber), textArray(rows, (params) => params.id)],
  row: (row) => row,
  nameOf: (params) => `${params.organizationNumber} ${params.id}`,
};

export const findJob: CompiledMany<typeof source.findJob> = {
  name: 'append.findJob',
  text: "select \"evaluation_jobs\".\"project_number\" as \"projectNumber\", \"evaluation_jobs\".\"trace_sequence\" as \"traceSequence\", \"evaluation_jobs\".\"source_id\" as \"sourceId\", \"evaluation_jobs\".\"due_at\" as \"dueAtMs\", \"evaluation_jobs\".\"since\" as \"sinceMs\", \"evaluation_jobs\".\"fence\" as \"fence\", \"evaluation_jobs\".\"failures\" as \"failures\", \"evaluation_jobs\".\"is_rooted\" as \"isRooted\", \"evaluation_jobs\".\"again_due_at\" as \"againDueAtMs\", \"evaluation_jobs\".\"again_since\" as \"againSinceMs\", \"evaluation_jobs\".\"as_of\" as \"asOf\", \"trace_id\" as \"traceId\" from \"evaluation_jobs\" inner join unnest($1::int[], $2::bigint[], $3::text[]) as \"given\" (key_0, key_1, key_2) on \"evaluation_jobs\".\"project_number\" = \"given\".key_0 and \"evaluation_jobs\".\"trace_sequence\" = \"given\".key_1 and \"evaluation_jobs\".\"source_id\" = \"given\".key_2 order by \"evaluation_jobs\".\"project_number\", \"evaluation_jobs\".\"trace_sequence\", \"evaluation_jobs\".\"source_id\" for update of \"evaluation_jobs\"",
  cells: (rows) => [int4Array(rows, (params) => params.projectNumber), int8Array(rows, (params) => params.traceSequence), textArray(rows, (params) => params.sourceId)],
  row: (row) => row,
  nameOf: (params) => `${params.projectNumber} ${params.traceSequence} ${params.sourceId}`,
};

export const findLargeTexts: CompiledMany<typeof source.findLargeTexts> = {
  name: 'append.findLargeTexts',
  text: "select \"project_number\" as \"projectNumber\", \"trace_id\" as \"traceId\", case when octet_length(\"metadata\") > 4096 then \"metadata\" end as \"metadataJson\", case when octet_length(\"expected_output\") > 4096 then \"expected_output\" end as \"expectedOutput\" from \"traces\" inner join unnest($1::int[], $2::text[]) as \"given\" (key_0, key_1) on \"traces\".\"project_number\" = \"given\".key_0 and \"traces\".\"trace_id\" = \"given\".key_1",
  cells: (rows) => [int4Array(rows, (params) => params.projectNumber), textArray(rows, (params) => params.traceId)],
  row: (row) => row,
  nameOf: (params) => `${params.projectNumber} ${params.traceId}`,
};

export const findLogHead: CompiledMany<typeof source.findLogHead> = {
  name: 'append.findLogHead',
  text: "select \"log_heads\".\"organization_number\" as \"organizationNumber\", \"log_heads\".\"seq\" as \"seq\", \"log_heads\".\"created_at\" as \"createdAtMs\", \"log_heads\".\"last_key_index\" as \"lastKeyIndex\", \"log_heads\".\"resets\" as \"resets\" from \"log_heads\" inner join unnest($1::int[]) as \"given\" (key_0) on \"log_heads\".\"organization_number\" = \"given\".key_0",
  cells: (rows) => [int4Array(rows, (params) => params.organizationNumber)],
  row: (row) => row,
  nameOf: (params) => `${params.organizationNumber}`,
};

export const findMetadata: CompiledMany<typeof source.findMetadata> = {
  name: 'append.findMetadata',
  text: "select \"project_number\" as \"projectNumber\", \"trace_id\" as \"traceId\", case when \"metadata_bytes\" is null then \"metadata\" else (select \"trace_texts\".\"text\" as \"text\" from \"trace_texts\" where \"trace_texts\".\"project_number\" = \"traces\".\"project_number\" and \"trace_texts\".\"trace_sequence\" = \"traces\".\"sequence\" and \"trace_texts\".\"name\" = 'metadata') end as \"metadataJson\" from \"traces\" inner join unnest($1::int[], $2::text[]) as \"given\" (key_0, key_1) on \"traces\".\"project_number\" = \"given\".key_0 and \"traces\".\"trace_id\" = \"given\".key_1",
  cells: (rows) => [int4Array(rows, (params) => params.projectNumber), textArray(rows, (params) => params.traceId)],
  row: (row) => row,
  nameOf: (params) => `${params.projectNumber} ${params.traceId}`,
};

export const findOwner: Compiled<typeof source.findOwner> = {
  name: 'append.findOwner',
  text: "select \"projects\".\"id\" as \"projectId\", \"projects\".\"organization_id\" as \"organizationId\", \"organizations\".\"number\" as \"organizationNumber\", \"projects\".\"emit_request_events\" as \"emitRequestEvents\" from \"projects\" inner join \"organizations\" on \"organizations\".\"id\" = \"projects\".\"organization_id\" where \"projects\".\"number\" = $1",
  cells: (params) => [params.projectNumber],
  row: (row) => row,
};

export const findPricedSpan: CompiledMany<typeof source.findPricedSpan> = {
  name: 'append.findPricedSpan',
  text: "select \"project_number\" as \"projectNumber\", \"trace_sequence\" as \"traceSequence\", \"span_id\" as \"spanId\", \"spans\".\"vendor\" as \"vendor\", \"spans\".\"cached_tokens_in_prompt\" as \"cachedTokensInPrompt\", \"spans\".\"other_metrics\" as \"otherMetricsJson\" from \"spans\" inner join unnest($1::int[], $2::bigint[], $3::text[]) as \"given\" (key_0, key_1, key_2) on \"spans\".\"project_number\" = \"given\".key_0 and \"spans\".\"trace_sequence\" = \"given\".key_1 and \"spans\".\"span_id\" = \"given\".key_2",
  cells: (rows) => [int4Array(rows, (params) => params.projectNumber), int8Array(rows, (params) => params.traceSequence), textArray(rows, (params) => params.spanId)],
  row: (row) => row,
  nameOf: (params) => `${params.projectNumber} ${params.traceSequence} ${params.spanId}`,
};

export const findRequest: CompiledMany<typeof source.findRequest> = {
  name: 'append.findRequest',
  text: "select \"requests\".\"organization_number\" as \"organizationNumber\", \"requests\".\"changed_at\" as \"changedAtMs\", \"requests\".\"request_key\" as \"key\", \"requests\".\"project_number\" as \"projectNumber\", \"requests\".\"gateway_request_id\" as \"gatewayRequestId\", \"requests\".\"state\" as \"state\", \"requests\".\"completed_by\" as \"completedBy\", \"requests\".\"completed_at\" as \"completedEvent\", \"requests\".\"settled_at\" as \"settledEvent\", \"requests\".\"correction_at\" as \"correctionEvent\", \"requests\".\"received_at\" as \"receivedAtMs\", \"requests\".\"nano_usd\" as \"costNanoUsd\", \"requests\".\"admission\" as \"admissionJson\", \"requests\".\"earlier_corrections\" as \"earlierCorrections\" from \"request_keys\" inner join unnest($1::int[], $2::text[]) as \"given\" (key_0, key_1) on \"request_keys\".\"organization_number\" = \"given\".key_0 and \"request_keys\".\"request_key\" = \"given\".key_1 inner join \"requests\" on \"requests\".\"organization_number\" = \"request_keys\".\"organization_number\" and \"requests\".\"changed_at\" = \"request_keys\".\"changed_at\" and \"requests\".\"request_key\" = \"request_keys\".\"request_key\"",
  cells: (rows) => [int4Array(rows, (params) => params.organizationNumber), textArray(rows, (params) => params.key)],
  row: (row) => row,
  nameOf: (params) => `${params.organizationNumber} ${params.key}`,
};

export const findSpan: CompiledMany<typeof source.findSpan> = {
  name: 'append.findSpan',
  text: "select \"project_number\" as \"projectNumber\", \"trace_sequence\" as \"traceSequence\", \"spans\".\"type\" as \"type\", \"spans\".\"name\" as \"name\", \"spans\".\"model\" as \"model\", \"spans\".\"started_at\" as \"startedAtMs\", \"spans\".\"started_ns\" as \"startedNs\", \"spans\".\"finished_ns\" as \"finishedNs\", \"spans\".\"prompt_tokens\" as \"promptTokens\", \"spans\".\"completion_tokens\" as \"completionTokens\", \"spans\".\"reasoning_tokens\" as \"reasoningTokens\", \"spans\".\"cache_read_input_tokens\" as \"cacheReadInputTokens\", \"spans\".\"cache_creation_input_tokens\" as \"cacheCreationInputTokens\", \"spans\".\"cost_nano_usd\" as \"costNanoUsd\", \"spans\".\"tokens_estimated\" as \"tokensEstimated\", \"spans\".\"cost_source\" as \"costSource\", \"spans\".\"call_row\" as \"callRow\", \"spans\".\"total_input\" as \"totalInput\", \"spans\".\"total_output\" as \"totalOutput\", \"spans\".\"share_rates\" as \"shareRates\", \"spans\".\"span_id\" as \"spanId\", \"spans\".\"parent_id\" as \"parentId\", \"started_at\" + \"duration_ms\" as \"finishedAtMs\", \"started_at\" + \"first_token_ms\" as \"firstTokenAtMs\", \"input\" is not null as \"hasInput\", \"output\" is not null as \"hasOutput\", \"error\" is not null as \"hasError\", case when \"emitted_request_id\" is null\n  and (\"call_row\" is null or octet_length(\"params\") <= 16384)\n  and \"params\" like '%\"gateway_request_id\"%' then \"params\" end as \"paramsJson\", \"spans\".\"emitted_request_id\" as \"emittedRequestId\", \"spans\".\"shared_request_id\" as \"sharedRequestId\", \"spans\".\"version\" as \"version\" from \"spans\" inner join unnest($1::int[], $2::bigint[], $3::text[]) as \"given\" (key_0, key_1, key_2) on \"spans\".\"project_number\" = \"given\".key_0 and \"spans\".\"trace_sequence\" = \"given\".key_1 and \"spans\".\"span_id\" = \"given\".key_2",
  cells: (rows) => [int4Array(rows, (params) => params.projectNumber), int8Array(rows, (params) => params.traceSequence), textArray(rows, (params) => params.spanId)],
  row: (row: any) => ({
    projectNumber: row.projectNumber,
    traceSequence: row.traceSequence,
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
    paramsJson: row.paramsJson,
    emittedRequestId: row.emittedRequestId,
    sharedRequestId: row.sharedRequestId,
    version: row.version,
  }),
  nameOf: (params) => `${params.projectNumber} ${params.traceSequence} ${params.spanId}`,
};

export const findSpanId: CompiledMany<typeof source.findSpanId> = {
  name: 'append.findSpanId',
  text: "select \"project_number\" as \"projectNumber\", \"trace_sequence\" as \"traceSequence\", \"span_id\" as \"spanId\" from \"spans\" inner join unnest($1::int[], $2::bigint[], $3::text[]) as \"given\" (key_0, key_1, key_2) on \"spans\".\"project_number\" = \"given\".key_0 and \"spans\".\"trace_sequence\" = \"given\".key_1 and \"spans\".\"span_id\" = \"given\".key_2",
  cells: (rows) => [int4Array(rows, (params) => params.projectNumber), int8Array(rows, (params) => params.traceSequence), textArray(rows, (params) => params.spanId)],
  row: (row) => row,
  nameOf: (params) => `${params.projectNumber} ${params.traceSequence} ${params.spanId}`,
};

export const findTrace: CompiledMany<typeof source.findTrace> = {
  name: 'append.findTrace',
  text: "select \"project_number\" as \"projectNumber\", \"traces\".\"sequence\" as \"sequence\", \"traces\".\"inserted_at\" as \"insertedAtMs\", \"traces\".\"updated_at\" as \"updatedAtMs\", \"traces\".\"span_count\" as \"spanCount\", \"traces\".\"started_at\" as \"startedAtMs\", \"traces\".\"first_token_ms\" as \"firstTokenMs\", \"traces\".\"prompt_tokens\" as \"promptTokens\", \"traces\".\"completion_tokens\" as \"completionTokens\", \"traces\".\"reasoning_tokens\" as \"reasoningTokens\", \"traces\".\"cache_read_input_tokens\" as \"cacheReadInputTokens\", \"traces\".\"cache_creation_input_tokens\" as \"cacheCreationInputTokens\", \"traces\".\"total_cost_nano_usd\" as \"totalCostNanoUsd\", \"traces\".\"unpriced_spans\" as \"unpricedSpans\", \"traces\".\"tokens_estimated\" as \"tokensEstimated\", \"traces\".\"has_error\" as \"hasError\", \"traces\".\"aggregates\" as \"aggregatesJson\", \"traces\".\"anchor_at\" as \"anchorAtMs\", \"trace_id\" as \"traceId\", \"started_at\" + \"duration_ms\" as \"finishedAtMs\", case when \"duration_ms\" < 0 then 0 else \"duration_ms\" end as \"totalTimeMs\", coalesce(case when octet_length(\"metadata\") > 4096 then null else \"metadata\" end, '') as \"metadataJson\", coalesce(\"metadata_bytes\", case when octet_length(\"metadata\") > 4096 then octet_length(\"metadata\") end) as \"metadataBytes\", case when octet_length(\"expected_output\") > 4096 then null else \"expected_output\" end as \"expectedOutput\", coalesce(\"expected_output_is_apart\", case when octet_length(\"expected_output\") > 4096 then true end) as \"expectedOutputIsApart\", coalesce(case when octet_length(\"metadata\") > 4096 then octet_length(\"metadata\") end, 0) + coalesce(case when octet_length(\"expected_output\") > 4096 then octet_length(\"expected_output\") end, 0) as \"largeInlineBytes\" from \"traces\" inner join unnest($1::int[], $2::text[]) as \"given\" (key_0, key_1) on \"traces\".\"project_number\" = \"given\".key_0 and \"traces\".\"trace_id\" = \"given\".key_1 order by \"traces\".\"project_number\", \"traces\".\"trace_id\" for update of \"traces\"",
  cells: (rows) => [int4Array(rows, (params) => params.projectNumber), textArray(rows, (params) => params.traceId)],
  row: (row) => row,
  nameOf: (params) => `${params.projectNumber} ${params.traceId}`,
};

export const findUsageNode: CompiledMany<typeof source.findUsageNode> = {
  name: 'append.findUsageNode',
  text: "select \"project_number\" as \"projectNumber\", \"trace_sequence\" as \"traceSequence\", \"node\" as \"nodeJson\", \"span_id\" as \"spanId\" from \"usage_nodes\" inner join unnest($1::int[], $2::bigint[], $3::text[]) as \"given\" (key_0, key_1, key_2) on \"usage_nodes\".\"project_number\" = \"given\".key_0 and \"usage_nodes\".\"trace_sequence\" = \"given\".key_1 and \"usage_nodes\".\"span_id\" = \"given\".key_2",
  cells: (rows) => [int4Array(rows, (params) => params.projectNumber), int8Array(rows, (params) => params.traceSequence), textArray(rows, (params) => params.spanId)],
  row: (row) => row,
  nameOf: (params) => `${params.projectNumber} ${params.traceSequence} ${params.spanId}`,
};

export const insertSpans: CompiledMany<typeof source.insertSpans> = {
  name: 'append.insertSpans',
  text: "insert into \"spans\" (\"project_number\", \"trace_sequence\", \"span_id\", \"parent_id\", \"type\", \"started_at\", \"duration_ms\", \"started_ns\", \"finished_ns\", \"first_token_ms\", \"prompt_tokens\", \"completion_tokens\", \"reasoning_tokens\", \"cache_read_input_tokens\", \"cache_creation_input_tokens\", \"cost_nano_usd\", \"cost_source\", \"tokens_estimated\", \"cached_tokens_in_prompt\", \"call_row\", \"total_input\", \"total_output\", \"share_rates\", \"shared_request_id\", \"emitted_request_id\", \"version\", \"name\", \"vendor\", \"model\", \"params\", \"other_metrics\", \"error\", \"contexts\", \"telemetry\", \"input\", \"output\") select \"given\".\"project_number\", \"given\".\"trace_sequence\", \"given\".\"span_id\", \"given\".\"parent_id\", \"given\".\"type\", \"given\".\"started_at\", \"given\".\"duration_ms\", \"given\".\"started_ns\", \"given\".\"finished_ns\", \"given\".\"first_token_ms\", \"given\".\"prompt_tokens\", \"given\".\"completion_tokens\", \"given\".\"reasoning_tokens\", \"given\".\"cache_read_input_tokens\", \"given\".\"cache_creation_input_tokens\", \"given\".\"cost_nano_usd\", \"given\".\"cost_source\", \"given\".\"tokens_estimated\", \"given\".\"cached_tokens_in_prompt\", \"given\".\"call_row\", \"given\".\"total_input\", \"given\".\"total_output\", \"given\".\"share_rates\", \"given\".\"shared_request_id\", \"given\".\"emitted_request_id\", \"given\".\"version\", \"given\".\"name\", \"given\".\"vendor\", \"given\".\"model\", \"given\".\"params\", \"given\".\"other_metrics\", \"given\".\"error\", \"given\".\"contexts\", \"given\".\"telemetry\", \"given\".\"input\", \"given\".\"output\" from unnest($1::\"spans\"[]) as \"given\"",
  cells: (params) => [params.projectNumber, params.traceSequence, params.spanId, params.parentId ?? null, spanTypes.code(params.type), params.startedAtMs, params.durationMs, params.startedNs ?? null, params.finishedNs ?? null, params.firstTokenMs ?? null, params.promptTokens ?? null, params.completionTokens ?? null, params.reasoningTokens ?? null, params.cacheReadInputTokens ?? null, params.cacheCreationInputTokens ?? null, params.costNanoUsd ?? null, params.costSource ?? null, params.tokensEstimated, params.cachedTokensInPrompt ?? null, params.callRow ?? null, params.totalInput ?? null, params.totalOutput ?? null, params.shareRates ?? null, params.sharedRequestId ?? null, params.emittedRequestId ?? null, params.version ?? null, params.name ?? null, params.vendor ?? null, params.model ?? null, params.paramsJson ?? null, params.otherMetricsJson ?? null, params.errorJson ?? null, params.contextsJson ?? null, params.telemetryJson ?? null, packTyped(params.inputJson ?? null), packTyped(params.outputJson ?? null)],
  table: 'spans',
  columns: ["project_number","trace_sequence","span_id","parent_id","type","started_at","duration_ms","started_ns","finished_ns","first_token_ms","prompt_tokens","completion_tokens","reasoning_tokens","cache_read_input_tokens","cache_creation_input_tokens","cost_nano_usd","cost_source","tokens_estimated","cached_tokens_in_prompt","call_row","total_input","total_output","share_rates","shared_request_id","emitted_request_id","version","name","vendor","model","params","other_metrics","error","contexts","telemetry","input","output"],
};

export const insertTraces: CompiledMany<typeof source.insertTraces> = {
  name: 'append.insertTraces',
  text: "insert into \"traces\" (\"project_number\", \"trace_id\", \"sequence\", \"inserted_at\", \"updated_at\", \"span_count\", \"started_at\", \"duration_ms\", \"first_token_ms\", \"prompt_tokens\", \"completion_tokens\", \"reasoning_tokens\", \"cache_read_input_tokens\", \"cache_creation_input_tokens\", \"total_cost_nano_usd\", \"unpriced_spans\", \"tokens_estimated\", \"has_error\", \"metadata\", \"metadata_bytes\", \"expected_output\", \"expected_output_is_apart\", \"aggregates\", \"anchor_at\") select \"given\".\"project_number\", \"given\".\"trace_id\", \"given\".\"sequence\", \"given\".\"inserted_at\", \"given\".\"updated_at\", \"given\".\"span_count\", \"given\".\"started_at\", \"given\".\"duration_ms\", \"given\".\"first_token_ms\", \"given\".\"prompt_tokens\", \"given\".\"completion_tokens\", \"given\".\"reasoning_tokens\", \"given\".\"cache_read_input_tokens\", \"given\".\"cache_creation_input_tokens\", \"given\".\"total_cost_nano_usd\", \"given\".\"unpriced_spans\", \"given\".\"tokens_estimated\", \"given\".\"has_error\", \"given\".\"metadata\", \"given\".\"metadata_bytes\", \"given\".\"expected_output\", \"given\".\"expected_output_is_apart\", \"given\".\"aggregates\", \"given\".\"anchor_at\" from unnest($1::\"traces\"[]) as \"given\"",
  cells: (params) => [params.projectNumber, params.traceId, params.sequence, params.insertedAtMs, params.updatedAtMs, params.spanCount, params.startedAtMs ?? null, params.durationMs ?? null, params.firstTokenMs ?? null, params.promptTokens ?? null, params.completionTokens ?? null, params.reasoningTokens ?? null, params.cacheReadInputTokens ?? null, params.cacheCreationInputTokens ?? null, params.totalCostNanoUsd ?? null, params.unpricedSpans, params.tokensEstimated, params.hasError, params.metadataJson, params.metadataBytes ?? null, params.expectedOutput ?? null, params.expectedOutputIsApart ?? null, params.aggregatesJson ?? null, params.anchorAtMs ?? null],
  table: 'traces',
  columns: ["project_number","trace_id","sequence","inserted_at","updated_at","span_count","started_at","duration_ms","first_token_ms","prompt_tokens","completion_tokens","reasoning_tokens","cache_read_input_tokens","cache_creation_input_tokens","total_cost_nano_usd","unpriced_spans","tokens_estimated","has_error","metadata","metadata_bytes","expected_output","expected_output_is_apart","aggregates","anchor_at"],
};

export const listOverdue: Compiled<typeof source.listOverdue> = {
  name: 'append.listOverdue',
  text: "select \"organization_number\" as \"organizationNumber\", \"request_key\" as \"key\" from \"requests\" where \"state\" = 2 and \"received_at\" <= $1 order by \"received_at\" limit $2",
  cells: (params) => [params.admittedByMs, params.countMax],
  row: (row) => row,
};

export const removeJobs: Compiled<typeof source.removeJobs> = {
  name: 'append.removeJobs',
  text: "delete from \"evaluation_jobs\" using unnest($1::int[], $2::bigint[], $3::text[]) as given (v0, v1, v2) where (\"project_number\" = \"given\".\"v0\" and \"trace_sequence\" = \"given\".\"v1\" and \"source_id\" = \"given\".\"v2\")",
  cells: (rows) => [int4Array(rows, (params) => params.projectNumber), int8Array(rows, (params) => params.traceSequence), textArray(rows, (params) => params.sourceId)],
};

export const removeJobsOfTraces: Compiled<typeof source.removeJobsOfTraces> = {
  name: 'append.removeJobsOfTraces',
  text: "delete from \"evaluation_jobs\" using unnest($1::int[], $2::bigint[]) as given (v0, v1) where \"project_number\" = \"given\".\"v0\" and \"trace_sequence\" = \"given\".\"v1\"",
  cells: (rows) => [int4Array(rows, (params) => params.projectNumber), int8Array(rows, (params) => params.sequence)],
};

export const removeTexts: Compiled<typeof source.removeTexts> = {
  name: 'append.removeTexts',
  text: "delete from \"trace_texts\" using unnest($1::int[], $2::bigint[], $3::text[]) as given (v0, v1, v2) where (\"project_number\" = \"given\".\"v0\" and \"trace_sequence\" = \"given\".\"v1\" and \"name\" = \"given\".\"v2\")",
  cells: (rows) => [int4Array(rows, (params) => params.projectNumber), int8Array(rows, (params) => params.traceSequence), textArray(rows, (params) => params.name)],
};

export const replaceEvaluations: CompiledMany<typeof source.replaceEvaluations> = {
  name: 'append.replaceEvaluations',
  text: "insert into \"evaluations\" (\"project_number\", \"trace_sequence\", \"evaluation_id\", \"inserted_at\", \"evaluator_id\", \"name\", \"type\", \"span_id\", \"thread_id\", \"is_guardrail\", \"status\", \"passed\", \"score\", \"label\", \"monitor_id\", \"started_at\", \"finished_at\", \"details\", \"error\", \"inputs\", \"cost\") select \"given\".\"project_number\", \"given\".\"trace_sequence\", \"given\".\"evaluation_id\", \"given\".\"inserted_at\", \"given\".\"evaluator_id\", \"given\".\"name\", \"given\".\"type\", \"given\".\"span_id\", \"given\".\"thread_id\", \"given\".\"is_guardrail\", \"given\".\"status\", \"given\".\"passed\", \"given\".\"score\", \"given\".\"label\", \"given\".\"monitor_id\", \"given\".\"started_at\", \"given\".\"finished_at\", \"given\".\"details\", \"given\".\"error\", \"given\".\"inputs\", \"given\".\"cost\" from unnest($1::\"evaluations\"[]) as \"given\" on conflict (\"project_number\", \"trace_sequence\", \"evaluation_id\") do update set \"evaluator_id\" = \"excluded\".\"evaluator_id\", \"name\" = \"excluded\".\"name\", \"type\" = \"excluded\".\"type\", \"span_id\" = \"excluded\".\"span_id\", \"thread_id\" = \"excluded\".\"thread_id\", \"is_guardrail\" = \"excluded\".\"is_guardrail\", \"status\" = \"excluded\".\"status\", \"passed\" = \"excluded\".\"passed\", \"score\" = \"excluded\".\"score\", \"label\" = \"excluded\".\"label\", \"monitor_id\" = \"excluded\".\"monitor_id\", \"started_at\" = \"excluded\".\"started_at\", \"finished_at\" = \"excluded\".\"finished_at\", \"details\" = \"excluded\".\"details\", \"error\" = \"excluded\".\"error\", \"inputs\" = \"excluded\".\"inputs\", \"cost\" = \"excluded\".\"cost\"",
  cells: (params) => [params.projectNumber, params.traceSequence, params.evaluationId, params.insertedAtMs, params.evaluatorId, params.name, params.type ?? null, params.spanId ?? null, params.threadId ?? null, params.isGuardrail, params.status, params.passed ?? null, params.score ?? null, params.label ?? null, params.monitorId ?? null, params.startedAtMs ?? null, params.finishedAtMs ?? null, params.details ?? null, params.errorJson ?? null, params.inputsJson ?? null, params.costJson ?? null],
  table: 'evaluations',
  columns: ["project_number","trace_sequence","evaluation_id","inserted_at","evaluator_id","name","type","span_id","thread_id","is_guardrail","status","passed","score","label","monitor_id","started_at","finished_at","details","error","inputs","cost"],
};

export const replaceSpans: CompiledMany<typeof source.replaceSpans> = {
  name: 'append.replaceSpans',
  text: "insert into \"spans\" (\"project_number\", \"trace_sequence\", \"span_id\", \"parent_id\", \"type\", \"started_at\", \"duration_ms\", \"started_ns\", \"finished_ns\", \"first_token_ms\", \"prompt_tokens\", \"completion_tokens\", \"reasoning_tokens\", \"cache_read_input_tokens\", \"cache_creation_input_tokens\", \"cost_nano_usd\", \"cost_source\", \"tokens_estimated\", \"cached_tokens_in_prompt\", \"call_row\", \"total_input\", \"total_output\", \"share_rates\", \"shared_request_id\", \"emitted_request_id\", \"version\", \"name\", \"vendor\", \"model\", \"params\", \"other_metrics\", \"error\", \"contexts\", \"telemetry\", \"input\", \"output\") select \"given\".\"project_number\", \"given\".\"trace_sequence\", \"given\".\"span_id\", \"given\".\"parent_id\", \"given\".\"type\", \"given\".\"started_at\", \"given\".\"duration_ms\", \"given\".\"started_ns\", \"given\".\"finished_ns\", \"given\".\"first_token_ms\", \"given\".\"prompt_tokens\", \"given\".\"completion_tokens\", \"given\".\"reasoning_tokens\", \"given\".\"cache_read_input_tokens\", \"given\".\"cache_creation_input_tokens\", \"given\".\"cost_nano_usd\", \"given\".\"cost_source\", \"given\".\"tokens_estimated\", \"given\".\"cached_tokens_in_prompt\", \"given\".\"call_row\", \"given\".\"total_input\", \"given\".\"total_output\", \"given\".\"share_rates\", \"given\".\"shared_request_id\", \"given\".\"emitted_request_id\", \"given\".\"version\", \"given\".\"name\", \"given\".\"vendor\", \"given\".\"model\", \"given\".\"params\", \"given\".\"other_metrics\", \"given\".\"error\", \"given\".\"contexts\", \"given\".\"telemetry\", \"given\".\"input\", \"given\".\"output\" from unnest($1::\"spans\"[]) as \"given\" on conflict (\"project_number\", \"trace_sequence\", \"span_id\") do update set \"parent_id\" = \"excluded\".\"parent_id\", \"type\" = \"excluded\".\"type\", \"started_at\" = \"excluded\".\"started_at\", \"duration_ms\" = \"excluded\".\"duration_ms\", \"started_ns\" = \"excluded\".\"started_ns\", \"finished_ns\" = \"excluded\".\"finished_ns\", \"first_token_ms\" = \"excluded\".\"first_token_ms\", \"prompt_tokens\" = \"excluded\".\"prompt_tokens\", \"completion_tokens\" = \"excluded\".\"completion_tokens\", \"reasoning_tokens\" = \"excluded\".\"reasoning_tokens\", \"cache_read_input_tokens\" = \"excluded\".\"cache_read_input_tokens\", \"cache_creation_input_tokens\" = \"excluded\".\"cache_creation_input_tokens\", \"cost_nano_usd\" = \"excluded\".\"cost_nano_usd\", \"cost_source\" = \"excluded\".\"cost_source\", \"tokens_estimated\" = \"excluded\".\"tokens_estimated\", \"cached_tokens_in_prompt\" = \"excluded\".\"cached_tokens_in_prompt\", \"call_row\" = \"excluded\".\"call_row\", \"total_input\" = \"excluded\".\"total_input\", \"total_output\" = \"excluded\".\"total_output\", \"share_rates\" = \"excluded\".\"share_rates\", \"shared_request_id\" = \"excluded\".\"shared_request_id\", \"emitted_request_id\" = \"excluded\".\"emitted_request_id\", \"version\" = \"excluded\".\"version\", \"name\" = \"excluded\".\"name\", \"vendor\" = \"excluded\".\"vendor\", \"model\" = \"excluded\".\"model\", \"params\" = \"excluded\".\"params\", \"other_metrics\" = \"excluded\".\"other_metrics\", \"error\" = \"excluded\".\"error\", \"contexts\" = \"excluded\".\"contexts\", \"telemetry\" = \"excluded\".\"telemetry\", \"input\" = \"excluded\".\"input\", \"output\" = \"excluded\".\"output\"",
  cells: (params) => [params.projectNumber, params.traceSequence, params.spanId, params.parentId ?? null, spanTypes.code(params.type), params.startedAtMs, params.durationMs, params.startedNs ?? null, params.finishedNs ?? null, params.firstTokenMs ?? null, params.promptTokens ?? null, params.completionTokens ?? null, params.reasoningTokens ?? null, params.cacheReadInputTokens ?? null, params.cacheCreationInputTokens ?? null, params.costNanoUsd ?? null, params.costSource ?? null, params.tokensEstimated, params.cachedTokensInPrompt ?? null, params.callRow ?? null, params.totalInput ?? null, params.totalOutput ?? null, params.shareRates ?? null, params.sharedRequestId ?? null, params.emittedRequestId ?? null, params.version ?? null, params.name ?? null, params.vendor ?? null, params.model ?? null, params.paramsJson ?? null, params.otherMetricsJson ?? null, params.errorJson ?? null, params.contextsJson ?? null, params.telemetryJson ?? null, packTyped(params.inputJson ?? null), packTyped(params.outputJson ?? null)],
  table: 'spans',
  columns: ["project_number","trace_sequence","span_id","parent_id","type","started_at","duration_ms","started_ns","finished_ns","first_token_ms","prompt_tokens","completion_tokens","reasoning_tokens","cache_read_input_tokens","cache_creation_input_tokens","cost_nano_usd","cost_source","tokens_estimated","cached_tokens_in_prompt","call_row","total_input","total_output","share_rates","shared_request_id","emitted_request_id","version","name","vendor","model","params","other_metrics","error","contexts","telemetry","input","output"],
};

export const replaceTexts: CompiledMany<typeof source.replaceTexts> = {
  name: 'append.replaceTexts',
  text: "insert into \"trace_texts\" (\"project_number\", \"trace_sequence\", \"name\", \"text\") select \"given\".\"project_number\", \"given\".\"trace_sequence\", \"given\".\"name\", \"given\".\"text\" from unnest($1::\"trace_texts\"[]) as \"given\" on conflict (\"project_number\", \"trace_sequence\", \"name\") do update set \"text\" = \"excluded\".\"text\"",
  cells: (params) => [params.projectNumber, params.traceSequence, params.name, params.text],
  table: 'trace_texts',
  columns: ["project_number","trace_sequence","name","text"],
};

export const replaceTraces: CompiledMany<typeof source.replaceTraces> = {
  name: 'append.replaceTraces',
  text: "insert into \"traces\" (\"project_number\", \"trace_id\", \"sequence\", \"inserted_at\", \"updated_at\", \"span_count\", \"started_at\", \"duration_ms\", \"first_token_ms\", \"prompt_tokens\", \"completion_tokens\", \"reasoning_tokens\", \"cache_read_input_tokens\", \"cache_creation_input_tokens\", \"total_cost_nano_usd\", \"unpriced_spans\", \"tokens_estimated\", \"has_error\", \"metadata\", \"metadata_bytes\", \"expected_output\", \"expected_output_is_apart\", \"aggregates\", \"anchor_at\") select \"given\".\"project_number\", \"given\".\"trace_id\", \"given\".\"sequence\", \"given\".\"inserted_at\", \"given\".\"updated_at\", \"given\".\"span_count\", \"given\".\"started_at\", \"given\".\"duration_ms\", \"given\".\"first_token_ms\", \"given\".\"prompt_tokens\", \"given\".\"completion_tokens\", \"given\".\"reasoning_tokens\", \"given\".\"cache_read_input_tokens\", \"given\".\"cache_creation_input_tokens\", \"given\".\"total_cost_nano_usd\", \"given\".\"unpriced_spans\", \"given\".\"tokens_estimated\", \"given\".\"has_error\", \"given\".\"metadata\", \"given\".\"metadata_bytes\", \"given\".\"expected_output\", \"given\".\"expected_output_is_apart\", \"given\".\"aggregates\", \"given\".\"anchor_at\" from unnest($1::\"traces\"[]) as \"given\" on conflict (\"project_number\", \"trace_id\") do update set \"sequence\" = \"excluded\".\"sequence\", \"inserted_at\" = \"excluded\".\"inserted_at\", \"updated_at\" = \"excluded\".\"updated_at\", \"span_count\" = \"excluded\".\"span_count\", \"started_at\" = \"excluded\".\"started_at\", \"duration_ms\" = \"excluded\".\"duration_ms\", \"first_token_ms\" = \"excluded\".\"first_token_ms\", \"prompt_tokens\" = \"excluded\".\"prompt_tokens\", \"completion_tokens\" = \"excluded\".\"completion_tokens\", \"reasoning_tokens\" = \"excluded\".\"reasoning_tokens\", \"cache_read_input_tokens\" = \"excluded\".\"cache_read_input_tokens\", \"cache_creation_input_tokens\" = \"excluded\".\"cache_creation_input_tokens\", \"total_cost_nano_usd\" = \"excluded\".\"total_cost_nano_usd\", \"unpriced_spans\" = \"excluded\".\"unpriced_spans\", \"tokens_estimated\" = \"excluded\".\"tokens_estimated\", \"has_error\" = \"excluded\".\"has_error\", \"metadata\" = \"excluded\".\"metadata\", \"metadata_bytes\" = \"excluded\".\"metadata_bytes\", \"expected_output\" = \"excluded\".\"expected_output\", \"expected_output_is_apart\" = \"excluded\".\"expected_output_is_apart\", \"aggregates\" = \"excluded\".\"aggregates\", \"anchor_at\" = \"excluded\".\"anchor_at\"",
  cells: (params) => [params.projectNumber, params.traceId, params.sequence, params.insertedAtMs, params.updatedAtMs, params.spanCount, params.startedAtMs ?? null, params.durationMs ?? null, params.firstTokenMs ?? null, params.promptTokens ?? null, params.completionTokens ?? null, params.reasoningTokens ?? null, params.cacheReadInputTokens ?? null, params.cacheCreationInputTokens ?? null, params.totalCostNanoUsd ?? null, params.unpricedSpans, params.tokensEstimated, params.hasError, params.metadataJson, params.metadataBytes ?? null, params.expectedOutput ?? null, params.expectedOutputIsApart ?? null, params.aggregatesJson ?? null, params.anchorAtMs ?? null],
  table: 'traces',
  columns: ["project_number","trace_id","sequence","inserted_at","updated_at","span_count","started_at","duration_ms","first_token_ms","prompt_tokens","completion_tokens","reasoning_tokens","cache_read_input_tokens","cache_creation_input_tokens","total_cost_nano_usd","unpriced_spans","tokens_estimated","has_error","metadata","metadata_bytes","expected_output","expected_output_is_apart","aggregates","anchor_at"],
};

export const replaceUsageNodes: CompiledMany<typeof source.replaceUsageNodes> = {
  name: 'append.replaceUsageNodes',
  text: "insert into \"usage_nodes\" (\"project_number\", \"trace_sequence\", \"span_id\", \"node\") select \"given\".\"project_number\", \"given\".\"trace_sequence\", \"given\".\"span_id\", \"given\".\"node\" from unnest($1::\"usage_nodes\"[]) as \"given\" on conflict (\"project_number\", \"trace_sequence\", \"span_id\") do update set \"node\" = \"excluded\".\"node\"",
  cells: (params) => [params.projectNumber, params.traceSequence, params.spanId, params.nodeJson],
  table: 'usage_nodes',
  columns: ["project_number","trace_sequence","span_id","node"],
};

export const storeJobs: CompiledMany<typeof source.storeJobs> = {
  name: 'append.storeJobs',
  text: "insert into \"evaluation_jobs\" (\"project_number\", \"trace_sequence\", \"source_id\", \"trace_id\", \"due_at\", \"since\", \"fence\", \"failures\", \"is_rooted\", \"again_due_at\", \"again_since\", \"as_of\") select \"given\".\"project_number\", \"given\".\"trace_sequence\", \"given\".\"source_id\", \"given\".\"trace_id\", \"given\".\"due_at\", \"given\".\"since\", \"given\".\"fence\", \"given\".\"failures\", \"given\".\"is_rooted\", \"given\".\"again_due_at\", \"given\".\"again_since\", \"given\".\"as_of\" from unnest($1::\"evaluation_jobs\"[]) as \"given\" on conflict (\"project_number\", \"trace_sequence\", \"source_id\") do update set \"trace_id\" = \"excluded\".\"trace_id\", \"due_at\" = \"excluded\".\"due_at\", \"since\" = \"excluded\".\"since\", \"fence\" = \"excluded\".\"fence\", \"failures\" = \"excluded\".\"failures\", \"is_rooted\" = \"excluded\".\"is_rooted\", \"again_due_at\" = \"excluded\".\"again_due_at\", \"again_since\" = \"excluded\".\"again_since\", \"as_of\" = \"excluded\".\"as_of\"",
  cells: (params) => [params.projectNumber, params.traceSequence, params.sourceId, params.traceId, params.dueAtMs, params.sinceMs, params.fence, params.failures, params.isRooted, params.againDueAtMs ?? null, params.againSinceMs ?? null, params.asOf],
  table: 'evaluation_jobs',
  columns: ["project_number","trace_sequence","source_id","trace_id","due_at","since","fence","failures","is_rooted","again_due_at","again_since","as_of"],
};
