// Compiled from src/storage/pricing/queries.ts by `npm run gen`: change it there.

import type { Compiled } from '../../../src/storage/queries.ts';
import { spanTypes } from '../../../src/storage/rows/codes.ts';
import type * as source from '../../../src/storage/pricing/queries.ts';

export const listPricedSpans: Compiled<typeof source.listPricedSpans> = {
  name: 'pricing.listPricedSpans',
  text: "select \"span_id\" as \"spanId\", \"spans\".\"type\" as \"type\", \"spans\".\"model\" as \"model\", \"spans\".\"vendor\" as \"vendor\", \"spans\".\"started_at\" as \"startedAtMs\", \"spans\".\"prompt_tokens\" as \"promptTokens\", \"spans\".\"completion_tokens\" as \"completionTokens\", \"spans\".\"reasoning_tokens\" as \"reasoningTokens\", \"spans\".\"cache_read_input_tokens\" as \"cacheReadInputTokens\", \"spans\".\"cache_creation_input_tokens\" as \"cacheCreationInputTokens\", \"spans\".\"cached_tokens_in_prompt\" as \"cachedTokensInPrompt\", \"spans\".\"other_metrics\" as \"otherMetricsJson\", \"spans\".\"cost_nano_usd\" as \"costNanoUsd\", \"spans\".\"cost_source\" as \"costSource\", \"spans\".\"call_row\" as \"callRow\", case when \"params\" like $1 then 1 else 0 end as \"mayNameTier\" from \"spans\" where \"project_number\" = $2 and \"trace_sequence\" = $3 and \"span_id\" > $4 and octet_length(coalesce(\"other_metrics\", '')) <= 16384 order by \"span_id\" limit $5",
  cells: (params) => ["%\"service_tier\"%", params.projectNumber, params.sequence, params.afterId, params.limit],
  row: (row: any) => ({
    spanId: row.spanId,
    type: spanTypes.value(row.type),
    model: row.model,
    vendor: row.vendor,
    startedAtMs: row.startedAtMs,
    promptTokens: row.promptTokens,
    completionTokens: row.completionTokens,
    reasoningTokens: row.reasoningTokens,
    cacheReadInputTokens: row.cacheReadInputTokens,
    cacheCreationInputTokens: row.cacheCreationInputTokens,
    cachedTokensInPrompt: row.cachedTokensInPrompt,
    otherMetricsJson: row.otherMetricsJson,
    costNanoUsd: row.costNanoUsd,
    costSource: row.costSource,
    callRow: row.callRow,
    mayNameTier: row.mayNameTier,
  }),
};

export const listRepricedProjects: Compiled<typeof source.listRepricedProjects> = {
  name: 'pricing.listRepricedProjects',
  text: "select \"projects\".\"id\" as \"id\", \"projects\".\"number\" as \"number\", \"projects\".\"organization_id\" as \"organizationId\", \"organizations\".\"price_version\" as \"priceVersion\" from \"projects\" inner join \"organizations\" on \"organizations\".\"id\" = \"projects\".\"organization_id\" where \"projects\".\"archived_at\" is null order by \"projects\".\"number\"",
  cells: () => [],
  row: (row) => row,
};

export const listTracesToMeasure: Compiled<typeof source.listTracesToMeasure> = {
  name: 'pricing.listTracesToMeasure',
  text: "select \"traces\".\"trace_id\" as \"traceId\", \"traces\".\"project_number\" as \"projectNumber\", \"traces\".\"sequence\" as \"sequence\", \"traces\".\"span_count\" as \"spanCount\", \"projects\".\"organization_id\" as \"organizationId\", \"organizations\".\"price_version\" as \"priceVersion\" from \"traces\" cross join \"projects\" cross join \"organizations\" where \"projects\".\"number\" = \"traces\".\"project_number\" and \"organizations\".\"id\" = \"projects\".\"organization_id\" and \"traces\".\"sequence\" > $1 order by \"traces\".\"sequence\" limit $2",
  cells: (params) => [params.afterSequence, params.limit],
  row: (row) => row,
};

export const listUnmeasuredSpans: Compiled<typeof source.listUnmeasuredSpans> = {
  name: 'pricing.listUnmeasuredSpans',
  text: "select \"span_id\" as \"spanId\", \"spans\".\"type\" as \"type\", \"spans\".\"model\" as \"model\", \"spans\".\"vendor\" as \"vendor\", \"spans\".\"started_at\" as \"startedAtMs\", \"spans\".\"prompt_tokens\" as \"promptTokens\", \"spans\".\"completion_tokens\" as \"completionTokens\", \"spans\".\"reasoning_tokens\" as \"reasoningTokens\", \"spans\".\"cache_read_input_tokens\" as \"cacheReadInputTokens\", \"spans\".\"cache_creation_input_tokens\" as \"cacheCreationInputTokens\", \"spans\".\"cached_tokens_in_prompt\" as \"cachedTokensInPrompt\", \"spans\".\"other_metrics\" as \"otherMetricsJson\", \"spans\".\"cost_nano_usd\" as \"costNanoUsd\", \"spans\".\"cost_source\" as \"costSource\", \"spans\".\"call_row\" as \"callRow\", \"spans\".\"trace_sequence\" as \"traceSequence\", \"spans\".\"name\" as \"name\", \"spans\".\"params\" as \"paramsJson\", \"spans\".\"telemetry\" as \"telemetryJson\" from \"spans\" where \"project_number\" = $1 and \"trace_sequence\" = any($2) and \"call_row\" is null limit $3",
  cells: (params) => [params.projectNumber, params.sequences, params.limit],
  row: (row: any) => ({
    spanId: row.spanId,
    type: spanTypes.value(row.type),
    model: row.model,
    vendor: row.vendor,
    startedAtMs: row.startedAtMs,
    promptTokens: row.promptTokens,
    completionTokens: row.completionTokens,
    reasoningTokens: row.reasoningTokens,
    cacheReadInputTokens: row.cacheReadInputTokens,
    cacheCreationInputTokens: row.cacheCreationInputTokens,
    cachedTokensInPrompt: row.cachedTokensInPrompt,
    otherMetricsJson: row.otherMetricsJson,
    costNanoUsd: row.costNanoUsd,
    costSource: row.costSource,
    callRow: row.callRow,
    traceSequence: row.traceSequence,
    name: row.name,
    paramsJson: row.paramsJson,
    telemetryJson: row.telemetryJson,
  }),
};
