// Compiled from src/storage/search/queries.ts by `npm run gen`: change it there.

import type { Compiled } from '../../../src/storage/queries.ts';
import { packId } from '../../../src/storage/engine/sqlite/compact-ids.ts';
import { packIds } from '../../../src/storage/engine/sqlite/compact-ids.ts';
import { spanTypes } from '../../../src/storage/rows/codes.ts';
import { unpackTyped } from '../../../src/storage/rows/codes.ts';
import type * as source from '../../../src/storage/search/queries.ts';

export const countTraces: Compiled<typeof source.countTraces> = {
  name: 'search.countTraces',
  text: "select count(*) as \"count\" from (select \"sequence\" as \"sequence\" from \"traces\" where \"project_number\" = ? and \"inserted_at\" >= ? and coalesce(\"started_at\", \"inserted_at\") >= ? and coalesce(\"started_at\", \"inserted_at\") <= ? and \"updated_at\" >= ? and \"updated_at\" <= ? and case when \"has_error\" then 1 else 0 end >= ? and case when \"has_error\" then 1 else 0 end <= ? and (? is null or instr(case when \"metadata_bytes\" is null then \"metadata\" else (select \"trace_texts\".\"text\" as \"text\" from \"trace_texts\" where \"trace_texts\".\"project_number\" = \"traces\".\"project_number\" and \"trace_texts\".\"trace_sequence\" = \"traces\".\"sequence\" and \"trace_texts\".\"name\" = 'metadata') end, ?) > 0) and (? is null or instr(case when \"metadata_bytes\" is null then \"metadata\" else (select \"trace_texts\".\"text\" as \"text\" from \"trace_texts\" where \"trace_texts\".\"project_number\" = \"traces\".\"project_number\" and \"trace_texts\".\"trace_sequence\" = \"traces\".\"sequence\" and \"trace_texts\".\"name\" = 'metadata') end, ?) > 0) limit ?) as \"some\"",
  cells: (params) => [params.projectNumber, params.expiredBeforeMs, params.startedFromMs, params.startedToMs, params.updatedFromMs, params.updatedToMs, params.errorsFrom, params.errorsTo, params.firstNeedle, params.firstNeedle, params.secondNeedle, params.secondNeedle, params.limit],
  row: (row: any) => ({
    count: row[0],
  }),
};

export const findByIds: Compiled<typeof source.findByIds> = {
  name: 'search.findByIds',
  text: "select iif(typeof(\"trace_id\") = 'blob', lower(hex(\"trace_id\")), \"trace_id\") as \"traceId\", \"traces\".\"sequence\" as \"sequence\", \"traces\".\"span_count\" as \"spanCount\", \"traces\".\"has_error\" as \"hasError\", coalesce(\"metadata_bytes\", octet_length(\"metadata\")) as \"metadataBytes\", \"traces\".\"inserted_at\" as \"insertedAtMs\", \"traces\".\"updated_at\" as \"updatedAtMs\", coalesce(\"started_at\", \"inserted_at\") as \"startMs\", \"traces\".\"total_cost_nano_usd\" as \"totalCostNanoUsd\", max(0, \"duration_ms\") as \"totalTimeMs\", \"traces\".\"first_token_ms\" as \"firstTokenMs\" from \"traces\" where \"project_number\" = ? and \"trace_id\" in (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
  cells: (params) => [params.projectNumber, ...packIds(params.ids)],
  row: (row: any) => ({
    traceId: row[0],
    sequence: row[1],
    spanCount: row[2],
    hasError: row[3] === 1,
    metadataBytes: row[4],
    insertedAtMs: row[5],
    updatedAtMs: row[6],
    startMs: row[7],
    totalCostNanoUsd: row[8],
    totalTimeMs: row[9],
    firstTokenMs: row[10],
  }),
};

export const findBySequences: Compiled<typeof source.findBySequences> = {
  name: 'search.findBySequences',
  text: "select iif(typeof(\"trace_id\") = 'blob', lower(hex(\"trace_id\")), \"trace_id\") as \"traceId\", \"traces\".\"sequence\" as \"sequence\", \"traces\".\"span_count\" as \"spanCount\", \"traces\".\"has_error\" as \"hasError\", coalesce(\"metadata_bytes\", octet_length(\"metadata\")) as \"metadataBytes\", \"traces\".\"inserted_at\" as \"insertedAtMs\", \"traces\".\"updated_at\" as \"updatedAtMs\", coalesce(\"started_at\", \"inserted_at\") as \"startMs\", \"traces\".\"total_cost_nano_usd\" as \"totalCostNanoUsd\", max(0, \"duration_ms\") as \"totalTimeMs\", \"traces\".\"first_token_ms\" as \"firstTokenMs\" from \"traces\" where \"project_number\" + 0 = ? and \"sequence\" in (select value from json_each(?))",
  cells: (params) => [params.projectNumber, JSON.stringify(params.sequences)],
  row: (row: any) => ({
    traceId: row[0],
    sequence: row[1],
    spanCount: row[2],
    hasError: row[3] === 1,
    metadataBytes: row[4],
    insertedAtMs: row[5],
    updatedAtMs: row[6],
    startMs: row[7],
    totalCostNanoUsd: row[8],
    totalTimeMs: row[9],
    firstTokenMs: row[10],
  }),
};

