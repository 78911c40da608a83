/** API keys and their grants, as management sees them; authentication has its own, shorter way to them. */

import type { EntityManager, FilterQuery, InferEntity } from '@mikro-orm/core';
import type { ApiKeyRecord, KeyListing } from '../../domain/management.ts';
import type { NewApiKey } from '../../domain/store.ts';
import { toBuffer, toBufferOrNull } from '../rows/bytes.ts';
import { ApiKey, ApiKeyBinding } from '../tables/keys.ts';
import { type Grant, toGrant, toGrantRow } from './grants.ts';
import { moveOn } from './version.ts';

const NEWEST_FIRST = { createdAtMs: 'desc', id: 'desc' } as const;
// Few enough for one statement.
const KEYS_PER_QUESTION = 1000;

/** See KeyStore.insertApiKey. */
export async function insertApiKey(em: EntityManager, key: NewApiKey): Promise<void> {
  await em.transactional(async (tx) => {
    await moveOn(tx, key.organizationId);
    await insert(tx, {
      ...key,
      description: null,
      previousSecretHash: null,
      previousSecretUntilMs: null,
      revokedAtMs: null,
      lastUsedAtMs: null,
      updatedAtMs: key.createdAtMs,
    });
  });
}

/** A known key keeps when it was last used; its grants are replaced. */
export async function storeApiKey(tx: EntityManager, key: ApiKeyRecord): Promise<void> {
  const { organizationId, id } = key;
  if ((await tx.nativeUpdate(ApiKey, { organizationId, id }, toRow(key))) === 0) return await insert(tx, key);
  await tx.nativeDelete(ApiKeyBinding, { apiKeyId: id });
  await insertBindings(tx, key);
}

async function insert(tx: EntityManager, key: ApiKeyRecord): Promise<void> {
  await tx.insert(ApiKey, { ...toRow(key), lastUsedAtMs: key.lastUsedAtMs });
  await insertBindings(tx, key);
}

async function insertBindings(tx: EntityManager, { id, bindings }: ApiKeyRecord): Promise<void> {
  const rows = bindings.map((binding, position) => ({ ...toGrantRow(binding), apiKeyId: id, position }));
  if (rows.length > 0) await tx.insertMany(ApiKeyBinding, rows);
}

/** See ManagementStore.apiKey. */
export async function readApiKey(em: EntityManager, organizationId: string, id: string): Promise<ApiKeyRecord | null> {
  const [key] = await withGrants(em, await em.find(ApiKey, { organizationId, id }));
  return key ?? null;
}

/** See ManagementStore.apiKeys. */
export async function listApiKeys(
  em: EntityManager,
  organizationId: string,
  { personalOf, includeRevoked, after, limit }: KeyListing,
): Promise<readonly ApiKeyRecord[]> {
  const conditions: FilterQuery<InferEntity<typeof ApiKey>>[] = [{ organizationId }];
  if (personalOf === null) conditions.push({ keyType: 'service' });
  else if (personalOf !== 'all') conditions.push({ $or: [{ keyType: 'service' }, { userId: personalOf }] });
  if (!includeRevoked) conditions.push({ revokedAtMs: null });
  if (after !== null) {
    // The first condition alone says where in the index to begin.
    conditions.push({ createdAtMs: { $lte: after.createdAtMs } });
    conditions.push({ $or: [{ createdAtMs: { $lt: after.createdAtMs } }, { id: { $lt: after.id } }] });
  }
  return await withGrants(em, await em.find(ApiKey, { $and: conditions }, { orderBy: NEWEST_FIRST, limit }));
}

/** See ManagementStore.apiKeysOf. */
export async function listApiKeysOf(
  em: EntityManager,
  organizationId: string,
  userId: string,
): Promise<readonly ApiKeyRecord[]> {
  return await withGrants(em, await em.find(ApiKey, { organizationId, userId }, { orderBy: NEWEST_FIRST }));
}

async function withGrants(em: EntityManager, rows: readonly KeyRow[]): Promise<readonly ApiKeyRecord[]> {
  const grants = new Map<string, Grant[]>(rows.map((row) => [row.id, []]));
  const ids = [...grants.keys()];
  for (let from = 0; from < ids.length; from += KEYS_PER_QUESTION) {
    const apiKeyId = { $in: ids.slice(from, from + KEYS_PER_QUESTION) };
    const bindings = await em.find(ApiKeyBinding, { apiKeyId }, { orderBy: { position: 'asc' } });
    for (const binding of bindings) grants.get(binding.apiKeyId)?.push(toGrant(binding));
  }
  return rows.map((row) => ({ ...row, bindings: grants.get(row.id) ?? [] }));
}

type KeyRow = InferEntity<typeof ApiKey>;

function toRow({ bindings: _, lastUsedAtMs: __, ...row }: ApiKeyRecord) {
  return { ...row, secretHash: toBuffer(row.secretHash), previousSecretHash: toBufferOrNull(row.previousSecretHash) };
}
