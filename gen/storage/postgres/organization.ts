// Compiled from src/storage/organization/queries.ts by `npm run gen`: change it there.

import type { Compiled } from '../../../src/storage/queries.ts';
import type * as source from '../../../src/storage/organization/queries.ts';

export const bumpAccessVersionFrom: Compiled<typeof source.bumpAccessVersionFrom> = {
  name: 'organization.bumpAccessVersionFrom',
  text: "update \"organizations\" set \"access_version\" = \"access_version\" + 1 where (\"id\" = $1 and \"access_version\" = $2)",
  cells: (params) => [params.id, params.accessVersion],
};

export const bumpAccessVersionOfProject: Compiled<typeof source.bumpAccessVersionOfProject> = {
  name: 'organization.bumpAccessVersionOfProject',
  text: "update \"organizations\" set \"access_version\" = \"access_version\" + 1 where \"id\" = (select \"organization_id\" from \"projects\" where \"id\" = $1 and \"archived_at\" is null)",
  cells: (params) => [params.projectId],
};

export const completeClaim: Compiled<typeof source.completeClaim> = {
  name: 'organization.completeClaim',
  text: "update \"idempotency_receipts\" set \"answer\" = $1 where (\"organization_id\" = $2 and \"key_id\" = $3 and \"operation\" = $4 and \"value\" = $5)",
  cells: (params) => [params.answer ?? null, params.organizationId, params.keyId, params.operation, params.value],
};

export const findAdministrators: Compiled<typeof source.findAdministrators> = {
  name: 'organization.findAdministrators',
  text: "select \"members\".\"organization_id\" as \"organizationId\", \"members\".\"user_id\" as \"userId\", \"members\".\"email\" as \"email\", \"members\".\"name\" as \"name\", \"members\".\"disabled_at\" as \"disabledAtMs\", \"members\".\"created_at\" as \"createdAtMs\", \"members\".\"updated_at\" as \"updatedAtMs\" from \"members\" where (\"email\" = $1 and \"disabled_at\" is null) and exists (select \"role_bindings\".\"id\" as \"id\" from \"role_bindings\" where \"role_bindings\".\"organization_id\" = \"members\".\"organization_id\" and \"role_bindings\".\"user_id\" = \"members\".\"user_id\" and \"role\" = 'ADMIN' and \"scope_type\" = 'ORGANIZATION' and \"scope_id\" = \"members\".\"organization_id\") order by \"created_at\", \"user_id\"",
  cells: (params) => [params.email],
  row: (row) => row,
};

export const findAnyOrganization: Compiled<typeof source.findAnyOrganization> = {
  name: 'organization.findAnyOrganization',
  text: "select \"number\" as \"number\" from \"organizations\" limit 1",
  cells: () => [],
  row: (row) => row,
};

export const findInstants: Compiled<typeof source.findInstants> = {
  name: 'organization.findInstants',
  text: "select (select \"trusted_at\" as \"trustedAtMs\" from \"installation\" where \"id\" = 1) as \"trustedAtMs\", (select max(\"created_at\") as \"atMs\" from \"log_heads\") as \"logEndAtMs\", (select sum(\"resets\") as \"sum\" from \"log_heads\") as \"logResets\", (select max(\"key_last_used_at\") as \"atMs\" from \"projects\") as \"keyUsedAtMs\"",
  cells: () => [],
  row: (row) => row,
};

export const findKeyHolder: Compiled<typeof source.findKeyHolder> = {
  name: 'organization.findKeyHolder',
  text: "select \"id\" as \"id\" from \"projects\" where \"id\" != $1 and (\"key_hash\" = $2 or (\"previous_key_hash\" = $3 and \"previous_key_until\" > $4)) limit 1",
  cells: (params) => [params.id, params.keyHash, params.keyHash, params.atMs],
  row: (row) => row,
};

export const findMember: Compiled<typeof source.findMember> = {
  name: 'organization.findMember',
  text: "select \"members\".\"organization_id\" as \"organizationId\", \"members\".\"user_id\" as \"userId\", \"members\".\"email\" as \"email\", \"members\".\"name\" as \"name\", \"members\".\"disabled_at\" as \"disabledAtMs\", \"members\".\"created_at\" as \"createdAtMs\", \"members\".\"updated_at\" as \"updatedAtMs\" from \"members\" where (\"organization_id\" = $1 and \"user_id\" = $2)",
  cells: (params) => [params.organizationId, params.userId],
  row: (row) => row,
};

