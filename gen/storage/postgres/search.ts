// Compiled from src/storage/search/queries.ts by `npm run gen`: change it there.

import type { Compiled } from '../../../src/storage/queries.ts';
import { spanTypes } from '../../../src/storage/rows/codes.ts';
import { unpackTyped } from '../../../src/storage/rows/codes.ts';
import type * as source from '../../../src/storage/search/queries.ts';

export const countTraces: Compiled<typeof source.countTraces> = {
  name: 'search.countTraces',
  text: "select count(*) as \"count\" from (select \"sequence\" as \"sequence\" from \"traces\" where \"project_number\" = $1 and \"inserted_at\" >= $2 and coalesce(\"started_at\", \"inserted_at\") >= $3 and coalesce(\"started_at\", \"inserted_at\") <= $4 and \"updated_at\" >= $5 and \"updated_at\" <= $6 and case when \"has_error\" then 1 else 0 end >= $7 and case when \"has_error\" then 1 else 0 end <= $8 and ($9::text is null or strpos(case when \"metadata_bytes\" is null then \"metadata\" else (select \"trace_texts\".\"text\" as \"text\" from \"trace_texts\" where \"trace_texts\".\"project_number\" = \"traces\".\"project_number\" and \"trace_texts\".\"trace_sequence\" = \"traces\".\"sequence\" and \"trace_texts\".\"name\" = 'metadata') end, $10::text) > 0) and ($11::text is null or strpos(case when \"metadata_bytes\" is null then \"metadata\" else (select \"trace_texts\".\"text\" as \"text\" from \"trace_texts\" where \"trace_texts\".\"project_number\" = \"traces\".\"project_number\" and \"trace_texts\".\"trace_sequence\" = \"traces\".\"sequence\" and \"trace_texts\".\"name\" = 'metadata') end, $12::text) > 0) limit $13) as \"some\"",
  cells: (params) => [params.projectNumber, params.expiredBeforeMs, params.startedFromMs, params.startedToMs, params.updatedFromMs, params.updatedToMs, params.errorsFrom, params.errorsTo, params.firstNeedle, params.firstNeedle, params.secondNeedle, params.secondNeedle, params.limit],
  row: (row) => row,
};

export const findByIds: Compiled<typeof source.findByIds> = {
  name: 'search.findByIds',
  text: "select \"trace_id\" as \"traceId\", \"traces\".\"sequence\" as \"sequence\", \"traces\".\"span_count\" as \"spanCount\", \"traces\".\"has_error\" as \"hasError\", coalesce(\"metadata_bytes\", octet_length(\"metadata\")) as \"metadataBytes\", \"traces\".\"inserted_at\" as \"insertedAtMs\", \"traces\".\"updated_at\" as \"updatedAtMs\", coalesce(\"started_at\", \"inserted_at\") as \"startMs\", \"traces\".\"total_cost_nano_usd\" as \"totalCostNanoUsd\", case when \"duration_ms\" < 0 then 0 else \"duration_ms\" end as \"totalTimeMs\", \"traces\".\"first_token_ms\" as \"firstTokenMs\" from \"traces\" where \"project_number\" = $1 and \"trace_id\" = any($2)",
  cells: (params) => [params.projectNumber, params.ids],
  row: (row) => row,
};

export const findBySequences: Compiled<typeof source.findBySequences> = {
  name: 'search.findBySequences',
  text: "select \"trace_id\" as \"traceId\", \"traces\".\"sequence\" as \"sequence\", \"traces\".\"span_count\" as \"spanCount\", \"traces\".\"has_error\" as \"hasError\", coalesce(\"metadata_bytes\", octet_length(\"metadata\")) as \"metadataBytes\", \"traces\".\"inserted_at\" as \"insertedAtMs\", \"traces\".\"updated_at\" as \"updatedAtMs\", coalesce(\"started_at\", \"inserted_at\") as \"startMs\", \"traces\".\"total_cost_nano_usd\" as \"totalCostNanoUsd\", case when \"duration_ms\" < 0 then 0 else \"duration_ms\" end as \"totalTimeMs\", \"traces\".\"first_token_ms\" as \"firstTokenMs\" from \"traces\" where \"project_number\" + 0 = $1 and \"sequence\" = any($2)",
  cells: (params) => [params.projectNumber, params.sequences],
  row: (row) => row,
};