export const findTexts: Compiled<typeof source.findTexts> = {
  name: 'search.findTexts',
  text: "select \"input\" as \"inputJson\", \"output\" as \"outputJson\" from \"spans\" where \"project_number\" = ? and \"trace_sequence\" = ? and \"span_id\" = ?",
  cells: (params) => [params.projectNumber, params.sequence, packId(params.spanId)],
  row: (row: any) => ({
    inputJson: unpackTyped(row[0]),
    outputJson: unpackTyped(row[1]),
  }),
};

export const listByCost: Compiled<typeof source.listByCost> = {
  name: 'search.listByCost',
  text: "select coalesce(\"total_cost_nano_usd\", 9007199254740991) as \"key\", iif(typeof(\"trace_id\") = 'blob', lower(hex(\"trace_id\")), \"trace_id\") as \"traceId\", \"traces\".\"sequence\" as \"sequence\", \"traces\".\"span_count\" as \"spanCount\", \"traces\".\"has_error\" as \"hasError\", coalesce(\"metadata_bytes\", octet_length(\"metadata\")) as \"metadataBytes\" from \"traces\" where \"project_number\" = ? and \"inserted_at\" >= ? and coalesce(\"started_at\", \"inserted_at\") >= ? and coalesce(\"started_at\", \"inserted_at\") <= ? and \"updated_at\" >= ? and \"updated_at\" <= ? and case when \"has_error\" then 1 else 0 end >= ? and case when \"has_error\" then 1 else 0 end <= ? and (? is null or instr(case when \"metadata_bytes\" is null then \"metadata\" else (select \"trace_texts\".\"text\" as \"text\" from \"trace_texts\" where \"trace_texts\".\"project_number\" = \"traces\".\"project_number\" and \"trace_texts\".\"trace_sequence\" = \"traces\".\"sequence\" and \"trace_texts\".\"name\" = 'metadata') end, ?) > 0) and (? is null or instr(case when \"metadata_bytes\" is null then \"metadata\" else (select \"trace_texts\".\"text\" as \"text\" from \"trace_texts\" where \"trace_texts\".\"project_number\" = \"traces\".\"project_number\" and \"trace_texts\".\"trace_sequence\" = \"traces\".\"sequence\" and \"trace_texts\".\"name\" = 'metadata') end, ?) > 0) and coalesce(\"total_cost_nano_usd\", 9007199254740991) >= ? and (coalesce(\"total_cost_nano_usd\", 9007199254740991), iif(typeof(\"trace_id\") = 'blob', lower(hex(\"trace_id\")), \"trace_id\")) > (?, ?) order by coalesce(\"total_cost_nano_usd\", 9007199254740991) asc, iif(typeof(\"trace_id\") = 'blob', lower(hex(\"trace_id\")), \"trace_id\") asc limit ?",
  cells: (params) => [params.projectNumber, params.expiredBeforeMs, params.startedFromMs, params.startedToMs, params.updatedFromMs, params.updatedToMs, params.errorsFrom, params.errorsTo, params.firstNeedle, params.firstNeedle, params.secondNeedle, params.secondNeedle, params.key, params.key, params.traceId, params.limit],
  row: (row: any) => ({
    key: row[0],
    traceId: row[1],
    sequence: row[2],
    spanCount: row[3],
    hasError: row[4] === 1,
    metadataBytes: row[5],
  }),
};

export const listByCostDown: Compiled<typeof source.listByCostDown> = {
  name: 'search.listByCostDown',
  text: "select coalesce(\"total_cost_nano_usd\", -1) as \"key\", iif(typeof(\"trace_id\") = 'blob', lower(hex(\"trace_id\")), \"trace_id\") as \"traceId\", \"traces\".\"sequence\" as \"sequence\", \"traces\".\"span_count\" as \"spanCount\", \"traces\".\"has_error\" as \"hasError\", coalesce(\"metadata_bytes\", octet_length(\"metadata\")) as \"metadataBytes\" from \"traces\" where \"project_number\" = ? and \"inserted_at\" >= ? and coalesce(\"started_at\", \"inserted_at\") >= ? and coalesce(\"started_at\", \"inserted_at\") <= ? and \"updated_at\" >= ? and \"updated_at\" <= ? and case when \"has_error\" then 1 else 0 end >= ? and case when \"has_error\" then 1 else 0 end <= ? and (? is null or instr(case when \"metadata_bytes\" is null then \"metadata\" else (select \"trace_texts\".\"text\" as \"text\" from \"trace_texts\" where \"trace_texts\".\"project_number\" = \"traces\".\"project_number\" and \"trace_texts\".\"trace_sequence\" = \"traces\".\"sequence\" and \"trace_texts\".\"name\" = 'metadata') end, ?) > 0) and (? is null or instr(case when \"metadata_bytes\" is null then \"metadata\" else (select \"trace_texts\".\"text\" as \"text\" from \"trace_texts\" where \"trace_texts\".\"project_number\" = \"traces\".\"project_number\" and \"trace_texts\".\"trace_sequence\" = \"traces\".\"sequence\" and \"trace_texts\".\"name\" = 'metadata') end, ?) > 0) and coalesce(\"total_cost_nano_usd\", -1) <= ? and (coalesce(\"total_cost_nano_usd\", -1), iif(typeof(\"trace_id\") = 'blob', lower(hex(\"trace_id\")), \"trace_id\")) < (?, ?) order by coalesce(\"total_cost_nano_usd\", -1) desc, iif(typeof(\"trace_id\") = 'blob', lower(hex(\"trace_id\")), \"trace_id\") desc limit ?",
  cells: (params) => [params.projectNumber, params.expiredBeforeMs, params.startedFromMs, params.startedToMs, params.updatedFromMs, params.updatedToMs, params.errorsFrom, params.errorsTo, params.firstNeedle, params.firstNeedle, params.secondNeedle, params.secondNeedle, params.key, params.key, params.traceId, params.limit],
  row: (row: any) => ({
    key: row[0],
    traceId: row[1],
    sequence: row[2],
    spanCount: row[3],
    hasError: row[4] === 1,
    metadataBytes: row[5],
  }),
};

