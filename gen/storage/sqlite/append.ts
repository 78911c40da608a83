// Compiled from src/storage/append/queries.ts by `npm run gen`: change it there.

import type { Compiled } from '../../../src/storage/queries.ts';
import { packCostSource } from '../../../src/storage/rows/codes.ts';
import { packId } from '../../../src/storage/engine/sqlite/compact-ids.ts';
import { packRequestKey } from '../../../src/storage/engine/sqlite/compact-ids.ts';
import { packTyped } from '../../../src/storage/rows/codes.ts';
import { spanTypes } from '../../../src/storage/rows/codes.ts';
import { unpackCostSource } from '../../../src/storage/rows/codes.ts';
import { unpackEnvelope } from '../../../src/storage/engine/sqlite/compact-envelopes.ts';
import { unpackRequestKey } from '../../../src/storage/engine/sqlite/compact-ids.ts';
import type * as source from '../../../src/storage/append/queries.ts';

export const changeSpans: Compiled<typeof source.changeSpans> = {
  name: 'append.changeSpans',
  text: "update \"spans\" set \"cost_nano_usd\" = ?, \"cost_source\" = ?, \"call_row\" = ?, \"total_input\" = ?, \"total_output\" = ?, \"share_rates\" = ?, \"emitted_request_id\" = ?, \"shared_request_id\" = ?, \"version\" = ? where (\"project_number\" = ? and \"trace_sequence\" = ? and \"span_id\" = ?)",
  cells: (rows) => [...rows.map((params) => [params.costNanoUsd ?? null, packCostSource(params.costSource ?? null), params.callRow ?? null, params.totalInput ?? null, params.totalOutput ?? null, params.shareRates ?? null, params.emittedRequestId ?? null, params.sharedRequestId ?? null, params.version ?? null, params.projectNumber, params.traceSequence, packId(params.spanId)])],
};

export const emptyProbe: Compiled<typeof source.emptyProbe> = {
  name: 'append.emptyProbe',
  text: "delete from \"write_probe\"",
  cells: () => [],
};

export const fillProbe: Compiled<typeof source.fillProbe> = {
  name: 'append.fillProbe',
  text: "insert into \"write_probe\" (\"filler\") values (?)",
  cells: (params) => [params.filler],
};

export const findCallTexts: Compiled<typeof source.findCallTexts> = {
  name: 'append.findCallTexts',
  text: "select \"project_number\" as \"projectNumber\", \"trace_sequence\" as \"traceSequence\", iif(typeof(\"span_id\") = 'blob', lower(hex(\"span_id\")), \"span_id\") as \"spanId\", case when octet_length(\"telemetry\") <= 65536\n        then \"telemetry\" end as \"telemetryJson\", substr(\"input\", 1, 64) as \"inputStart\" from \"spans\" where \"spans\".\"project_number\" = ? and \"spans\".\"trace_sequence\" = ? and \"spans\".\"span_id\" = ?",
  cells: (params) => [params.projectNumber, params.traceSequence, packId(params.spanId)],
  row: (row: any) => ({
    projectNumber: row[0],
    traceSequence: row[1],
    spanId: row[2],
    telemetryJson: row[3],
    inputStart: row[4],
  }),
};

export const findEvent: Compiled<typeof source.findEvent> = {
  name: 'append.findEvent',
  text: "select \"events\".\"organization_number\" as \"organizationNumber\", \"events\".\"created_at\" as \"createdAtMs\", \"events\".\"id\" as \"id\", \"envelope\" as \"envelope\" from \"events\" inner join \"envelopes\" on \"envelopes\".\"organization_number\" = \"events\".\"organization_number\" and \"envelopes\".\"seq\" = \"events\".\"seq\" where \"events\".\"organization_number\" = ? and \"events\".\"created_at\" = ? and \"events\".\"id\" = ?",
  cells: (params) => [params.organizationNumber, params.createdAtMs, params.id],
  row: (row: any) => ({
    organizationNumber: row[0],
    createdAtMs: row[1],
    id: row[2],
    envelope: unpackEnvelope(row[3]),
  }),
};

export const findEventPosition: Compiled<typeof source.findEventPosition> = {
  name: 'append.findEventPosition',
  text: "select \"events\".\"organization_number\" as \"organizationNumber\", \"events\".\"created_at\" as \"createdAtMs\", \"events\".\"id\" as \"id\", \"events\".\"seq\" as \"seq\" from \"events\" where \"events\".\"organization_number\" = ? and \"events\".\"created_at\" = ? and \"events\".\"id\" = ?",
  cells: (params) => [params.organizationNumber, params.createdAtMs, params.id],
  row: (row: any) => ({
    organizationNumber: row[0],
    createdAtMs: row[1],
    id: row[2],
    seq: row[3],
  }),
};

