// Compiled from src/storage/retention/queries.ts by `npm run gen`: change it there.

import type { Compiled } from '../../../src/storage/queries.ts';
import { fillParameters } from '../../../src/storage/engine/sqlite/compact-ids.ts';
import { packId } from '../../../src/storage/engine/sqlite/compact-ids.ts';
import { packIds } from '../../../src/storage/engine/sqlite/compact-ids.ts';
import { spanTypes } from '../../../src/storage/rows/codes.ts';
import { unpackCostSource } from '../../../src/storage/rows/codes.ts';
import type * as source from '../../../src/storage/retention/queries.ts';

export const addHour: Compiled<typeof source.addHour> = {
  name: 'retention.addHour',
  text: "insert into \"analytics_hours\" (\"project_number\", \"grouping\", \"hour\", \"received_hour\", \"model\", \"traces\", \"spans\", \"errors\", \"prompt_tokens\", \"prompt_known\", \"completion_tokens\", \"completion_known\", \"cost_usd\", \"cost_rest_nano_usd\", \"cost_known\", \"writer\") values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0) on conflict (\"project_number\", \"grouping\", \"hour\", \"received_hour\", \"model\", \"writer\") do update set \"traces\" = \"analytics_hours\".\"traces\" + \"excluded\".\"traces\", \"spans\" = \"analytics_hours\".\"spans\" + \"excluded\".\"spans\", \"errors\" = \"analytics_hours\".\"errors\" + \"excluded\".\"errors\", \"prompt_tokens\" = \"analytics_hours\".\"prompt_tokens\" + \"excluded\".\"prompt_tokens\", \"prompt_known\" = \"analytics_hours\".\"prompt_known\" + \"excluded\".\"prompt_known\", \"completion_tokens\" = \"analytics_hours\".\"completion_tokens\" + \"excluded\".\"completion_tokens\", \"completion_known\" = \"analytics_hours\".\"completion_known\" + \"excluded\".\"completion_known\", \"cost_usd\" = \"analytics_hours\".\"cost_usd\" + \"excluded\".\"cost_usd\", \"cost_rest_nano_usd\" = \"analytics_hours\".\"cost_rest_nano_usd\" + \"excluded\".\"cost_rest_nano_usd\", \"cost_known\" = \"analytics_hours\".\"cost_known\" + \"excluded\".\"cost_known\"",
  cells: (params) => [params.projectNumber, params.grouping, params.hour, params.receivedHour, params.model, params.traces, params.spans, params.errors, params.promptTokens, params.promptKnown, params.completionTokens, params.completionKnown, params.costUsd, params.costRestNanoUsd, params.costKnown],
};

export const findHiddenTrace: Compiled<typeof source.findHiddenTrace> = {
  name: 'retention.findHiddenTrace',
  text: "select \"project_number\" as \"projectNumber\", \"sequence\" as \"sequence\" from \"traces\" where \"project_number\" < ? limit ?",
  cells: () => [0, 1],
  row: (row: any) => ({
    projectNumber: row[0],
    sequence: row[1],
  }),
};

export const findLastOrganization: Compiled<typeof source.findLastOrganization> = {
  name: 'retention.findLastOrganization',
  text: "select \"number\" as \"number\" from \"organizations\" where \"number\" > ? order by \"number\" limit ? offset ?",
  cells: (params) => [params.after, 1, params.skipped],
  row: (row: any) => ({
    number: row[0],
  }),
};

export const hideTrace: Compiled<typeof source.hideTrace> = {
  name: 'retention.hideTrace',
  text: "update \"traces\" set \"project_number\" = ?, \"trace_id\" = ? where (\"project_number\" = ? and \"trace_id\" = ? and \"sequence\" = ?)",
  cells: (params) => [params.hiddenProjectNumber, packId(params.hiddenTraceId), params.projectNumber, packId(params.traceId), params.sequence],
};

export const listBacklog: Compiled<typeof source.listBacklog> = {
  name: 'retention.listBacklog',
  text: "select \"number\" as \"projectNumber\", (select cast(coalesce(sum(traces), 0) as bigint) as \"traces\" from \"analytics_hours\" where \"analytics_hours\".\"project_number\" = \"projects\".\"number\" and \"grouping\" = 0 and \"hour\" >= ? and \"hour\" < ? and \"received_hour\" < ?) as \"traces\" from \"projects\" where \"number\" > ? and \"trace_retention_days\" is not distinct from ? order by \"number\" limit ?",
  cells: (params) => [params.fromHour, params.beforeHour, params.beforeHour, params.after, params.storedDays, params.limit],
  row: (row: any) => ({
    projectNumber: row[0],
    traces: row[1],
  }),
};