export const listByDuration: Compiled<typeof source.listByDuration> = {
  name: 'search.listByDuration',
  text: "select coalesce(max(0, \"duration_ms\"), 9007199254740991) as \"key\", iif(typeof(\"trace_id\") = 'blob', lower(hex(\"trace_id\")), \"trace_id\") as \"traceId\", \"traces\".\"sequence\" as \"sequence\", \"traces\".\"span_count\" as \"spanCount\", \"traces\".\"has_error\" as \"hasError\", coalesce(\"metadata_bytes\", octet_length(\"metadata\")) as \"metadataBytes\" from \"traces\" where \"project_number\" = ? and \"inserted_at\" >= ? and coalesce(\"started_at\", \"inserted_at\") >= ? and coalesce(\"started_at\", \"inserted_at\") <= ? and \"updated_at\" >= ? and \"updated_at\" <= ? and case when \"has_error\" then 1 else 0 end >= ? and case when \"has_error\" then 1 else 0 end <= ? and (? is null or instr(case when \"metadata_bytes\" is null then \"metadata\" else (select \"trace_texts\".\"text\" as \"text\" from \"trace_texts\" where \"trace_texts\".\"project_number\" = \"traces\".\"project_number\" and \"trace_texts\".\"trace_sequence\" = \"traces\".\"sequence\" and \"trace_texts\".\"name\" = 'metadata') end, ?) > 0) and (? is null or instr(case when \"metadata_bytes\" is null then \"metadata\" else (select \"trace_texts\".\"text\" as \"text\" from \"trace_texts\" where \"trace_texts\".\"project_number\" = \"traces\".\"project_number\" and \"trace_texts\".\"trace_sequence\" = \"traces\".\"sequence\" and \"trace_texts\".\"name\" = 'metadata') end, ?) > 0) and coalesce(max(0, \"duration_ms\"), 9007199254740991) >= ? and (coalesce(max(0, \"duration_ms\"), 9007199254740991), iif(typeof(\"trace_id\") = 'blob', lower(hex(\"trace_id\")), \"trace_id\")) > (?, ?) order by coalesce(max(0, \"duration_ms\"), 9007199254740991) asc, iif(typeof(\"trace_id\") = 'blob', lower(hex(\"trace_id\")), \"trace_id\") asc limit ?",
  cells: (params) => [params.projectNumber, params.expiredBeforeMs, params.startedFromMs, params.startedToMs, params.updatedFromMs, params.updatedToMs, params.errorsFrom, params.errorsTo, params.firstNeedle, params.firstNeedle, params.secondNeedle, params.secondNeedle, params.key, params.key, params.traceId, params.limit],
  row: (row: any) => ({
    key: row[0],
    traceId: row[1],
    sequence: row[2],
    spanCount: row[3],
    hasError: row[4] === 1,
    metadataBytes: row[5],
  }),
};