export const findGovernanceEvent: Compiled<typeof source.findGovernanceEvent> = {
  name: 'append.findGovernanceEvent',
  text: "select \"governance_events\".\"organization_number\" as \"organizationNumber\", \"governance_events\".\"id\" as \"id\" from \"governance_events\" where \"governance_events\".\"organization_number\" = ? and \"governance_events\".\"id\" = ?",
  cells: (params) => [params.organizationNumber, params.id],
  row: (row: any) => ({
    organizationNumber: row[0],
    id: row[1],
  }),
};

export const findJob: Compiled<typeof source.findJob> = {
  name: 'append.findJob',
  text: "select \"evaluation_jobs\".\"project_number\" as \"projectNumber\", \"evaluation_jobs\".\"trace_sequence\" as \"traceSequence\", \"evaluation_jobs\".\"source_id\" as \"sourceId\", \"evaluation_jobs\".\"due_at\" as \"dueAtMs\", \"evaluation_jobs\".\"since\" as \"sinceMs\", \"evaluation_jobs\".\"fence\" as \"fence\", \"evaluation_jobs\".\"failures\" as \"failures\", \"evaluation_jobs\".\"is_rooted\" as \"isRooted\", \"evaluation_jobs\".\"again_due_at\" as \"againDueAtMs\", \"evaluation_jobs\".\"again_since\" as \"againSinceMs\", \"evaluation_jobs\".\"as_of\" as \"asOf\", iif(typeof(\"trace_id\") = 'blob', lower(hex(\"trace_id\")), \"trace_id\") as \"traceId\" from \"evaluation_jobs\" where \"evaluation_jobs\".\"project_number\" = ? and \"evaluation_jobs\".\"trace_sequence\" = ? and \"evaluation_jobs\".\"source_id\" = ?",
  cells: (params) => [params.projectNumber, params.traceSequence, params.sourceId],
  row: (row: any) => ({
    projectNumber: row[0],
    traceSequence: row[1],
    sourceId: row[2],
    dueAtMs: row[3],
    sinceMs: row[4],
    fence: row[5],
    failures: row[6],
    isRooted: row[7] === 1,
    againDueAtMs: row[8],
    againSinceMs: row[9],
    asOf: row[10],
    traceId: row[11],
  }),
};

export const findLargeTexts: Compiled<typeof source.findLargeTexts> = {
  name: 'append.findLargeTexts',
  text: "select \"project_number\" as \"projectNumber\", iif(typeof(\"trace_id\") = 'blob', lower(hex(\"trace_id\")), \"trace_id\") as \"traceId\", case when octet_length(\"metadata\") > 4096 then \"metadata\" end as \"metadataJson\", case when octet_length(\"expected_output\") > 4096 then \"expected_output\" end as \"expectedOutput\" from \"traces\" where \"traces\".\"project_number\" = ? and \"traces\".\"trace_id\" = ?",
  cells: (params) => [params.projectNumber, packId(params.traceId)],
  row: (row: any) => ({
    projectNumber: row[0],
    traceId: row[1],
    metadataJson: row[2],
    expectedOutput: row[3],
  }),
};

export const findLogHead: Compiled<typeof source.findLogHead> = {
  name: 'append.findLogHead',
  text: "select \"log_heads\".\"organization_number\" as \"organizationNumber\", \"log_heads\".\"seq\" as \"seq\", \"log_heads\".\"created_at\" as \"createdAtMs\", \"log_heads\".\"last_key_index\" as \"lastKeyIndex\", \"log_heads\".\"resets\" as \"resets\" from \"log_heads\" where \"log_heads\".\"organization_number\" = ?",
  cells: (params) => [params.organizationNumber],
  row: (row: any) => ({
    organizationNumber: row[0],
    seq: row[1],
    createdAtMs: row[2],
    lastKeyIndex: row[3],
    resets: row[4],
  }),
};

export const findMetadata: Compiled<typeof source.findMetadata> = {
  name: 'append.findMetadata',
  text: "select \"project_number\" as \"projectNumber\", iif(typeof(\"trace_id\") = 'blob', lower(hex(\"trace_id\")), \"trace_id\") as \"traceId\", case when \"metadata_bytes\" is null then \"metadata\" else (select \"trace_texts\".\"text\" as \"text\" from \"trace_texts\" where \"trace_texts\".\"project_number\" = \"traces\".\"project_number\" and \"trace_texts\".\"trace_sequence\" = \"traces\".\"sequence\" and \"trace_texts\".\"name\" = 'metadata') end as \"metadataJson\" from \"traces\" where \"traces\".\"project_number\" = ? and \"traces\".\"trace_id\" = ?",
  cells: (params) => [params.projectNumber, packId(params.traceId)],
  row: (row: any) => ({
    projectNumber: row[0],
    traceId: row[1],
    metadataJson: row[2],
  }),
};