export const listCounted: Compiled<typeof source.listCounted> = {
  name: 'retention.listCounted',
  text: "select \"traces\".\"project_number\" as \"projectNumber\", \"traces\".\"sequence\" as \"sequence\", \"traces\".\"started_at\" as \"startedAtMs\", \"traces\".\"inserted_at\" as \"insertedAtMs\", \"traces\".\"span_count\" as \"spanCount\", \"traces\".\"has_error\" as \"hasError\", \"traces\".\"prompt_tokens\" as \"promptTokens\", \"traces\".\"completion_tokens\" as \"completionTokens\", \"traces\".\"total_cost_nano_usd\" as \"totalCostNanoUsd\" from \"traces\" where \"project_number\" + 0 = ? and \"sequence\" in (select value from json_each(?))",
  cells: (params) => [params.projectNumber, JSON.stringify(params.sequences)],
  row: (row: any) => ({
    projectNumber: row[0],
    sequence: row[1],
    startedAtMs: row[2],
    insertedAtMs: row[3],
    spanCount: row[4],
    hasError: row[5] === 1,
    promptTokens: row[6],
    completionTokens: row[7],
    totalCostNanoUsd: row[8],
  }),
};

export const listCountedSpans: Compiled<typeof source.listCountedSpans> = {
  name: 'retention.listCountedSpans',
  text: "select \"trace_sequence\" as \"traceSequence\", iif(typeof(\"span_id\") = 'blob', lower(hex(\"span_id\")), \"span_id\") as \"spanId\", iif(typeof(\"parent_id\") = 'blob', lower(hex(\"parent_id\")), \"parent_id\") as \"parentId\", \"spans\".\"type\" as \"type\", \"spans\".\"model\" as \"model\", \"spans\".\"started_at\" as \"startedAtMs\", \"spans\".\"prompt_tokens\" as \"promptTokens\", \"spans\".\"completion_tokens\" as \"completionTokens\", \"spans\".\"reasoning_tokens\" as \"reasoningTokens\", \"spans\".\"cache_read_input_tokens\" as \"cacheReadInputTokens\", \"spans\".\"cache_creation_input_tokens\" as \"cacheCreationInputTokens\", \"spans\".\"cost_nano_usd\" as \"costNanoUsd\", \"spans\".\"first_token_ms\" as \"firstTokenMs\", \"spans\".\"cost_source\" as \"costSource\", \"spans\".\"call_row\" as \"callRow\", \"spans\".\"total_input\" as \"totalInput\", \"spans\".\"total_output\" as \"totalOutput\", \"spans\".\"share_rates\" as \"shareRates\", \"spans\".\"duration_ms\" as \"durationMs\", \"error\" is not null as \"hasError\" from \"spans\" where \"project_number\" = ? and \"trace_sequence\" in (select value from json_each(?))",
  cells: (params) => [params.projectNumber, JSON.stringify(params.sequences)],
  row: (row: any) => ({
    traceSequence: row[0],
    spanId: row[1],
    parentId: row[2],
    type: spanTypes.value(row[3]),
    model: row[4],
    startedAtMs: row[5],
    promptTokens: row[6],
    completionTokens: row[7],
    reasoningTokens: row[8],
    cacheReadInputTokens: row[9],
    cacheCreationInputTokens: row[10],
    costNanoUsd: row[11],
    firstTokenMs: row[12],
    costSource: unpackCostSource(row[13]),
    callRow: row[14],
    totalInput: row[15],
    totalOutput: row[16],
    shareRates: row[17],
    durationMs: row[18],
    hasError: row[19] === 1,
  }),
};

export const listOldBlocks: Compiled<typeof source.listOldBlocks> = {
  name: 'retention.listOldBlocks',
  text: "select \"organization_number\" as \"organizationNumber\", \"first_seq\" as \"firstSeq\" from \"spend_blocks\" where \"created_to\" < ? order by \"created_to\" limit ?",
  cells: (params) => [params.beforeMs, params.limit],
  row: (row: any) => ({
    organizationNumber: row[0],
    firstSeq: row[1],
  }),
};

export const listTraceTerms: Compiled<typeof source.listTraceTerms> = {
  name: 'retention.listTraceTerms',
  text: "select distinct \"trace_retention_days\" as \"storedDays\" from \"projects\"",
  cells: () => [],
  row: (row: any) => ({
    storedDays: row[0],
  }),
};