export const listByDurationDown: Compiled<typeof source.listByDurationDown> = {
  name: 'search.listByDurationDown',
  text: "select coalesce(max(0, \"duration_ms\"), -1) as \"key\", iif(typeof(\"trace_id\") = 'blob', lower(hex(\"trace_id\")), \"trace_id\") as \"traceId\", \"traces\".\"sequence\" as \"sequence\", \"traces\".\"span_count\" as \"spanCount\", \"traces\".\"has_error\" as \"hasError\", coalesce(\"metadata_bytes\", octet_length(\"metadata\")) as \"metadataBytes\" from \"traces\" where \"project_number\" = ? and \"inserted_at\" >= ? and coalesce(\"started_at\", \"inserted_at\") >= ? and coalesce(\"started_at\", \"inserted_at\") <= ? and \"updated_at\" >= ? and \"updated_at\" <= ? and case when \"has_error\" then 1 else 0 end >= ? and case when \"has_error\" then 1 else 0 end <= ? and (? is null or instr(case when \"metadata_bytes\" is null then \"metadata\" else (select \"trace_texts\".\"text\" as \"text\" from \"trace_texts\" where \"trace_texts\".\"project_number\" = \"traces\".\"project_number\" and \"trace_texts\".\"trace_sequence\" = \"traces\".\"sequence\" and \"trace_texts\".\"name\" = 'metadata') end, ?) > 0) and (? is null or instr(case when \"metadata_bytes\" is null then \"metadata\" else (select \"trace_texts\".\"text\" as \"text\" from \"trace_texts\" where \"trace_texts\".\"project_number\" = \"traces\".\"project_number\" and \"trace_texts\".\"trace_sequence\" = \"traces\".\"sequence\" and \"trace_texts\".\"name\" = 'metadata') end, ?) > 0) and coalesce(max(0, \"duration_ms\"), -1) <= ? and (coalesce(max(0, \"duration_ms\"), -1), iif(typeof(\"trace_id\") = 'blob', lower(hex(\"trace_id\")), \"trace_id\")) < (?, ?) order by coalesce(max(0, \"duration_ms\"), -1) desc, iif(typeof(\"trace_id\") = 'blob', lower(hex(\"trace_id\")), \"trace_id\") desc limit ?",
  cells: (params) => [params.projectNumber, params.expiredBeforeMs, params.startedFromMs, params.startedToMs, params.updatedFromMs, params.updatedToMs, params.errorsFrom, params.errorsTo, params.firstNeedle, params.firstNeedle, params.secondNeedle, params.secondNeedle, params.key, params.key, params.traceId, params.limit],
  row: (row: any) => ({
    key: row[0],
    traceId: row[1],
    sequence: row[2],
    spanCount: row[3],
    hasError: row[4] === 1,
    metadataBytes: row[5],
  }),
};

export const listByFirstToken: Compiled<typeof source.listByFirstToken> = {
  name: 'search.listByFirstToken',
  text: "select coalesce(\"first_token_ms\", 9007199254740991) as \"key\", iif(typeof(\"trace_id\") = 'blob', lower(hex(\"trace_id\")), \"trace_id\") as \"traceId\", \"traces\".\"sequence\" as \"sequence\", \"traces\".\"span_count\" as \"spanCount\", \"traces\".\"has_error\" as \"hasError\", coalesce(\"metadata_bytes\", octet_length(\"metadata\")) as \"metadataBytes\" from \"traces\" where \"project_number\" = ? and \"inserted_at\" >= ? and coalesce(\"started_at\", \"inserted_at\") >= ? and coalesce(\"started_at\", \"inserted_at\") <= ? and \"updated_at\" >= ? and \"updated_at\" <= ? and case when \"has_error\" then 1 else 0 end >= ? and case when \"has_error\" then 1 else 0 end <= ? and (? is null or instr(case when \"metadata_bytes\" is null then \"metadata\" else (select \"trace_texts\".\"text\" as \"text\" from \"trace_texts\" where \"trace_texts\".\"project_number\" = \"traces\".\"project_number\" and \"trace_texts\".\"trace_sequence\" = \"traces\".\"sequence\" and \"trace_texts\".\"name\" = 'metadata') end, ?) > 0) and (? is null or instr(case when \"metadata_bytes\" is null then \"metadata\" else (select \"trace_texts\".\"text\" as \"text\" from \"trace_texts\" where \"trace_texts\".\"project_number\" = \"traces\".\"project_number\" and \"trace_texts\".\"trace_sequence\" = \"traces\".\"sequence\" and \"trace_texts\".\"name\" = 'metadata') end, ?) > 0) and coalesce(\"first_token_ms\", 9007199254740991) >= ? and (coalesce(\"first_token_ms\", 9007199254740991), iif(typeof(\"trace_id\") = 'blob', lower(hex(\"trace_id\")), \"trace_id\")) > (?, ?) order by coalesce(\"first_token_ms\", 9007199254740991) asc, iif(typeof(\"trace_id\") = 'blob', lower(hex(\"trace_id\")), \"trace_id\") asc limit ?",
  cells: (params) => [params.projectNumber, params.expiredBeforeMs, params.startedFromMs, params.startedToMs, params.updatedFromMs, params.updatedToMs, params.errorsFrom, params.errorsTo, params.firstNeedle, params.firstNeedle, params.secondNeedle, params.secondNeedle, params.key, params.key, params.traceId, params.limit],
  row: (row: any) => ({
    key: row[0],
    traceId: row[1],
    sequence: row[2],
    spanCount: row[3],
    hasError: row[4] === 1,
    metadataBytes: row[5],
  }),
};

