// Compiled from src/storage/organization/queries.ts by `npm run gen`: change it there.

import type { Compiled } from '../../../src/storage/queries.ts';
import type * as source from '../../../src/storage/organization/queries.ts';

export const bumpAccessVersionFrom: Compiled<typeof source.bumpAccessVersionFrom> = {
  name: 'organization.bumpAccessVersionFrom',
  text: "update \"organizations\" set \"access_version\" = \"access_version\" + 1 where (\"id\" = ? and \"access_version\" = ?)",
  cells: (params) => [params.id, params.accessVersion],
};

export const bumpAccessVersionOfProject: Compiled<typeof source.bumpAccessVersionOfProject> = {
  name: 'organization.bumpAccessVersionOfProject',
  text: "update \"organizations\" set \"access_version\" = \"access_version\" + 1 where \"id\" = (select \"organization_id\" from \"projects\" where \"id\" = ? and \"archived_at\" is null)",
  cells: (params) => [params.projectId],
};

export const completeClaim: Compiled<typeof source.completeClaim> = {
  name: 'organization.completeClaim',
  text: "update \"idempotency_receipts\" set \"answer\" = ? where (\"organization_id\" = ? and \"key_id\" = ? and \"operation\" = ? and \"value\" = ?)",
  cells: (params) => [params.answer ?? null, params.organizationId, params.keyId, params.operation, params.value],
};

export const findAdministrators: Compiled<typeof source.findAdministrators> = {
  name: 'organization.findAdministrators',
  text: "select \"members\".\"organization_id\" as \"organizationId\", \"members\".\"user_id\" as \"userId\", \"members\".\"email\" as \"email\", \"members\".\"name\" as \"name\", \"members\".\"disabled_at\" as \"disabledAtMs\", \"members\".\"created_at\" as \"createdAtMs\", \"members\".\"updated_at\" as \"updatedAtMs\" from \"members\" where (\"email\" = ? and \"disabled_at\" is null) and exists (select \"role_bindings\".\"id\" as \"id\" from \"role_bindings\" where \"role_bindings\".\"organization_id\" = \"members\".\"organization_id\" and \"role_bindings\".\"user_id\" = \"members\".\"user_id\" and \"role\" = 'ADMIN' and \"scope_type\" = 'ORGANIZATION' and \"scope_id\" = \"members\".\"organization_id\") order by \"created_at\", \"user_id\"",
  cells: (params) => [params.email],
  row: (row: any) => ({
    organizationId: row[0],
    userId: row[1],
    email: row[2],
    name: row[3],
    disabledAtMs: row[4],
    createdAtMs: row[5],
    updatedAtMs: row[6],
  }),
};

export const findAnyOrganization: Compiled<typeof source.findAnyOrganization> = {
  name: 'organization.findAnyOrganization',
  text: "select \"number\" as \"number\" from \"organizations\" limit 1",
  cells: () => [],
  row: (row: any) => ({
    number: row[0],
  }),
};

export const findInstants: Compiled<typeof source.findInstants> = {
  name: 'organization.findInstants',
  text: "select (select \"trusted_at\" as \"trustedAtMs\" from \"installation\" where \"id\" = 1) as \"trustedAtMs\", (select max(\"created_at\") as \"atMs\" from \"log_heads\") as \"logEndAtMs\", (select sum(\"resets\") as \"sum\" from \"log_heads\") as \"logResets\", (select max(\"key_last_used_at\") as \"atMs\" from \"projects\") as \"keyUsedAtMs\"",
  cells: () => [],
  row: (row: any) => ({
    trustedAtMs: row[0],
    logEndAtMs: row[1],
    logResets: row[2],
    keyUsedAtMs: row[3],
  }),
};

export const findKeyHolder: Compiled<typeof source.findKeyHolder> = {
  name: 'organization.findKeyHolder',
  text: "select \"id\" as \"id\" from \"projects\" where \"id\" != ? and (\"key_hash\" = ? or (\"previous_key_hash\" = ? and \"previous_key_until\" > ?)) limit 1",
  cells: (params) => [params.id, params.keyHash, params.keyHash, params.atMs],
  row: (row: any) => ({
    id: row[0],
  }),
};