export const findTexts: Compiled<typeof source.findTexts> = {
  name: 'search.findTexts',
  text: "select \"input\" as \"inputJson\", \"output\" as \"outputJson\" from \"spans\" where \"project_number\" = $1 and \"trace_sequence\" = $2 and \"span_id\" = $3",
  cells: (params) => [params.projectNumber, params.sequence, params.spanId],
  row: (row: any) => ({
    inputJson: unpackTyped(row.inputJson),
    outputJson: unpackTyped(row.outputJson),
  }),
};

export const listByCost: Compiled<typeof source.listByCost> = {
  name: 'search.listByCost',
  text: "select coalesce(\"total_cost_nano_usd\", 9007199254740991) as \"key\", \"trace_id\" as \"traceId\", \"traces\".\"sequence\" as \"sequence\", \"traces\".\"span_count\" as \"spanCount\", \"traces\".\"has_error\" as \"hasError\", coalesce(\"metadata_bytes\", octet_length(\"metadata\")) as \"metadataBytes\" from \"traces\" where \"project_number\" = $1 and \"inserted_at\" >= $2 and coalesce(\"started_at\", \"inserted_at\") >= $3 and coalesce(\"started_at\", \"inserted_at\") <= $4 and \"updated_at\" >= $5 and \"updated_at\" <= $6 and case when \"has_error\" then 1 else 0 end >= $7 and case when \"has_error\" then 1 else 0 end <= $8 and ($9::text is null or strpos(case when \"metadata_bytes\" is null then \"metadata\" else (select \"trace_texts\".\"text\" as \"text\" from \"trace_texts\" where \"trace_texts\".\"project_number\" = \"traces\".\"project_number\" and \"trace_texts\".\"trace_sequence\" = \"traces\".\"sequence\" and \"trace_texts\".\"name\" = 'metadata') end, $10::text) > 0) and ($11::text is null or strpos(case when \"metadata_bytes\" is null then \"metadata\" else (select \"trace_texts\".\"text\" as \"text\" from \"trace_texts\" where \"trace_texts\".\"project_number\" = \"traces\".\"project_number\" and \"trace_texts\".\"trace_sequence\" = \"traces\".\"sequence\" and \"trace_texts\".\"name\" = 'metadata') end, $12::text) > 0) and coalesce(\"total_cost_nano_usd\", 9007199254740991) >= $13 and (coalesce(\"total_cost_nano_usd\", 9007199254740991), \"trace_id\") > ($14, $15) order by coalesce(\"total_cost_nano_usd\", 9007199254740991) asc, \"trace_id\" asc limit $16",
  cells: (params) => [params.projectNumber, params.expiredBeforeMs, params.startedFromMs, params.startedToMs, params.updatedFromMs, params.updatedToMs, params.errorsFrom, params.errorsTo, params.firstNeedle, params.firstNeedle, params.secondNeedle, params.secondNeedle, params.key, params.key, params.traceId, params.limit],
  row: (row) => row,
};

export const listByCostDown: Compiled<typeof source.listByCostDown> = {
  name: 'search.listByCostDown',
  text: "select coalesce(\"total_cost_nano_usd\", -1) as \"key\", \"trace_id\" as \"traceId\", \"traces\".\"sequence\" as \"sequence\", \"traces\".\"span_count\" as \"spanCount\", \"traces\".\"has_error\" as \"hasError\", coalesce(\"metadata_bytes\", octet_length(\"metadata\")) as \"metadataBytes\" from \"traces\" where \"project_number\" = $1 and \"inserted_at\" >= $2 and coalesce(\"started_at\", \"inserted_at\") >= $3 and coalesce(\"started_at\", \"inserted_at\") <= $4 and \"updated_at\" >= $5 and \"updated_at\" <= $6 and case when \"has_error\" then 1 else 0 end >= $7 and case when \"has_error\" then 1 else 0 end <= $8 and ($9::text is null or strpos(case when \"metadata_bytes\" is null then \"metadata\" else (select \"trace_texts\".\"text\" as \"text\" from \"trace_texts\" where \"trace_texts\".\"project_number\" = \"traces\".\"project_number\" and \"trace_texts\".\"trace_sequence\" = \"traces\".\"sequence\" and \"trace_texts\".\"name\" = 'metadata') end, $10::text) > 0) and ($11::text is null or strpos(case when \"metadata_bytes\" is null then \"metadata\" else (select \"trace_texts\".\"text\" as \"text\" from \"trace_texts\" where \"trace_texts\".\"project_number\" = \"traces\".\"project_number\" and \"trace_texts\".\"trace_sequence\" = \"traces\".\"sequence\" and \"trace_texts\".\"name\" = 'metadata') end, $12::text) > 0) and coalesce(\"total_cost_nano_usd\", -1) <= $13 and (coalesce(\"total_cost_nano_usd\", -1), \"trace_id\") < ($14, $15) order by coalesce(\"total_cost_nano_usd\", -1) desc, \"trace_id\" desc limit $16",
  cells: (params) => [params.projectNumber, params.expiredBeforeMs, params.startedFromMs, params.startedToMs, params.updatedFromMs, params.updatedToMs, params.errorsFrom, params.errorsTo, params.firstNeedle, params.firstNeedle, params.secondNeedle, params.secondNeedle, params.key, params.key, params.traceId, params.limit],
  row: (row) => row,
};