export const listByFirstTokenDown: Compiled<typeof source.listByFirstTokenDown> = {
  name: 'search.listByFirstTokenDown',
  text: "select coalesce(\"first_token_ms\", -1) as \"key\", iif(typeof(\"trace_id\") = 'blob', lower(hex(\"trace_id\")), \"trace_id\") as \"traceId\", \"traces\".\"sequence\" as \"sequence\", \"traces\".\"span_count\" as \"spanCount\", \"traces\".\"has_error\" as \"hasError\", coalesce(\"metadata_bytes\", octet_length(\"metadata\")) as \"metadataBytes\" from \"traces\" where \"project_number\" = ? and \"inserted_at\" >= ? and coalesce(\"started_at\", \"inserted_at\") >= ? and coalesce(\"started_at\", \"inserted_at\") <= ? and \"updated_at\" >= ? and \"updated_at\" <= ? and case when \"has_error\" then 1 else 0 end >= ? and case when \"has_error\" then 1 else 0 end <= ? and (? is null or instr(case when \"metadata_bytes\" is null then \"metadata\" else (select \"trace_texts\".\"text\" as \"text\" from \"trace_texts\" where \"trace_texts\".\"project_number\" = \"traces\".\"project_number\" and \"trace_texts\".\"trace_sequence\" = \"traces\".\"sequence\" and \"trace_texts\".\"name\" = 'metadata') end, ?) > 0) and (? is null or instr(case when \"metadata_bytes\" is null then \"metadata\" else (select \"trace_texts\".\"text\" as \"text\" from \"trace_texts\" where \"trace_texts\".\"project_number\" = \"traces\".\"project_number\" and \"trace_texts\".\"trace_sequence\" = \"traces\".\"sequence\" and \"trace_texts\".\"name\" = 'metadata') end, ?) > 0) and coalesce(\"first_token_ms\", -1) <= ? and (coalesce(\"first_token_ms\", -1), iif(typeof(\"trace_id\") = 'blob', lower(hex(\"trace_id\")), \"trace_id\")) < (?, ?) order by coalesce(\"first_token_ms\", -1) desc, iif(typeof(\"trace_id\") = 'blob', lower(hex(\"trace_id\")), \"trace_id\") desc limit ?",
  cells: (params) => [params.projectNumber, params.expiredBeforeMs, params.startedFromMs, params.startedToMs, params.updatedFromMs, params.updatedToMs, params.errorsFrom, params.errorsTo, params.firstNeedle, params.firstNeedle, params.secondNeedle, params.secondNeedle, params.key, params.key, params.traceId, params.limit],
  row: (row: any) => ({
    key: row[0],
    traceId: row[1],
    sequence: row[2],
    spanCount: row[3],
    hasError: row[4] === 1,
    metadataBytes: row[5],
  }),
};

export const listByStart: Compiled<typeof source.listByStart> = {
  name: 'search.listByStart',
  text: "select coalesce(\"started_at\", \"inserted_at\") as \"key\", iif(typeof(\"trace_id\") = 'blob', lower(hex(\"trace_id\")), \"trace_id\") as \"traceId\", \"traces\".\"sequence\" as \"sequence\", \"traces\".\"span_count\" as \"spanCount\", \"traces\".\"has_error\" as \"hasError\", coalesce(\"metadata_bytes\", octet_length(\"metadata\")) as \"metadataBytes\" from \"traces\" where \"project_number\" = ? and \"inserted_at\" >= ? and coalesce(\"started_at\", \"inserted_at\") >= ? and coalesce(\"started_at\", \"inserted_at\") <= ? and \"updated_at\" + 0 >= ? and \"updated_at\" + 0 <= ? and case when \"has_error\" then 1 else 0 end >= ? and case when \"has_error\" then 1 else 0 end <= ? and (? is null or instr(case when \"metadata_bytes\" is null then \"metadata\" else (select \"trace_texts\".\"text\" as \"text\" from \"trace_texts\" where \"trace_texts\".\"project_number\" = \"traces\".\"project_number\" and \"trace_texts\".\"trace_sequence\" = \"traces\".\"sequence\" and \"trace_texts\".\"name\" = 'metadata') end, ?) > 0) and (? is null or instr(case when \"metadata_bytes\" is null then \"metadata\" else (select \"trace_texts\".\"text\" as \"text\" from \"trace_texts\" where \"trace_texts\".\"project_number\" = \"traces\".\"project_number\" and \"trace_texts\".\"trace_sequence\" = \"traces\".\"sequence\" and \"trace_texts\".\"name\" = 'metadata') end, ?) > 0) and coalesce(\"started_at\", \"inserted_at\") >= ? and (coalesce(\"started_at\", \"inserted_at\"), iif(typeof(\"trace_id\") = 'blob', lower(hex(\"trace_id\")), \"trace_id\")) > (?, ?) order by coalesce(\"started_at\", \"inserted_at\") asc, iif(typeof(\"trace_id\") = 'blob', lower(hex(\"trace_id\")), \"trace_id\") asc limit ?",
  cells: (params) => [params.projectNumber, params.expiredBeforeMs, params.startedFromMs, params.startedToMs, params.updatedFromMs, params.updatedToMs, params.errorsFrom, params.errorsTo, params.firstNeedle, params.firstNeedle, params.secondNeedle, params.secondNeedle, params.key, params.key, params.traceId, params.limit],
  row: (row: any) => ({
    key: row[0],
    traceId: row[1],
    sequence: row[2],
    spanCount: row[3],
    hasError: row[4] === 1,
    metadataBytes: row[5],
  }),
};

