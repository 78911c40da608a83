import { defineEntity } from '@mikro-orm/core';
import type { Binding } from '../../domain/keys/permissions.ts';
import type { ApiKeyRecord } from '../../domain/management/management.ts';
import { bigInteger, bytes, enumText, flag, id, instant, integer, json, table, text, times } from './kinds.ts';

export const ApiKey = defineEntity({
  name: 'ApiKey',
  tableName: 'api_keys',
  properties: {
    id: id().primary(),
    organizationId: id(),
    keyType: enumText<ApiKeyRecord['keyType']>(),
    name: text(),
    description: text().strictNullable(),
    userId: id().strictNullable(),
    createdByUserId: id().strictNullable(),
    permissionMode: enumText<ApiKeyRecord['permissionMode']>(),
    secretHash: bytes(),
    imported: flag(),
    previousSecretHash: bytes().strictNullable(),
    previousSecretUntilMs: instant('previous_secret_until').strictNullable(),
    expiresAtMs: instant('expires_at').strictNullable(),
    revokedAtMs: instant('revoked_at').strictNullable(),
    lastUsedAtMs: instant('last_used_at').strictNullable(),
    ...times(),
  },
  indexes: [
    { name: 'api_keys_by_organization', properties: ['organizationId', 'createdAtMs', 'id'] },
    { name: 'api_keys_by_owner', properties: ['organizationId', 'userId'] },
    { name: 'api_keys_imported', properties: ['id'], where: 'imported = true' },
  ],
});

export const SessionRow = defineEntity({
  name: 'Session',
  tableName: 'sessions',
  properties: {
    organizationId: id().primary(),
    id: id().primary(),
    secretHash: bytes(),
    keyHash: bytes(),
    userId: id().strictNullable(),
    apiKeyId: id().strictNullable(),
    projectId: id().strictNullable(),
    userAgent: text().strictNullable(),
    ip: text().strictNullable(),
    createdAtMs: instant('created_at'),
    lastSeenAtMs: instant('last_seen_at'),
    expiresAtMs: instant('expires_at'),
  },
  indexes: [{ name: 'sessions_by_creation', properties: ['organizationId', 'createdAtMs', 'id'] }],
  uniques: [{ name: 'sessions_by_secret', properties: ['secretHash'] }],
});

/** The grants of keys. */
export const ApiKeyBinding = table('ApiKeyBinding', 'api_key_bindings', {
  apiKeyId: id().primary(),
  // The order in which the grants were given.
  position: integer().primary(),
  id: id(),
  role: enumText<Binding['role']>(),
  scopeType: enumText<Binding['scopeType']>(),
  scopeId: id(),
  permissionsJson: json('permissions'),
});

/**
 * PostgreSQL only: every process reads this number before it trusts its cache of keys and grants. SQLite has one
 * process, which knows its own changes. Triggers increase it; see the migration.
 */
export const AuthGeneration = defineEntity({
  name: 'AuthGeneration',
  tableName: 'auth_generation',
  properties: { id: integer().primary().autoincrement(false), number: bigInteger() },
  checks: [{ name: 'auth_generation_is_one', expression: 'id = 1' }],
});