export const listTracesAfter: Compiled<typeof source.listTracesAfter> = {
  name: 'retention.listTracesAfter',
  text: "select \"sequence\" as \"sequence\", \"project_number\" as \"projectNumber\", \"inserted_at\" as \"insertedAtMs\" from \"traces\" where \"sequence\" > ? and \"sequence\" < ? order by \"sequence\" limit ?",
  cells: (params) => [params.after, params.before, params.limit],
  row: (row: any) => ({
    sequence: row[0],
    projectNumber: row[1],
    insertedAtMs: row[2],
  }),
};

export const lockJobs: Compiled<typeof source.lockJobs> = {
  name: 'retention.lockJobs',
  text: "select \"source_id\" as \"sourceId\" from \"evaluation_jobs\" where \"project_number\" = ? and \"trace_sequence\" in (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) order by \"trace_sequence\", \"source_id\"",
  cells: (params) => [params.projectNumber, ...fillParameters(params.sequences)],
  row: (row: any) => ({
    sourceId: row[0],
  }),
};

export const lockProjectTerms: Compiled<typeof source.lockProjectTerms> = {
  name: 'retention.lockProjectTerms',
  text: "select \"number\" as \"number\", \"trace_retention_days\" as \"storedDays\" from \"projects\" where \"number\" in (select value from json_each(?))",
  cells: (params) => [JSON.stringify(params.numbers)],
  row: (row: any) => ({
    number: row[0],
    storedDays: row[1],
  }),
};

export const lockTraces: Compiled<typeof source.lockTraces> = {
  name: 'retention.lockTraces',
  text: "select \"project_number\" as \"projectNumber\", iif(typeof(\"trace_id\") = 'blob', lower(hex(\"trace_id\")), \"trace_id\") as \"traceId\", \"sequence\" as \"sequence\", case when \"span_count\" > ? then \"span_count\" else (select coalesce(sum(rows), 0) as \"rows\" from (select 1 + (coalesce(octet_length(\"params\"), 0) + coalesce(octet_length(\"error\"), 0) + coalesce(octet_length(\"contexts\"), 0) + coalesce(octet_length(\"telemetry\"), 0) + coalesce(octet_length(\"input\"), 0) + coalesce(octet_length(\"output\"), 0)) / 16384 as \"rows\" from \"spans\" where \"spans\".\"project_number\" = \"traces\".\"project_number\" and \"spans\".\"trace_sequence\" = \"traces\".\"sequence\" limit ?) as \"some\") end + (select coalesce(sum(rows), 0) as \"rows\" from (select 1 + (coalesce(octet_length(\"details\"), 0) + coalesce(octet_length(\"error\"), 0) + coalesce(octet_length(\"inputs\"), 0)) / 16384 as \"rows\" from \"evaluations\" where \"evaluations\".\"project_number\" = \"traces\".\"project_number\" and \"evaluations\".\"trace_sequence\" = \"traces\".\"sequence\" limit ?) as \"some\") as \"parts\" from \"traces\" where \"sequence\" in (select value from json_each(?)) order by \"sequence\"",
  cells: (params) => [params.partsMax, params.partsMax, params.partsMax, JSON.stringify(params.sequences)],
  row: (row: any) => ({
    projectNumber: row[0],
    traceId: row[1],
    sequence: row[2],
    parts: row[3],
  }),
};

export const markStored: Compiled<typeof source.markStored> = {
  name: 'retention.markStored',
  text: "insert into \"search_pending\" (\"project_number\", \"trace_sequence\", \"mark\") select \"project_number\", \"sequence\", 1 as \"mark\" from \"traces\" where \"project_number\" + 0 = ? and \"sequence\" in (select value from json_each(?)) order by \"sequence\" on conflict (\"project_number\", \"trace_sequence\") do update set \"mark\" = \"search_pending\".\"mark\" + 1",
  cells: (params) => [params.projectNumber, JSON.stringify(params.sequences)],
};

export const removeBlock: Compiled<typeof source.removeBlock> = {
  name: 'retention.removeBlock',
  text: "delete from \"spend_blocks\" where (\"organization_number\" = ? and \"first_seq\" = ?)",
  cells: (params) => [params.organizationNumber, params.firstSeq],
};

export const removeEvaluations: Compiled<typeof source.removeEvaluations> = {
  name: 'retention.removeEvaluations',
  text: "delete from \"evaluations\" where \"project_number\" = ? and \"trace_sequence\" in (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
  cells: (params) => [params.projectNumber, ...fillParameters(params.sequences)],
};

export const removeJobs: Compiled<typeof source.removeJobs> = {
  name: 'retention.removeJobs',
  text: "delete from \"evaluation_jobs\" where \"project_number\" = ? and \"trace_sequence\" in (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
  cells: (params) => [params.projectNumber, ...fillParameters(params.sequences)],
};

