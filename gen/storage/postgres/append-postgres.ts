// Compiled from src/storage/append/queries-postgres.ts by `npm run gen`: change it there.

import type { Compiled, CompiledMany } from '../../../src/storage/queries.ts';
import { int4Array } from '../../../src/storage/engine/postgres/binary-arrays.ts';
import { int8Array } from '../../../src/storage/engine/postgres/binary-arrays.ts';
import { textArray } from '../../../src/storage/engine/postgres/binary-arrays.ts';
import type * as source from '../../../src/storage/append/queries-postgres.ts';

export const deleteEvaluations: Compiled<typeof source.deleteEvaluations> = {
  name: 'append-postgres.deleteEvaluations',
  text: "delete from \"evaluations\" using unnest($1::int[], $2::bigint[]) as given (v0, v1) where \"project_number\" = \"given\".\"v0\" and \"trace_sequence\" = \"given\".\"v1\"",
  cells: (rows) => [int4Array(rows, (params) => params.projectNumber), int8Array(rows, (params) => params.sequence)],
};

export const deleteRequests: Compiled<typeof source.deleteRequests> = {
  name: 'append-postgres.deleteRequests',
  text: "delete from \"requests\" using unnest($1::int[], $2::bigint[], $3::text[]) as given (v0, v1, v2) where (\"organization_number\" = \"given\".\"v0\" and \"changed_at\" = \"given\".\"v1\" and \"request_key\" = \"given\".\"v2\")",
  cells: (rows) => [int4Array(rows, (params) => params.organizationNumber), int8Array(rows, (params) => params.changedAtMs), textArray(rows, (params) => params.key)],
};

export const deleteSpans: Compiled<typeof source.deleteSpans> = {
  name: 'append-postgres.deleteSpans',
  text: "delete from \"spans\" using unnest($1::int[], $2::bigint[]) as given (v0, v1) where \"project_number\" = \"given\".\"v0\" and \"trace_sequence\" = \"given\".\"v1\"",
  cells: (rows) => [int4Array(rows, (params) => params.projectNumber), int8Array(rows, (params) => params.sequence)],
};

export const deleteTexts: Compiled<typeof source.deleteTexts> = {
  name: 'append-postgres.deleteTexts',
  text: "delete from \"trace_texts\" using unnest($1::int[], $2::bigint[]) as given (v0, v1) where \"project_number\" = \"given\".\"v0\" and \"trace_sequence\" = \"given\".\"v1\"",
  cells: (rows) => [int4Array(rows, (params) => params.projectNumber), int8Array(rows, (params) => params.sequence)],
};

export const deleteTraces: Compiled<typeof source.deleteTraces> = {
  name: 'append-postgres.deleteTraces',
  text: "delete from \"traces\" using unnest($1::int[], $2::text[]) as given (v0, v1) where (\"project_number\" = \"given\".\"v0\" and \"trace_id\" = \"given\".\"v1\")",
  cells: (rows) => [int4Array(rows, (params) => params.projectNumber), textArray(rows, (params) => params.traceId)],
};

export const deleteUsageNodes: Compiled<typeof source.deleteUsageNodes> = {
  name: 'append-postgres.deleteUsageNodes',
  text: "delete from \"usage_nodes\" using unnest($1::int[], $2::bigint[]) as given (v0, v1) where \"project_number\" = \"given\".\"v0\" and \"trace_sequence\" = \"given\".\"v1\"",
  cells: (rows) => [int4Array(rows, (params) => params.projectNumber), int8Array(rows, (params) => params.sequence)],
};

export const insertEvents: CompiledMany<typeof source.insertEvents> = {
  name: 'append-postgres.insertEvents',
  text: "insert into \"events\" (\"organization_number\", \"created_at\", \"id\", \"type\", \"seq\", \"envelope\") select \"given\".\"organization_number\", head.created_at, \"given\".\"id\", \"given\".\"type\", head.seq + \"given\".seq, replace(\"given\".envelope, E'\\x01', head.created) from unnest($1::\"events\"[]) as \"given\" join head on head.organization_number = \"given\".organization_number",
  cells: (params) => [params.organizationNumber, params.createdAtMs, params.id, params.type, params.seq, params.envelope],
  table: 'events',
  columns: ["organization_number","created_at","id","type","seq","envelope"],
};