export const findMember: Compiled<typeof source.findMember> = {
  name: 'organization.findMember',
  text: "select \"members\".\"organization_id\" as \"organizationId\", \"members\".\"user_id\" as \"userId\", \"members\".\"email\" as \"email\", \"members\".\"name\" as \"name\", \"members\".\"disabled_at\" as \"disabledAtMs\", \"members\".\"created_at\" as \"createdAtMs\", \"members\".\"updated_at\" as \"updatedAtMs\" from \"members\" where (\"organization_id\" = ? and \"user_id\" = ?)",
  cells: (params) => [params.organizationId, params.userId],
  row: (row: any) => ({
    organizationId: row[0],
    userId: row[1],
    email: row[2],
    name: row[3],
    disabledAtMs: row[4],
    createdAtMs: row[5],
    updatedAtMs: row[6],
  }),
};

export const findOrganization: Compiled<typeof source.findOrganization> = {
  name: 'organization.findOrganization',
  text: "select \"organizations\".\"id\" as \"id\", \"organizations\".\"name\" as \"name\", \"organizations\".\"slug\" as \"slug\", \"organizations\".\"created_at\" as \"createdAtMs\", \"organizations\".\"updated_at\" as \"updatedAtMs\" from \"organizations\" where \"id\" = ?",
  cells: (params) => [params.id],
  row: (row: any) => ({
    id: row[0],
    name: row[1],
    slug: row[2],
    createdAtMs: row[3],
    updatedAtMs: row[4],
  }),
};

export const findProject: Compiled<typeof source.findProject> = {
  name: 'organization.findProject',
  text: "select \"projects\".\"id\" as \"id\", \"projects\".\"organization_id\" as \"organizationId\", \"projects\".\"team_id\" as \"teamId\", \"projects\".\"name\" as \"name\", \"projects\".\"slug\" as \"slug\", \"projects\".\"language\" as \"language\", \"projects\".\"framework\" as \"framework\", \"projects\".\"key_hash\" as \"keyHash\", \"projects\".\"key_hint\" as \"keyHint\", \"projects\".\"key_imported\" as \"keyImported\", \"projects\".\"previous_key_hash\" as \"previousKeyHash\", \"projects\".\"previous_key_until\" as \"previousKeyUntilMs\", \"projects\".\"previous_key_imported\" as \"previousKeyImported\", \"projects\".\"key_last_used_at\" as \"keyLastUsedAtMs\", \"projects\".\"created_at\" as \"createdAtMs\", \"projects\".\"updated_at\" as \"updatedAtMs\", \"projects\".\"archived_at\" as \"archivedAtMs\" from \"projects\" where (\"organization_id\" = ? and \"id\" = ?)",
  cells: (params) => [params.organizationId, params.id],
  row: (row: any) => ({
    id: row[0],
    organizationId: row[1],
    teamId: row[2],
    name: row[3],
    slug: row[4],
    language: row[5],
    framework: row[6],
    keyHash: row[7],
    keyHint: row[8],
    keyImported: row[9] === 1,
    previousKeyHash: row[10],
    previousKeyUntilMs: row[11],
    previousKeyImported: row[12] === null ? null : row[12] === 1,
    keyLastUsedAtMs: row[13],
    createdAtMs: row[14],
    updatedAtMs: row[15],
    archivedAtMs: row[16],
  }),
};

export const findProjectNumbers: Compiled<typeof source.findProjectNumbers> = {
  name: 'organization.findProjectNumbers',
  text: "select \"id\" as \"id\", \"number\" as \"number\" from \"projects\" where \"organization_id\" = ? and \"id\" = ?",
  cells: (params) => [params.organizationId, ...params.ids],
  row: (row: any) => ({
    id: row[0],
    number: row[1],
  }),
};