export const findOwner: Compiled<typeof source.findOwner> = {
  name: 'append.findOwner',
  text: "select \"projects\".\"id\" as \"projectId\", \"projects\".\"organization_id\" as \"organizationId\", \"organizations\".\"number\" as \"organizationNumber\", \"projects\".\"emit_request_events\" as \"emitRequestEvents\" from \"projects\" inner join \"organizations\" on \"organizations\".\"id\" = \"projects\".\"organization_id\" where \"projects\".\"number\" = ?",
  cells: (params) => [params.projectNumber],
  row: (row: any) => ({
    projectId: row[0],
    organizationId: row[1],
    organizationNumber: row[2],
    emitRequestEvents: row[3] === 1,
  }),
};

export const findPricedSpan: Compiled<typeof source.findPricedSpan> = {
  name: 'append.findPricedSpan',
  text: "select \"project_number\" as \"projectNumber\", \"trace_sequence\" as \"traceSequence\", iif(typeof(\"span_id\") = 'blob', lower(hex(\"span_id\")), \"span_id\") as \"spanId\", \"spans\".\"vendor\" as \"vendor\", \"spans\".\"cached_tokens_in_prompt\" as \"cachedTokensInPrompt\", \"spans\".\"other_metrics\" as \"otherMetricsJson\" from \"spans\" where \"spans\".\"project_number\" = ? and \"spans\".\"trace_sequence\" = ? and \"spans\".\"span_id\" = ?",
  cells: (params) => [params.projectNumber, params.traceSequence, packId(params.spanId)],
  row: (row: any) => ({
    projectNumber: row[0],
    traceSequence: row[1],
    spanId: row[2],
    vendor: row[3],
    cachedTokensInPrompt: row[4] === null ? null : row[4] === 1,
    otherMetricsJson: row[5],
  }),
};

export const findRequest: Compiled<typeof source.findRequest> = {
  name: 'append.findRequest',
  text: "select \"requests\".\"organization_number\" as \"organizationNumber\", \"requests\".\"request_key\" as \"key\", \"requests\".\"project_number\" as \"projectNumber\", \"requests\".\"gateway_request_id\" as \"gatewayRequestId\", \"requests\".\"state\" as \"state\", \"requests\".\"completed_by\" as \"completedBy\", \"requests\".\"completed_at\" as \"completedEvent\", \"requests\".\"settled_at\" as \"settledEvent\", \"requests\".\"correction_at\" as \"correctionEvent\", \"requests\".\"received_at\" as \"receivedAtMs\", \"requests\".\"nano_usd\" as \"costNanoUsd\", \"requests\".\"admission\" as \"admissionJson\", \"requests\".\"earlier_corrections\" as \"earlierCorrections\" from \"request_keys\" inner join \"requests\" on \"requests\".\"sequence\" = \"request_keys\".\"sequence\" where \"request_keys\".\"organization_number\" = ? and \"request_keys\".\"request_key\" = ?",
  cells: (params) => [params.organizationNumber, packRequestKey(params.key)],
  row: (row: any) => ({
    organizationNumber: row[0],
    key: unpackRequestKey(row[1]),
    projectNumber: row[2],
    gatewayRequestId: row[3],
    state: row[4],
    completedBy: row[5],
    completedEvent: row[6],
    settledEvent: row[7],
    correctionEvent: row[8],
    receivedAtMs: row[9],
    costNanoUsd: row[10],
    admissionJson: row[11],
    earlierCorrections: row[12],
  }),
};