export const findOrganization: Compiled<typeof source.findOrganization> = {
  name: 'organization.findOrganization',
  text: "select \"organizations\".\"id\" as \"id\", \"organizations\".\"name\" as \"name\", \"organizations\".\"slug\" as \"slug\", \"organizations\".\"created_at\" as \"createdAtMs\", \"organizations\".\"updated_at\" as \"updatedAtMs\" from \"organizations\" where \"id\" = $1",
  cells: (params) => [params.id],
  row: (row) => row,
};

export const findProject: Compiled<typeof source.findProject> = {
  name: 'organization.findProject',
  text: "select \"projects\".\"id\" as \"id\", \"projects\".\"organization_id\" as \"organizationId\", \"projects\".\"team_id\" as \"teamId\", \"projects\".\"name\" as \"name\", \"projects\".\"slug\" as \"slug\", \"projects\".\"language\" as \"language\", \"projects\".\"framework\" as \"framework\", \"projects\".\"key_hash\" as \"keyHash\", \"projects\".\"key_hint\" as \"keyHint\", \"projects\".\"key_imported\" as \"keyImported\", \"projects\".\"previous_key_hash\" as \"previousKeyHash\", \"projects\".\"previous_key_until\" as \"previousKeyUntilMs\", \"projects\".\"previous_key_imported\" as \"previousKeyImported\", \"projects\".\"key_last_used_at\" as \"keyLastUsedAtMs\", \"projects\".\"created_at\" as \"createdAtMs\", \"projects\".\"updated_at\" as \"updatedAtMs\", \"projects\".\"archived_at\" as \"archivedAtMs\" from \"projects\" where (\"organization_id\" = $1 and \"id\" = $2)",
  cells: (params) => [params.organizationId, params.id],
  row: (row) => row,
};

export const findProjectNumbers: Compiled<typeof source.findProjectNumbers> = {
  name: 'organization.findProjectNumbers',
  text: "select \"id\" as \"id\", \"number\" as \"number\" from \"projects\" where \"organization_id\" = $1 and \"id\" = any($2)",
  cells: (params) => [params.organizationId, params.ids],
  row: (row) => row,
};

export const findReceipt: Compiled<typeof source.findReceipt> = {
  name: 'organization.findReceipt',
  text: "select \"idempotency_receipts\".\"fingerprint\" as \"fingerprint\", \"idempotency_receipts\".\"claimed_at\" as \"claimedAtMs\", \"idempotency_receipts\".\"answer\" as \"answer\" from \"idempotency_receipts\" where (\"organization_id\" = $1 and \"key_id\" = $2 and \"operation\" = $3 and \"value\" = $4)",
  cells: (params) => [params.organizationId, params.keyId, params.operation, params.value],
  row: (row) => row,
};

export const findSettings: Compiled<typeof source.findSettings> = {
  name: 'organization.findSettings',
  text: "select \"trace_retention_days\" as \"traceRetentionDays\", \"emit_request_events\" as \"emitRequestEvents\" from \"projects\" where \"id\" = $1 and \"archived_at\" is null",
  cells: (params) => [params.id],
  row: (row) => row,
};

export const findVerifier: Compiled<typeof source.findVerifier> = {
  name: 'organization.findVerifier',
  text: "select \"verifier\" as \"verifier\" from \"installation\" where \"id\" = 1",
  cells: () => [],
  row: (row) => row,
};

export const findVersion: Compiled<typeof source.findVersion> = {
  name: 'organization.findVersion',
  text: "select \"access_version\" as \"accessVersion\" from \"organizations\" where \"id\" = $1",
  cells: (params) => [params.id],
  row: (row) => row,
};

export const insertClaim: Compiled<typeof source.insertClaim> = {
  name: 'organization.insertClaim',
  text: "insert into \"idempotency_receipts\" (\"organization_id\", \"key_id\", \"operation\", \"value\", \"fingerprint\", \"claimed_at\", \"answer\") values ($1, $2, $3, $4, $5, $6, $7) on conflict do nothing",
  cells: (params) => [params.organizationId, params.keyId, params.operation, params.value, params.fingerprint, params.claimedAtMs, params.answer ?? null],
};