export const listByDuration: Compiled<typeof source.listByDuration> = {
  name: 'search.listByDuration',
  text: "select coalesce(case when \"duration_ms\" < 0 then 0 else \"duration_ms\" end, 9007199254740991) as \"key\", \"trace_id\" as \"traceId\", \"traces\".\"sequence\" as \"sequence\", \"traces\".\"span_count\" as \"spanCount\", \"traces\".\"has_error\" as \"hasError\", coalesce(\"metadata_bytes\", octet_length(\"metadata\")) as \"metadataBytes\" from \"traces\" where \"project_number\" = $1 and \"inserted_at\" >= $2 and coalesce(\"started_at\", \"inserted_at\") >= $3 and coalesce(\"started_at\", \"inserted_at\") <= $4 and \"updated_at\" >= $5 and \"updated_at\" <= $6 and case when \"has_error\" then 1 else 0 end >= $7 and case when \"has_error\" then 1 else 0 end <= $8 and ($9::text is null or strpos(case when \"metadata_bytes\" is null then \"metadata\" else (select \"trace_texts\".\"text\" as \"text\" from \"trace_texts\" where \"trace_texts\".\"project_number\" = \"traces\".\"project_number\" and \"trace_texts\".\"trace_sequence\" = \"traces\".\"sequence\" and \"trace_texts\".\"name\" = 'metadata') end, $10::text) > 0) and ($11::text is null or strpos(case when \"metadata_bytes\" is null then \"metadata\" else (select \"trace_texts\".\"text\" as \"text\" from \"trace_texts\" where \"trace_texts\".\"project_number\" = \"traces\".\"project_number\" and \"trace_texts\".\"trace_sequence\" = \"traces\".\"sequence\" and \"trace_texts\".\"name\" = 'metadata') end, $12::text) > 0) and coalesce(case when \"duration_ms\" < 0 then 0 else \"duration_ms\" end, 9007199254740991) >= $13 and (coalesce(case when \"duration_ms\" < 0 then 0 else \"duration_ms\" end, 9007199254740991), \"trace_id\") > ($14, $15) order by coalesce(case when \"duration_ms\" < 0 then 0 else \"duration_ms\" end, 9007199254740991) asc, \"trace_id\" asc limit $16",
  cells: (params) => [params.projectNumber, params.expiredBeforeMs, params.startedFromMs, params.startedToMs, params.updatedFromMs, params.updatedToMs, params.errorsFrom, params.errorsTo, params.firstNeedle, params.firstNeedle, params.secondNeedle, params.secondNeedle, params.key, params.key, params.traceId, params.limit],
  row: (row) => row,
};

