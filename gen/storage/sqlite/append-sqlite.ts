// Compiled from src/storage/append/queries-sqlite.ts by `npm run gen`: change it there.

import type { Compiled } from '../../../src/storage/queries.ts';
import { packEnvelope } from '../../../src/storage/engine/sqlite/compact-envelopes.ts';
import { packRequestKey } from '../../../src/storage/engine/sqlite/compact-ids.ts';
import { unpackRequestKey } from '../../../src/storage/engine/sqlite/compact-ids.ts';
import type * as source from '../../../src/storage/append/queries-sqlite.ts';

export const findIndexed: Compiled<typeof source.findIndexed> = {
  name: 'append-sqlite.findIndexed',
  text: "select \"indexed_requests\".\"id\" as \"id\", \"indexed_requests\".\"sequence\" as \"sequence\" from \"indexed_requests\" where \"indexed_requests\".\"id\" = ?",
  cells: (params) => [params.id],
  row: (row: any) => ({
    id: row[0],
    sequence: row[1],
  }),
};

export const findLastRequest: Compiled<typeof source.findLastRequest> = {
  name: 'append-sqlite.findLastRequest',
  text: "select max(\"sequence\") as \"sequence\" from \"requests\"",
  cells: () => [],
  row: (row: any) => ({
    sequence: row[0],
  }),
};

export const findLastSequence: Compiled<typeof source.findLastSequence> = {
  name: 'append-sqlite.findLastSequence',
  text: "select max(\"sequence\") as \"sequence\" from \"traces\"",
  cells: () => [],
  row: (row: any) => ({
    sequence: row[0],
  }),
};

export const findRequestAt: Compiled<typeof source.findRequestAt> = {
  name: 'append-sqlite.findRequestAt',
  text: "select \"requests\".\"organization_number\" as \"organizationNumber\", \"requests\".\"request_key\" as \"key\", \"requests\".\"project_number\" as \"projectNumber\", \"requests\".\"gateway_request_id\" as \"gatewayRequestId\", \"requests\".\"state\" as \"state\", \"requests\".\"completed_by\" as \"completedBy\", \"requests\".\"completed_at\" as \"completedEvent\", \"requests\".\"settled_at\" as \"settledEvent\", \"requests\".\"correction_at\" as \"correctionEvent\", \"requests\".\"received_at\" as \"receivedAtMs\", \"requests\".\"nano_usd\" as \"costNanoUsd\", \"requests\".\"admission\" as \"admissionJson\", \"requests\".\"earlier_corrections\" as \"earlierCorrections\" from \"requests\" where \"sequence\" = ?",
  cells: (params) => [params.sequence],
  row: (row: any) => ({
    organizationNumber: row[0],
    key: unpackRequestKey(row[1]),
    projectNumber: row[2],
    gatewayRequestId: row[3],
    state: row[4],
    completedBy: row[5],
    completedEvent: row[6],
    settledEvent: row[7],
    correctionEvent: row[8],
    receivedAtMs: row[9],
    costNanoUsd: row[10],
    admissionJson: row[11],
    earlierCorrections: row[12],
  }),
};

export const findRequestKey: Compiled<typeof source.findRequestKey> = {
  name: 'append-sqlite.findRequestKey',
  text: "select \"request_keys\".\"organization_number\" as \"organizationNumber\", \"request_keys\".\"request_key\" as \"key\", \"request_keys\".\"sequence\" as \"sequence\" from \"request_keys\" where \"request_keys\".\"organization_number\" = ? and \"request_keys\".\"request_key\" = ?",
  cells: (params) => [params.organizationNumber, packRequestKey(params.key)],
  row: (row: any) => ({
    organizationNumber: row[0],
    key: unpackRequestKey(row[1]),
    sequence: row[2],
  }),
};

export const indexRequest: Compiled<typeof source.indexRequest> = {
  name: 'append-sqlite.indexRequest',
  text: "replace into \"request_keys\" (\"organization_number\", \"request_key\", \"sequence\") select \"requests\".\"organization_number\", \"requests\".\"request_key\", \"requests\".\"sequence\" from \"requests\" where \"sequence\" = ?",
  cells: (params) => [params.sequence],
};

export const insertEnvelopes: Compiled<typeof source.insertEnvelopes> = {
  name: 'append-sqlite.insertEnvelopes',
  text: "insert into \"envelopes\" (\"organization_number\", \"seq\", \"envelope\") values (?, ?, ?)",
  cells: (params) => [params.organizationNumber, params.seq, packEnvelope(params.envelope)],
};

export const insertEvents: Compiled<typeof source.insertEvents> = {
  name: 'append-sqlite.insertEvents',
  text: "insert into \"events\" (\"organization_number\", \"created_at\", \"id\", \"type\", \"seq\") values (?, ?, ?, ?, ?)",
  cells: (params) => [params.organizationNumber, params.createdAtMs, params.id, params.type, params.seq],
};