export const findSpan: Compiled<typeof source.findSpan> = {
  name: 'append.findSpan',
  text: "select \"project_number\" as \"projectNumber\", \"trace_sequence\" as \"traceSequence\", \"spans\".\"type\" as \"type\", \"spans\".\"name\" as \"name\", \"spans\".\"model\" as \"model\", \"spans\".\"started_at\" as \"startedAtMs\", \"spans\".\"started_ns\" as \"startedNs\", \"spans\".\"finished_ns\" as \"finishedNs\", \"spans\".\"prompt_tokens\" as \"promptTokens\", \"spans\".\"completion_tokens\" as \"completionTokens\", \"spans\".\"reasoning_tokens\" as \"reasoningTokens\", \"spans\".\"cache_read_input_tokens\" as \"cacheReadInputTokens\", \"spans\".\"cache_creation_input_tokens\" as \"cacheCreationInputTokens\", \"spans\".\"cost_nano_usd\" as \"costNanoUsd\", \"spans\".\"tokens_estimated\" as \"tokensEstimated\", \"spans\".\"cost_source\" as \"costSource\", \"spans\".\"call_row\" as \"callRow\", \"spans\".\"total_input\" as \"totalInput\", \"spans\".\"total_output\" as \"totalOutput\", \"spans\".\"share_rates\" as \"shareRates\", iif(typeof(\"spans\".\"span_id\") = 'blob', lower(hex(\"spans\".\"span_id\")), \"spans\".\"span_id\") as \"spanId\", iif(typeof(\"spans\".\"parent_id\") = 'blob', lower(hex(\"spans\".\"parent_id\")), \"spans\".\"parent_id\") as \"parentId\", \"started_at\" + \"duration_ms\" as \"finishedAtMs\", \"started_at\" + \"first_token_ms\" as \"firstTokenAtMs\", \"input\" is not null as \"hasInput\", \"output\" is not null as \"hasOutput\", \"error\" is not null as \"hasError\", case when \"emitted_request_id\" is null\n  and (\"call_row\" is null or octet_length(\"params\") <= 16384)\n  and \"params\" like '%\"gateway_request_id\"%' then \"params\" end as \"paramsJson\", \"spans\".\"emitted_request_id\" as \"emittedRequestId\", \"spans\".\"shared_request_id\" as \"sharedRequestId\", \"spans\".\"version\" as \"version\" from \"spans\" where \"spans\".\"project_number\" = ? and \"spans\".\"trace_sequence\" = ? and \"spans\".\"span_id\" = ?",
  cells: (params) => [params.projectNumber, params.traceSequence, packId(params.spanId)],
  row: (row: any) => ({
    projectNumber: row[0],
    traceSequence: row[1],
    type: spanTypes.value(row[2]),
    name: row[3],
    model: row[4],
    startedAtMs: row[5],
    startedNs: row[6],
    finishedNs: row[7],
    promptTokens: row[8],
    completionTokens: row[9],
    reasoningTokens: row[10],
    cacheReadInputTokens: row[11],
    cacheCreationInputTokens: row[12],
    costNanoUsd: row[13],
    tokensEstimated: row[14] === 1,
    costSource: unpackCostSource(row[15]),
    callRow: row[16],
    totalInput: row[17],
    totalOutput: row[18],
    shareRates: row[19],
    spanId: row[20],
    parentId: row[21],
    finishedAtMs: row[22],
    firstTokenAtMs: row[23],
    hasInput: row[24] === 1,
    hasOutput: row[25] === 1,
    hasError: row[26] === 1,
    paramsJson: row[27],
    emittedRequestId: row[28],
    sharedRequestId: row[29],
    version: row[30],
  }),
};

export const findSpanId: Compiled<typeof source.findSpanId> = {
  name: 'append.findSpanId',
  text: "select \"project_number\" as \"projectNumber\", \"trace_sequence\" as \"traceSequence\", iif(typeof(\"span_id\") = 'blob', lower(hex(\"span_id\")), \"span_id\") as \"spanId\" from \"spans\" where \"spans\".\"project_number\" = ? and \"spans\".\"trace_sequence\" = ? and \"spans\".\"span_id\" = ?",
  cells: (params) => [params.projectNumber, params.traceSequence, packId(params.spanId)],
  row: (row: any) => ({
    projectNumber: row[0],
    traceSequence: row[1],
    spanId: row[2],
  }),
};

export const findTrace: Compiled<typeof source.findTrace> = {
  name: 'append.findTrace',
  text: "select \"project_number\" as \"projectNumber\", \"traces\".\"sequence\" as \"sequence\", \"traces\".\"inserted_at\" as \"insertedAtMs\", \"traces\".\"updated_at\" as \"updatedAtMs\", \"traces\".\"span_count\" as \"spanCount\", \"traces\".\"started_at\" as \"startedAtMs\", \"traces\".\"first_token_ms\" as \"firstTokenMs\", \"traces\".\"prompt_tokens\" as \"promptTokens\", \"traces\".\"completion_tokens\" as \"completionTokens\", \"traces\".\"reasoning_tokens\" as \"reasoningTokens\", \"traces\".\"cache_read_input_tokens\" as \"cacheReadInputTokens\", \"traces\".\"cache_creation_input_tokens\" as \"cacheCreationInputTokens\", \"traces\".\"total_cost_nano_usd\" as \"totalCostNanoUsd\", \"traces\".\"unpriced_spans\" as \"unpricedSpans\", \"traces\".\"tokens_estimated\" as \"tokensEstimated\", \"traces\".\"has_error\" as \"hasError\", \"traces\".\"aggregates\" as \"aggregatesJson\", \"traces\".\"anchor_at\" as \"anchorAtMs\", iif(typeof(\"trace_id\") = 'blob', lower(hex(\"trace_id\")), \"trace_id\") as \"traceId\", \"started_at\" + \"duration_ms\" as \"finishedAtMs\", max(0, \"duration_ms\") as \"totalTimeMs\", coalesce(case when octet_length(\"metadata\") > 4096 then null else \"metadata\" end, '') as \"metadataJson\", coalesce(\"metadata_bytes\", case when octet_length(\"metadata\") > 4096 then octet_length(\"metadata\") end) as \"metadataBytes\", case when octet_length(\"expected_output\") > 4096 then null else \"expected_output\" end as \"expectedOutput\", coalesce(\"expected_output_is_apart\", case when octet_length(\"expected_output\") > 4096 then true end) as \"expectedOutputIsApart\", coalesce(case when octet_length(\"metadata\") > 4096 then octet_length(\"metadata\") end, 0) + coalesce(case when octet_length(\"expected_output\") > 4096 then octet_length(\"expected_output\") end, 0) as \"largeInlineBytes\" from \"traces\" where \"traces\".\"project_number\" = ? and \"traces\".\"trace_id\" = ?",
  cells: (params) => [params.projectNumber, packId(params.traceId)],
  row: (row: any) => ({
    projectNumber: row[0],
    sequence: row[1],
    insertedAtMs: row[2],
    updatedAtMs: row[3],
    spanCount: row[4],
    startedAtMs: row[5],
    firstTokenMs: row[6],
    promptTokens: row[7],
    completionTokens: row[8],
    reasoningTokens: row[9],
    cacheReadInputTokens: row[10],
    cacheCreationInputTokens: row[11],
    totalCostNanoUsd: row[12],
    unpricedSpans: row[13],
    tokensEstimated: row[14] === 1,
    hasError: row[15] === 1,
    aggregatesJson: row[16],
    anchorAtMs: row[17],
    traceId: row[18],
    finishedAtMs: row[19],
    totalTimeMs: row[20],
    metadataJson: row[21],
    metadataBytes: row[22],
    expectedOutput: row[23],
    expectedOutputIsApart: row[24],
    largeInlineBytes: row[25],
  }),
};

