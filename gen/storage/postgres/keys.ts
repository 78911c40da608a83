// Compiled from src/storage/keys/queries.ts by `npm run gen`: change it there.

import type { Compiled } from '../../../src/storage/queries.ts';
import type * as source from '../../../src/storage/keys/queries.ts';

export const findApiKeys: Compiled<typeof source.findApiKeys> = {
  name: 'keys.findApiKeys',
  text: "select \"api_keys\".\"id\" as \"id\", \"api_keys\".\"key_type\" as \"keyType\", \"api_keys\".\"organization_id\" as \"organizationId\", \"api_keys\".\"user_id\" as \"userId\", \"api_keys\".\"expires_at\" as \"expiresAtMs\", \"api_keys\".\"revoked_at\" as \"revokedAtMs\", \"api_keys\".\"secret_hash\" as \"secretHash\", \"api_keys\".\"previous_secret_hash\" as \"previousSecretHash\", \"api_keys\".\"previous_secret_until\" as \"previousSecretUntilMs\", \"organizations\".\"price_version\" as \"priceVersion\", \"organizations\".\"number\" as \"organizationNumber\", (\"api_keys\".\"key_type\" = 'service' or (\"members\".\"user_id\" is not null and \"members\".\"disabled_at\" is null)) as \"ownerActive\", (select coalesce(json_agg(agg), '[]') from (select \"grant\".\"role\" as \"role\", \"grant\".\"scope_type\" as \"scopeType\", \"grant\".\"scope_id\" as \"scopeId\", \"grant\".\"permissions\" as \"permissionsJson\" from \"api_key_bindings\" as \"grant\" where \"grant\".\"api_key_id\" = \"api_keys\".\"id\" and ((\"grant\".\"scope_type\" = 'ORGANIZATION' and \"grant\".\"scope_id\" = \"api_keys\".\"organization_id\") or (\"grant\".\"scope_type\" = 'TEAM' and exists (select \"teams\".\"id\" as \"id\" from \"teams\" where \"teams\".\"organization_id\" = \"api_keys\".\"organization_id\" and \"teams\".\"id\" = \"grant\".\"scope_id\")) or (\"grant\".\"scope_type\" = 'PROJECT' and exists (select \"projects\".\"id\" as \"id\" from \"projects\" where \"projects\".\"id\" = \"grant\".\"scope_id\" and \"projects\".\"organization_id\" = \"api_keys\".\"organization_id\" and \"projects\".\"archived_at\" is null))) order by \"grant\".\"position\") as agg) as \"bindings\", (select coalesce(json_agg(agg), '[]') from (select \"grant\".\"role\" as \"role\", \"grant\".\"scope_type\" as \"scopeType\", \"grant\".\"scope_id\" as \"scopeId\", \"grant\".\"permissions\" as \"permissionsJson\" from \"role_bindings\" as \"grant\" where \"grant\".\"organization_id\" = \"api_keys\".\"organization_id\" and \"grant\".\"user_id\" = \"api_keys\".\"user_id\" and ((\"grant\".\"scope_type\" = 'ORGANIZATION' and \"grant\".\"scope_id\" = \"api_keys\".\"organization_id\") or (\"grant\".\"scope_type\" = 'TEAM' and exists (select \"teams\".\"id\" as \"id\" from \"teams\" where \"teams\".\"organization_id\" = \"api_keys\".\"organization_id\" and \"teams\".\"id\" = \"grant\".\"scope_id\")) or (\"grant\".\"scope_type\" = 'PROJECT' and exists (select \"projects\".\"id\" as \"id\" from \"projects\" where \"projects\".\"id\" = \"grant\".\"scope_id\" and \"projects\".\"organization_id\" = \"api_keys\".\"organization_id\" and \"projects\".\"archived_at\" is null))) order by \"grant\".\"id\") as agg) as \"ownerBindings\" from \"api_keys\" inner join \"organizations\" on \"organizations\".\"id\" = \"api_keys\".\"organization_id\" left join \"members\" on \"members\".\"organization_id\" = \"api_keys\".\"organization_id\" and \"members\".\"user_id\" = \"api_keys\".\"user_id\" where \"api_keys\".\"id\" = any($1)",
  cells: (params) => [params.ids],
  row: (row) => row,
};

