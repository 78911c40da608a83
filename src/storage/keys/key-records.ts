/** API keys and their grants, as management sees them; authentication has its own, shorter way to them. */

import type { ApiKeyRecord, ManagementStore } from '../../domain/management.ts';
import type { KeyStore } from '../../domain/store.ts';
import type { Managing } from '../management.ts';
import type { Asking, CompiledOf, RowOf, Transaction } from '../questions.ts';
import { packGrant, unpackGrant } from './grants.ts';
import type * as source from './questions.ts';

type KeyQuestions = CompiledOf<typeof source>;

export function createKeyRecords({
  questions,
  ask,
}: Asking<KeyQuestions>): Pick<ManagementStore, 'apiKey' | 'apiKeys' | 'apiKeysOf'> {
  return {
    async apiKey(organizationId, id) {
      const [row] = await ask(questions.findKey, { organizationId, id });
      return row === undefined ? null : toRecord(row);
    },
    async apiKeys(organizationId, { personalOf, includeRevoked, after, limit }) {
      const { createdAtMs, id } = after ?? { createdAtMs: Number.MAX_SAFE_INTEGER, id: '' };
      const revokedBeforeMs = includeRevoked ? Number.MAX_SAFE_INTEGER : 0;
      const asked = { organizationId, personalOf, revokedBeforeMs, createdAtMs, id, limit };
      return (await ask(questions.listKeys, asked)).map(toRecord);
    },
    apiKeysOf: async (organizationId, userId) =>
      (await ask(questions.listKeysOf, { organizationId, userId })).map(toRecord),
  };
}

function toRecord({ bindings, ...row }: RowOf<KeyQuestions['findKey']>): ApiKeyRecord {
  return { ...row, bindings: bindings.map(unpackGrant) };
}

/** What nobody has done to a key yet. */
export const NEW_KEY = {
  description: null,
  previousSecretHash: null,
  previousSecretUntilMs: null,
  revokedAtMs: null,
  lastUsedAtMs: null,
} as const;

/** See KeyStore.insertApiKey. */
export function createInsertApiKey({ questions, transact }: Managing): KeyStore['insertApiKey'] {
  return (key) =>
    transact(async (tx) => {
      await tx.change(questions.organization.moveOn, { id: key.organizationId });
      await insertKey(tx, questions.keys, { ...key, ...NEW_KEY, updatedAtMs: key.createdAtMs });
    });
}

/** A known key keeps when it was last used; its grants are replaced. */
export async function storeKey(tx: Transaction, questions: KeyQuestions, key: ApiKeyRecord): Promise<void> {
  if ((await tx.change(questions.updateKey, key)) === 0) return await insertKey(tx, questions, key);
  await tx.change(questions.removeKeyBindings, { apiKeyId: key.id });
  await insertBindings(tx, questions, key);
}

async function insertKey(tx: Transaction, questions: KeyQuestions, key: ApiKeyRecord): Promise<void> {
  await tx.change(questions.insertKey, key);
  await insertBindings(tx, questions, key);
}

async function insertBindings(tx: Transaction, questions: KeyQuestions, { id, bindings }: ApiKeyRecord): Promise<void> {
  for (const [position, binding] of bindings.entries()) {
    await tx.change(questions.insertKeyBinding, { ...packGrant(binding), apiKeyId: id, position });
  }
}
