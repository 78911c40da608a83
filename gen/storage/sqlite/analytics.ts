// Compiled from src/storage/analytics/queries.ts by `npm run gen`: change it there.

import type { Compiled } from '../../../src/storage/queries.ts';
import { packId } from '../../../src/storage/engine/sqlite/compact-ids.ts';
import { spanTypes } from '../../../src/storage/rows/codes.ts';
import { unpackCostSource } from '../../../src/storage/rows/codes.ts';
import type * as source from '../../../src/storage/analytics/queries.ts';

export const addHour: Compiled<typeof source.addHour> = {
  name: 'analytics.addHour',
  text: "insert into \"analytics_hours\" (\"project_number\", \"grouping\", \"hour\", \"received_hour\", \"model\", \"traces\", \"spans\", \"errors\", \"prompt_tokens\", \"prompt_known\", \"completion_tokens\", \"completion_known\", \"cost_usd\", \"cost_rest_nano_usd\", \"cost_known\", \"writer\") values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0) on conflict (\"project_number\", \"grouping\", \"hour\", \"received_hour\", \"model\", \"writer\") do update set \"traces\" = \"analytics_hours\".\"traces\" + \"excluded\".\"traces\", \"spans\" = \"analytics_hours\".\"spans\" + \"excluded\".\"spans\", \"errors\" = \"analytics_hours\".\"errors\" + \"excluded\".\"errors\", \"prompt_tokens\" = \"analytics_hours\".\"prompt_tokens\" + \"excluded\".\"prompt_tokens\", \"prompt_known\" = \"analytics_hours\".\"prompt_known\" + \"excluded\".\"prompt_known\", \"completion_tokens\" = \"analytics_hours\".\"completion_tokens\" + \"excluded\".\"completion_tokens\", \"completion_known\" = \"analytics_hours\".\"completion_known\" + \"excluded\".\"completion_known\", \"cost_usd\" = \"analytics_hours\".\"cost_usd\" + \"excluded\".\"cost_usd\", \"cost_rest_nano_usd\" = \"analytics_hours\".\"cost_rest_nano_usd\" + \"excluded\".\"cost_rest_nano_usd\", \"cost_known\" = \"analytics_hours\".\"cost_known\" + \"excluded\".\"cost_known\"",
  cells: (params) => [params.projectNumber, params.grouping, params.hour, params.receivedHour, params.model, params.traces, params.spans, params.errors, params.promptTokens, params.promptKnown, params.completionTokens, params.completionKnown, params.costUsd, params.costRestNanoUsd, params.costKnown],
};

export const addHours: Compiled<typeof source.addHours> = {
  name: 'analytics.addHours',
  text: "insert into \"analytics_hours\" (\"project_number\", \"grouping\", \"hour\", \"received_hour\", \"model\", \"traces\", \"spans\", \"errors\", \"prompt_tokens\", \"prompt_known\", \"completion_tokens\", \"completion_known\", \"cost_usd\", \"cost_rest_nano_usd\", \"cost_known\", \"writer\") values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0) on conflict (\"project_number\", \"grouping\", \"hour\", \"received_hour\", \"model\", \"writer\") do update set \"traces\" = \"analytics_hours\".\"traces\" + \"excluded\".\"traces\", \"spans\" = \"analytics_hours\".\"spans\" + \"excluded\".\"spans\", \"errors\" = \"analytics_hours\".\"errors\" + \"excluded\".\"errors\", \"prompt_tokens\" = \"analytics_hours\".\"prompt_tokens\" + \"excluded\".\"prompt_tokens\", \"prompt_known\" = \"analytics_hours\".\"prompt_known\" + \"excluded\".\"prompt_known\", \"completion_tokens\" = \"analytics_hours\".\"completion_tokens\" + \"excluded\".\"completion_tokens\", \"completion_known\" = \"analytics_hours\".\"completion_known\" + \"excluded\".\"completion_known\", \"cost_usd\" = \"analytics_hours\".\"cost_usd\" + \"excluded\".\"cost_usd\", \"cost_rest_nano_usd\" = \"analytics_hours\".\"cost_rest_nano_usd\" + \"excluded\".\"cost_rest_nano_usd\", \"cost_known\" = \"analytics_hours\".\"cost_known\" + \"excluded\".\"cost_known\"",
  cells: (rows) => [...rows.map((params) => [params.projectNumber, params.grouping, params.hour, params.receivedHour, params.model, params.traces, params.spans, params.errors, params.promptTokens, params.promptKnown, params.completionTokens, params.completionKnown, params.costUsd, params.costRestNanoUsd, params.costKnown])],
};