export const listByDurationDown: Compiled<typeof source.listByDurationDown> = {
  name: 'search.listByDurationDown',
  text: "select coalesce(case when \"duration_ms\" < 0 then 0 else \"duration_ms\" end, -1) as \"key\", \"trace_id\" as \"traceId\", \"traces\".\"sequence\" as \"sequence\", \"traces\".\"span_count\" as \"spanCount\", \"traces\".\"has_error\" as \"hasError\", coalesce(\"metadata_bytes\", octet_length(\"metadata\")) as \"metadataBytes\" from \"traces\" where \"project_number\" = $1 and \"inserted_at\" >= $2 and coalesce(\"started_at\", \"inserted_at\") >= $3 and coalesce(\"started_at\", \"inserted_at\") <= $4 and \"updated_at\" >= $5 and \"updated_at\" <= $6 and case when \"has_error\" then 1 else 0 end >= $7 and case when \"has_error\" then 1 else 0 end <= $8 and ($9::text is null or strpos(case when \"metadata_bytes\" is null then \"metadata\" else (select \"trace_texts\".\"text\" as \"text\" from \"trace_texts\" where \"trace_texts\".\"project_number\" = \"traces\".\"project_number\" and \"trace_texts\".\"trace_sequence\" = \"traces\".\"sequence\" and \"trace_texts\".\"name\" = 'metadata') end, $10::text) > 0) and ($11::text is null or strpos(case when \"metadata_bytes\" is null then \"metadata\" else (select \"trace_texts\".\"text\" as \"text\" from \"trace_texts\" where \"trace_texts\".\"project_number\" = \"traces\".\"project_number\" and \"trace_texts\".\"trace_sequence\" = \"traces\".\"sequence\" and \"trace_texts\".\"name\" = 'metadata') end, $12::text) > 0) and coalesce(case when \"duration_ms\" < 0 then 0 else \"duration_ms\" end, -1) <= $13 and (coalesce(case when \"duration_ms\" < 0 then 0 else \"duration_ms\" end, -1), \"trace_id\") < ($14, $15) order by coalesce(case when \"duration_ms\" < 0 then 0 else \"duration_ms\" end, -1) desc, \"trace_id\" desc limit $16",
  cells: (params) => [params.projectNumber, params.expiredBeforeMs, params.startedFromMs, params.startedToMs, params.updatedFromMs, params.updatedToMs, params.errorsFrom, params.errorsTo, params.firstNeedle, params.firstNeedle, params.secondNeedle, params.secondNeedle, params.key, params.key, params.traceId, params.limit],
  row: (row) => row,
};

export const listByFirstToken: Compiled<typeof source.listByFirstToken> = {
  name: 'search.listByFirstToken',
  text: "select coalesce(\"first_token_ms\", 9007199254740991) as \"key\", \"trace_id\" as \"traceId\", \"traces\".\"sequence\" as \"sequence\", \"traces\".\"span_count\" as \"spanCount\", \"traces\".\"has_error\" as \"hasError\", coalesce(\"metadata_bytes\", octet_length(\"metadata\")) as \"metadataBytes\" from \"traces\" where \"project_number\" = $1 and \"inserted_at\" >= $2 and coalesce(\"started_at\", \"inserted_at\") >= $3 and coalesce(\"started_at\", \"inserted_at\") <= $4 and \"updated_at\" >= $5 and \"updated_at\" <= $6 and case when \"has_error\" then 1 else 0 end >= $7 and case when \"has_error\" then 1 else 0 end <= $8 and ($9::text is null or strpos(case when \"metadata_bytes\" is null then \"metadata\" else (select \"trace_texts\".\"text\" as \"text\" from \"trace_texts\" where \"trace_texts\".\"project_number\" = \"traces\".\"project_number\" and \"trace_texts\".\"trace_sequence\" = \"traces\".\"sequence\" and \"trace_texts\".\"name\" = 'metadata') end, $10::text) > 0) and ($11::text is null or strpos(case when \"metadata_bytes\" is null then \"metadata\" else (select \"trace_texts\".\"text\" as \"text\" from \"trace_texts\" where \"trace_texts\".\"project_number\" = \"traces\".\"project_number\" and \"trace_texts\".\"trace_sequence\" = \"traces\".\"sequence\" and \"trace_texts\".\"name\" = 'metadata') end, $12::text) > 0) and coalesce(\"first_token_ms\", 9007199254740991) >= $13 and (coalesce(\"first_token_ms\", 9007199254740991), \"trace_id\") > ($14, $15) order by coalesce(\"first_token_ms\", 9007199254740991) asc, \"trace_id\" asc limit $16",
  cells: (params) => [params.projectNumber, params.expiredBeforeMs, params.startedFromMs, params.startedToMs, params.updatedFromMs, params.updatedToMs, params.errorsFrom, params.errorsTo, params.firstNeedle, params.firstNeedle, params.secondNeedle, params.secondNeedle, params.key, params.key, params.traceId, params.limit],
  row: (row) => row,
};