export const findUsageNode: Compiled<typeof source.findUsageNode> = {
  name: 'append.findUsageNode',
  text: "select \"project_number\" as \"projectNumber\", \"trace_sequence\" as \"traceSequence\", \"node\" as \"nodeJson\", iif(typeof(\"span_id\") = 'blob', lower(hex(\"span_id\")), \"span_id\") as \"spanId\" from \"usage_nodes\" where \"usage_nodes\".\"project_number\" = ? and \"usage_nodes\".\"trace_sequence\" = ? and \"usage_nodes\".\"span_id\" = ?",
  cells: (params) => [params.projectNumber, params.traceSequence, packId(params.spanId)],
  row: (row: any) => ({
    projectNumber: row[0],
    traceSequence: row[1],
    nodeJson: row[2],
    spanId: row[3],
  }),
};

export const insertSpans: Compiled<typeof source.insertSpans> = {
  name: 'append.insertSpans',
  text: "insert into \"spans\" (\"project_number\", \"trace_sequence\", \"span_id\", \"parent_id\", \"type\", \"started_at\", \"duration_ms\", \"started_ns\", \"finished_ns\", \"first_token_ms\", \"prompt_tokens\", \"completion_tokens\", \"reasoning_tokens\", \"cache_read_input_tokens\", \"cache_creation_input_tokens\", \"cost_nano_usd\", \"cost_source\", \"tokens_estimated\", \"cached_tokens_in_prompt\", \"call_row\", \"total_input\", \"total_output\", \"share_rates\", \"shared_request_id\", \"emitted_request_id\", \"version\", \"name\", \"vendor\", \"model\", \"params\", \"other_metrics\", \"error\", \"contexts\", \"telemetry\", \"input\", \"output\") values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
  cells: (params) => [params.projectNumber, params.traceSequence, packId(params.spanId), params.parentId == null ? null : packId(params.parentId), spanTypes.code(params.type), params.startedAtMs, params.durationMs, params.startedNs ?? null, params.finishedNs ?? null, params.firstTokenMs ?? null, params.promptTokens ?? null, params.completionTokens ?? null, params.reasoningTokens ?? null, params.cacheReadInputTokens ?? null, params.cacheCreationInputTokens ?? null, params.costNanoUsd ?? null, packCostSource(params.costSource ?? null), Number(params.tokensEstimated), params.cachedTokensInPrompt == null ? null : Number(params.cachedTokensInPrompt), params.callRow ?? null, params.totalInput ?? null, params.totalOutput ?? null, params.shareRates ?? null, params.sharedRequestId ?? null, params.emittedRequestId ?? null, params.version ?? null, params.name ?? null, params.vendor ?? null, params.model ?? null, params.paramsJson ?? null, params.otherMetricsJson ?? null, params.errorJson ?? null, params.contextsJson ?? null, params.telemetryJson ?? null, packTyped(params.inputJson ?? null), packTyped(params.outputJson ?? null)],
};

