// Compiled from src/storage/analytics/queries.ts by `npm run gen`: change it there.

import type { Compiled } from '../../../src/storage/queries.ts';
import { packId } from '../../../src/storage/engine/sqlite/compact-ids.ts';
import type * as source from '../../../src/storage/analytics/queries.ts';

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

export const listLargeTraces: Compiled<typeof source.listLargeTraces> = {
  name: 'analytics.listLargeTraces',
  text: "select coalesce(\"started_at\", \"inserted_at\") as \"startMs\", \"traces\".\"sequence\" as \"sequence\", \"traces\".\"span_count\" as \"spanCount\", \"traces\".\"has_error\" as \"hasError\", \"traces\".\"prompt_tokens\" as \"promptTokens\", \"traces\".\"completion_tokens\" as \"completionTokens\", \"traces\".\"total_cost_nano_usd\" as \"totalCostNanoUsd\", \"traces\".\"first_token_ms\" as \"firstTokenMs\", \"traces\".\"duration_ms\" as \"durationMs\", octet_length(\"metadata\") as \"metadataBytes\", substr(\"aggregates\", 1, 100) as \"aggregatesJson\" from \"traces\" where \"project_number\" = ? and coalesce(\"started_at\", \"inserted_at\") <= ? and coalesce(\"started_at\", \"inserted_at\") >= ? and (coalesce(\"started_at\", \"inserted_at\"), \"sequence\") > (?, ?) and \"inserted_at\" >= ? and \"inserted_at\" <= ? and (? is null or instr(\"metadata\", ?) > 0) and (? is null or instr(\"metadata\", ?) > 0) and \"span_count\" > 200 order by coalesce(\"started_at\", \"inserted_at\"), \"sequence\" limit ?",
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
  text: "select \"sequence\" as \"sequence\", \"metadata\" as \"metadataJson\" from \"traces\" where \"project_number\" + 0 = ? and \"sequence\" in (select value from json_each(?))",
  cells: (params) => [params.projectNumber, JSON.stringify(params.sequences)],
  row: (row: any) => ({
    sequence: row[0],
    metadataJson: row[1],
  }),
};

export const listSmallTraces: Compiled<typeof source.listSmallTraces> = {
  name: 'analytics.listSmallTraces',
  text: "select coalesce(\"started_at\", \"inserted_at\") as \"startMs\", \"traces\".\"sequence\" as \"sequence\", \"traces\".\"span_count\" as \"spanCount\", \"traces\".\"has_error\" as \"hasError\", \"traces\".\"prompt_tokens\" as \"promptTokens\", \"traces\".\"completion_tokens\" as \"completionTokens\", \"traces\".\"total_cost_nano_usd\" as \"totalCostNanoUsd\", \"traces\".\"first_token_ms\" as \"firstTokenMs\", \"traces\".\"duration_ms\" as \"durationMs\", octet_length(\"metadata\") as \"metadataBytes\", substr(\"aggregates\", 1, 100) as \"aggregatesJson\" from \"traces\" where \"project_number\" = ? and coalesce(\"started_at\", \"inserted_at\") <= ? and coalesce(\"started_at\", \"inserted_at\") >= ? and (coalesce(\"started_at\", \"inserted_at\"), \"sequence\") > (?, ?) and \"inserted_at\" >= ? and \"inserted_at\" <= ? and (? is null or instr(\"metadata\", ?) > 0) and (? is null or instr(\"metadata\", ?) > 0) and \"span_count\" <= 200 order by coalesce(\"started_at\", \"inserted_at\"), \"sequence\" limit ?",
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
  text: "select \"trace_sequence\" as \"traceSequence\", iif(typeof(\"span_id\") = 'blob', lower(hex(\"span_id\")), \"span_id\") as \"spanId\", \"spans\".\"model\" as \"model\", \"spans\".\"started_at\" as \"startedAtMs\", \"spans\".\"prompt_tokens\" as \"promptTokens\", \"spans\".\"completion_tokens\" as \"completionTokens\", \"spans\".\"cost_nano_usd\" as \"costNanoUsd\", \"spans\".\"first_token_ms\" as \"firstTokenMs\", \"spans\".\"duration_ms\" as \"durationMs\", \"error\" is not null as \"hasError\" from \"spans\" where \"project_number\" = ? and \"trace_sequence\" in (select value from json_each(?))",
  cells: (params) => [params.projectNumber, JSON.stringify(params.sequences)],
  row: (row: any) => ({
    traceSequence: row[0],
    spanId: row[1],
    model: row[2],
    startedAtMs: row[3],
    promptTokens: row[4],
    completionTokens: row[5],
    costNanoUsd: row[6],
    firstTokenMs: row[7],
    durationMs: row[8],
    hasError: row[9] === 1,
  }),
};

export const listSpansBehind: Compiled<typeof source.listSpansBehind> = {
  name: 'analytics.listSpansBehind',
  text: "select \"trace_sequence\" as \"traceSequence\", iif(typeof(\"span_id\") = 'blob', lower(hex(\"span_id\")), \"span_id\") as \"spanId\", \"spans\".\"model\" as \"model\", \"spans\".\"started_at\" as \"startedAtMs\", \"spans\".\"prompt_tokens\" as \"promptTokens\", \"spans\".\"completion_tokens\" as \"completionTokens\", \"spans\".\"cost_nano_usd\" as \"costNanoUsd\", \"spans\".\"first_token_ms\" as \"firstTokenMs\", \"spans\".\"duration_ms\" as \"durationMs\", \"error\" is not null as \"hasError\" from \"spans\" where \"project_number\" = ? and \"trace_sequence\" = ? and \"span_id\" > ? order by \"span_id\" limit ?",
  cells: (params) => [params.projectNumber, params.sequence, packId(params.after), params.limit],
  row: (row: any) => ({
    traceSequence: row[0],
    spanId: row[1],
    model: row[2],
    startedAtMs: row[3],
    promptTokens: row[4],
    completionTokens: row[5],
    costNanoUsd: row[6],
    firstTokenMs: row[7],
    durationMs: row[8],
    hasError: row[9] === 1,
  }),
};

export const listTraces: Compiled<typeof source.listTraces> = {
  name: 'analytics.listTraces',
  text: "select coalesce(\"started_at\", \"inserted_at\") as \"startMs\", \"traces\".\"sequence\" as \"sequence\", \"traces\".\"span_count\" as \"spanCount\", \"traces\".\"has_error\" as \"hasError\", \"traces\".\"prompt_tokens\" as \"promptTokens\", \"traces\".\"completion_tokens\" as \"completionTokens\", \"traces\".\"total_cost_nano_usd\" as \"totalCostNanoUsd\", \"traces\".\"first_token_ms\" as \"firstTokenMs\", \"traces\".\"duration_ms\" as \"durationMs\", octet_length(\"metadata\") as \"metadataBytes\", substr(\"aggregates\", 1, 100) as \"aggregatesJson\" from \"traces\" where \"project_number\" = ? and coalesce(\"started_at\", \"inserted_at\") <= ? and coalesce(\"started_at\", \"inserted_at\") >= ? and (coalesce(\"started_at\", \"inserted_at\"), \"sequence\") > (?, ?) and \"inserted_at\" >= ? and \"inserted_at\" <= ? and (? is null or instr(\"metadata\", ?) > 0) and (? is null or instr(\"metadata\", ?) > 0) order by coalesce(\"started_at\", \"inserted_at\"), \"sequence\" limit ?",
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
