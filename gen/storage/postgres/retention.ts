// Compiled from src/storage/retention/queries.ts by `npm run gen`: change it there.

import type { Compiled } from '../../../src/storage/queries.ts';
import { spanTypes } from '../../../src/storage/rows/codes.ts';
import type * as source from '../../../src/storage/retention/queries.ts';

export const addHour: Compiled<typeof source.addHour> = {
  name: 'retention.addHour',
  text: "insert into \"analytics_hours\" (\"project_number\", \"grouping\", \"hour\", \"received_hour\", \"model\", \"traces\", \"spans\", \"errors\", \"prompt_tokens\", \"prompt_known\", \"completion_tokens\", \"completion_known\", \"cost_usd\", \"cost_rest_nano_usd\", \"cost_known\", \"writer\") values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, pg_backend_pid()) on conflict (\"project_number\", \"grouping\", \"hour\", \"received_hour\", \"model\", \"writer\") do update set \"traces\" = \"analytics_hours\".\"traces\" + \"excluded\".\"traces\", \"spans\" = \"analytics_hours\".\"spans\" + \"excluded\".\"spans\", \"errors\" = \"analytics_hours\".\"errors\" + \"excluded\".\"errors\", \"prompt_tokens\" = \"analytics_hours\".\"prompt_tokens\" + \"excluded\".\"prompt_tokens\", \"prompt_known\" = \"analytics_hours\".\"prompt_known\" + \"excluded\".\"prompt_known\", \"completion_tokens\" = \"analytics_hours\".\"completion_tokens\" + \"excluded\".\"completion_tokens\", \"completion_known\" = \"analytics_hours\".\"completion_known\" + \"excluded\".\"completion_known\", \"cost_usd\" = \"analytics_hours\".\"cost_usd\" + \"excluded\".\"cost_usd\", \"cost_rest_nano_usd\" = \"analytics_hours\".\"cost_rest_nano_usd\" + \"excluded\".\"cost_rest_nano_usd\", \"cost_known\" = \"analytics_hours\".\"cost_known\" + \"excluded\".\"cost_known\"",
  cells: (params) => [params.projectNumber, params.grouping, params.hour, params.receivedHour, params.model, params.traces, params.spans, params.errors, params.promptTokens, params.promptKnown, params.completionTokens, params.completionKnown, params.costUsd, params.costRestNanoUsd, params.costKnown],
};

export const findHiddenTrace: Compiled<typeof source.findHiddenTrace> = {
  name: 'retention.findHiddenTrace',
  text: "select \"project_number\" as \"projectNumber\", \"sequence\" as \"sequence\" from \"traces\" where \"project_number\" < $1 limit $2",
  cells: () => [0, 1],
  row: (row) => row,
};

export const findLastOrganization: Compiled<typeof source.findLastOrganization> = {
  name: 'retention.findLastOrganization',
  text: "select \"number\" as \"number\" from \"organizations\" where \"number\" > $1 order by \"number\" limit $2 offset $3",
  cells: (params) => [params.after, 1, params.skipped],
  row: (row) => row,
};

export const hideTrace: Compiled<typeof source.hideTrace> = {
  name: 'retention.hideTrace',
  text: "update \"traces\" set \"project_number\" = $1, \"trace_id\" = $2 where (\"project_number\" = $3 and \"trace_id\" = $4 and \"sequence\" = $5)",
  cells: (params) => [params.hiddenProjectNumber, params.hiddenTraceId, params.projectNumber, params.traceId, params.sequence],
};

export const listBacklog: Compiled<typeof source.listBacklog> = {
  name: 'retention.listBacklog',
  text: "select \"number\" as \"projectNumber\", (select cast(coalesce(sum(traces), 0) as bigint) as \"traces\" from \"analytics_hours\" where \"analytics_hours\".\"project_number\" = \"projects\".\"number\" and \"grouping\" = 0 and \"hour\" >= $1 and \"hour\" < $2 and \"received_hour\" < $3) as \"traces\" from \"projects\" where \"number\" > $4 and \"trace_retention_days\" is not distinct from $5 order by \"number\" limit $6",
  cells: (params) => [params.fromHour, params.beforeHour, params.beforeHour, params.after, params.storedDays, params.limit],
  row: (row) => row,
};

export const listCounted: Compiled<typeof source.listCounted> = {
  name: 'retention.listCounted',
  text: "select \"traces\".\"project_number\" as \"projectNumber\", \"traces\".\"sequence\" as \"sequence\", \"traces\".\"started_at\" as \"startedAtMs\", \"traces\".\"inserted_at\" as \"insertedAtMs\", \"traces\".\"span_count\" as \"spanCount\", \"traces\".\"has_error\" as \"hasError\", \"traces\".\"prompt_tokens\" as \"promptTokens\", \"traces\".\"completion_tokens\" as \"completionTokens\", \"traces\".\"total_cost_nano_usd\" as \"totalCostNanoUsd\" from \"traces\" where \"project_number\" + 0 = $1 and \"sequence\" = any($2)",
  cells: (params) => [params.projectNumber, params.sequences],
  row: (row) => row,
};

