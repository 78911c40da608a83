// Compiled from src/storage/analytics/queries-hours.ts by `npm run gen`: change it there.

import type { Compiled } from '../../../src/storage/queries.ts';
import type * as source from '../../../src/storage/analytics/queries-hours.ts';

export const addHour: Compiled<typeof source.addHour> = {
  name: 'analytics-hours.addHour',
  text: "insert into \"analytics_hours\" (\"project_number\", \"grouping\", \"hour\", \"received_hour\", \"model\", \"writer\", \"traces\", \"spans\", \"errors\", \"prompt_tokens\", \"prompt_known\", \"completion_tokens\", \"completion_known\", \"cost_usd\", \"cost_rest_nano_usd\", \"cost_known\") values (?, ?, ?, ?, ?, 0, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) on conflict (\"project_number\", \"grouping\", \"hour\", \"received_hour\", \"model\", \"writer\") do update set \"traces\" = \"analytics_hours\".\"traces\" + \"excluded\".\"traces\", \"spans\" = \"analytics_hours\".\"spans\" + \"excluded\".\"spans\", \"errors\" = \"analytics_hours\".\"errors\" + \"excluded\".\"errors\", \"prompt_tokens\" = \"analytics_hours\".\"prompt_tokens\" + \"excluded\".\"prompt_tokens\", \"prompt_known\" = \"analytics_hours\".\"prompt_known\" + \"excluded\".\"prompt_known\", \"completion_tokens\" = \"analytics_hours\".\"completion_tokens\" + \"excluded\".\"completion_tokens\", \"completion_known\" = \"analytics_hours\".\"completion_known\" + \"excluded\".\"completion_known\", \"cost_usd\" = \"analytics_hours\".\"cost_usd\" + \"excluded\".\"cost_usd\", \"cost_rest_nano_usd\" = \"analytics_hours\".\"cost_rest_nano_usd\" + \"excluded\".\"cost_rest_nano_usd\", \"cost_known\" = \"analytics_hours\".\"cost_known\" + \"excluded\".\"cost_known\"",
  cells: (params) => [params.projectNumber, params.grouping, params.hour, params.receivedHour, params.model, params.traces, params.spans, params.errors, params.promptTokens, params.promptKnown, params.completionTokens, params.completionKnown, params.costUsd, params.costRestNanoUsd, params.costKnown],
};

export const addHours: Compiled<typeof source.addHours> = {
  name: 'analytics-hours.addHours',
  text: "insert into \"analytics_hours\" (\"project_number\", \"grouping\", \"hour\", \"received_hour\", \"model\", \"writer\", \"traces\", \"spans\", \"errors\", \"prompt_tokens\", \"prompt_known\", \"completion_tokens\", \"completion_known\", \"cost_usd\", \"cost_rest_nano_usd\", \"cost_known\") values (?, ?, ?, ?, ?, 0, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) on conflict (\"project_number\", \"grouping\", \"hour\", \"received_hour\", \"model\", \"writer\") do update set \"traces\" = \"analytics_hours\".\"traces\" + \"excluded\".\"traces\", \"spans\" = \"analytics_hours\".\"spans\" + \"excluded\".\"spans\", \"errors\" = \"analytics_hours\".\"errors\" + \"excluded\".\"errors\", \"prompt_tokens\" = \"analytics_hours\".\"prompt_tokens\" + \"excluded\".\"prompt_tokens\", \"prompt_known\" = \"analytics_hours\".\"prompt_known\" + \"excluded\".\"prompt_known\", \"completion_tokens\" = \"analytics_hours\".\"completion_tokens\" + \"excluded\".\"completion_tokens\", \"completion_known\" = \"analytics_hours\".\"completion_known\" + \"excluded\".\"completion_known\", \"cost_usd\" = \"analytics_hours\".\"cost_usd\" + \"excluded\".\"cost_usd\", \"cost_rest_nano_usd\" = \"analytics_hours\".\"cost_rest_nano_usd\" + \"excluded\".\"cost_rest_nano_usd\", \"cost_known\" = \"analytics_hours\".\"cost_known\" + \"excluded\".\"cost_known\"",
  cells: (rows) => [...rows.map((params) => [params.projectNumber, params.grouping, params.hour, params.receivedHour, params.model, params.traces, params.spans, params.errors, params.promptTokens, params.promptKnown, params.completionTokens, params.completionKnown, params.costUsd, params.costRestNanoUsd, params.costKnown])],
};

export const listCounted: Compiled<typeof source.listCounted> = {
  name: 'analytics-hours.listCounted',
  text: "select \"traces\".\"project_number\" as \"projectNumber\", \"traces\".\"sequence\" as \"sequence\", \"traces\".\"started_at\" as \"startedAtMs\", \"traces\".\"inserted_at\" as \"insertedAtMs\", \"traces\".\"span_count\" as \"spanCount\", \"traces\".\"has_error\" as \"hasError\", \"traces\".\"prompt_tokens\" as \"promptTokens\", \"traces\".\"completion_tokens\" as \"completionTokens\", \"traces\".\"total_cost_nano_usd\" as \"totalCostNanoUsd\" from \"traces\" where \"project_number\" = ? and \"sequence\" in (select value from json_each(?))",
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

export const listHours: Compiled<typeof source.listHours> = {
  name: 'analytics-hours.listHours',
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