export const insertInstallation: Compiled<typeof source.insertInstallation> = {
  name: 'organization.insertInstallation',
  text: "insert into \"installation\" (\"id\", \"verifier\", \"trusted_at\") values ($1, $2, $3) on conflict do nothing",
  cells: (params) => [params.id, params.verifier, params.trustedAtMs ?? null],
};

export const insertOrganization: Compiled<typeof source.insertOrganization> = {
  name: 'organization.insertOrganization',
  text: "insert into \"organizations\" (\"id\", \"name\", \"slug\", \"created_at\", \"updated_at\") values ($1, $2, $3, $4, $5)",
  cells: (params) => [params.id, params.name, params.slug, params.createdAtMs, params.updatedAtMs],
};

export const insertProject: Compiled<typeof source.insertProject> = {
  name: 'organization.insertProject',
  text: "insert into \"projects\" (\"id\", \"organization_id\", \"team_id\", \"name\", \"slug\", \"language\", \"framework\", \"emit_request_events\", \"trace_retention_days\", \"key_hash\", \"key_hint\", \"key_imported\", \"previous_key_hash\", \"previous_key_until\", \"previous_key_imported\", \"key_last_used_at\", \"created_at\", \"updated_at\", \"archived_at\") values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19)",
  cells: (params) => [params.id, params.organizationId, params.teamId, params.name, params.slug, params.language, params.framework, params.emitRequestEvents, params.traceRetentionDays ?? null, params.keyHash, params.keyHint, params.keyImported, params.previousKeyHash ?? null, params.previousKeyUntilMs ?? null, params.previousKeyImported ?? null, params.keyLastUsedAtMs ?? null, params.createdAtMs, params.updatedAtMs, params.archivedAtMs ?? null],
};

export const listMembers: Compiled<typeof source.listMembers> = {
  name: 'organization.listMembers',
  text: "select \"members\".\"organization_id\" as \"organizationId\", \"members\".\"user_id\" as \"userId\", \"members\".\"email\" as \"email\", \"members\".\"name\" as \"name\", \"members\".\"disabled_at\" as \"disabledAtMs\", \"members\".\"created_at\" as \"createdAtMs\", \"members\".\"updated_at\" as \"updatedAtMs\" from \"members\" where \"organization_id\" = $1 order by \"created_at\", \"user_id\"",
  cells: (params) => [params.organizationId],
  row: (row) => row,
};

export const listProjects: Compiled<typeof source.listProjects> = {
  name: 'organization.listProjects',
  text: "select \"projects\".\"id\" as \"id\", \"projects\".\"organization_id\" as \"organizationId\", \"projects\".\"team_id\" as \"teamId\", \"projects\".\"name\" as \"name\", \"projects\".\"slug\" as \"slug\", \"projects\".\"language\" as \"language\", \"projects\".\"framework\" as \"framework\", \"projects\".\"key_hash\" as \"keyHash\", \"projects\".\"key_hint\" as \"keyHint\", \"projects\".\"key_imported\" as \"keyImported\", \"projects\".\"previous_key_hash\" as \"previousKeyHash\", \"projects\".\"previous_key_until\" as \"previousKeyUntilMs\", \"projects\".\"previous_key_imported\" as \"previousKeyImported\", \"projects\".\"key_last_used_at\" as \"keyLastUsedAtMs\", \"projects\".\"created_at\" as \"createdAtMs\", \"projects\".\"updated_at\" as \"updatedAtMs\", \"projects\".\"archived_at\" as \"archivedAtMs\" from \"projects\" where (\"organization_id\" = $1 and \"archived_at\" is null) order by \"created_at\", \"id\"",
  cells: (params) => [params.organizationId],
  row: (row) => row,
};

export const listRoleBindings: Compiled<typeof source.listRoleBindings> = {
  name: 'organization.listRoleBindings',
  text: "select \"role_bindings\".\"organization_id\" as \"organizationId\", \"role_bindings\".\"user_id\" as \"userId\", \"role_bindings\".\"id\" as \"id\", \"role_bindings\".\"role\" as \"role\", \"role_bindings\".\"scope_type\" as \"scopeType\", \"role_bindings\".\"scope_id\" as \"scopeId\", \"role_bindings\".\"permissions\" as \"permissionsJson\", \"role_bindings\".\"created_at\" as \"createdAtMs\" from \"role_bindings\" where \"organization_id\" = $1 and (\"user_id\" = $2 or cast($3 as text) is null) order by \"created_at\", \"id\"",
  cells: (params) => [params.organizationId, params.userId, params.userId],
  row: (row) => row,
};

