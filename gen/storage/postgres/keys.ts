// Compiled from src/storage/keys/queries.ts by `npm run gen`: change it there.

import type { Compiled } from '../../../src/storage/queries.ts';
import type * as source from '../../../src/storage/keys/queries.ts';

export const findApiKeys: Compiled<typeof source.findApiKeys> = {
  name: 'keys.findApiKeys',
  text: "select \"api_keys\".\"id\" as \"id\", \"api_keys\".\"key_type\" as \"keyType\", \"api_keys\".\"organization_id\" as \"organizationId\", \"api_keys\".\"user_id\" as \"userId\", \"api_keys\".\"expires_at\" as \"expiresAtMs\", \"api_keys\".\"revoked_at\" as \"revokedAtMs\", \"api_keys\".\"secret_hash\" as \"secretHash\", \"api_keys\".\"previous_secret_hash\" as \"previousSecretHash\", \"api_keys\".\"previous_secret_until\" as \"previousSecretUntilMs\", \"organizations\".\"price_version\" as \"priceVersion\", \"organizations\".\"number\" as \"organizationNumber\", (\"api_keys\".\"key_type\" = 'service' or (\"members\".\"user_id\" is not null and \"members\".\"disabled_at\" is null)) as \"ownerActive\", (select coalesce(json_agg(agg), '[]') from (select \"grant\".\"role\" as \"role\", \"grant\".\"scope_type\" as \"scopeType\", \"grant\".\"scope_id\" as \"scopeId\", \"grant\".\"permissions\" as \"permissionsJson\" from \"api_key_bindings\" as \"grant\" where \"grant\".\"api_key_id\" = \"api_keys\".\"id\" and ((\"grant\".\"scope_type\" = 'ORGANIZATION' and \"grant\".\"scope_id\" = \"api_keys\".\"organization_id\") or (\"grant\".\"scope_type\" = 'TEAM' and exists (select \"teams\".\"id\" as \"id\" from \"teams\" where \"teams\".\"organization_id\" = \"api_keys\".\"organization_id\" and \"teams\".\"id\" = \"grant\".\"scope_id\")) or (\"grant\".\"scope_type\" = 'PROJECT' and exists (select \"projects\".\"id\" as \"id\" from \"projects\" where \"projects\".\"id\" = \"grant\".\"scope_id\" and \"projects\".\"organization_id\" = \"api_keys\".\"organization_id\" and \"projects\".\"archived_at\" is null))) order by \"grant\".\"position\") as agg) as \"bindings\", (select coalesce(json_agg(agg), '[]') from (select \"grant\".\"role\" as \"role\", \"grant\".\"scope_type\" as \"scopeType\", \"grant\".\"scope_id\" as \"scopeId\", \"grant\".\"permissions\" as \"permissionsJson\" from \"role_bindings\" as \"grant\" where \"grant\".\"organization_id\" = \"api_keys\".\"organization_id\" and \"grant\".\"user_id\" = \"api_keys\".\"user_id\" and ((\"grant\".\"scope_type\" = 'ORGANIZATION' and \"grant\".\"scope_id\" = \"api_keys\".\"organization_id\") or (\"grant\".\"scope_type\" = 'TEAM' and exists (select \"teams\".\"id\" as \"id\" from \"teams\" where \"teams\".\"organization_id\" = \"api_keys\".\"organization_id\" and \"teams\".\"id\" = \"grant\".\"scope_id\")) or (\"grant\".\"scope_type\" = 'PROJECT' and exists (select \"projects\".\"id\" as \"id\" from \"projects\" where \"projects\".\"id\" = \"grant\".\"scope_id\" and \"projects\".\"organization_id\" = \"api_keys\".\"organization_id\" and \"projects\".\"archived_at\" is null))) order by \"grant\".\"id\") as agg) as \"ownerBindings\" from \"api_keys\" inner join \"organizations\" on \"organizations\".\"id\" = \"api_keys\".\"organization_id\" left join \"members\" on \"members\".\"organization_id\" = \"api_keys\".\"organization_id\" and \"members\".\"user_id\" = \"api_keys\".\"user_id\" where \"api_keys\".\"id\" = any($1)",
  cells: (params) => [params.ids],
  row: (row) => row,
};

