import { defineEntity } from '@mikro-orm/core';
import type { ApiKeyRecord } from '../../domain/management.ts';
import { bytes, flag, id, instant, text, word } from './kinds.ts';

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