export const listTeams: Compiled<typeof source.listTeams> = {
  name: 'organization.listTeams',
  text: "select \"teams\".\"organization_id\" as \"organizationId\", \"teams\".\"id\" as \"id\", \"teams\".\"name\" as \"name\", \"teams\".\"slug\" as \"slug\", \"teams\".\"created_at\" as \"createdAtMs\", \"teams\".\"updated_at\" as \"updatedAtMs\" from \"teams\" where \"organization_id\" = $1 order by \"created_at\", \"id\"",
  cells: (params) => [params.organizationId],
  row: (row) => row,
};

export const lockClaim: Compiled<typeof source.lockClaim> = {
  name: 'organization.lockClaim',
  text: "select \"idempotency_receipts\".\"organization_id\" as \"organizationId\", \"idempotency_receipts\".\"key_id\" as \"keyId\", \"idempotency_receipts\".\"operation\" as \"operation\", \"idempotency_receipts\".\"value\" as \"value\", \"idempotency_receipts\".\"fingerprint\" as \"fingerprint\", \"idempotency_receipts\".\"claimed_at\" as \"claimedAtMs\", \"idempotency_receipts\".\"answer\" as \"answer\" from \"idempotency_receipts\" where (\"organization_id\" = $1 and \"key_id\" = $2 and \"operation\" = $3 and \"value\" = $4 and \"fingerprint\" = $5 and \"answer\" is null) for update",
  cells: (params) => [params.organizationId, params.keyId, params.operation, params.value, params.fingerprint],
  row: (row) => row,
};

export const lockProject: Compiled<typeof source.lockProject> = {
  name: 'organization.lockProject',
  text: "select \"number\" as \"number\" from \"projects\" where \"id\" = $1 for update",
  cells: (params) => [params.projectId],
  row: (row) => row,
};

export const releaseClaim: Compiled<typeof source.releaseClaim> = {
  name: 'organization.releaseClaim',
  text: "delete from \"idempotency_receipts\" where (\"organization_id\" = $1 and \"key_id\" = $2 and \"operation\" = $3 and \"value\" = $4 and \"answer\" is null)",
  cells: (params) => [params.organizationId, params.keyId, params.operation, params.value],
};

export const removeMember: Compiled<typeof source.removeMember> = {
  name: 'organization.removeMember',
  text: "delete from \"members\" where (\"organization_id\" = $1 and \"user_id\" = $2)",
  cells: (params) => [params.organizationId, params.userId],
};

export const removeOldReceipts: Compiled<typeof source.removeOldReceipts> = {
  name: 'organization.removeOldReceipts',
  text: "delete from \"idempotency_receipts\" where (\"organization_id\", \"key_id\", \"operation\", \"value\") in (select \"organization_id\", \"key_id\", \"operation\", \"value\" from \"idempotency_receipts\" where \"claimed_at\" < $1 order by \"claimed_at\" limit $2 for update skip locked)",
  cells: (params) => [params.beforeMs, params.limit],
};

export const removeRoleBinding: Compiled<typeof source.removeRoleBinding> = {
  name: 'organization.removeRoleBinding',
  text: "delete from \"role_bindings\" where (\"organization_id\" = $1 and \"user_id\" = $2 and \"id\" = $3)",
  cells: (params) => [params.organizationId, params.userId, params.id],
};

export const storeMember: Compiled<typeof source.storeMember> = {
  name: 'organization.storeMember',
  text: "insert into \"members\" (\"organization_id\", \"user_id\", \"email\", \"name\", \"disabled_at\", \"created_at\", \"updated_at\") values ($1, $2, $3, $4, $5, $6, $7) on conflict (\"organization_id\", \"user_id\") do update set \"email\" = \"excluded\".\"email\", \"name\" = \"excluded\".\"name\", \"disabled_at\" = \"excluded\".\"disabled_at\", \"created_at\" = \"excluded\".\"created_at\", \"updated_at\" = \"excluded\".\"updated_at\"",
  cells: (params) => [params.organizationId, params.userId, params.email, params.name, params.disabledAtMs ?? null, params.createdAtMs, params.updatedAtMs],
};

