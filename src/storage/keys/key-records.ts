/** API keys and their grants, as management sees them, and when they were last used; authentication has its own, shorter way. */

import type { ApiKeyRecord, CredentialUse, ManagementStore } from '../../domain/management.ts';
import { NEW_KEY } from '../../domain/new-organization.ts';
import type { KeyStore } from '../../domain/store.ts';
import type { Managing } from '../management.ts';
import { type Asking, type Changing, IDS_AT_ONCE, type Questions, type RowOf } from '../questions.ts';

export function createKeyRecords({
  questions: { keys },
  ask,
}: Asking): Pick<ManagementStore, 'apiKey' | 'apiKeys' | 'apiKeysOf'> {
  return {
    async apiKey(organizationId, id) {
      const [row] = await ask(keys.findKey, { organizationId, id });
      return row === undefined ? null : toRecord(row);
    },
    async apiKeys(organizationId, { personalOf, includeRevoked, after, limit }) {
      const { createdAtMs, id } = after ?? { createdAtMs: Number.MAX_SAFE_INTEGER, id: '' };
      const revokedBeforeMs = includeRevoked ? Number.MAX_SAFE_INTEGER : 0;
      const asked = { organizationId, personalOf, revokedBeforeMs, createdAtMs, id, limit };
      return (await ask(keys.listKeys, asked)).map(toRecord);
    },
    apiKeysOf: async (organizationId, userId) => (await ask(keys.listKeysOf, { organizationId, userId })).map(toRecord),
  };
}

function toRecord({ bindings, ...row }: RowOf<Questions['keys']['findKey']>): ApiKeyRecord {
  return { ...row, bindings: bindings.map(unpackGrant) };
}

/** See KeyStore.insertApiKey. */
export function createInsertApiKey({ transact }: Managing): KeyStore['insertApiKey'] {
  return (key) =>
    transact(async (tx) => {
      await tx.change(tx.questions.organization.moveOn, { id: key.organizationId });
      await insertKey(tx, { ...key, ...NEW_KEY, updatedAtMs: key.createdAtMs });
    });
}

/** A known key keeps when it was last used; its grants are replaced. */
export async function storeKey(tx: Changing, key: ApiKeyRecord): Promise<void> {
  if ((await tx.change(tx.questions.keys.updateKey, key)) === 0) return await insertKey(tx, key);
  await tx.change(tx.questions.keys.removeKeyBindings, { apiKeyId: key.id });
  await insertBindings(tx, key);
}

async function insertKey(tx: Changing, key: ApiKeyRecord): Promise<void> {
  await tx.change(tx.questions.keys.insertKey, key);
  await insertBindings(tx, key);
}

async function insertBindings(tx: Changing, { id, bindings }: ApiKeyRecord): Promise<void> {
  for (const [position, binding] of bindings.entries()) {
    await tx.change(tx.questions.keys.insertKeyBinding, { ...packGrant(binding), apiKeyId: id, position });
  }
}

/**
 * See ManagementStore.noteUse. Waits for nobody while it holds rows: what others are changing is noted afterwards, one
 * by one.
 */
export function createNoteUse({ transact }: Managing): ManagementStore['noteUse'] {
  return async (uses) => {
    for (let start = 0; start < uses.length; start += IDS_AT_ONCE)
      await noteSome(uses.slice(start, start + IDS_AT_ONCE));
  };

  async function noteSome(uses: readonly CredentialUse[]): Promise<void> {
    const noted = await transact(async (tx) => {
      const free = new Set([
        ...(await holdFree(tx, 'holdFreeKeys', idsOf(uses, 'api_key'))),
        ...(await holdFree(tx, 'holdFreeProjects', idsOf(uses, 'project_key'))),
      ]);
      for (const use of uses) if (free.has(use.id)) await note(tx, use);
      return free;
    });
    for (const use of uses) if (!noted.has(use.id)) await transact((tx) => note(tx, use));
  }

  async function note(tx: Changing, { kind, id, atMs }: CredentialUse): Promise<void> {
    await tx.change(tx.questions.keys[kind === 'api_key' ? 'noteKeyUse' : 'noteProjectKeyUse'], { id, atMs });
  }
}

type HoldFree = 'holdFreeKeys' | 'holdFreeProjects';

async function holdFree({ ask, questions }: Changing, question: HoldFree, ids: readonly string[]): Promise<string[]> {
  return ids.length === 0 ? [] : (await ask(questions.keys[question], { ids })).map(({ id }) => id);
}

function idsOf(uses: readonly CredentialUse[], kind: CredentialUse['kind']): string[] {
  return uses.filter((use) => use.kind === kind).map((use) => use.id);
}

const LISTS_MAX = 1000;
const lists = new Map<string, readonly string[]>();

export function unpackGrant<Row extends { readonly permissionsJson: string }>({ permissionsJson, ...grant }: Row) {
  return { ...grant, permissions: listOf(permissionsJson) };
}

export function packGrant<Grant extends { readonly permissions: readonly string[] }>({ permissions, ...row }: Grant) {
  return { ...row, permissionsJson: JSON.stringify(permissions) };
}

/** Equal texts give the same array, because what a list expands to is remembered by its identity. */
function listOf(json: string): readonly string[] {
  const known = lists.get(json);
  if (known !== undefined) return known;
  if (lists.size >= LISTS_MAX) lists.clear();
  const list = read(json);
  lists.set(json, list);
  return list;
}

function read(json: string): readonly string[] {
  try {
    const value: unknown = JSON.parse(json);
    return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
  } catch {
    // A damaged grant must not open anything, and must not keep the other grants from working.
    return [];
  }
}