export const findProjects: Compiled<typeof source.findProjects> = {
  name: 'keys.findProjects',
  text: "select \"projects\".\"id\" as \"id\", \"projects\".\"number\" as \"number\", \"projects\".\"slug\" as \"slug\", \"projects\".\"organization_id\" as \"organizationId\", \"projects\".\"team_id\" as \"teamId\", \"projects\".\"emit_request_events\" as \"emitRequestEvents\", \"projects\".\"trace_retention_days\" as \"traceRetentionDays\", \"projects\".\"archived_at\" as \"archivedAtMs\", \"organizations\".\"price_version\" as \"priceVersion\", \"organizations\".\"number\" as \"organizationNumber\" from \"projects\" inner join \"organizations\" on \"organizations\".\"id\" = \"projects\".\"organization_id\" where \"projects\".\"archived_at\" is null and \"projects\".\"id\" = any($1)",
  cells: (params) => [params.ids],
  row: (row) => row,
};

export const findProjectsByKey: Compiled<typeof source.findProjectsByKey> = {
  name: 'keys.findProjectsByKey',
  text: "select \"projects\".\"id\" as \"id\", \"projects\".\"number\" as \"number\", \"projects\".\"slug\" as \"slug\", \"projects\".\"organization_id\" as \"organizationId\", \"projects\".\"team_id\" as \"teamId\", \"projects\".\"emit_request_events\" as \"emitRequestEvents\", \"projects\".\"trace_retention_days\" as \"traceRetentionDays\", \"projects\".\"archived_at\" as \"archivedAtMs\", \"organizations\".\"price_version\" as \"priceVersion\", \"organizations\".\"number\" as \"organizationNumber\", \"projects\".\"key_hash\" as \"keyHash\", cast(null as bigint) as \"untilMs\" from \"projects\" inner join \"organizations\" on \"organizations\".\"id\" = \"projects\".\"organization_id\" where \"projects\".\"archived_at\" is null and \"projects\".\"key_hash\" = any($1) union all select \"projects\".\"id\" as \"id\", \"projects\".\"number\" as \"number\", \"projects\".\"slug\" as \"slug\", \"projects\".\"organization_id\" as \"organizationId\", \"projects\".\"team_id\" as \"teamId\", \"projects\".\"emit_request_events\" as \"emitRequestEvents\", \"projects\".\"trace_retention_days\" as \"traceRetentionDays\", \"projects\".\"archived_at\" as \"archivedAtMs\", \"organizations\".\"price_version\" as \"priceVersion\", \"organizations\".\"number\" as \"organizationNumber\", \"projects\".\"previous_key_hash\" as \"keyHash\", \"projects\".\"previous_key_until\" as \"untilMs\" from \"projects\" inner join \"organizations\" on \"organizations\".\"id\" = \"projects\".\"organization_id\" where \"projects\".\"archived_at\" is null and \"projects\".\"previous_key_hash\" = any($2) and \"projects\".\"previous_key_until\" is not null",
  cells: (params) => [params.keyHashes, params.keyHashes],
  row: (row) => row,
};

export const hasImported: Compiled<typeof source.hasImported> = {
  name: 'keys.hasImported',
  text: "select (exists (select \"number\" as \"number\" from \"projects\" where (\"key_imported\" = true or \"previous_key_imported\" = true)) or exists (select \"id\" as \"id\" from \"api_keys\" where \"imported\" = true)) as \"hasImported\"",
  cells: () => [],
  row: (row) => row,
};

export const listKeyIds: Compiled<typeof source.listKeyIds> = {
  name: 'keys.listKeyIds',
  text: "select \"id\" as \"id\" from \"api_keys\"",
  cells: () => [],
  row: (row) => row,
};