export const insertGovernanceEvents: CompiledMany<typeof source.insertGovernanceEvents> = {
  name: 'append-postgres.insertGovernanceEvents',
  text: "insert into \"governance_events\" (\"organization_number\", \"id\", \"created_at\", \"seq\") select \"given\".\"organization_number\", \"given\".\"id\", head.created_at, head.seq + \"given\".seq from unnest($1::\"governance_events\"[]) as \"given\" join head on head.organization_number = \"given\".organization_number",
  cells: (params) => [params.organizationNumber, params.id, params.createdAtMs, params.seq],
  table: 'governance_events',
  columns: ["organization_number","id","created_at","seq"],
};

export const insertRequestKeys: CompiledMany<typeof source.insertRequestKeys> = {
  name: 'append-postgres.insertRequestKeys',
  text: "insert into \"request_keys\" (\"organization_number\", \"request_key\", \"changed_at\") select \"given\".\"organization_number\", \"given\".\"request_key\", greatest(\"given\".changed_at, (select floor(extract(epoch from now()) * 1000)::bigint)) from unnest($1::\"request_keys\"[]) as \"given\"",
  cells: (params) => [params.organizationNumber, params.key, params.changedAtMs],
  table: 'request_keys',
  columns: ["organization_number","request_key","changed_at"],
};

export const insertRequests: CompiledMany<typeof source.insertRequests> = {
  name: 'append-postgres.insertRequests',
  text: "insert into \"requests\" (\"organization_number\", \"changed_at\", \"request_key\", \"project_number\", \"gateway_request_id\", \"state\", \"completed_by\", \"completed_at\", \"settled_at\", \"correction_at\", \"received_at\", \"nano_usd\", \"admission\", \"earlier_corrections\") select \"given\".\"organization_number\", greatest(\"given\".changed_at, (select floor(extract(epoch from now()) * 1000)::bigint)), \"given\".\"request_key\", \"given\".\"project_number\", \"given\".\"gateway_request_id\", \"given\".\"state\", \"given\".\"completed_by\", case \"given\".completed_at when 0 then head.created_at else \"given\".completed_at end, case \"given\".settled_at when 0 then head.created_at else \"given\".settled_at end, case \"given\".correction_at when 0 then head.created_at else \"given\".correction_at end, \"given\".\"received_at\", \"given\".\"nano_usd\", \"given\".\"admission\", regexp_replace(\"given\".earlier_corrections, '\\y0\\y', head.created_at::text, 'g') from unnest($1::\"requests\"[]) as \"given\" join head on head.organization_number = \"given\".organization_number",
  cells: (params) => [params.organizationNumber, params.changedAtMs, params.key, params.projectNumber, params.gatewayRequestId ?? null, params.state, params.completedBy ?? null, params.completedEvent ?? null, params.settledEvent ?? null, params.correctionEvent ?? null, params.receivedAtMs, params.costNanoUsd ?? null, params.admissionJson ?? null, params.earlierCorrections ?? null],
  table: 'requests',
  columns: ["organization_number","changed_at","request_key","project_number","gateway_request_id","state","completed_by","completed_at","settled_at","correction_at","received_at","nano_usd","admission","earlier_corrections"],
};

export const lockRequestKeys: CompiledMany<typeof source.lockRequestKeys> = {
  name: 'append-postgres.lockRequestKeys',
  text: "select \"request_keys\".\"organization_number\" as \"organizationNumber\", \"request_keys\".\"request_key\" as \"key\" from \"request_keys\" inner join unnest($1::int[], $2::text[]) as \"given\" (key_0, key_1) on \"request_keys\".\"organization_number\" = \"given\".key_0 and \"request_keys\".\"request_key\" = \"given\".key_1 order by \"request_keys\".\"organization_number\", \"request_keys\".\"request_key\" for update of \"request_keys\"",
  cells: (rows) => [int4Array(rows, (params) => params.organizationNumber), textArray(rows, (params) => params.key)],
  row: (row) => row,
  nameOf: (params) => `${params.organizationNumber} ${params.key}`,
};

export const replaceRequestKeys: CompiledMany<typeof source.replaceRequestKeys> = {
  name: 'append-postgres.replaceRequestKeys',
  text: "insert into \"request_keys\" (\"organization_number\", \"request_key\", \"changed_at\") select \"given\".\"organization_number\", \"given\".\"request_key\", greatest(\"given\".changed_at, (select floor(extract(epoch from now()) * 1000)::bigint)) from unnest($1::\"request_keys\"[]) as \"given\" on conflict (\"organization_number\", \"request_key\") do update set \"changed_at\" = \"excluded\".\"changed_at\"",
  cells: (params) => [params.organizationNumber, params.key, params.changedAtMs],
  table: 'request_keys',
  columns: ["organization_number","request_key","changed_at"],
};