export const listByFirstTokenDown: Compiled<typeof source.listByFirstTokenDown> = {
  name: 'search.listByFirstTokenDown',
  text: "select coalesce(\"first_token_ms\", -1) as \"key\", \"trace_id\" as \"traceId\", \"traces\".\"sequence\" as \"sequence\", \"traces\".\"span_count\" as \"spanCount\", \"traces\".\"has_error\" as \"hasError\", coalesce(\"metadata_bytes\", octet_length(\"metadata\")) as \"metadataBytes\" from \"traces\" where \"project_number\" = $1 and \"inserted_at\" >= $2 and coalesce(\"started_at\", \"inserted_at\") >= $3 and coalesce(\"started_at\", \"inserted_at\") <= $4 and \"updated_at\" >= $5 and \"updated_at\" <= $6 and case when \"has_error\" then 1 else 0 end >= $7 and case when \"has_error\" then 1 else 0 end <= $8 and ($9::text is null or strpos(case when \"metadata_bytes\" is null then \"metadata\" else (select \"trace_texts\".\"text\" as \"text\" from \"trace_texts\" where \"trace_texts\".\"project_number\" = \"traces\".\"project_number\" and \"trace_texts\".\"trace_sequence\" = \"traces\".\"sequence\" and \"trace_texts\".\"name\" = 'metadata') end, $10::text) > 0) and ($11::text is null or strpos(case when \"metadata_bytes\" is null then \"metadata\" else (select \"trace_texts\".\"text\" as \"text\" from \"trace_texts\" where \"trace_texts\".\"project_number\" = \"traces\".\"project_number\" and \"trace_texts\".\"trace_sequence\" = \"traces\".\"sequence\" and \"trace_texts\".\"name\" = 'metadata') end, $12::text) > 0) and coalesce(\"first_token_ms\", -1) <= $13 and (coalesce(\"first_token_ms\", -1), \"trace_id\") < ($14, $15) order by coalesce(\"first_token_ms\", -1) desc, \"trace_id\" desc limit $16",
  cells: (params) => [params.projectNumber, params.expiredBeforeMs, params.startedFromMs, params.startedToMs, params.updatedFromMs, params.updatedToMs, params.errorsFrom, params.errorsTo, params.firstNeedle, params.firstNeedle, params.secondNeedle, params.secondNeedle, params.key, params.key, params.traceId, params.limit],
  row: (row) => row,
};

export const listByStart: Compiled<typeof source.listByStart> = {
  name: 'search.listByStart',
  text: "select coalesce(\"started_at\", \"inserted_at\") as \"key\", \"trace_id\" as \"traceId\", \"traces\".\"sequence\" as \"sequence\", \"traces\".\"span_count\" as \"spanCount\", \"traces\".\"has_error\" as \"hasError\", coalesce(\"metadata_bytes\", octet_length(\"metadata\")) as \"metadataBytes\" from \"traces\" where \"project_number\" = $1 and \"inserted_at\" >= $2 and coalesce(\"started_at\", \"inserted_at\") >= $3 and coalesce(\"started_at\", \"inserted_at\") <= $4 and \"updated_at\" + 0 >= $5 and \"updated_at\" + 0 <= $6 and case when \"has_error\" then 1 else 0 end >= $7 and case when \"has_error\" then 1 else 0 end <= $8 and ($9::text is null or strpos(case when \"metadata_bytes\" is null then \"metadata\" else (select \"trace_texts\".\"text\" as \"text\" from \"trace_texts\" where \"trace_texts\".\"project_number\" = \"traces\".\"project_number\" and \"trace_texts\".\"trace_sequence\" = \"traces\".\"sequence\" and \"trace_texts\".\"name\" = 'metadata') end, $10::text) > 0) and ($11::text is null or strpos(case when \"metadata_bytes\" is null then \"metadata\" else (select \"trace_texts\".\"text\" as \"text\" from \"trace_texts\" where \"trace_texts\".\"project_number\" = \"traces\".\"project_number\" and \"trace_texts\".\"trace_sequence\" = \"traces\".\"sequence\" and \"trace_texts\".\"name\" = 'metadata') end, $12::text) > 0) and coalesce(\"started_at\", \"inserted_at\") >= $13 and (coalesce(\"started_at\", \"inserted_at\"), \"trace_id\") > ($14, $15) order by coalesce(\"started_at\", \"inserted_at\") asc, \"trace_id\" asc limit $16",
  cells: (params) => [params.projectNumber, params.expiredBeforeMs, params.startedFromMs, params.startedToMs, params.updatedFromMs, params.updatedToMs, params.errorsFrom, params.errorsTo, params.firstNeedle, params.firstNeedle, params.secondNeedle, params.secondNeedle, params.key, params.key, params.traceId, params.limit],
  row: (row) => row,
};

