/** API keys and their grants, as management sees them; authentication has its own, shorter way to them. */

import { defineEntity, type EntityManager, p } from '@mikro-orm/core';
import type { NewApiKey } from '../../domain/store.ts';

export const ApiKey = defineEntity({
  name: 'ApiKey',
  tableName: 'api_keys',
  properties: {
    id: p.text().primary(),
    organizationId: p.text(),
    keyType: p.text(),
    name: p.text(),
    description: p.text().nullable(),
    userId: p.text().nullable(),
    createdByUserId: p.text().nullable(),
    permissionMode: p.text(),
    secretHash: p.blob(),
    imported: p.boolean(),
    previousSecretHash: p.blob().nullable(),
    previousSecretUntil: p.bigint('number').nullable(),
    expiresAt: p.bigint('number').nullable(),
    revokedAt: p.bigint('number').nullable(),
    lastUsedAt: p.bigint('number').nullable(),
    createdAt: p.bigint('number'),
    updatedAt: p.bigint('number'),
  },
});

export const ApiKeyBinding = defineEntity({
  name: 'ApiKeyBinding',
  tableName: 'api_key_bindings',
  properties: {
    apiKeyId: p.text().primary(),
    // The order in which the grants were given.
    position: p.integer().primary(),
    id: p.text(),
    role: p.text(),
    scopeType: p.text(),
    scopeId: p.text(),
    permissions: p.text(),
  },
});

/** See KeyStore.insertApiKey. */
export async function insertApiKey(em: EntityManager, key: NewApiKey): Promise<void> {
  const { bindings, secretHash, expiresAtMs, createdAtMs, ...fields } = key;
  await em.transactional(async (tx) => {
    await tx.insert(ApiKey, {
      ...fields,
      secretHash: Buffer.from(secretHash),
      expiresAt: expiresAtMs,
      createdAt: createdAtMs,
      updatedAt: createdAtMs,
    });
    const rows = bindings.map((binding, position) => ({
      ...binding,
      apiKeyId: key.id,
      position,
      permissions: JSON.stringify(binding.permissions),
    }));
    if (rows.length > 0) await tx.insertMany(ApiKeyBinding, rows);
  });
}
