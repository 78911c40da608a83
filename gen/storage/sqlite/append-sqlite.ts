// Compiled from src/storage/append/queries-sqlite.ts by `npm run gen`: change it there.

import type { Compiled } from '../../../src/storage/queries.ts';
import { packEnvelope } from '../../../src/storage/engine/sqlite/compact-envelopes.ts';
import { packRequestKey } from '../../../src/storage/engine/sqlite/compact-ids.ts';
import type * as source from '../../../src/storage/append/queries-sqlite.ts';

export const findLastSequence: Compiled<typeof source.findLastSequence> = {
  name: 'append-sqlite.findLastSequence',
  text: "select max(\"sequence\") as \"sequence\" from \"traces\"",
  cells: () => [],
  row: (row: any) => ({
    sequence: row[0],
  }),
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
  text: "insert into \"requests\" (\"organization_number\", \"request_key\", \"project_number\", \"gateway_request_id\", \"state\", \"completed_by\", \"completed_at\", \"settled_at\", \"correction_at\", \"received_at\", \"nano_usd\", \"admission\", \"earlier_corrections\") values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
  cells: (params) => [params.organizationNumber, packRequestKey(params.key), params.projectNumber, params.gatewayRequestId ?? null, params.state, params.completedBy ?? null, params.completedEvent ?? null, params.settledEvent ?? null, params.correctionEvent ?? null, params.receivedAtMs, params.costNanoUsd ?? null, params.admissionJson ?? null, params.earlierCorrections ?? null],
};

export const replaceLogHeads: Compiled<typeof source.replaceLogHeads> = {
  name: 'append-sqlite.replaceLogHeads',
  text: "insert into \"log_heads\" (\"organization_number\", \"seq\", \"created_at\", \"last_key_index\") values (?, ?, ?, ?) on conflict (\"organization_number\") do update set \"seq\" = \"excluded\".\"seq\", \"created_at\" = \"excluded\".\"created_at\", \"last_key_index\" = \"excluded\".\"last_key_index\"",
  cells: (params) => [params.organizationNumber, params.seq, params.createdAtMs, params.lastKeyIndex],
};

export const replaceRequests: Compiled<typeof source.replaceRequests> = {
  name: 'append-sqlite.replaceRequests',
  text: "insert into \"requests\" (\"organization_number\", \"request_key\", \"project_number\", \"gateway_request_id\", \"state\", \"completed_by\", \"completed_at\", \"settled_at\", \"correction_at\", \"received_at\", \"nano_usd\", \"admission\", \"earlier_corrections\") values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) on conflict (\"organization_number\", \"request_key\") do update set \"project_number\" = \"excluded\".\"project_number\", \"gateway_request_id\" = \"excluded\".\"gateway_request_id\", \"state\" = \"excluded\".\"state\", \"completed_by\" = \"excluded\".\"completed_by\", \"completed_at\" = \"excluded\".\"completed_at\", \"settled_at\" = \"excluded\".\"settled_at\", \"correction_at\" = \"excluded\".\"correction_at\", \"received_at\" = \"excluded\".\"received_at\", \"nano_usd\" = \"excluded\".\"nano_usd\", \"admission\" = \"excluded\".\"admission\", \"earlier_corrections\" = \"excluded\".\"earlier_corrections\"",
  cells: (params) => [params.organizationNumber, packRequestKey(params.key), params.projectNumber, params.gatewayRequestId ?? null, params.state, params.completedBy ?? null, params.completedEvent ?? null, params.settledEvent ?? null, params.correctionEvent ?? null, params.receivedAtMs, params.costNanoUsd ?? null, params.admissionJson ?? null, params.earlierCorrections ?? null],
};