export const listCountedSpans: Compiled<typeof source.listCountedSpans> = {
  name: 'retention.listCountedSpans',
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

export const listOldBlocks: Compiled<typeof source.listOldBlocks> = {
  name: 'retention.listOldBlocks',
  text: "select \"organization_number\" as \"organizationNumber\", \"first_seq\" as \"firstSeq\" from \"spend_blocks\" where \"created_to\" < $1 order by \"created_to\" limit $2",
  cells: (params) => [params.beforeMs, params.limit],
  row: (row) => row,
};

export const listTraceTerms: Compiled<typeof source.listTraceTerms> = {
  name: 'retention.listTraceTerms',
  text: "select distinct \"trace_retention_days\" as \"storedDays\" from \"projects\"",
  cells: () => [],
  row: (row) => row,
};

export const listTracesAfter: Compiled<typeof source.listTracesAfter> = {
  name: 'retention.listTracesAfter',
  text: "select \"sequence\" as \"sequence\", \"project_number\" as \"projectNumber\", \"inserted_at\" as \"insertedAtMs\" from \"traces\" where \"sequence\" > $1 and \"sequence\" < $2 order by \"sequence\" limit $3",
  cells: (params) => [params.after, params.before, params.limit],
  row: (row) => row,
};

export const lockJobs: Compiled<typeof source.lockJobs> = {
  name: 'retention.lockJobs',
  text: "select \"source_id\" as \"sourceId\" from \"evaluation_jobs\" where \"project_number\" = $1 and \"trace_sequence\" = any($2) order by \"trace_sequence\", \"source_id\" for update",
  cells: (params) => [params.projectNumber, params.sequences],
  row: (row) => row,
};

export const lockProjectTerms: Compiled<typeof source.lockProjectTerms> = {
  name: 'retention.lockProjectTerms',
  text: "select \"number\" as \"number\", \"trace_retention_days\" as \"storedDays\" from \"projects\" where \"number\" = any($1) for update",
  cells: (params) => [params.numbers],
  row: (row) => row,
};

export const lockTraces: Compiled<typeof source.lockTraces> = {
  name: 'retention.lockTraces',
  text: "select \"project_number\" as \"projectNumber\", \"trace_id\" as \"traceId\", \"sequence\" as \"sequence\", case when \"span_count\" > $1 then \"span_count\" else (select coalesce(sum(rows), 0) as \"rows\" from (select 1 + (coalesce(octet_length(\"params\"), 0) + coalesce(octet_length(\"error\"), 0) + coalesce(octet_length(\"contexts\"), 0) + coalesce(octet_length(\"telemetry\"), 0) + coalesce(octet_length(\"input\"), 0) + coalesce(octet_length(\"output\"), 0)) / 16384 as \"rows\" from \"spans\" where \"spans\".\"project_number\" = \"traces\".\"project_number\" and \"spans\".\"trace_sequence\" = \"traces\".\"sequence\" limit $2) as \"some\") end + (select coalesce(sum(rows), 0) as \"rows\" from (select 1 + (coalesce(octet_length(\"details\"), 0) + coalesce(octet_length(\"error\"), 0) + coalesce(octet_length(\"inputs\"), 0)) / 16384 as \"rows\" from \"evaluations\" where \"evaluations\".\"project_number\" = \"traces\".\"project_number\" and \"evaluations\".\"trace_sequence\" = \"traces\".\"sequence\" limit $3) as \"some\") as \"parts\" from \"traces\" where \"sequence\" = any($4) order by \"sequence\" for update skip locked",
  cells: (params) => [params.partsMax, params.partsMax, params.partsMax, params.sequences],
  row: (row) => row,
};

export const markStored: Compiled<typeof source.markStored> = {
  name: 'retention.markStored',
  text: "insert into \"search_pending\" (\"project_number\", \"trace_sequence\", \"mark\") select \"project_number\", \"sequence\", 1 as \"mark\" from \"traces\" where \"project_number\" + 0 = $1 and \"sequence\" = any($2) order by \"sequence\" on conflict (\"project_number\", \"trace_sequence\") do update set \"mark\" = \"search_pending\".\"mark\" + 1",
  cells: (params) => [params.projectNumber, params.sequences],
};

export const removeBlock: Compiled<typeof source.removeBlock> = {
  name: 'retention.removeBlock',
  text: "delete from \"spend_blocks\" where (\"organization_number\" = $1 and \"first_seq\" = $2)",
  cells: (params) => [params.organizationNumber, params.firstSeq],
};

export const removeEvaluations: Compiled<typeof source.removeEvaluations> = {
  name: 'retention.removeEvaluations',
  text: "delete from \"evaluations\" where \"project_number\" = $1 and \"trace_sequence\" = any($2)",
  cells: (params) => [params.projectNumber, params.sequences],
};

export const removeJobs: Compiled<typeof source.removeJobs> = {
  name: 'retention.removeJobs',
  text: "delete from \"evaluation_jobs\" where \"project_number\" = $1 and \"trace_sequence\" = any($2)",
  cells: (params) => [params.projectNumber, params.sequences],
};

export const removeOldAudit: Compiled<typeof source.removeOldAudit> = {
  name: 'retention.removeOldAudit',
  text: "delete from \"audit_log\" where (\"organization_id\", \"created_at\", \"id\") in (select \"old\".\"organization_id\", \"old\".\"created_at\", \"old\".\"id\" from (select \"id\" as \"organizationId\" from \"organizations\" where \"number\" > $1 order by \"number\" limit $2) as \"part\" cross join \"audit_log\" as \"old\" where \"old\".\"organization_id\" = \"part\".\"organizationId\" and \"old\".\"created_at\" < $3 limit $4)",
  cells: (params) => [params.after, params.limit, params.beforeMs, params.limit],
};

export const removeOldGovernance: Compiled<typeof source.removeOldGovernance> = {
  name: 'retention.removeOldGovernance',
  text: "delete from \"governance_events\" where (\"organization_number\", \"id\") in (select \"organization_number\", \"id\" from \"governance_events\" where \"created_at\" < $1 order by \"created_at\", \"organization_number\", \"id\" limit $2)",
  cells: (params) => [params.beforeMs, params.limit],
};

export const removeParts: Compiled<typeof source.removeParts> = {
  name: 'retention.removeParts',
  text: "delete from \"spend_parts\" where (\"organization_number\" = $1 and \"first_seq\" = $2)",
  cells: (params) => [params.organizationNumber, params.firstSeq],
};

export const removeSomeEvaluations: Compiled<typeof source.removeSomeEvaluations> = {
  name: 'retention.removeSomeEvaluations',
  text: "delete from \"evaluations\" where (\"project_number\" = $1 and \"trace_sequence\" = $2) and \"evaluation_id\" <= (select max(\"some\".\"key\") as \"last\" from (select \"evaluation_id\" as \"key\" from \"evaluations\" where (\"project_number\" = $3 and \"trace_sequence\" = $4) order by \"evaluation_id\" limit $5) as \"some\")",
  cells: (params) => [params.projectNumber, params.traceSequence, params.projectNumber, params.traceSequence, params.limit],
};

export const removeSomeSpans: Compiled<typeof source.removeSomeSpans> = {
  name: 'retention.removeSomeSpans',
  text: "delete from \"spans\" where (\"project_number\" = $1 and \"trace_sequence\" = $2) and \"span_id\" <= (select max(\"some\".\"key\") as \"last\" from (select \"span_id\" as \"key\" from \"spans\" where (\"project_number\" = $3 and \"trace_sequence\" = $4) order by \"span_id\" limit $5) as \"some\")",
  cells: (params) => [params.projectNumber, params.traceSequence, params.projectNumber, params.traceSequence, params.limit],
};

export const removeSomeUsageNodes: Compiled<typeof source.removeSomeUsageNodes> = {
  name: 'retention.removeSomeUsageNodes',
  text: "delete from \"usage_nodes\" where (\"project_number\" = $1 and \"trace_sequence\" = $2) and \"span_id\" <= (select max(\"some\".\"key\") as \"last\" from (select \"span_id\" as \"key\" from \"usage_nodes\" where (\"project_number\" = $3 and \"trace_sequence\" = $4) order by \"span_id\" limit $5) as \"some\")",
  cells: (params) => [params.projectNumber, params.traceSequence, params.projectNumber, params.traceSequence, params.limit],
};

export const removeSpans: Compiled<typeof source.removeSpans> = {
  name: 'retention.removeSpans',
  text: "delete from \"spans\" where \"project_number\" = $1 and \"trace_sequence\" = any($2)",
  cells: (params) => [params.projectNumber, params.sequences],
};

export const removeTexts: Compiled<typeof source.removeTexts> = {
  name: 'retention.removeTexts',
  text: "delete from \"trace_texts\" where \"project_number\" = $1 and \"trace_sequence\" = any($2)",
  cells: (params) => [params.projectNumber, params.sequences],
};

export const removeTraces: Compiled<typeof source.removeTraces> = {
  name: 'retention.removeTraces',
  text: "delete from \"traces\" where \"project_number\" = $1 and \"trace_id\" = any($2)",
  cells: (params) => [params.projectNumber, params.traceIds],
};

export const removeUsageNodes: Compiled<typeof source.removeUsageNodes> = {
  name: 'retention.removeUsageNodes',
  text: "delete from \"usage_nodes\" where \"project_number\" = $1 and \"trace_sequence\" = any($2)",
  cells: (params) => [params.projectNumber, params.sequences],
};