export const listByStartDown: Compiled<typeof source.listByStartDown> = {
  name: 'search.listByStartDown',
  text: "select coalesce(\"started_at\", \"inserted_at\") as \"key\", iif(typeof(\"trace_id\") = 'blob', lower(hex(\"trace_id\")), \"trace_id\") as \"traceId\", \"traces\".\"sequence\" as \"sequence\", \"traces\".\"span_count\" as \"spanCount\", \"traces\".\"has_error\" as \"hasError\", coalesce(\"metadata_bytes\", octet_length(\"metadata\")) as \"metadataBytes\" from \"traces\" where \"project_number\" = ? and \"inserted_at\" >= ? and coalesce(\"started_at\", \"inserted_at\") >= ? and coalesce(\"started_at\", \"inserted_at\") <= ? and \"updated_at\" + 0 >= ? and \"updated_at\" + 0 <= ? and case when \"has_error\" then 1 else 0 end >= ? and case when \"has_error\" then 1 else 0 end <= ? and (? is null or instr(case when \"metadata_bytes\" is null then \"metadata\" else (select \"trace_texts\".\"text\" as \"text\" from \"trace_texts\" where \"trace_texts\".\"project_number\" = \"traces\".\"project_number\" and \"trace_texts\".\"trace_sequence\" = \"traces\".\"sequence\" and \"trace_texts\".\"name\" = 'metadata') end, ?) > 0) and (? is null or instr(case when \"metadata_bytes\" is null then \"metadata\" else (select \"trace_texts\".\"text\" as \"text\" from \"trace_texts\" where \"trace_texts\".\"project_number\" = \"traces\".\"project_number\" and \"trace_texts\".\"trace_sequence\" = \"traces\".\"sequence\" and \"trace_texts\".\"name\" = 'metadata') end, ?) > 0) and coalesce(\"started_at\", \"inserted_at\") <= ? and (coalesce(\"started_at\", \"inserted_at\"), iif(typeof(\"trace_id\") = 'blob', lower(hex(\"trace_id\")), \"trace_id\")) < (?, ?) order by coalesce(\"started_at\", \"inserted_at\") desc, iif(typeof(\"trace_id\") = 'blob', lower(hex(\"trace_id\")), \"trace_id\") desc limit ?",
  cells: (params) => [params.projectNumber, params.expiredBeforeMs, params.startedFromMs, params.startedToMs, params.updatedFromMs, params.updatedToMs, params.errorsFrom, params.errorsTo, params.firstNeedle, params.firstNeedle, params.secondNeedle, params.secondNeedle, params.key, params.key, params.traceId, params.limit],
  row: (row: any) => ({
    key: row[0],
    traceId: row[1],
    sequence: row[2],
    spanCount: row[3],
    hasError: row[4] === 1,
    metadataBytes: row[5],
  }),
};

export const listByUpdate: Compiled<typeof source.listByUpdate> = {
  name: 'search.listByUpdate',
  text: "select \"updated_at\" as \"key\", iif(typeof(\"trace_id\") = 'blob', lower(hex(\"trace_id\")), \"trace_id\") as \"traceId\", \"traces\".\"sequence\" as \"sequence\", \"traces\".\"span_count\" as \"spanCount\", \"traces\".\"has_error\" as \"hasError\", coalesce(\"metadata_bytes\", octet_length(\"metadata\")) as \"metadataBytes\" from \"traces\" where \"project_number\" = ? and \"inserted_at\" >= ? and coalesce(\"started_at\", \"inserted_at\") + 0 >= ? and coalesce(\"started_at\", \"inserted_at\") + 0 <= ? and \"updated_at\" >= ? and \"updated_at\" <= ? and case when \"has_error\" then 1 else 0 end >= ? and case when \"has_error\" then 1 else 0 end <= ? and (? is null or instr(case when \"metadata_bytes\" is null then \"metadata\" else (select \"trace_texts\".\"text\" as \"text\" from \"trace_texts\" where \"trace_texts\".\"project_number\" = \"traces\".\"project_number\" and \"trace_texts\".\"trace_sequence\" = \"traces\".\"sequence\" and \"trace_texts\".\"name\" = 'metadata') end, ?) > 0) and (? is null or instr(case when \"metadata_bytes\" is null then \"metadata\" else (select \"trace_texts\".\"text\" as \"text\" from \"trace_texts\" where \"trace_texts\".\"project_number\" = \"traces\".\"project_number\" and \"trace_texts\".\"trace_sequence\" = \"traces\".\"sequence\" and \"trace_texts\".\"name\" = 'metadata') end, ?) > 0) and \"updated_at\" >= ? and (\"updated_at\", iif(typeof(\"trace_id\") = 'blob', lower(hex(\"trace_id\")), \"trace_id\")) > (?, ?) order by \"updated_at\" asc, iif(typeof(\"trace_id\") = 'blob', lower(hex(\"trace_id\")), \"trace_id\") asc limit ?",
  cells: (params) => [params.projectNumber, params.expiredBeforeMs, params.startedFromMs, params.startedToMs, params.updatedFromMs, params.updatedToMs, params.errorsFrom, params.errorsTo, params.firstNeedle, params.firstNeedle, params.secondNeedle, params.secondNeedle, params.key, params.key, params.traceId, params.limit],
  row: (row: any) => ({
    key: row[0],
    traceId: row[1],
    sequence: row[2],
    spanCount: row[3],
    hasError: row[4] === 1,
    metadataBytes: row[5],
  }),
};