export const listByStartDown: Compiled<typeof source.listByStartDown> = {
  name: 'search.listByStartDown',
  text: "select coalesce(\"started_at\", \"inserted_at\") as \"key\", \"trace_id\" as \"traceId\", \"traces\".\"sequence\" as \"sequence\", \"traces\".\"span_count\" as \"spanCount\", \"traces\".\"has_error\" as \"hasError\", coalesce(\"metadata_bytes\", octet_length(\"metadata\")) as \"metadataBytes\" from \"traces\" where \"project_number\" = $1 and \"inserted_at\" >= $2 and coalesce(\"started_at\", \"inserted_at\") >= $3 and coalesce(\"started_at\", \"inserted_at\") <= $4 and \"updated_at\" + 0 >= $5 and \"updated_at\" + 0 <= $6 and case when \"has_error\" then 1 else 0 end >= $7 and case when \"has_error\" then 1 else 0 end <= $8 and ($9::text is null or strpos(case when \"metadata_bytes\" is null then \"metadata\" else (select \"trace_texts\".\"text\" as \"text\" from \"trace_texts\" where \"trace_texts\".\"project_number\" = \"traces\".\"project_number\" and \"trace_texts\".\"trace_sequence\" = \"traces\".\"sequence\" and \"trace_texts\".\"name\" = 'metadata') end, $10::text) > 0) and ($11::text is null or strpos(case when \"metadata_bytes\" is null then \"metadata\" else (select \"trace_texts\".\"text\" as \"text\" from \"trace_texts\" where \"trace_texts\".\"project_number\" = \"traces\".\"project_number\" and \"trace_texts\".\"trace_sequence\" = \"traces\".\"sequence\" and \"trace_texts\".\"name\" = 'metadata') end, $12::text) > 0) and coalesce(\"started_at\", \"inserted_at\") <= $13 and (coalesce(\"started_at\", \"inserted_at\"), \"trace_id\") < ($14, $15) order by coalesce(\"started_at\", \"inserted_at\") desc, \"trace_id\" desc limit $16",
  cells: (params) => [params.projectNumber, params.expiredBeforeMs, params.startedFromMs, params.startedToMs, params.updatedFromMs, params.updatedToMs, params.errorsFrom, params.errorsTo, params.firstNeedle, params.firstNeedle, params.secondNeedle, params.secondNeedle, params.key, params.key, params.traceId, params.limit],
  row: (row) => row,
};

export const listByUpdate: Compiled<typeof source.listByUpdate> = {
  name: 'search.listByUpdate',
  text: "select \"updated_at\" as \"key\", \"trace_id\" as \"traceId\", \"traces\".\"sequence\" as \"sequence\", \"traces\".\"span_count\" as \"spanCount\", \"traces\".\"has_error\" as \"hasError\", coalesce(\"metadata_bytes\", octet_length(\"metadata\")) as \"metadataBytes\" from \"traces\" where \"project_number\" = $1 and \"inserted_at\" >= $2 and coalesce(\"started_at\", \"inserted_at\") + 0 >= $3 and coalesce(\"started_at\", \"inserted_at\") + 0 <= $4 and \"updated_at\" >= $5 and \"updated_at\" <= $6 and case when \"has_error\" then 1 else 0 end >= $7 and case when \"has_error\" then 1 else 0 end <= $8 and ($9::text is null or strpos(case when \"metadata_bytes\" is null then \"metadata\" else (select \"trace_texts\".\"text\" as \"text\" from \"trace_texts\" where \"trace_texts\".\"project_number\" = \"traces\".\"project_number\" and \"trace_texts\".\"trace_sequence\" = \"traces\".\"sequence\" and \"trace_texts\".\"name\" = 'metadata') end, $10::text) > 0) and ($11::text is null or strpos(case when \"metadata_bytes\" is null then \"metadata\" else (select \"trace_texts\".\"text\" as \"text\" from \"trace_texts\" where \"trace_texts\".\"project_number\" = \"traces\".\"project_number\" and \"trace_texts\".\"trace_sequence\" = \"traces\".\"sequence\" and \"trace_texts\".\"name\" = 'metadata') end, $12::text) > 0) and \"updated_at\" >= $13 and (\"updated_at\", \"trace_id\") > ($14, $15) order by \"updated_at\" asc, \"trace_id\" asc limit $16",
  cells: (params) => [params.projectNumber, params.expiredBeforeMs, params.startedFromMs, params.startedToMs, params.updatedFromMs, params.updatedToMs, params.errorsFrom, params.errorsTo, params.firstNeedle, params.firstNeedle, params.secondNeedle, params.secondNeedle, params.key, params.key, params.traceId, params.limit],
  row: (row) => row,
};

