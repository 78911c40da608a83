import { defineEntity } from '@mikro-orm/core';
import type { ApiKeyRecord } from '../../domain/management.ts';
import type { Binding } from '../../domain/permissions.ts';
import { bytes, flag, id, instant, json, large, text, whole, word } from './kinds.ts';

export const ApiKey = defineEntity({
  name: 'ApiKey',
  tableName: 'api_keys',
  properties: {
    id: id().primary(),
    organizationId: id(),
    keyType: word<ApiKeyRecord['keyType']>(),
    name: text(),
    description: text().strictNullable(),
    userId: id().strictNullable(),
    createdByUserId: id().strictNullable(),
    permissionMode: word<ApiKeyRecord['permissionMode']>(),
    secretHash: bytes(),
    imported: flag(),
    previousSecretHash: bytes().strictNullable(),
    previousSecretUntilMs: instant('previous_secret_until').strictNullable(),
    expiresAtMs: instant('expires_at').strictNullable(),
    revokedAtMs: instant('revoked_at').strictNullable(),
    lastUsedAtMs: instant('last_used_at').strictNullable(),
    createdAtMs: instant('created_at'),
    updatedAtMs: instant('updated_at'),
  },
  indexes: [
    { name: 'api_keys_by_organization', properties: ['organizationId', 'createdAtMs', 'id'] },
    { name: 'api_keys_by_owner', properties: ['organizationId', 'userId'] },
    { name: 'api_keys_imported', properties: ['id'], where: 'imported = true' },
  ],
});

/** The grants of keys. */
export const ApiKeyBinding = defineEntity({
  name: 'ApiKeyBinding',
  tableName: 'api_key_bindings',
  properties: {
    apiKeyId: id().primary(),
    // The order in which the grants were given.
    position: whole().primary(),
    id: id(),
    role: word<Binding['role']>(),
    scopeType: word<Binding['scopeType']>(),
    scopeId: id(),
    permissionsJson: json('permissions'),
  },
});

/**
 * PostgreSQL only: every process asks for this number before it trusts what it remembers of keys and grants. SQLite has
 * one process, which knows what it changes. Triggers count in it; see the migration.
 */
export const AuthGeneration = defineEntity({
  name: 'AuthGeneration',
  tableName: 'auth_generation',
  properties: { id: whole().primary().autoincrement(false), number: large() },
  checks: [{ name: 'auth_generation_is_one', expression: 'id = 1' }],
});