export const listByUpdateDown: Compiled<typeof source.listByUpdateDown> = {
  name: 'search.listByUpdateDown',
  text: "select \"updated_at\" as \"key\", iif(typeof(\"trace_id\") = 'blob', lower(hex(\"trace_id\")), \"trace_id\") as \"traceId\", \"traces\".\"sequence\" as \"sequence\", \"traces\".\"span_count\" as \"spanCount\", \"traces\".\"has_error\" as \"hasError\", coalesce(\"metadata_bytes\", octet_length(\"metadata\")) as \"metadataBytes\" from \"traces\" where \"project_number\" = ? and \"inserted_at\" >= ? and coalesce(\"started_at\", \"inserted_at\") + 0 >= ? and coalesce(\"started_at\", \"inserted_at\") + 0 <= ? and \"updated_at\" >= ? and \"updated_at\" <= ? and case when \"has_error\" then 1 else 0 end >= ? and case when \"has_error\" then 1 else 0 end <= ? and (? is null or instr(case when \"metadata_bytes\" is null then \"metadata\" else (select \"trace_texts\".\"text\" as \"text\" from \"trace_texts\" where \"trace_texts\".\"project_number\" = \"traces\".\"project_number\" and \"trace_texts\".\"trace_sequence\" = \"traces\".\"sequence\" and \"trace_texts\".\"name\" = 'metadata') end, ?) > 0) and (? is null or instr(case when \"metadata_bytes\" is null then \"metadata\" else (select \"trace_texts\".\"text\" as \"text\" from \"trace_texts\" where \"trace_texts\".\"project_number\" = \"traces\".\"project_number\" and \"trace_texts\".\"trace_sequence\" = \"traces\".\"sequence\" and \"trace_texts\".\"name\" = 'metadata') end, ?) > 0) and \"updated_at\" <= ? and (\"updated_at\", iif(typeof(\"trace_id\") = 'blob', lower(hex(\"trace_id\")), \"trace_id\")) < (?, ?) order by \"updated_at\" desc, iif(typeof(\"trace_id\") = 'blob', lower(hex(\"trace_id\")), \"trace_id\") desc limit ?",
  cells: (params) => [params.projectNumber, params.expiredBeforeMs, params.startedFromMs, params.startedToMs, params.updatedFromMs, params.updatedToMs, params.errorsFrom, params.errorsTo, params.firstNeedle, params.firstNeedle, params.secondNeedle, params.secondNeedle, params.key, params.key, params.traceId, params.limit],
  row: (row: any) => ({
    key: row[0],
    traceId: row[1],
    sequence: row[2],
    spanCount: row[3],
    hasError: row[4] === 1,
    metadataBytes: row[5],
  }),
};

export const listErrors: Compiled<typeof source.listErrors> = {
  name: 'search.listErrors',
  text: "select iif(typeof(\"span_id\") = 'blob', lower(hex(\"span_id\")), \"span_id\") as \"spanId\", \"error\" as \"errorJson\" from \"spans\" where \"project_number\" = ? and \"trace_sequence\" = ? and \"span_id\" > ? and \"error\" is not null order by \"span_id\" limit ?",
  cells: (params) => [params.projectNumber, params.sequence, packId(params.after), params.limit],
  row: (row: any) => ({
    spanId: row[0],
    errorJson: row[1],
  }),
};

export const listEvaluations: Compiled<typeof source.listEvaluations> = {
  name: 'search.listEvaluations',
  text: "select \"evaluations\".\"trace_sequence\" as \"traceSequence\", \"evaluations\".\"evaluator_id\" as \"evaluatorId\", \"evaluations\".\"is_guardrail\" as \"isGuardrail\", \"evaluations\".\"status\" as \"status\", \"evaluations\".\"passed\" as \"passed\", \"evaluations\".\"score\" as \"score\", \"evaluations\".\"label\" as \"label\" from \"evaluations\" where \"project_number\" = ? and \"trace_sequence\" in (select value from json_each(?))",
  cells: (params) => [params.projectNumber, JSON.stringify(params.sequences)],
  row: (row: any) => ({
    traceSequence: row[0],
    evaluatorId: row[1],
    isGuardrail: row[2] === 1,
    status: row[3],
    passed: row[4] === null ? null : row[4] === 1,
    score: row[5],
    label: row[6],
  }),
};

export const listMetadata: Compiled<typeof source.listMetadata> = {
  name: 'search.listMetadata',
  text: "select \"sequence\" as \"sequence\", case when \"metadata_bytes\" is null then \"metadata\" else (select \"trace_texts\".\"text\" as \"text\" from \"trace_texts\" where \"trace_texts\".\"project_number\" = \"traces\".\"project_number\" and \"trace_texts\".\"trace_sequence\" = \"traces\".\"sequence\" and \"trace_texts\".\"name\" = 'metadata') end as \"metadataJson\" from \"traces\" where \"project_number\" + 0 = ? and \"sequence\" in (select value from json_each(?))",
  cells: (params) => [params.projectNumber, JSON.stringify(params.sequences)],
  row: (row: any) => ({
    sequence: row[0],
    metadataJson: row[1],
  }),
};