export const listByUpdateDown: Compiled<typeof source.listByUpdateDown> = {
  name: 'search.listByUpdateDown',
  text: "select \"updated_at\" as \"key\", \"trace_id\" as \"traceId\", \"traces\".\"sequence\" as \"sequence\", \"traces\".\"span_count\" as \"spanCount\", \"traces\".\"has_error\" as \"hasError\", coalesce(\"metadata_bytes\", octet_length(\"metadata\")) as \"metadataBytes\" from \"traces\" where \"project_number\" = $1 and \"inserted_at\" >= $2 and coalesce(\"started_at\", \"inserted_at\") + 0 >= $3 and coalesce(\"started_at\", \"inserted_at\") + 0 <= $4 and \"updated_at\" >= $5 and \"updated_at\" <= $6 and case when \"has_error\" then 1 else 0 end >= $7 and case when \"has_error\" then 1 else 0 end <= $8 and ($9::text is null or strpos(case when \"metadata_bytes\" is null then \"metadata\" else (select \"trace_texts\".\"text\" as \"text\" from \"trace_texts\" where \"trace_texts\".\"project_number\" = \"traces\".\"project_number\" and \"trace_texts\".\"trace_sequence\" = \"traces\".\"sequence\" and \"trace_texts\".\"name\" = 'metadata') end, $10::text) > 0) and ($11::text is null or strpos(case when \"metadata_bytes\" is null then \"metadata\" else (select \"trace_texts\".\"text\" as \"text\" from \"trace_texts\" where \"trace_texts\".\"project_number\" = \"traces\".\"project_number\" and \"trace_texts\".\"trace_sequence\" = \"traces\".\"sequence\" and \"trace_texts\".\"name\" = 'metadata') end, $12::text) > 0) and \"updated_at\" <= $13 and (\"updated_at\", \"trace_id\") < ($14, $15) order by \"updated_at\" desc, \"trace_id\" desc limit $16",
  cells: (params) => [params.projectNumber, params.expiredBeforeMs, params.startedFromMs, params.startedToMs, params.updatedFromMs, params.updatedToMs, params.errorsFrom, params.errorsTo, params.firstNeedle, params.firstNeedle, params.secondNeedle, params.secondNeedle, params.key, params.key, params.traceId, params.limit],
  row: (row) => row,
};

export const listErrors: Compiled<typeof source.listErrors> = {
  name: 'search.listErrors',
  text: "select \"span_id\" as \"spanId\", \"error\" as \"errorJson\" from \"spans\" where \"project_number\" = $1 and \"trace_sequence\" = $2 and \"span_id\" > $3 and \"error\" is not null order by \"span_id\" limit $4",
  cells: (params) => [params.projectNumber, params.sequence, params.after, params.limit],
  row: (row) => row,
};

export const listEvaluations: Compiled<typeof source.listEvaluations> = {
  name: 'search.listEvaluations',
  text: "select \"evaluations\".\"trace_sequence\" as \"traceSequence\", \"evaluations\".\"evaluator_id\" as \"evaluatorId\", \"evaluations\".\"is_guardrail\" as \"isGuardrail\", \"evaluations\".\"status\" as \"status\", \"evaluations\".\"passed\" as \"passed\", \"evaluations\".\"score\" as \"score\", \"evaluations\".\"label\" as \"label\" from \"evaluations\" where \"project_number\" = $1 and \"trace_sequence\" = any($2)",
  cells: (params) => [params.projectNumber, params.sequences],
  row: (row) => row,
};

export const listMetadata: Compiled<typeof source.listMetadata> = {
  name: 'search.listMetadata',
  text: "select \"sequence\" as \"sequence\", case when \"metadata_bytes\" is null then \"metadata\" else (select \"trace_texts\".\"text\" as \"text\" from \"trace_texts\" where \"trace_texts\".\"project_number\" = \"traces\".\"project_number\" and \"trace_texts\".\"trace_sequence\" = \"traces\".\"sequence\" and \"trace_texts\".\"name\" = 'metadata') end as \"metadataJson\" from \"traces\" where \"project_number\" + 0 = $1 and \"sequence\" = any($2)",
  cells: (params) => [params.projectNumber, params.sequences],
  row: (row) => row,
};