export const findReceipt: Compiled<typeof source.findReceipt> = {
  name: 'organization.findReceipt',
  text: "select \"idempotency_receipts\".\"fingerprint\" as \"fingerprint\", \"idempotency_receipts\".\"claimed_at\" as \"claimedAtMs\", \"idempotency_receipts\".\"answer\" as \"answer\" from \"idempotency_receipts\" where (\"organization_id\" = ? and \"key_id\" = ? and \"operation\" = ? and \"value\" = ?)",
  cells: (params) => [params.organizationId, params.keyId, params.operation, params.value],
  row: (row: any) => ({
    fingerprint: row[0],
    claimedAtMs: row[1],
    answer: row[2],
  }),
};

export const findSettings: Compiled<typeof source.findSettings> = {
  name: 'organization.findSettings',
  text: "select \"trace_retention_days\" as \"traceRetentionDays\", \"emit_request_events\" as \"emitRequestEvents\" from \"projects\" where \"id\" = ? and \"archived_at\" is null",
  cells: (params) => [params.id],
  row: (row: any) => ({
    traceRetentionDays: row[0],
    emitRequestEvents: row[1] === 1,
  }),
};

export const findVerifier: Compiled<typeof source.findVerifier> = {
  name: 'organization.findVerifier',
  text: "select \"verifier\" as \"verifier\" from \"installation\" where \"id\" = 1",
  cells: () => [],
  row: (row: any) => ({
    verifier: row[0],
  }),
};

export const findVersion: Compiled<typeof source.findVersion> = {
  name: 'organization.findVersion',
  text: "select \"access_version\" as \"accessVersion\" from \"organizations\" where \"id\" = ?",
  cells: (params) => [params.id],
  row: (row: any) => ({
    accessVersion: row[0],
  }),
};

export const insertClaim: Compiled<typeof source.insertClaim> = {
  name: 'organization.insertClaim',
  text: "insert into \"idempotency_receipts\" (\"organization_id\", \"key_id\", \"operation\", \"value\", \"fingerprint\", \"claimed_at\", \"answer\") values (?, ?, ?, ?, ?, ?, ?) on conflict do nothing",
  cells: (params) => [params.organizationId, params.keyId, params.operation, params.value, params.fingerprint, params.claimedAtMs, params.answer ?? null],
};

export const insertInstallation: Compiled<typeof source.insertInstallation> = {
  name: 'organization.insertInstallation',
  text: "insert into \"installation\" (\"id\", \"verifier\", \"trusted_at\") values (?, ?, ?) on conflict do nothing",
  cells: (params) => [params.id, params.verifier, params.trustedAtMs ?? null],
};

export const insertOrganization: Compiled<typeof source.insertOrganization> = {
  name: 'organization.insertOrganization',
  text: "insert into \"organizations\" (\"id\", \"name\", \"slug\", \"created_at\", \"updated_at\") values (?, ?, ?, ?, ?)",
  cells: (params) => [params.id, params.name, params.slug, params.createdAtMs, params.updatedAtMs],
};

export const insertProject: Compiled<typeof source.insertProject> = {
  name: 'organization.insertProject',
  text: "insert into \"projects\" (\"id\", \"organization_id\", \"team_id\", \"name\", \"slug\", \"language\", \"framework\", \"emit_request_events\", \"trace_retention_days\", \"key_hash\", \"key_hint\", \"key_imported\", \"previous_key_hash\", \"previous_key_until\", \"previous_key_imported\", \"key_last_used_at\", \"created_at\", \"updated_at\", \"archived_at\") values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
  cells: (params) => [params.id, params.organizationId, params.teamId, params.name, params.slug, params.language, params.framework, Number(params.emitRequestEvents), params.traceRetentionDays ?? null, params.keyHash, params.keyHint, Number(params.keyImported), params.previousKeyHash ?? null, params.previousKeyUntilMs ?? null, params.previousKeyImported == null ? null : Number(params.previousKeyImported), params.keyLastUsedAtMs ?? null, params.createdAtMs, params.updatedAtMs, params.archivedAtMs ?? null],
};