export const findTraceBehind: Compiled<typeof source.findTraceBehind> = {
  name: 'analytics.findTraceBehind',
  text: "select coalesce(\"traces\".\"started_at\", \"traces\".\"inserted_at\") as \"startMs\", \"traces\".\"sequence\" as \"sequence\" from \"traces\" where \"traces\".\"project_number\" = ? and coalesce(\"traces\".\"started_at\", \"traces\".\"inserted_at\") <= ? and coalesce(\"traces\".\"started_at\", \"traces\".\"inserted_at\") >= ? and (coalesce(\"traces\".\"started_at\", \"traces\".\"inserted_at\"), \"traces\".\"sequence\") > (?, ?) order by coalesce(\"traces\".\"started_at\", \"traces\".\"inserted_at\"), \"traces\".\"sequence\" limit ? offset ?",
  cells: (params) => [params.projectNumber, params.toMs, params.afterMs, params.afterMs, params.afterSequence, 1, params.count],
  row: (row: any) => ({
    startMs: row[0],
    sequence: row[1],
  }),
};

export const listCounted: Compiled<typeof source.listCounted> = {
  name: 'analytics.listCounted',
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

export const listDurations: Compiled<typeof source.listDurations> = {
  name: 'analytics.listDurations',
  text: "select \"sequence\" as \"sequence\", coalesce(\"started_at\", \"inserted_at\") as \"startMs\", \"traces\".\"inserted_at\" as \"insertedAtMs\", \"traces\".\"span_count\" as \"spanCount\", \"traces\".\"duration_ms\" as \"durationMs\", \"traces\".\"first_token_ms\" as \"firstTokenMs\" from \"traces\" where \"project_number\" + 0 = ? and \"sequence\" in (select value from json_each(?))",
  cells: (params) => [params.projectNumber, JSON.stringify(params.sequences)],
  row: (row: any) => ({
    sequence: row[0],
    startMs: row[1],
    insertedAtMs: row[2],
    spanCount: row[3],
    durationMs: row[4],
    firstTokenMs: row[5],
  }),
};

export const listEvaluations: Compiled<typeof source.listEvaluations> = {
  name: 'analytics.listEvaluations',
  text: "select coalesce(\"traces\".\"started_at\", \"traces\".\"inserted_at\") as \"startMs\", \"traces\".\"sequence\" as \"sequence\", \"evaluations\".\"evaluation_id\" as \"evaluationId\", \"evaluations\".\"evaluator_id\" as \"evaluatorId\", \"evaluations\".\"label\" as \"label\", \"evaluations\".\"monitor_id\" as \"monitorId\", \"evaluations\".\"status\" as \"status\", \"evaluations\".\"passed\" as \"passed\", \"evaluations\".\"score\" as \"score\" from \"traces\" cross join \"evaluations\" where \"evaluations\".\"project_number\" = \"traces\".\"project_number\" and \"evaluations\".\"trace_sequence\" = \"traces\".\"sequence\" and \"traces\".\"project_number\" = ? and coalesce(\"traces\".\"started_at\", \"traces\".\"inserted_at\") >= ? and coalesce(\"traces\".\"started_at\", \"traces\".\"inserted_at\") <= ? and (coalesce(\"traces\".\"started_at\", \"traces\".\"inserted_at\"), \"traces\".\"sequence\", \"evaluations\".\"evaluation_id\") > (?, ?, ?) and (coalesce(\"traces\".\"started_at\", \"traces\".\"inserted_at\"), \"traces\".\"sequence\") <= (?, ?) and \"traces\".\"inserted_at\" >= ? order by coalesce(\"traces\".\"started_at\", \"traces\".\"inserted_at\"), \"traces\".\"sequence\", \"evaluations\".\"evaluation_id\" limit ?",
  cells: (params) => [params.projectNumber, params.afterMs, params.lastMs, params.afterMs, params.afterSequence, params.afterId, params.lastMs, params.lastSequence, params.receivedFromMs, params.limit],
  row: (row: any) => ({
    startMs: row[0],
    sequence: row[1],
    evaluationId: row[2],
    evaluatorId: row[3],
    label: row[4],
    monitorId: row[5],
    status: row[6],
    passed: row[7] === null ? null : row[7] === 1,
    score: row[8],
  }),
};

export const listHours: Compiled<typeof source.listHours> = {
  name: 'analytics.listHours',
  text: "select \"analytics_hours\".\"hour\" as \"hour\", \"analytics_hours\".\"received_hour\" as \"receivedHour\", \"analytics_hours\".\"model\" as \"model\", \"analytics_hours\".\"writer\" as \"writer\", \"analytics_hours\".\"traces\" as \"traces\", \"analytics_hours\".\"spans\" as \"spans\", \"analytics_hours\".\"errors\" as \"errors\", \"analytics_hours\".\"prompt_tokens\" as \"promptTokens\", \"analytics_hours\".\"prompt_known\" as \"promptKnown\", \"analytics_hours\".\"completion_tokens\" as \"completionTokens\", \"analytics_hours\".\"completion_known\" as \"completionKnown\", \"analytics_hours\".\"cost_usd\" as \"costUsd\", \"analytics_hours\".\"cost_rest_nano_usd\" as \"costRestNanoUsd\", \"analytics_hours\".\"cost_known\" as \"costKnown\" from \"analytics_hours\" where (\"project_number\" = ? and \"grouping\" = ?) and \"hour\" >= ? and \"hour\" <= ? and \"received_hour\" >= ? and (\"hour\", \"received_hour\", \"model\", \"writer\") > (?, ?, ?, ?) order by \"hour\", \"received_hour\", \"model\", \"writer\" limit ?",
  cells: (params) => [params.projectNumber, params.grouping, params.afterHour, params.lastHour, params.firstReceivedHour, params.afterHour, params.afterReceivedHour, params.afterModel, params.afterWriter, params.limit],
  row: (row: any) => ({
    hour: row[0],
    receivedHour: row[1],
    model: row[2],
    writer: row[3],
    traces: row[4],
    spans: row[5],
    errors: row[6],
    promptTokens: row[7],
    promptKnown: row[8],
    completionTokens: row[9],
    completionKnown: row[10],
    costUsd: row[11],
    costRestNanoUsd: row[12],
    costKnown: row[13],
  }),
};

export const listLargeTraces: Compiled<typeof source.listLargeTraces> = {
  name: 'analytics.listLargeTraces',
  text: "select coalesce(\"started_at\", \"inserted_at\") as \"startMs\", \"traces\".\"sequence\" as \"sequence\", \"traces\".\"span_count\" as \"spanCount\", \"traces\".\"has_error\" as \"hasError\", \"traces\".\"prompt_tokens\" as \"promptTokens\", \"traces\".\"completion_tokens\" as \"completionTokens\", \"traces\".\"total_cost_nano_usd\" as \"totalCostNanoUsd\", \"traces\".\"first_token_ms\" as \"firstTokenMs\", \"traces\".\"duration_ms\" as \"durationMs\", coalesce(\"metadata_bytes\", octet_length(\"metadata\")) as \"metadataBytes\", substr(\"aggregates\", 1, 100) as \"aggregatesJson\" from \"traces\" where \"project_number\" = ? and coalesce(\"started_at\", \"inserted_at\") <= ? and coalesce(\"started_at\", \"inserted_at\") >= ? and (coalesce(\"started_at\", \"inserted_at\"), \"sequence\") > (?, ?) and \"inserted_at\" >= ? and \"inserted_at\" <= ? and (? is null or instr(case when \"metadata_bytes\" is null then \"metadata\" else (select \"trace_texts\".\"text\" as \"text\" from \"trace_texts\" where \"trace_texts\".\"project_number\" = \"traces\".\"project_number\" and \"trace_texts\".\"trace_sequence\" = \"traces\".\"sequence\" and \"trace_texts\".\"name\" = 'metadata') end, ?) > 0) and (? is null or instr(case when \"metadata_bytes\" is null then \"metadata\" else (select \"trace_texts\".\"text\" as \"text\" from \"trace_texts\" where \"trace_texts\".\"project_number\" = \"traces\".\"project_number\" and \"trace_texts\".\"trace_sequence\" = \"traces\".\"sequence\" and \"trace_texts\".\"name\" = 'metadata') end, ?) > 0) and \"span_count\" > 200 order by coalesce(\"started_at\", \"inserted_at\"), \"sequence\" limit ?",
  cells: (params) => [params.projectNumber, params.toMs, params.afterMs, params.afterMs, params.afterSequence, params.receivedFromMs, params.receivedToMs, params.firstNeedle, params.firstNeedle, params.secondNeedle, params.secondNeedle, params.limit],
  row: (row: any) => ({
    startMs: row[0],
    sequence: row[1],
    spanCount: row[2],
    hasError: row[3] === 1,
    promptTokens: row[4],
    completionTokens: row[5],
    totalCostNanoUsd: row[6],
    firstTokenMs: row[7],
    durationMs: row[8],
    metadataBytes: row[9],
    aggregatesJson: row[10],
  }),
};

export const listMetadata: Compiled<typeof source.listMetadata> = {
  name: 'analytics.listMetadata',
  text: "select \"sequence\" as \"sequence\", case when \"metadata_bytes\" is null then \"metadata\" else (select \"trace_texts\".\"text\" as \"text\" from \"trace_texts\" where \"trace_texts\".\"project_number\" = \"traces\".\"project_number\" and \"trace_texts\".\"trace_sequence\" = \"traces\".\"sequence\" and \"trace_texts\".\"name\" = 'metadata') end as \"metadataJson\" from \"traces\" where \"project_number\" + 0 = ? and \"sequence\" in (select value from json_each(?))",
  cells: (params) => [params.projectNumber, JSON.stringify(params.sequences)],
  row: (row: any) => ({
    sequence: row[0],
    metadataJson: row[1],
  }),
};

export const listSmallTraces: Compiled<typeof source.listSmallTraces> = {
  name: 'analytics.listSmallTraces',
  text: "select coalesce(\"started_at\", \"inserted_at\") as \"startMs\", \"traces\".\"sequence\" as \"sequence\", \"traces\".\"span_count\" as \"spanCount\", \"traces\".\"has_error\" as \"hasError\", \"traces\".\"prompt_tokens\" as \"promptTokens\", \"traces\".\"completion_tokens\" as \"completionTokens\", \"traces\".\"total_cost_nano_usd\" as \"totalCostNanoUsd\", \"traces\".\"first_token_ms\" as \"firstTokenMs\", \"traces\".\"duration_ms\" as \"durationMs\", coalesce(\"metadata_bytes\", octet_length(\"metadata\")) as \"metadataBytes\", substr(\"aggregates\", 1, 100) as \"aggregatesJson\" from \"traces\" where \"project_number\" = ? and coalesce(\"started_at\", \"inserted_at\") <= ? and coalesce(\"started_at\", \"inserted_at\") >= ? and (coalesce(\"started_at\", \"inserted_at\"), \"sequence\") > (?, ?) and \"inserted_at\" >= ? and \"inserted_at\" <= ? and (? is null or instr(case when \"metadata_bytes\" is null then \"metadata\" else (select \"trace_texts\".\"text\" as \"text\" from \"trace_texts\" where \"trace_texts\".\"project_number\" = \"traces\".\"project_number\" and \"trace_texts\".\"trace_sequence\" = \"traces\".\"sequence\" and \"trace_texts\".\"name\" = 'metadata') end, ?) > 0) and (? is null or instr(case when \"metadata_bytes\" is null then \"metadata\" else (select \"trace_texts\".\"text\" as \"text\" from \"trace_texts\" where \"trace_texts\".\"project_number\" = \"traces\".\"project_number\" and \"trace_texts\".\"trace_sequence\" = \"traces\".\"sequence\" and \"trace_texts\".\"name\" = 'metadata') end, ?) > 0) and \"span_count\" <= 200 order by coalesce(\"started_at\", \"inserted_at\"), \"sequence\" limit ?",
  cells: (params) => [params.projectNumber, params.toMs, params.afterMs, params.afterMs, params.afterSequence, params.receivedFromMs, params.receivedToMs, params.firstNeedle, params.firstNeedle, params.secondNeedle, params.secondNeedle, params.limit],
  row: (row: any) => ({
    startMs: row[0],
    sequence: row[1],
    spanCount: row[2],
    hasError: row[3] === 1,
    promptTokens: row[4],
    completionTokens: row[5],
    totalCostNanoUsd: row[6],
    firstTokenMs: row[7],
    durationMs: row[8],
    metadataBytes: row[9],
    aggregatesJson: row[10],
  }),
};

export const listSpans: Compiled<typeof source.listSpans> = {
  name: 'analytics.listSpans',
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

export const listSpansBehind: Compiled<typeof source.listSpansBehind> = {
  name: 'analytics.listSpansBehind',
  text: "select \"trace_sequence\" as \"traceSequence\", iif(typeof(\"span_id\") = 'blob', lower(hex(\"span_id\")), \"span_id\") as \"spanId\", iif(typeof(\"parent_id\") = 'blob', lower(hex(\"parent_id\")), \"parent_id\") as \"parentId\", \"spans\".\"type\" as \"type\", \"spans\".\"model\" as \"model\", \"spans\".\"started_at\" as \"startedAtMs\", \"spans\".\"prompt_tokens\" as \"promptTokens\", \"spans\".\"completion_tokens\" as \"completionTokens\", \"spans\".\"reasoning_tokens\" as \"reasoningTokens\", \"spans\".\"cache_read_input_tokens\" as \"cacheReadInputTokens\", \"spans\".\"cache_creation_input_tokens\" as \"cacheCreationInputTokens\", \"spans\".\"cost_nano_usd\" as \"costNanoUsd\", \"spans\".\"first_token_ms\" as \"firstTokenMs\", \"spans\".\"cost_source\" as \"costSource\", \"spans\".\"call_row\" as \"callRow\", \"spans\".\"total_input\" as \"totalInput\", \"spans\".\"total_output\" as \"totalOutput\", \"spans\".\"share_rates\" as \"shareRates\", \"spans\".\"duration_ms\" as \"durationMs\", \"error\" is not null as \"hasError\" from \"spans\" where \"project_number\" = ? and \"trace_sequence\" = ? and \"span_id\" > ? order by \"span_id\" limit ?",
  cells: (params) => [params.projectNumber, params.sequence, packId(params.after), params.limit],
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

export const listTraces: Compiled<typeof source.listTraces> = {
  name: 'analytics.listTraces',
  text: "select coalesce(\"started_at\", \"inserted_at\") as \"startMs\", \"traces\".\"sequence\" as \"sequence\", \"traces\".\"span_count\" as \"spanCount\", \"traces\".\"has_error\" as \"hasError\", \"traces\".\"prompt_tokens\" as \"promptTokens\", \"traces\".\"completion_tokens\" as \"completionTokens\", \"traces\".\"total_cost_nano_usd\" as \"totalCostNanoUsd\", \"traces\".\"first_token_ms\" as \"firstTokenMs\", \"traces\".\"duration_ms\" as \"durationMs\", coalesce(\"metadata_bytes\", octet_length(\"metadata\")) as \"metadataBytes\", substr(\"aggregates\", 1, 100) as \"aggregatesJson\" from \"traces\" where \"project_number\" = ? and coalesce(\"started_at\", \"inserted_at\") <= ? and coalesce(\"started_at\", \"inserted_at\") >= ? and (coalesce(\"started_at\", \"inserted_at\"), \"sequence\") > (?, ?) and \"inserted_at\" >= ? and \"inserted_at\" <= ? and (? is null or instr(case when \"metadata_bytes\" is null then \"metadata\" else (select \"trace_texts\".\"text\" as \"text\" from \"trace_texts\" where \"trace_texts\".\"project_number\" = \"traces\".\"project_number\" and \"trace_texts\".\"trace_sequence\" = \"traces\".\"sequence\" and \"trace_texts\".\"name\" = 'metadata') end, ?) > 0) and (? is null or instr(case when \"metadata_bytes\" is null then \"metadata\" else (select \"trace_texts\".\"text\" as \"text\" from \"trace_texts\" where \"trace_texts\".\"project_number\" = \"traces\".\"project_number\" and \"trace_texts\".\"trace_sequence\" = \"traces\".\"sequence\" and \"trace_texts\".\"name\" = 'metadata') end, ?) > 0) order by coalesce(\"started_at\", \"inserted_at\"), \"sequence\" limit ?",
  cells: (params) => [params.projectNumber, params.toMs, params.afterMs, params.afterMs, params.afterSequence, params.receivedFromMs, params.receivedToMs, params.firstNeedle, params.firstNeedle, params.secondNeedle, params.secondNeedle, params.limit],
  row: (row: any) => ({
    startMs: row[0],
    sequence: row[1],
    spanCount: row[2],
    hasError: row[3] === 1,
    promptTokens: row[4],
    completionTokens: row[5],
    totalCostNanoUsd: row[6],
    firstTokenMs: row[7],
    durationMs: row[8],
    metadataBytes: row[9],
    aggregatesJson: row[10],
  }),
};