export const listSpans: Compiled<typeof source.listSpans> = {
  name: 'search.listSpans',
  text: "select \"trace_sequence\" as \"traceSequence\", \"span_id\" as \"spanId\", \"parent_id\" as \"parentId\", \"spans\".\"type\" as \"type\", \"spans\".\"name\" as \"name\", \"spans\".\"model\" as \"model\", \"spans\".\"started_at\" as \"startedAtMs\", \"spans\".\"started_ns\" as \"startedNs\", \"spans\".\"finished_ns\" as \"finishedNs\", \"started_at\" + \"duration_ms\" as \"finishedAtMs\", \"input\" is not null as \"hasInput\", \"output\" is not null as \"hasOutput\", \"error\" is not null as \"hasError\" from \"spans\" where \"project_number\" = $1 and \"trace_sequence\" = any($2)",
  cells: (params) => [params.projectNumber, params.sequences],
  row: (row: any) => ({
    traceSequence: row.traceSequence,
    spanId: row.spanId,
    parentId: row.parentId,
    type: spanTypes.value(row.type),
    name: row.name,
    model: row.model,
    startedAtMs: row.startedAtMs,
    startedNs: row.startedNs,
    finishedNs: row.finishedNs,
    finishedAtMs: row.finishedAtMs,
    hasInput: row.hasInput,
    hasOutput: row.hasOutput,
    hasError: row.hasError,
  }),
};

export const listSpansBehind: Compiled<typeof source.listSpansBehind> = {
  name: 'search.listSpansBehind',
  text: "select \"trace_sequence\" as \"traceSequence\", \"span_id\" as \"spanId\", \"parent_id\" as \"parentId\", \"spans\".\"type\" as \"type\", \"spans\".\"name\" as \"name\", \"spans\".\"model\" as \"model\", \"spans\".\"started_at\" as \"startedAtMs\", \"spans\".\"started_ns\" as \"startedNs\", \"spans\".\"finished_ns\" as \"finishedNs\", \"started_at\" + \"duration_ms\" as \"finishedAtMs\", \"input\" is not null as \"hasInput\", \"output\" is not null as \"hasOutput\", \"error\" is not null as \"hasError\" from \"spans\" where \"project_number\" = $1 and \"trace_sequence\" = $2 and \"span_id\" > $3 order by \"span_id\" limit $4",
  cells: (params) => [params.projectNumber, params.sequence, params.after, params.limit],
  row: (row: any) => ({
    traceSequence: row.traceSequence,
    spanId: row.spanId,
    parentId: row.parentId,
    type: spanTypes.value(row.type),
    name: row.name,
    model: row.model,
    startedAtMs: row.startedAtMs,
    startedNs: row.startedNs,
    finishedNs: row.finishedNs,
    finishedAtMs: row.finishedAtMs,
    hasInput: row.hasInput,
    hasOutput: row.hasOutput,
    hasError: row.hasError,
  }),
};

export const listSpansWithTexts: Compiled<typeof source.listSpansWithTexts> = {
  name: 'search.listSpansWithTexts',
  text: "select \"trace_sequence\" as \"traceSequence\", \"span_id\" as \"spanId\", \"parent_id\" as \"parentId\", \"spans\".\"type\" as \"type\", \"spans\".\"name\" as \"name\", \"spans\".\"model\" as \"model\", \"spans\".\"started_at\" as \"startedAtMs\", \"spans\".\"started_ns\" as \"startedNs\", \"spans\".\"finished_ns\" as \"finishedNs\", \"started_at\" + \"duration_ms\" as \"finishedAtMs\", \"input\" is not null as \"hasInput\", \"output\" is not null as \"hasOutput\", \"error\" is not null as \"hasError\", case when octet_length(\"input\") <= $1 then \"input\" end as \"inputText\", case when octet_length(\"output\") <= $2 then \"output\" end as \"outputText\" from \"spans\" where \"project_number\" = $3 and \"trace_sequence\" = any($4)",
  cells: (params) => [params.bytesMax, params.bytesMax, params.projectNumber, params.sequences],
  row: (row: any) => ({
    traceSequence: row.traceSequence,
    spanId: row.spanId,
    parentId: row.parentId,
    type: spanTypes.value(row.type),
    name: row.name,
    model: row.model,
    startedAtMs: row.startedAtMs,
    startedNs: row.startedNs,
    finishedNs: row.finishedNs,
    finishedAtMs: row.finishedAtMs,
    hasInput: row.hasInput,
    hasOutput: row.hasOutput,
    hasError: row.hasError,
    inputText: row.inputText,
    outputText: row.outputText,
  }),
};