export const listMembers: Compiled<typeof source.listMembers> = {
  name: 'organization.listMembers',
  text: "select \"members\".\"organization_id\" as \"organizationId\", \"members\".\"user_id\" as \"userId\", \"members\".\"email\" as \"email\", \"members\".\"name\" as \"name\", \"members\".\"disabled_at\" as \"disabledAtMs\", \"members\".\"created_at\" as \"createdAtMs\", \"members\".\"updated_at\" as \"updatedAtMs\" from \"members\" where \"organization_id\" = ? order by \"created_at\", \"user_id\"",
  cells: (params) => [params.organizationId],
  row: (row: any) => ({
    organizationId: row[0],
    userId: row[1],
    email: row[2],
    name: row[3],
    disabledAtMs: row[4],
    createdAtMs: row[5],
    updatedAtMs: row[6],
  }),
};

export const listProjects: Compiled<typeof source.listProjects> = {
  name: 'organization.listProjects',
  text: "select \"projects\".\"id\" as \"id\", \"projects\".\"organization_id\" as \"organizationId\", \"projects\".\"team_id\" as \"teamId\", \"projects\".\"name\" as \"name\", \"projects\".\"slug\" as \"slug\", \"projects\".\"language\" as \"language\", \"projects\".\"framework\" as \"framework\", \"projects\".\"key_hash\" as \"keyHash\", \"projects\".\"key_hint\" as \"keyHint\", \"projects\".\"key_imported\" as \"keyImported\", \"projects\".\"previous_key_hash\" as \"previousKeyHash\", \"projects\".\"previous_key_until\" as \"previousKeyUntilMs\", \"projects\".\"previous_key_imported\" as \"previousKeyImported\", \"projects\".\"key_last_used_at\" as \"keyLastUsedAtMs\", \"projects\".\"created_at\" as \"createdAtMs\", \"projects\".\"updated_at\" as \"updatedAtMs\", \"projects\".\"archived_at\" as \"archivedAtMs\" from \"projects\" where (\"organization_id\" = ? and \"archived_at\" is null) order by \"created_at\", \"id\"",
  cells: (params) => [params.organizationId],
  row: (row: any) => ({
    id: row[0],
    organizationId: row[1],
    teamId: row[2],
    name: row[3],
    slug: row[4],
    language: row[5],
    framework: row[6],
    keyHash: row[7],
    keyHint: row[8],
    keyImported: row[9] === 1,
    previousKeyHash: row[10],
    previousKeyUntilMs: row[11],
    previousKeyImported: row[12] === null ? null : row[12] === 1,
    keyLastUsedAtMs: row[13],
    createdAtMs: row[14],
    updatedAtMs: row[15],
    archivedAtMs: row[16],
  }),
};

export const listRoleBindings: Compiled<typeof source.listRoleBindings> = {
  name: 'organization.listRoleBindings',
  text: "select \"role_bindings\".\"organization_id\" as \"organizationId\", \"role_bindings\".\"user_id\" as \"userId\", \"role_bindings\".\"id\" as \"id\", \"role_bindings\".\"role\" as \"role\", \"role_bindings\".\"scope_type\" as \"scopeType\", \"role_bindings\".\"scope_id\" as \"scopeId\", \"role_bindings\".\"permissions\" as \"permissionsJson\", \"role_bindings\".\"created_at\" as \"createdAtMs\" from \"role_bindings\" where \"organization_id\" = ? and (\"user_id\" = ? or cast(? as text) is null) order by \"created_at\", \"id\"",
  cells: (params) => [params.organizationId, params.userId, params.userId],
  row: (row: any) => ({
    organizationId: row[0],
    userId: row[1],
    id: row[2],
    role: row[3],
    scopeType: row[4],
    scopeId: row[5],
    permissionsJson: row[6],
    createdAtMs: row[7],
  }),
};

export const listTeams: Compiled<typeof source.listTeams> = {
  name: 'organization.listTeams',
  text: "select \"teams\".\"organization_id\" as \"organizationId\", \"teams\".\"id\" as \"id\", \"teams\".\"name\" as \"name\", \"teams\".\"slug\" as \"slug\", \"teams\".\"created_at\" as \"createdAtMs\", \"teams\".\"updated_at\" as \"updatedAtMs\" from \"teams\" where \"organization_id\" = ? order by \"created_at\", \"id\"",
  cells: (params) => [params.organizationId],
  row: (row: any) => ({
    organizationId: row[0],
    id: row[1],
    name: row[2],
    slug: row[3],
    createdAtMs: row[4],
    updatedAtMs: row[5],
  }),
};

