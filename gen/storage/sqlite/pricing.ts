// Compiled from src/storage/pricing/queries.ts by `npm run gen`: change it there.

import type { Compiled } from '../../../src/storage/queries.ts';
import { spanTypes } from '../../../src/storage/rows/codes.ts';
import { unpackCostSource } from '../../../src/storage/rows/codes.ts';
import type * as source from '../../../src/storage/pricing/queries.ts';

export const listPricedSpans: Compiled<typeof source.listPricedSpans> = {
  name: 'pricing.listPricedSpans',
  text: "select iif(typeof(\"span_id\") = 'blob', lower(hex(\"span_id\")), \"span_id\") as \"spanId\", \"spans\".\"type\" as \"type\", \"spans\".\"model\" as \"model\", \"spans\".\"vendor\" as \"vendor\", \"spans\".\"started_at\" as \"startedAtMs\", \"spans\".\"prompt_tokens\" as \"promptTokens\", \"spans\".\"completion_tokens\" as \"completionTokens\", \"spans\".\"reasoning_tokens\" as \"reasoningTokens\", \"spans\".\"cache_read_input_tokens\" as \"cacheReadInputTokens\", \"spans\".\"cache_creation_input_tokens\" as \"cacheCreationInputTokens\", \"spans\".\"cached_tokens_in_prompt\" as \"cachedTokensInPrompt\", \"spans\".\"other_metrics\" as \"otherMetricsJson\", \"spans\".\"cost_nano_usd\" as \"costNanoUsd\", \"spans\".\"cost_source\" as \"costSource\", \"spans\".\"call_row\" as \"callRow\", case when \"params\" like ? then 1 else 0 end as \"mayNameTier\" from \"spans\" where \"project_number\" = ? and \"trace_sequence\" = ? and iif(typeof(\"span_id\") = 'blob', lower(hex(\"span_id\")), \"span_id\") > ? and octet_length(coalesce(\"other_metrics\", '')) <= 16384 order by iif(typeof(\"span_id\") = 'blob', lower(hex(\"span_id\")), \"span_id\") limit ?",
  cells: (params) => ["%\"service_tier\"%", params.projectNumber, params.sequence, params.afterId, params.limit],
  row: (row: any) => ({
    spanId: row[0],
    type: spanTypes.value(row[1]),
    model: row[2],
    vendor: row[3],
    startedAtMs: row[4],
    promptTokens: row[5],
    completionTokens: row[6],
    reasoningTokens: row[7],
    cacheReadInputTokens: row[8],
    cacheCreationInputTokens: row[9],
    cachedTokensInPrompt: row[10] === null ? null : row[10] === 1,
    otherMetricsJson: row[11],
    costNanoUsd: row[12],
    costSource: unpackCostSource(row[13]),
    callRow: row[14],
    mayNameTier: row[15],
  }),
};

export const listRepricedProjects: Compiled<typeof source.listRepricedProjects> = {
  name: 'pricing.listRepricedProjects',
  text: "select \"projects\".\"id\" as \"id\", \"projects\".\"number\" as \"number\", \"projects\".\"organization_id\" as \"organizationId\", \"organizations\".\"price_version\" as \"priceVersion\" from \"projects\" inner join \"organizations\" on \"organizations\".\"id\" = \"projects\".\"organization_id\" where \"projects\".\"archived_at\" is null order by \"projects\".\"number\"",
  cells: () => [],
  row: (row: any) => ({
    id: row[0],
    number: row[1],
    organizationId: row[2],
    priceVersion: row[3],
  }),
};

export const listTracesToMeasure: Compiled<typeof source.listTracesToMeasure> = {
  name: 'pricing.listTracesToMeasure',
  text: "select iif(typeof(\"traces\".\"trace_id\") = 'blob', lower(hex(\"traces\".\"trace_id\")), \"traces\".\"trace_id\") as \"traceId\", \"traces\".\"project_number\" as \"projectNumber\", \"traces\".\"sequence\" as \"sequence\", \"traces\".\"span_count\" as \"spanCount\", \"projects\".\"organization_id\" as \"organizationId\", \"organizations\".\"price_version\" as \"priceVersion\" from \"traces\" cross join \"projects\" cross join \"organizations\" where \"projects\".\"number\" = \"traces\".\"project_number\" and \"organizations\".\"id\" = \"projects\".\"organization_id\" and \"traces\".\"sequence\" > ? order by \"traces\".\"sequence\" limit ?",
  cells: (params) => [params.afterSequence, params.limit],
  row: (row: any) => ({
    traceId: row[0],
    projectNumber: row[1],
    sequence: row[2],
    spanCount: row[3],
    organizationId: row[4],
    priceVersion: row[5],
  }),
};

export const listUnmeasuredSpans: Compiled<typeof source.listUnmeasuredSpans> = {
  name: 'pricing.listUnmeasuredSpans',
  text: "select iif(typeof(\"span_id\") = 'blob', lower(hex(\"span_id\")), \"span_id\") as \"spanId\", \"spans\".\"type\" as \"type\", \"spans\".\"model\" as \"model\", \"spans\".\"vendor\" as \"vendor\", \"spans\".\"started_at\" as \"startedAtMs\", \"spans\".\"prompt_tokens\" as \"promptTokens\", \"spans\".\"completion_tokens\" as \"completionTokens\", \"spans\".\"reasoning_tokens\" as \"reasoningTokens\", \"spans\".\"cache_read_input_tokens\" as \"cacheReadInputTokens\", \"spans\".\"cache_creation_input_tokens\" as \"cacheCreationInputTokens\", \"spans\".\"cached_tokens_in_prompt\" as \"cachedTokensInPrompt\", \"spans\".\"other_metrics\" as \"otherMetricsJson\", \"spans\".\"cost_nano_usd\" as \"costNanoUsd\", \"spans\".\"cost_source\" as \"costSource\", \"spans\".\"call_row\" as \"callRow\", \"spans\".\"trace_sequence\" as \"traceSequence\", \"spans\".\"name\" as \"name\", \"spans\".\"params\" as \"paramsJson\", \"spans\".\"telemetry\" as \"telemetryJson\" from \"spans\" where \"project_number\" = ? and \"trace_sequence\" in (select value from json_each(?)) and \"call_row\" is null limit ?",
  cells: (params) => [params.projectNumber, JSON.stringify(params.sequences), params.limit],
  row: (row: any) => ({
    spanId: row[0],
    type: spanTypes.value(row[1]),
    model: row[2],
    vendor: row[3],
    startedAtMs: row[4],
    promptTokens: row[5],
    completionTokens: row[6],
    reasoningTokens: row[7],
    cacheReadInputTokens: row[8],
    cacheCreationInputTokens: row[9],
    cachedTokensInPrompt: row[10] === null ? null : row[10] === 1,
    otherMetricsJson: row[11],
    costNanoUsd: row[12],
    costSource: unpackCostSource(row[13]),
    callRow: row[14],
    traceSequence: row[15],
    name: row[16],
    paramsJson: row[17],
    telemetryJson: row[18],
  }),
};
