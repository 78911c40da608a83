// Compiled from src/storage/keys/queries.ts by `npm run gen`: change it there.

import type { Compiled } from '../../../src/storage/queries.ts';
import type * as source from '../../../src/storage/keys/queries.ts';

export const findApiKeys: Compiled<typeof source.findApiKeys> = {
  name: 'keys.findApiKeys',
  text: "select \"api_keys\".\"id\" as \"id\", \"api_keys\".\"key_type\" as \"keyType\", \"api_keys\".\"organization_id\" as \"organizationId\", \"api_keys\".\"user_id\" as \"userId\", \"api_keys\".\"expires_at\" as \"expiresAtMs\", \"api_keys\".\"revoked_at\" as \"revokedAtMs\", \"api_keys\".\"secret_hash\" as \"secretHash\", \"api_keys\".\"previous_secret_hash\" as \"previousSecretHash\", \"api_keys\".\"previous_secret_until\" as \"previousSecretUntilMs\", \"organizations\".\"price_version\" as \"priceVersion\", \"organizations\".\"number\" as \"organizationNumber\", (\"api_keys\".\"key_type\" = 'service' or (\"members\".\"user_id\" is not null and \"members\".\"disabled_at\" is null)) as \"ownerActive\", (select coalesce(json_group_array(json_object('role', \"agg\".\"role\", 'scopeType', \"agg\".\"scopeType\", 'scopeId', \"agg\".\"scopeId\", 'permissionsJson', \"agg\".\"permissionsJson\")), '[]') from (select \"grant\".\"role\" as \"role\", \"grant\".\"scope_type\" as \"scopeType\", \"grant\".\"scope_id\" as \"scopeId\", \"grant\".\"permissions\" as \"permissionsJson\" from \"api_key_bindings\" as \"grant\" where \"grant\".\"api_key_id\" = \"api_keys\".\"id\" and ((\"grant\".\"scope_type\" = 'ORGANIZATION' and \"grant\".\"scope_id\" = \"api_keys\".\"organization_id\") or (\"grant\".\"scope_type\" = 'TEAM' and exists (select \"teams\".\"id\" as \"id\" from \"teams\" where \"teams\".\"organization_id\" = \"api_keys\".\"organization_id\" and \"teams\".\"id\" = \"grant\".\"scope_id\")) or (\"grant\".\"scope_type\" = 'PROJECT' and exists (select \"projects\".\"id\" as \"id\" from \"projects\" where \"projects\".\"id\" = \"grant\".\"scope_id\" and \"projects\".\"organization_id\" = \"api_keys\".\"organization_id\" and \"projects\".\"archived_at\" is null))) order by \"grant\".\"position\") as agg) as \"bindings\", (select coalesce(json_group_array(json_object('role', \"agg\".\"role\", 'scopeType', \"agg\".\"scopeType\", 'scopeId', \"agg\".\"scopeId\", 'permissionsJson', \"agg\".\"permissionsJson\")), '[]') from (select \"grant\".\"role\" as \"role\", \"grant\".\"scope_type\" as \"scopeType\", \"grant\".\"scope_id\" as \"scopeId\", \"grant\".\"permissions\" as \"permissionsJson\" from \"role_bindings\" as \"grant\" where \"grant\".\"organization_id\" = \"api_keys\".\"organization_id\" and \"grant\".\"user_id\" = \"api_keys\".\"user_id\" and ((\"grant\".\"scope_type\" = 'ORGANIZATION' and \"grant\".\"scope_id\" = \"api_keys\".\"organization_id\") or (\"grant\".\"scope_type\" = 'TEAM' and exists (select \"teams\".\"id\" as \"id\" from \"teams\" where \"teams\".\"organization_id\" = \"api_keys\".\"organization_id\" and \"teams\".\"id\" = \"grant\".\"scope_id\")) or (\"grant\".\"scope_type\" = 'PROJECT' and exists (select \"projects\".\"id\" as \"id\" from \"projects\" where \"projects\".\"id\" = \"grant\".\"scope_id\" and \"projects\".\"organization_id\" = \"api_keys\".\"organization_id\" and \"projects\".\"archived_at\" is null))) order by \"grant\".\"id\") as agg) as \"ownerBindings\" from \"api_keys\" inner join \"organizations\" on \"organizations\".\"id\" = \"api_keys\".\"organization_id\" left join \"members\" on \"members\".\"organization_id\" = \"api_keys\".\"organization_id\" and \"members\".\"user_id\" = \"api_keys\".\"user_id\" where \"api_keys\".\"id\" = ?",
  cells: (params) => [...params.ids],
  row: (row: any) => ({
    id: row[0],
    keyType: row[1],
    organizationId: row[2],
    userId: row[3],
    expiresAtMs: row[4],
    revokedAtMs: row[5],
    secretHash: row[6],
    previousSecretHash: row[7],
    previousSecretUntilMs: row[8],
    priceVersion: row[9],
    organizationNumber: row[10],
    ownerActive: row[11] === 1,
    bindings: JSON.parse(row[12]),
    ownerBindings: JSON.parse(row[13]),
  }),
};