export const lockClaim: Compiled<typeof source.lockClaim> = {
  name: 'organization.lockClaim',
  text: "select \"idempotency_receipts\".\"organization_id\" as \"organizationId\", \"idempotency_receipts\".\"key_id\" as \"keyId\", \"idempotency_receipts\".\"operation\" as \"operation\", \"idempotency_receipts\".\"value\" as \"value\", \"idempotency_receipts\".\"fingerprint\" as \"fingerprint\", \"idempotency_receipts\".\"claimed_at\" as \"claimedAtMs\", \"idempotency_receipts\".\"answer\" as \"answer\" from \"idempotency_receipts\" where (\"organization_id\" = ? and \"key_id\" = ? and \"operation\" = ? and \"value\" = ? and \"fingerprint\" = ? and \"answer\" is null)",
  cells: (params) => [params.organizationId, params.keyId, params.operation, params.value, params.fingerprint],
  row: (row: any) => ({
    organizationId: row[0],
    keyId: row[1],
    operation: row[2],
    value: row[3],
    fingerprint: row[4],
    claimedAtMs: row[5],
    answer: row[6],
  }),
};

export const lockProject: Compiled<typeof source.lockProject> = {
  name: 'organization.lockProject',
  text: "select \"number\" as \"number\" from \"projects\" where \"id\" = ?",
  cells: (params) => [params.projectId],
  row: (row: any) => ({
    number: row[0],
  }),
};

export const releaseClaim: Compiled<typeof source.releaseClaim> = {
  name: 'organization.releaseClaim',
  text: "delete from \"idempotency_receipts\" where (\"organization_id\" = ? and \"key_id\" = ? and \"operation\" = ? and \"value\" = ? and \"answer\" is null)",
  cells: (params) => [params.organizationId, params.keyId, params.operation, params.value],
};

export const removeMember: Compiled<typeof source.removeMember> = {
  name: 'organization.removeMember',
  text: "delete from \"members\" where (\"organization_id\" = ? and \"user_id\" = ?)",
  cells: (params) => [params.organizationId, params.userId],
};

export const removeOldReceipts: Compiled<typeof source.removeOldReceipts> = {
  name: 'organization.removeOldReceipts',
  text: "delete from \"idempotency_receipts\" where (\"organization_id\", \"key_id\", \"operation\", \"value\") in (select \"organization_id\", \"key_id\", \"operation\", \"value\" from \"idempotency_receipts\" where \"claimed_at\" < ? order by \"claimed_at\" limit ?)",
  cells: (params) => [params.beforeMs, params.limit],
};

export const removeRoleBinding: Compiled<typeof source.removeRoleBinding> = {
  name: 'organization.removeRoleBinding',
  text: "delete from \"role_bindings\" where (\"organization_id\" = ? and \"user_id\" = ? and \"id\" = ?)",
  cells: (params) => [params.organizationId, params.userId, params.id],
};

export const storeMember: Compiled<typeof source.storeMember> = {
  name: 'organization.storeMember',
  text: "insert into \"members\" (\"organization_id\", \"user_id\", \"email\", \"name\", \"disabled_at\", \"created_at\", \"updated_at\") values (?, ?, ?, ?, ?, ?, ?) on conflict (\"organization_id\", \"user_id\") do update set \"email\" = \"excluded\".\"email\", \"name\" = \"excluded\".\"name\", \"disabled_at\" = \"excluded\".\"disabled_at\", \"created_at\" = \"excluded\".\"created_at\", \"updated_at\" = \"excluded\".\"updated_at\"",
  cells: (params) => [params.organizationId, params.userId, params.email, params.name, params.disabledAtMs ?? null, params.createdAtMs, params.updatedAtMs],
};