export const insertTraces: Compiled<typeof source.insertTraces> = {
  name: 'append.insertTraces',
  text: "insert into \"traces\" (\"project_number\", \"trace_id\", \"sequence\", \"inserted_at\", \"updated_at\", \"span_count\", \"started_at\", \"duration_ms\", \"first_token_ms\", \"prompt_tokens\", \"completion_tokens\", \"reasoning_tokens\", \"cache_read_input_tokens\", \"cache_creation_input_tokens\", \"total_cost_nano_usd\", \"unpriced_spans\", \"tokens_estimated\", \"has_error\", \"metadata\", \"metadata_bytes\", \"expected_output\", \"expected_output_is_apart\", \"aggregates\", \"anchor_at\") values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
  cells: (params) => [params.projectNumber, packId(params.traceId), params.sequence, params.insertedAtMs, params.updatedAtMs, params.spanCount, params.startedAtMs ?? null, params.durationMs ?? null, params.firstTokenMs ?? null, params.promptTokens ?? null, params.completionTokens ?? null, params.reasoningTokens ?? null, params.cacheReadInputTokens ?? null, params.cacheCreationInputTokens ?? null, params.totalCostNanoUsd ?? null, params.unpricedSpans, Number(params.tokensEstimated), Number(params.hasError), params.metadataJson, params.metadataBytes ?? null, params.expectedOutput ?? null, params.expectedOutputIsApart == null ? null : Number(params.expectedOutputIsApart), params.aggregatesJson ?? null, params.anchorAtMs ?? null],
};

export const listOverdue: Compiled<typeof source.listOverdue> = {
  name: 'append.listOverdue',
  text: "select \"organization_number\" as \"organizationNumber\", \"request_key\" as \"key\" from \"requests\" where \"state\" = 2 and \"received_at\" <= ? order by \"received_at\" limit ?",
  cells: (params) => [params.admittedByMs, params.countMax],
  row: (row: any) => ({
    organizationNumber: row[0],
    key: unpackRequestKey(row[1]),
  }),
};

export const removeJobs: Compiled<typeof source.removeJobs> = {
  name: 'append.removeJobs',
  text: "delete from \"evaluation_jobs\" where (\"project_number\" = ? and \"trace_sequence\" = ? and \"source_id\" = ?)",
  cells: (rows) => [...rows.map((params) => [params.projectNumber, params.traceSequence, params.sourceId])],
};

export const removeJobsOfTraces: Compiled<typeof source.removeJobsOfTraces> = {
  name: 'append.removeJobsOfTraces',
  text: "delete from \"evaluation_jobs\" where \"project_number\" = ? and \"trace_sequence\" = ?",
  cells: (rows) => [...rows.map((params) => [params.projectNumber, params.sequence])],
};

export const removeTexts: Compiled<typeof source.removeTexts> = {
  name: 'append.removeTexts',
  text: "delete from \"trace_texts\" where (\"project_number\" = ? and \"trace_sequence\" = ? and \"name\" = ?)",
  cells: (rows) => [...rows.map((params) => [params.projectNumber, params.traceSequence, params.name])],
};

export const replaceEvaluations: Compiled<typeof source.replaceEvaluations> = {
  name: 'append.replaceEvaluations',
  text: "insert into \"evaluations\" (\"project_number\", \"trace_sequence\", \"evaluation_id\", \"inserted_at\", \"evaluator_id\", \"name\", \"type\", \"span_id\", \"thread_id\", \"is_guardrail\", \"status\", \"passed\", \"score\", \"label\", \"monitor_id\", \"started_at\", \"finished_at\", \"details\", \"error\", \"inputs\", \"cost\") values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) on conflict (\"project_number\", \"trace_sequence\", \"evaluation_id\") do update set \"evaluator_id\" = \"excluded\".\"evaluator_id\", \"name\" = \"excluded\".\"name\", \"type\" = \"excluded\".\"type\", \"span_id\" = \"excluded\".\"span_id\", \"thread_id\" = \"excluded\".\"thread_id\", \"is_guardrail\" = \"excluded\".\"is_guardrail\", \"status\" = \"excluded\".\"status\", \"passed\" = \"excluded\".\"passed\", \"score\" = \"excluded\".\"score\", \"label\" = \"excluded\".\"label\", \"monitor_id\" = \"excluded\".\"monitor_id\", \"started_at\" = \"excluded\".\"started_at\", \"finished_at\" = \"excluded\".\"finished_at\", \"details\" = \"excluded\".\"details\", \"error\" = \"excluded\".\"error\", \"inputs\" = \"excluded\".\"inputs\", \"cost\" = \"excluded\".\"cost\"",
  cells: (params) => [params.projectNumber, params.traceSequence, params.evaluationId, params.insertedAtMs, params.evaluatorId, params.name, params.type ?? null, params.spanId ?? null, params.threadId ?? null, Number(params.isGuardrail), params.status, params.passed == null ? null : Number(params.passed), params.score ?? null, params.label ?? null, params.monitorId ?? null, params.startedAtMs ?? null, params.finishedAtMs ?? null, params.details ?? null, params.errorJson ?? null, params.inputsJson ?? null, params.costJson ?? null],
};