export const listSpans: Compiled<typeof source.listSpans> = {
  name: 'search.listSpans',
  text: "select \"trace_sequence\" as \"traceSequence\", iif(typeof(\"span_id\") = 'blob', lower(hex(\"span_id\")), \"span_id\") as \"spanId\", iif(typeof(\"parent_id\") = 'blob', lower(hex(\"parent_id\")), \"parent_id\") as \"parentId\", \"spans\".\"type\" as \"type\", \"spans\".\"name\" as \"name\", \"spans\".\"model\" as \"model\", \"spans\".\"started_at\" as \"startedAtMs\", \"spans\".\"started_ns\" as \"startedNs\", \"spans\".\"finished_ns\" as \"finishedNs\", \"started_at\" + \"duration_ms\" as \"finishedAtMs\", \"input\" is not null as \"hasInput\", \"output\" is not null as \"hasOutput\", \"error\" is not null as \"hasError\" from \"spans\" where \"project_number\" = ? and \"trace_sequence\" in (select value from json_each(?))",
  cells: (params) => [params.projectNumber, JSON.stringify(params.sequences)],
  row: (row: any) => ({
    traceSequence: row[0],
    spanId: row[1],
    parentId: row[2],
    type: spanTypes.value(row[3]),
    name: row[4],
    model: row[5],
    startedAtMs: row[6],
    startedNs: row[7],
    finishedNs: row[8],
    finishedAtMs: row[9],
    hasInput: row[10] === 1,
    hasOutput: row[11] === 1,
    hasError: row[12] === 1,
  }),
};

export const listSpansBehind: Compiled<typeof source.listSpansBehind> = {
  name: 'search.listSpansBehind',
  text: "select \"trace_sequence\" as \"traceSequence\", iif(typeof(\"span_id\") = 'blob', lower(hex(\"span_id\")), \"span_id\") as \"spanId\", iif(typeof(\"parent_id\") = 'blob', lower(hex(\"parent_id\")), \"parent_id\") as \"parentId\", \"spans\".\"type\" as \"type\", \"spans\".\"name\" as \"name\", \"spans\".\"model\" as \"model\", \"spans\".\"started_at\" as \"startedAtMs\", \"spans\".\"started_ns\" as \"startedNs\", \"spans\".\"finished_ns\" as \"finishedNs\", \"started_at\" + \"duration_ms\" as \"finishedAtMs\", \"input\" is not null as \"hasInput\", \"output\" is not null as \"hasOutput\", \"error\" is not null as \"hasError\" from \"spans\" where \"project_number\" = ? and \"trace_sequence\" = ? and \"span_id\" > ? order by \"span_id\" limit ?",
  cells: (params) => [params.projectNumber, params.sequence, packId(params.after), params.limit],
  row: (row: any) => ({
    traceSequence: row[0],
    spanId: row[1],
    parentId: row[2],
    type: spanTypes.value(row[3]),
    name: row[4],
    model: row[5],
    startedAtMs: row[6],
    startedNs: row[7],
    finishedNs: row[8],
    finishedAtMs: row[9],
    hasInput: row[10] === 1,
    hasOutput: row[11] === 1,
    hasError: row[12] === 1,
  }),
};

export const listSpansWithTexts: Compiled<typeof source.listSpansWithTexts> = {
  name: 'search.listSpansWithTexts',
  text: "select \"trace_sequence\" as \"traceSequence\", iif(typeof(\"span_id\") = 'blob', lower(hex(\"span_id\")), \"span_id\") as \"spanId\", iif(typeof(\"parent_id\") = 'blob', lower(hex(\"parent_id\")), \"parent_id\") as \"parentId\", \"spans\".\"type\" as \"type\", \"spans\".\"name\" as \"name\", \"spans\".\"model\" as \"model\", \"spans\".\"started_at\" as \"startedAtMs\", \"spans\".\"started_ns\" as \"startedNs\", \"spans\".\"finished_ns\" as \"finishedNs\", \"started_at\" + \"duration_ms\" as \"finishedAtMs\", \"input\" is not null as \"hasInput\", \"output\" is not null as \"hasOutput\", \"error\" is not null as \"hasError\", case when octet_length(\"input\") <= ? then \"input\" end as \"inputText\", case when octet_length(\"output\") <= ? then \"output\" end as \"outputText\" from \"spans\" where \"project_number\" = ? and \"trace_sequence\" in (select value from json_each(?))",
  cells: (params) => [params.bytesMax, params.bytesMax, params.projectNumber, JSON.stringify(params.sequences)],
  row: (row: any) => ({
    traceSequence: row[0],
    spanId: row[1],
    parentId: row[2],
    type: spanTypes.value(row[3]),
    name: row[4],
    model: row[5],
    startedAtMs: row[6],
    startedNs: row[7],
    finishedNs: row[8],
    finishedAtMs: row[9],
    hasInput: row[10] === 1,
    hasOutput: row[11] === 1,
    hasError: row[12] === 1,
    inputText: row[13],
    outputText: row[14],
  }),
};
