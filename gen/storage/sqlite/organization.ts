// Compiled from src/storage/organization/questions.ts by `npm run gen`: change it there.

import type { Compiled } from '../../../src/storage/questions.ts';
import type * as source from '../../../src/storage/organization/questions.ts';

export const findAnyOrganization: Compiled<typeof source.findAnyOrganization> = {
  name: 'organization.findAnyOrganization',
  text: "select \"number\" as \"number\" from \"organizations\" limit 1",
  cells: () => [],
  row: (row: any) => ({
    number: row[0],
  }),
};

export const findProjectNumbers: Compiled<typeof source.findProjectNumbers> = {
  name: 'organization.findProjectNumbers',
  text: "select \"id\" as \"id\", \"number\" as \"number\" from \"projects\" where \"organization_id\" = ? and \"id\" = ?",
  cells: (given) => [given.organizationId, ...given.ids],
  row: (row: any) => ({
    id: row[0],
    number: row[1],
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

export const insertApiKey: Compiled<typeof source.insertApiKey> = {
  name: 'organization.insertApiKey',
  text: "insert into \"api_keys\" (\"id\", \"organization_id\", \"key_type\", \"name\", \"user_id\", \"permission_mode\", \"secret_hash\", \"imported\", \"created_at\", \"updated_at\") values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
  cells: (given) => [given.id, given.organizationId, given.keyType, given.name, given.userId, given.permissionMode, given.secretHash, Number(given.imported), given.createdAtMs, given.updatedAtMs],
};

export const insertApiKeyBinding: Compiled<typeof source.insertApiKeyBinding> = {
  name: 'organization.insertApiKeyBinding',
  text: "insert into \"api_key_bindings\" (\"api_key_id\", \"position\", \"id\", \"role\", \"scope_type\", \"scope_id\", \"permissions\") values (?, ?, ?, ?, ?, ?, ?)",
  cells: (given) => [given.apiKeyId, given.position, given.id, given.role, given.scopeType, given.scopeId, given.permissionsJson],
};

export const insertAuditEntry: Compiled<typeof source.insertAuditEntry> = {
  name: 'organization.insertAuditEntry',
  text: "insert into \"audit_log\" (\"organization_id\", \"id\", \"created_at\", \"actor_kind\", \"action\", \"target_type\", \"target_id\", \"outcome\", \"status\", \"fields\", \"count\") values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
  cells: (given) => [given.organizationId, given.id, given.createdAtMs, given.actorKind, given.action, given.targetType, given.targetId, given.outcome, given.status, given.fieldsJson, given.count],
};

export const insertInstallation: Compiled<typeof source.insertInstallation> = {
  name: 'organization.insertInstallation',
  text: "insert into \"installation\" (\"id\", \"verifier\") values (?, ?)",
  cells: (given) => [given.id, given.verifier],
};

export const insertMember: Compiled<typeof source.insertMember> = {
  name: 'organization.insertMember',
  text: "insert into \"members\" (\"organization_id\", \"user_id\", \"email\", \"name\", \"created_at\", \"updated_at\") values (?, ?, ?, ?, ?, ?)",
  cells: (given) => [given.organizationId, given.userId, given.email, given.name, given.createdAtMs, given.updatedAtMs],
};

export const insertOrganization: Compiled<typeof source.insertOrganization> = {
  name: 'organization.insertOrganization',
  text: "insert into \"organizations\" (\"id\", \"name\", \"slug\", \"created_at\", \"updated_at\", \"access_version\") values (?, ?, ?, ?, ?, ?)",
  cells: (given) => [given.id, given.name, given.slug, given.createdAtMs, given.updatedAtMs, given.accessVersion],
};

export const insertProject: Compiled<typeof source.insertProject> = {
  name: 'organization.insertProject',
  text: "insert into \"projects\" (\"id\", \"organization_id\", \"team_id\", \"name\", \"slug\", \"language\", \"framework\", \"emit_request_events\", \"key_hash\", \"key_hint\", \"key_imported\", \"created_at\", \"updated_at\") values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
  cells: (given) => [given.id, given.organizationId, given.teamId, given.name, given.slug, given.language, given.framework, Number(given.emitRequestEvents), given.keyHash, given.keyHint, Number(given.keyImported), given.createdAtMs, given.updatedAtMs],
};

export const insertRoleBinding: Compiled<typeof source.insertRoleBinding> = {
  name: 'organization.insertRoleBinding',
  text: "insert into \"role_bindings\" (\"organization_id\", \"user_id\", \"id\", \"role\", \"scope_type\", \"scope_id\", \"permissions\", \"created_at\") values (?, ?, ?, ?, ?, ?, ?, ?)",
  cells: (given) => [given.organizationId, given.userId, given.id, given.role, given.scopeType, given.scopeId, given.permissionsJson, given.createdAtMs],
};

export const insertTeam: Compiled<typeof source.insertTeam> = {
  name: 'organization.insertTeam',
  text: "insert into \"teams\" (\"organization_id\", \"id\", \"name\", \"slug\", \"created_at\", \"updated_at\") values (?, ?, ?, ?, ?, ?)",
  cells: (given) => [given.organizationId, given.id, given.name, given.slug, given.createdAtMs, given.updatedAtMs],
};