export const replaceSpans: Compiled<typeof source.replaceSpans> = {
  name: 'append.replaceSpans',
  text: "insert into \"spans\" (\"project_number\", \"trace_sequence\", \"span_id\", \"parent_id\", \"type\", \"started_at\", \"duration_ms\", \"started_ns\", \"finished_ns\", \"first_token_ms\", \"prompt_tokens\", \"completion_tokens\", \"reasoning_tokens\", \"cache_read_input_tokens\", \"cache_creation_input_tokens\", \"cost_nano_usd\", \"cost_source\", \"tokens_estimated\", \"cached_tokens_in_prompt\", \"call_row\", \"total_input\", \"total_output\", \"share_rates\", \"shared_request_id\", \"emitted_request_id\", \"version\", \"name\", \"vendor\", \"model\", \"params\", \"other_metrics\", \"error\", \"contexts\", \"telemetry\", \"input\", \"output\") values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) on conflict (\"project_number\", \"trace_sequence\", \"span_id\") do update set \"parent_id\" = \"excluded\".\"parent_id\", \"type\" = \"excluded\".\"type\", \"started_at\" = \"excluded\".\"started_at\", \"duration_ms\" = \"excluded\".\"duration_ms\", \"started_ns\" = \"excluded\".\"started_ns\", \"finished_ns\" = \"excluded\".\"finished_ns\", \"first_token_ms\" = \"excluded\".\"first_token_ms\", \"prompt_tokens\" = \"excluded\".\"prompt_tokens\", \"completion_tokens\" = \"excluded\".\"completion_tokens\", \"reasoning_tokens\" = \"excluded\".\"reasoning_tokens\", \"cache_read_input_tokens\" = \"excluded\".\"cache_read_input_tokens\", \"cache_creation_input_tokens\" = \"excluded\".\"cache_creation_input_tokens\", \"cost_nano_usd\" = \"excluded\".\"cost_nano_usd\", \"cost_source\" = \"excluded\".\"cost_source\", \"tokens_estimated\" = \"excluded\".\"tokens_estimated\", \"cached_tokens_in_prompt\" = \"excluded\".\"cached_tokens_in_prompt\", \"call_row\" = \"excluded\".\"call_row\", \"total_input\" = \"excluded\".\"total_input\", \"total_output\" = \"excluded\".\"total_output\", \"share_rates\" = \"excluded\".\"share_rates\", \"shared_request_id\" = \"excluded\".\"shared_request_id\", \"emitted_request_id\" = \"excluded\".\"emitted_request_id\", \"version\" = \"excluded\".\"version\", \"name\" = \"excluded\".\"name\", \"vendor\" = \"excluded\".\"vendor\", \"model\" = \"excluded\".\"model\", \"params\" = \"excluded\".\"params\", \"other_metrics\" = \"excluded\".\"other_metrics\", \"error\" = \"excluded\".\"error\", \"contexts\" = \"excluded\".\"contexts\", \"telemetry\" = \"excluded\".\"telemetry\", \"input\" = \"excluded\".\"input\", \"output\" = \"excluded\".\"output\"",
  cells: (params) => [params.projectNumber, params.traceSequence, packId(params.spanId), params.parentId == null ? null : packId(params.parentId), spanTypes.code(params.type), params.startedAtMs, params.durationMs, params.startedNs ?? null, params.finishedNs ?? null, params.firstTokenMs ?? null, params.promptTokens ?? null, params.completionTokens ?? null, params.reasoningTokens ?? null, params.cacheReadInputTokens ?? null, params.cacheCreationInputTokens ?? null, params.costNanoUsd ?? null, packCostSource(params.costSource ?? null), Number(params.tokensEstimated), params.cachedTokensInPrompt == null ? null : Number(params.cachedTokensInPrompt), params.callRow ?? null, params.totalInput ?? null, params.totalOutput ?? null, params.shareRates ?? null, params.sharedRequestId ?? null, params.emittedRequestId ?? null, params.version ?? null, params.name ?? null, params.vendor ?? null, params.model ?? null, params.paramsJson ?? null, params.otherMetricsJson ?? null, params.errorJson ?? null, params.contextsJson ?? null, params.telemetryJson ?? null, packTyped(params.inputJson ?? null), packTyped(params.outputJson ?? null)],
};

export const replaceTexts: Compiled<typeof source.replaceTexts> = {
  name: 'append.replaceTexts',
  text: "insert into \"trace_texts\" (\"project_number\", \"trace_sequence\", \"name\", \"text\") values (?, ?, ?, ?) on conflict (\"project_number\", \"trace_sequence\", \"name\") do update set \"text\" = \"excluded\".\"text\"",
  cells: (params) => [params.projectNumber, params.traceSequence, params.name, params.text],
};