export const storeRoleBinding: Compiled<typeof source.storeRoleBinding> = {
  name: 'organization.storeRoleBinding',
  text: "insert into \"role_bindings\" (\"organization_id\", \"user_id\", \"id\", \"role\", \"scope_type\", \"scope_id\", \"permissions\", \"created_at\") values (?, ?, ?, ?, ?, ?, ?, ?) on conflict (\"organization_id\", \"user_id\", \"id\") do update set \"role\" = \"excluded\".\"role\", \"scope_type\" = \"excluded\".\"scope_type\", \"scope_id\" = \"excluded\".\"scope_id\", \"permissions\" = \"excluded\".\"permissions\", \"created_at\" = \"excluded\".\"created_at\"",
  cells: (params) => [params.organizationId, params.userId, params.id, params.role, params.scopeType, params.scopeId, params.permissionsJson, params.createdAtMs],
};

export const storeTeam: Compiled<typeof source.storeTeam> = {
  name: 'organization.storeTeam',
  text: "insert into \"teams\" (\"organization_id\", \"id\", \"name\", \"slug\", \"created_at\", \"updated_at\") values (?, ?, ?, ?, ?, ?) on conflict (\"organization_id\", \"id\") do update set \"name\" = \"excluded\".\"name\", \"slug\" = \"excluded\".\"slug\", \"created_at\" = \"excluded\".\"created_at\", \"updated_at\" = \"excluded\".\"updated_at\"",
  cells: (params) => [params.organizationId, params.id, params.name, params.slug, params.createdAtMs, params.updatedAtMs],
};

export const takeOver: Compiled<typeof source.takeOver> = {
  name: 'organization.takeOver',
  text: "update \"idempotency_receipts\" set \"fingerprint\" = ?, \"claimed_at\" = ?, \"answer\" = ? where (\"organization_id\" = ? and \"key_id\" = ? and \"operation\" = ? and \"value\" = ? and \"claimed_at\" = ?)",
  cells: (params) => [params.fingerprint, params.claimedAtMs, params.answer ?? null, params.organizationId, params.keyId, params.operation, params.value, params.knownAtMs],
};

export const trust: Compiled<typeof source.trust> = {
  name: 'organization.trust',
  text: "update \"installation\" set \"trusted_at\" = ? where \"id\" = ?",
  cells: (params) => [params.trustedAtMs ?? null, 1],
};

export const updateOrganization: Compiled<typeof source.updateOrganization> = {
  name: 'organization.updateOrganization',
  text: "update \"organizations\" set \"name\" = ?, \"slug\" = ?, \"updated_at\" = ? where \"id\" = ?",
  cells: (params) => [params.name, params.slug, params.updatedAtMs, params.id],
};

export const updateProject: Compiled<typeof source.updateProject> = {
  name: 'organization.updateProject',
  text: "update \"projects\" set \"id\" = ?, \"organization_id\" = ?, \"team_id\" = ?, \"name\" = ?, \"slug\" = ?, \"language\" = ?, \"framework\" = ?, \"key_hash\" = ?, \"key_hint\" = ?, \"key_imported\" = ?, \"previous_key_hash\" = ?, \"previous_key_until\" = ?, \"previous_key_imported\" = ?, \"created_at\" = ?, \"updated_at\" = ?, \"archived_at\" = ? where (\"organization_id\" = ? and \"id\" = ?)",
  cells: (params) => [params.id, params.organizationId, params.teamId, params.name, params.slug, params.language, params.framework, params.keyHash, params.keyHint, Number(params.keyImported), params.previousKeyHash ?? null, params.previousKeyUntilMs ?? null, params.previousKeyImported == null ? null : Number(params.previousKeyImported), params.createdAtMs, params.updatedAtMs, params.archivedAtMs ?? null, params.organizationId, params.id],
};

export const updateSettings: Compiled<typeof source.updateSettings> = {
  name: 'organization.updateSettings',
  text: "update \"projects\" set \"emit_request_events\" = ?, \"trace_retention_days\" = ?, \"updated_at\" = ? where \"id\" = ?",
  cells: (params) => [Number(params.emitRequestEvents), params.traceRetentionDays ?? null, params.updatedAtMs, params.id],
};