export const findKey: Compiled<typeof source.findKey> = {
  name: 'keys.findKey',
  text: "select \"api_keys\".\"id\" as \"id\", \"api_keys\".\"organization_id\" as \"organizationId\", \"api_keys\".\"key_type\" as \"keyType\", \"api_keys\".\"name\" as \"name\", \"api_keys\".\"description\" as \"description\", \"api_keys\".\"user_id\" as \"userId\", \"api_keys\".\"created_by_user_id\" as \"createdByUserId\", \"api_keys\".\"permission_mode\" as \"permissionMode\", \"api_keys\".\"secret_hash\" as \"secretHash\", \"api_keys\".\"imported\" as \"imported\", \"api_keys\".\"previous_secret_hash\" as \"previousSecretHash\", \"api_keys\".\"previous_secret_until\" as \"previousSecretUntilMs\", \"api_keys\".\"expires_at\" as \"expiresAtMs\", \"api_keys\".\"revoked_at\" as \"revokedAtMs\", \"api_keys\".\"last_used_at\" as \"lastUsedAtMs\", \"api_keys\".\"created_at\" as \"createdAtMs\", \"api_keys\".\"updated_at\" as \"updatedAtMs\", (select coalesce(json_agg(agg), '[]') from (select \"grant\".\"id\" as \"id\", \"grant\".\"role\" as \"role\", \"grant\".\"scope_type\" as \"scopeType\", \"grant\".\"scope_id\" as \"scopeId\", \"grant\".\"permissions\" as \"permissionsJson\" from \"api_key_bindings\" as \"grant\" where \"grant\".\"api_key_id\" = \"api_keys\".\"id\" order by \"grant\".\"position\") as agg) as \"bindings\" from \"api_keys\" where \"organization_id\" = $1 and \"id\" = $2",
  cells: (params) => [params.organizationId, params.id],
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

export const insertKey: Compiled<typeof source.insertKey> = {
  name: 'keys.insertKey',
  text: "insert into \"api_keys\" (\"id\", \"organization_id\", \"key_type\", \"name\", \"description\", \"user_id\", \"created_by_user_id\", \"permission_mode\", \"secret_hash\", \"imported\", \"previous_secret_hash\", \"previous_secret_until\", \"expires_at\", \"revoked_at\", \"last_used_at\", \"created_at\", \"updated_at\") values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17)",
  cells: (params) => [params.id, params.organizationId, params.keyType, params.name, params.description ?? null, params.userId ?? null, params.createdByUserId ?? null, params.permissionMode, params.secretHash, params.imported, params.previousSecretHash ?? null, params.previousSecretUntilMs ?? null, params.expiresAtMs ?? null, params.revokedAtMs ?? null, params.lastUsedAtMs ?? null, params.createdAtMs, params.updatedAtMs],
};

export const insertKeyBinding: Compiled<typeof source.insertKeyBinding> = {
  name: 'keys.insertKeyBinding',
  text: "insert into \"api_key_bindings\" (\"api_key_id\", \"position\", \"id\", \"role\", \"scope_type\", \"scope_id\", \"permissions\") values ($1, $2, $3, $4, $5, $6, $7)",
  cells: (params) => [params.apiKeyId, params.position, params.id, params.role, params.scopeType, params.scopeId, params.permissionsJson],
};

export const listKeyIds: Compiled<typeof source.listKeyIds> = {
  name: 'keys.listKeyIds',
  text: "select \"id\" as \"id\" from \"api_keys\"",
  cells: () => [],
  row: (row) => row,
};

export const listKeys: Compiled<typeof source.listKeys> = {
  name: 'keys.listKeys',
  text: "select \"api_keys\".\"id\" as \"id\", \"api_keys\".\"organization_id\" as \"organizationId\", \"api_keys\".\"key_type\" as \"keyType\", \"api_keys\".\"name\" as \"name\", \"api_keys\".\"description\" as \"description\", \"api_keys\".\"user_id\" as \"userId\", \"api_keys\".\"created_by_user_id\" as \"createdByUserId\", \"api_keys\".\"permission_mode\" as \"permissionMode\", \"api_keys\".\"secret_hash\" as \"secretHash\", \"api_keys\".\"imported\" as \"imported\", \"api_keys\".\"previous_secret_hash\" as \"previousSecretHash\", \"api_keys\".\"previous_secret_until\" as \"previousSecretUntilMs\", \"api_keys\".\"expires_at\" as \"expiresAtMs\", \"api_keys\".\"revoked_at\" as \"revokedAtMs\", \"api_keys\".\"last_used_at\" as \"lastUsedAtMs\", \"api_keys\".\"created_at\" as \"createdAtMs\", \"api_keys\".\"updated_at\" as \"updatedAtMs\", (select coalesce(json_agg(agg), '[]') from (select \"grant\".\"id\" as \"id\", \"grant\".\"role\" as \"role\", \"grant\".\"scope_type\" as \"scopeType\", \"grant\".\"scope_id\" as \"scopeId\", \"grant\".\"permissions\" as \"permissionsJson\" from \"api_key_bindings\" as \"grant\" where \"grant\".\"api_key_id\" = \"api_keys\".\"id\" order by \"grant\".\"position\") as agg) as \"bindings\" from \"api_keys\" where \"organization_id\" = $1 and (\"key_type\" = 'service' or \"user_id\" = $2 or $3 = 'all') and (\"revoked_at\" is null or \"revoked_at\" < $4) and (\"created_at\", \"id\") < ($5, $6) order by \"created_at\" desc, \"id\" desc limit $7",
  cells: (params) => [params.organizationId, params.personalOf, params.personalOf, params.revokedBeforeMs, params.createdAtMs, params.id, params.limit],
  row: (row) => row,
};

export const listKeysOf: Compiled<typeof source.listKeysOf> = {
  name: 'keys.listKeysOf',
  text: "select \"api_keys\".\"id\" as \"id\", \"api_keys\".\"organization_id\" as \"organizationId\", \"api_keys\".\"key_type\" as \"keyType\", \"api_keys\".\"name\" as \"name\", \"api_keys\".\"description\" as \"description\", \"api_keys\".\"user_id\" as \"userId\", \"api_keys\".\"created_by_user_id\" as \"createdByUserId\", \"api_keys\".\"permission_mode\" as \"permissionMode\", \"api_keys\".\"secret_hash\" as \"secretHash\", \"api_keys\".\"imported\" as \"imported\", \"api_keys\".\"previous_secret_hash\" as \"previousSecretHash\", \"api_keys\".\"previous_secret_until\" as \"previousSecretUntilMs\", \"api_keys\".\"expires_at\" as \"expiresAtMs\", \"api_keys\".\"revoked_at\" as \"revokedAtMs\", \"api_keys\".\"last_used_at\" as \"lastUsedAtMs\", \"api_keys\".\"created_at\" as \"createdAtMs\", \"api_keys\".\"updated_at\" as \"updatedAtMs\", (select coalesce(json_agg(agg), '[]') from (select \"grant\".\"id\" as \"id\", \"grant\".\"role\" as \"role\", \"grant\".\"scope_type\" as \"scopeType\", \"grant\".\"scope_id\" as \"scopeId\", \"grant\".\"permissions\" as \"permissionsJson\" from \"api_key_bindings\" as \"grant\" where \"grant\".\"api_key_id\" = \"api_keys\".\"id\" order by \"grant\".\"position\") as agg) as \"bindings\" from \"api_keys\" where \"organization_id\" = $1 and \"user_id\" = $2 order by \"created_at\" desc, \"id\" desc",
  cells: (params) => [params.organizationId, params.userId],
  row: (row) => row,
};

export const lockAvailableKeys: Compiled<typeof source.lockAvailableKeys> = {
  name: 'keys.lockAvailableKeys',
  text: "select \"id\" as \"id\" from \"api_keys\" where \"id\" = any($1) for update skip locked",
  cells: (params) => [params.ids],
  row: (row) => row,
};

export const lockAvailableProjects: Compiled<typeof source.lockAvailableProjects> = {
  name: 'keys.lockAvailableProjects',
  text: "select \"id\" as \"id\" from \"projects\" where \"id\" = any($1) for update skip locked",
  cells: (params) => [params.ids],
  row: (row) => row,
};

export const noteKeyUse: Compiled<typeof source.noteKeyUse> = {
  name: 'keys.noteKeyUse',
  text: "update \"api_keys\" set \"last_used_at\" = $1 where \"id\" = $2 and (\"last_used_at\" is null or \"last_used_at\" < $3)",
  cells: (params) => [params.atMs ?? null, params.id, params.atMs ?? null],
};

export const noteProjectKeyUse: Compiled<typeof source.noteProjectKeyUse> = {
  name: 'keys.noteProjectKeyUse',
  text: "update \"projects\" set \"key_last_used_at\" = $1 where \"id\" = $2 and (\"key_last_used_at\" is null or \"key_last_used_at\" < $3)",
  cells: (params) => [params.atMs ?? null, params.id, params.atMs ?? null],
};

export const removeKeyBindings: Compiled<typeof source.removeKeyBindings> = {
  name: 'keys.removeKeyBindings',
  text: "delete from \"api_key_bindings\" where \"api_key_id\" = $1",
  cells: (params) => [params.apiKeyId],
};

export const updateKey: Compiled<typeof source.updateKey> = {
  name: 'keys.updateKey',
  text: "update \"api_keys\" set \"id\" = $1, \"organization_id\" = $2, \"key_type\" = $3, \"name\" = $4, \"description\" = $5, \"user_id\" = $6, \"created_by_user_id\" = $7, \"permission_mode\" = $8, \"secret_hash\" = $9, \"imported\" = $10, \"previous_secret_hash\" = $11, \"previous_secret_until\" = $12, \"expires_at\" = $13, \"revoked_at\" = $14, \"created_at\" = $15, \"updated_at\" = $16 where (\"organization_id\" = $17 and \"id\" = $18)",
  cells: (params) => [params.id, params.organizationId, params.keyType, params.name, params.description ?? null, params.userId ?? null, params.createdByUserId ?? null, params.permissionMode, params.secretHash, params.imported, params.previousSecretHash ?? null, params.previousSecretUntilMs ?? null, params.expiresAtMs ?? null, params.revokedAtMs ?? null, params.createdAtMs, params.updatedAtMs, params.organizationId, params.id],
};