export const replaceTraces: Compiled<typeof source.replaceTraces> = {
  name: 'append.replaceTraces',
  text: "insert into \"traces\" (\"project_number\", \"trace_id\", \"sequence\", \"inserted_at\", \"updated_at\", \"span_count\", \"started_at\", \"duration_ms\", \"first_token_ms\", \"prompt_tokens\", \"completion_tokens\", \"reasoning_tokens\", \"cache_read_input_tokens\", \"cache_creation_input_tokens\", \"total_cost_nano_usd\", \"unpriced_spans\", \"tokens_estimated\", \"has_error\", \"metadata\", \"metadata_bytes\", \"expected_output\", \"expected_output_is_apart\", \"aggregates\", \"anchor_at\") values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) on conflict (\"sequence\") do update set \"project_number\" = \"excluded\".\"project_number\", \"trace_id\" = \"excluded\".\"trace_id\", \"inserted_at\" = \"excluded\".\"inserted_at\", \"updated_at\" = \"excluded\".\"updated_at\", \"span_count\" = \"excluded\".\"span_count\", \"started_at\" = \"excluded\".\"started_at\", \"duration_ms\" = \"excluded\".\"duration_ms\", \"first_token_ms\" = \"excluded\".\"first_token_ms\", \"prompt_tokens\" = \"excluded\".\"prompt_tokens\", \"completion_tokens\" = \"excluded\".\"completion_tokens\", \"reasoning_tokens\" = \"excluded\".\"reasoning_tokens\", \"cache_read_input_tokens\" = \"excluded\".\"cache_read_input_tokens\", \"cache_creation_input_tokens\" = \"excluded\".\"cache_creation_input_tokens\", \"total_cost_nano_usd\" = \"excluded\".\"total_cost_nano_usd\", \"unpriced_spans\" = \"excluded\".\"unpriced_spans\", \"tokens_estimated\" = \"excluded\".\"tokens_estimated\", \"has_error\" = \"excluded\".\"has_error\", \"metadata\" = \"excluded\".\"metadata\", \"metadata_bytes\" = \"excluded\".\"metadata_bytes\", \"expected_output\" = \"excluded\".\"expected_output\", \"expected_output_is_apart\" = \"excluded\".\"expected_output_is_apart\", \"aggregates\" = \"excluded\".\"aggregates\", \"anchor_at\" = \"excluded\".\"anchor_at\"",
  cells: (params) => [params.projectNumber, packId(params.traceId), params.sequence, params.insertedAtMs, params.updatedAtMs, params.spanCount, params.startedAtMs ?? null, params.durationMs ?? null, params.firstTokenMs ?? null, params.promptTokens ?? null, params.completionTokens ?? null, params.reasoningTokens ?? null, params.cacheReadInputTokens ?? null, params.cacheCreationInputTokens ?? null, params.totalCostNanoUsd ?? null, params.unpricedSpans, Number(params.tokensEstimated), Number(params.hasError), params.metadataJson, params.metadataBytes ?? null, params.expectedOutput ?? null, params.expectedOutputIsApart == null ? null : Number(params.expectedOutputIsApart), params.aggregatesJson ?? null, params.anchorAtMs ?? null],
};

export const replaceUsageNodes: Compiled<typeof source.replaceUsageNodes> = {
  name: 'append.replaceUsageNodes',
  text: "insert into \"usage_nodes\" (\"project_number\", \"trace_sequence\", \"span_id\", \"node\") values (?, ?, ?, ?) on conflict (\"project_number\", \"trace_sequence\", \"span_id\") do update set \"node\" = \"excluded\".\"node\"",
  cells: (params) => [params.projectNumber, params.traceSequence, packId(params.spanId), params.nodeJson],
};

export const storeJobs: Compiled<typeof source.storeJobs> = {
  name: 'append.storeJobs',
  text: "insert into \"evaluation_jobs\" (\"project_number\", \"trace_sequence\", \"source_id\", \"trace_id\", \"due_at\", \"since\", \"fence\", \"failures\", \"is_rooted\", \"again_due_at\", \"again_since\", \"as_of\") values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) on conflict (\"project_number\", \"trace_sequence\", \"source_id\") do update set \"trace_id\" = \"excluded\".\"trace_id\", \"due_at\" = \"excluded\".\"due_at\", \"since\" = \"excluded\".\"since\", \"fence\" = \"excluded\".\"fence\", \"failures\" = \"excluded\".\"failures\", \"is_rooted\" = \"excluded\".\"is_rooted\", \"again_due_at\" = \"excluded\".\"again_due_at\", \"again_since\" = \"excluded\".\"again_since\", \"as_of\" = \"excluded\".\"as_of\"",
  cells: (params) => [params.projectNumber, params.traceSequence, params.sourceId, packId(params.traceId), params.dueAtMs, params.sinceMs, params.fence, params.failures, Number(params.isRooted), params.againDueAtMs ?? null, params.againSinceMs ?? null, params.asOf],
};