export const storeRoleBinding: Compiled<typeof source.storeRoleBinding> = {
  name: 'organization.storeRoleBinding',
  text: "insert into \"role_bindings\" (\"organization_id\", \"user_id\", \"id\", \"role\", \"scope_type\", \"scope_id\", \"permissions\", \"created_at\") values ($1, $2, $3, $4, $5, $6, $7, $8) on conflict (\"organization_id\", \"user_id\", \"id\") do update set \"role\" = \"excluded\".\"role\", \"scope_type\" = \"excluded\".\"scope_type\", \"scope_id\" = \"excluded\".\"scope_id\", \"permissions\" = \"excluded\".\"permissions\", \"created_at\" = \"excluded\".\"created_at\"",
  cells: (params) => [params.organizationId, params.userId, params.id, params.role, params.scopeType, params.scopeId, params.permissionsJson, params.createdAtMs],
};

export const storeTeam: Compiled<typeof source.storeTeam> = {
  name: 'organization.storeTeam',
  text: "insert into \"teams\" (\"organization_id\", \"id\", \"name\", \"slug\", \"created_at\", \"updated_at\") values ($1, $2, $3, $4, $5, $6) on conflict (\"organization_id\", \"id\") do update set \"name\" = \"excluded\".\"name\", \"slug\" = \"excluded\".\"slug\", \"created_at\" = \"excluded\".\"created_at\", \"updated_at\" = \"excluded\".\"updated_at\"",
  cells: (params) => [params.organizationId, params.id, params.name, params.slug, params.createdAtMs, params.updatedAtMs],
};

export const takeOver: Compiled<typeof source.takeOver> = {
  name: 'organization.takeOver',
  text: "update \"idempotency_receipts\" set \"fingerprint\" = $1, \"claimed_at\" = $2, \"answer\" = $3 where (\"organization_id\" = $4 and \"key_id\" = $5 and \"operation\" = $6 and \"value\" = $7 and \"claimed_at\" = $8)",
  cells: (params) => [params.fingerprint, params.claimedAtMs, params.answer ?? null, params.organizationId, params.keyId, params.operation, params.value, params.knownAtMs],
};

export const trust: Compiled<typeof source.trust> = {
  name: 'organization.trust',
  text: "update \"installation\" set \"trusted_at\" = $1 where \"id\" = $2",
  cells: (params) => [params.trustedAtMs ?? null, 1],
};

export const updateOrganization: Compiled<typeof source.updateOrganization> = {
  name: 'organization.updateOrganization',
  text: "update \"organizations\" set \"name\" = $1, \"slug\" = $2, \"updated_at\" = $3 where \"id\" = $4",
  cells: (params) => [params.name, params.slug, params.updatedAtMs, params.id],
};

export const updateProject: Compiled<typeof source.updateProject> = {
  name: 'organization.updateProject',
  text: "update \"projects\" set \"id\" = $1, \"organization_id\" = $2, \"team_id\" = $3, \"name\" = $4, \"slug\" = $5, \"language\" = $6, \"framework\" = $7, \"key_hash\" = $8, \"key_hint\" = $9, \"key_imported\" = $10, \"previous_key_hash\" = $11, \"previous_key_until\" = $12, \"previous_key_imported\" = $13, \"created_at\" = $14, \"updated_at\" = $15, \"archived_at\" = $16 where (\"organization_id\" = $17 and \"id\" = $18)",
  cells: (params) => [params.id, params.organizationId, params.teamId, params.name, params.slug, params.language, params.framework, params.keyHash, params.keyHint, params.keyImported, params.previousKeyHash ?? null, params.previousKeyUntilMs ?? null, params.previousKeyImported ?? null, params.createdAtMs, params.updatedAtMs, params.archivedAtMs ?? null, params.organizationId, params.id],
};

export const updateSettings: Compiled<typeof source.updateSettings> = {
  name: 'organization.updateSettings',
  text: "update \"projects\" set \"emit_request_events\" = $1, \"trace_retention_days\" = $2, \"updated_at\" = $3 where \"id\" = $4",
  cells: (params) => [params.emitRequestEvents, params.traceRetentionDays ?? null, params.updatedAtMs, params.id],
};