export const removeOldAudit: Compiled<typeof source.removeOldAudit> = {
  name: 'retention.removeOldAudit',
  text: "delete from \"audit_log\" where (\"organization_id\", \"created_at\", \"id\") in (select \"old\".\"organization_id\", \"old\".\"created_at\", \"old\".\"id\" from (select \"id\" as \"organizationId\" from \"organizations\" where \"number\" > ? order by \"number\" limit ?) as \"part\" cross join \"audit_log\" as \"old\" where \"old\".\"organization_id\" = \"part\".\"organizationId\" and \"old\".\"created_at\" < ? limit ?)",
  cells: (params) => [params.after, params.limit, params.beforeMs, params.limit],
};

export const removeOldGovernance: Compiled<typeof source.removeOldGovernance> = {
  name: 'retention.removeOldGovernance',
  text: "delete from \"governance_events\" where (\"organization_number\", \"id\") in (select \"organization_number\", \"id\" from \"governance_events\" where \"created_at\" < ? order by \"created_at\", \"organization_number\", \"id\" limit ?)",
  cells: (params) => [params.beforeMs, params.limit],
};

export const removeParts: Compiled<typeof source.removeParts> = {
  name: 'retention.removeParts',
  text: "delete from \"spend_parts\" where (\"organization_number\" = ? and \"first_seq\" = ?)",
  cells: (params) => [params.organizationNumber, params.firstSeq],
};

export const removeSomeEvaluations: Compiled<typeof source.removeSomeEvaluations> = {
  name: 'retention.removeSomeEvaluations',
  text: "delete from \"evaluations\" where (\"project_number\" = ? and \"trace_sequence\" = ?) and \"evaluation_id\" <= (select max(\"some\".\"key\") as \"last\" from (select \"evaluation_id\" as \"key\" from \"evaluations\" where (\"project_number\" = ? and \"trace_sequence\" = ?) order by \"evaluation_id\" limit ?) as \"some\")",
  cells: (params) => [params.projectNumber, params.traceSequence, params.projectNumber, params.traceSequence, params.limit],
};

export const removeSomeSpans: Compiled<typeof source.removeSomeSpans> = {
  name: 'retention.removeSomeSpans',
  text: "delete from \"spans\" where (\"project_number\" = ? and \"trace_sequence\" = ?) and \"span_id\" <= (select max(\"some\".\"key\") as \"last\" from (select \"span_id\" as \"key\" from \"spans\" where (\"project_number\" = ? and \"trace_sequence\" = ?) order by \"span_id\" limit ?) as \"some\")",
  cells: (params) => [params.projectNumber, params.traceSequence, params.projectNumber, params.traceSequence, params.limit],
};

export const removeSomeUsageNodes: Compiled<typeof source.removeSomeUsageNodes> = {
  name: 'retention.removeSomeUsageNodes',
  text: "delete from \"usage_nodes\" where (\"project_number\" = ? and \"trace_sequence\" = ?) and \"span_id\" <= (select max(\"some\".\"key\") as \"last\" from (select \"span_id\" as \"key\" from \"usage_nodes\" where (\"project_number\" = ? and \"trace_sequence\" = ?) order by \"span_id\" limit ?) as \"some\")",
  cells: (params) => [params.projectNumber, params.traceSequence, params.projectNumber, params.traceSequence, params.limit],
};

export const removeSpans: Compiled<typeof source.removeSpans> = {
  name: 'retention.removeSpans',
  text: "delete from \"spans\" where \"project_number\" = ? and \"trace_sequence\" in (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
  cells: (params) => [params.projectNumber, ...fillParameters(params.sequences)],
};

export const removeTexts: Compiled<typeof source.removeTexts> = {
  name: 'retention.removeTexts',
  text: "delete from \"trace_texts\" where \"project_number\" = ? and \"trace_sequence\" in (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
  cells: (params) => [params.projectNumber, ...fillParameters(params.sequences)],
};

export const removeTraces: Compiled<typeof source.removeTraces> = {
  name: 'retention.removeTraces',
  text: "delete from \"traces\" where \"project_number\" = ? and \"trace_id\" in (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
  cells: (params) => [params.projectNumber, ...packIds(params.traceIds)],
};

export const removeUsageNodes: Compiled<typeof source.removeUsageNodes> = {
  name: 'retention.removeUsageNodes',
  text: "delete from \"usage_nodes\" where \"project_number\" = ? and \"trace_sequence\" in (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
  cells: (params) => [params.projectNumber, ...fillParameters(params.sequences)],
};