export const insertGovernanceEvents: Compiled<typeof source.insertGovernanceEvents> = {
  name: 'append-sqlite.insertGovernanceEvents',
  text: "insert into \"governance_events\" (\"organization_number\", \"id\", \"created_at\", \"seq\") values (?, ?, ?, ?)",
  cells: (params) => [params.organizationNumber, params.id, params.createdAtMs, params.seq],
};

export const insertRequests: Compiled<typeof source.insertRequests> = {
  name: 'append-sqlite.insertRequests',
  text: "insert into \"requests\" (\"sequence\", \"organization_number\", \"request_key\", \"project_number\", \"gateway_request_id\", \"state\", \"completed_by\", \"completed_at\", \"settled_at\", \"correction_at\", \"received_at\", \"nano_usd\", \"admission\", \"earlier_corrections\") values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
  cells: (params) => [params.sequence, params.organizationNumber, packRequestKey(params.key), params.projectNumber, params.gatewayRequestId ?? null, params.state, params.completedBy ?? null, params.completedEvent ?? null, params.settledEvent ?? null, params.correctionEvent ?? null, params.receivedAtMs, params.costNanoUsd ?? null, params.admissionJson ?? null, params.earlierCorrections ?? null],
};

export const listRequestsAfter: Compiled<typeof source.listRequestsAfter> = {
  name: 'append-sqlite.listRequestsAfter',
  text: "select \"organization_number\" as \"organizationNumber\", \"request_key\" as \"key\", \"sequence\" as \"sequence\" from \"requests\" where \"sequence\" > ? order by \"sequence\"",
  cells: (params) => [params.sequence],
  row: (row: any) => ({
    organizationNumber: row[0],
    key: unpackRequestKey(row[1]),
    sequence: row[2],
  }),
};

export const removeRequestKey: Compiled<typeof source.removeRequestKey> = {
  name: 'append-sqlite.removeRequestKey',
  text: "delete from \"request_keys\" where \"request_keys\".\"organization_number\" = ? and \"request_keys\".\"request_key\" = ?",
  cells: (params) => [params.organizationNumber, packRequestKey(params.key)],
};

export const replaceIndexed: Compiled<typeof source.replaceIndexed> = {
  name: 'append-sqlite.replaceIndexed',
  text: "insert into \"indexed_requests\" (\"id\", \"sequence\") values (?, ?) on conflict (\"id\") do update set \"sequence\" = \"excluded\".\"sequence\"",
  cells: (params) => [params.id, params.sequence],
};

export const replaceLogHeads: Compiled<typeof source.replaceLogHeads> = {
  name: 'append-sqlite.replaceLogHeads',
  text: "insert into \"log_heads\" (\"organization_number\", \"seq\", \"created_at\", \"last_key_index\", \"resets\") values (?, ?, ?, ?, ?) on conflict (\"organization_number\") do update set \"seq\" = \"excluded\".\"seq\", \"created_at\" = \"excluded\".\"created_at\", \"last_key_index\" = \"excluded\".\"last_key_index\", \"resets\" = \"excluded\".\"resets\"",
  cells: (params) => [params.organizationNumber, params.seq, params.createdAtMs, params.lastKeyIndex, params.resets],
};

export const replaceRequests: Compiled<typeof source.replaceRequests> = {
  name: 'append-sqlite.replaceRequests',
  text: "insert into \"requests\" (\"sequence\", \"organization_number\", \"request_key\", \"project_number\", \"gateway_request_id\", \"state\", \"completed_by\", \"completed_at\", \"settled_at\", \"correction_at\", \"received_at\", \"nano_usd\", \"admission\", \"earlier_corrections\") values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) on conflict (\"sequence\") do update set \"organization_number\" = \"excluded\".\"organization_number\", \"request_key\" = \"excluded\".\"request_key\", \"project_number\" = \"excluded\".\"project_number\", \"gateway_request_id\" = \"excluded\".\"gateway_request_id\", \"state\" = \"excluded\".\"state\", \"completed_by\" = \"excluded\".\"completed_by\", \"completed_at\" = \"excluded\".\"completed_at\", \"settled_at\" = \"excluded\".\"settled_at\", \"correction_at\" = \"excluded\".\"correction_at\", \"received_at\" = \"excluded\".\"received_at\", \"nano_usd\" = \"excluded\".\"nano_usd\", \"admission\" = \"excluded\".\"admission\", \"earlier_corrections\" = \"excluded\".\"earlier_corrections\"",
  cells: (params) => [params.sequence, params.organizationNumber, packRequestKey(params.key), params.projectNumber, params.gatewayRequestId ?? null, params.state, params.completedBy ?? null, params.completedEvent ?? null, params.settledEvent ?? null, params.correctionEvent ?? null, params.receivedAtMs, params.costNanoUsd ?? null, params.admissionJson ?? null, params.earlierCorrections ?? null],
};