export const findProjects: Compiled<typeof source.findProjects> = {
  name: 'keys.findProjects',
  text: "select \"projects\".\"id\" as \"id\", \"projects\".\"number\" as \"number\", \"projects\".\"slug\" as \"slug\", \"projects\".\"organization_id\" as \"organizationId\", \"projects\".\"team_id\" as \"teamId\", \"projects\".\"emit_request_events\" as \"emitRequestEvents\", \"projects\".\"trace_retention_days\" as \"traceRetentionDays\", \"projects\".\"archived_at\" as \"archivedAtMs\", \"organizations\".\"price_version\" as \"priceVersion\", \"organizations\".\"number\" as \"organizationNumber\" from \"projects\" inner join \"organizations\" on \"organizations\".\"id\" = \"projects\".\"organization_id\" where \"projects\".\"archived_at\" is null and \"projects\".\"id\" = ?",
  cells: (params) => [...params.ids],
  row: (row: any) => ({
    id: row[0],
    number: row[1],
    slug: row[2],
    organizationId: row[3],
    teamId: row[4],
    emitRequestEvents: row[5] === 1,
    traceRetentionDays: row[6],
    archivedAtMs: row[7],
    priceVersion: row[8],
    organizationNumber: row[9],
  }),
};

export const findProjectsByKey: Compiled<typeof source.findProjectsByKey> = {
  name: 'keys.findProjectsByKey',
  text: "select \"projects\".\"id\" as \"id\", \"projects\".\"number\" as \"number\", \"projects\".\"slug\" as \"slug\", \"projects\".\"organization_id\" as \"organizationId\", \"projects\".\"team_id\" as \"teamId\", \"projects\".\"emit_request_events\" as \"emitRequestEvents\", \"projects\".\"trace_retention_days\" as \"traceRetentionDays\", \"projects\".\"archived_at\" as \"archivedAtMs\", \"organizations\".\"price_version\" as \"priceVersion\", \"organizations\".\"number\" as \"organizationNumber\", \"projects\".\"key_hash\" as \"keyHash\", cast(null as bigint) as \"untilMs\" from \"projects\" inner join \"organizations\" on \"organizations\".\"id\" = \"projects\".\"organization_id\" where \"projects\".\"archived_at\" is null and \"projects\".\"key_hash\" = ? union all select \"projects\".\"id\" as \"id\", \"projects\".\"number\" as \"number\", \"projects\".\"slug\" as \"slug\", \"projects\".\"organization_id\" as \"organizationId\", \"projects\".\"team_id\" as \"teamId\", \"projects\".\"emit_request_events\" as \"emitRequestEvents\", \"projects\".\"trace_retention_days\" as \"traceRetentionDays\", \"projects\".\"archived_at\" as \"archivedAtMs\", \"organizations\".\"price_version\" as \"priceVersion\", \"organizations\".\"number\" as \"organizationNumber\", \"projects\".\"previous_key_hash\" as \"keyHash\", \"projects\".\"previous_key_until\" as \"untilMs\" from \"projects\" inner join \"organizations\" on \"organizations\".\"id\" = \"projects\".\"organization_id\" where \"projects\".\"archived_at\" is null and \"projects\".\"previous_key_hash\" = ? and \"projects\".\"previous_key_until\" is not null",
  cells: (params) => [...params.keyHashes, ...params.keyHashes],
  row: (row: any) => ({
    id: row[0],
    number: row[1],
    slug: row[2],
    organizationId: row[3],
    teamId: row[4],
    emitRequestEvents: row[5] === 1,
    traceRetentionDays: row[6],
    archivedAtMs: row[7],
    priceVersion: row[8],
    organizationNumber: row[9],
    keyHash: row[10],
    untilMs: row[11],
  }),
};

export const hasImported: Compiled<typeof source.hasImported> = {
  name: 'keys.hasImported',
  text: "select (exists (select \"number\" as \"number\" from \"projects\" where (\"key_imported\" = true or \"previous_key_imported\" = true)) or exists (select \"id\" as \"id\" from \"api_keys\" where \"imported\" = true)) as \"hasImported\"",
  cells: () => [],
  row: (row: any) => ({
    hasImported: row[0] === 1,
  }),
};

export const listKeyIds: Compiled<typeof source.listKeyIds> = {
  name: 'keys.listKeyIds',
  text: "select \"id\" as \"id\" from \"api_keys\"",
  cells: () => [],
  row: (row: any) => ({
    id: row[0],
  }),
};
