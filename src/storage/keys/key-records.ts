/**
 * API keys and their grants as management sees them, and their last use. Authentication has shorter reads of its own.
 */

import type { ApiKeyRecord, CredentialUse, ManagementStore } from '../../domain/management/management.ts';
import {
  IDS_PER_QUERY_MAX,
  type Queries,
  type QueryRunner,
  type RowOf,
  type Transact,
  type Transaction,
} from '../queries.ts';

export function createKeyRecords({
  queries: { keys },
  runQuery,
}: QueryRunner): Pick<ManagementStore, 'apiKey' | 'apiKeys' | 'apiKeysOf'> {
  return {
    async apiKey(organizationId, id) {
      const [row] = await runQuery(keys.findKey, { organizationId, id });
      return row === undefined ? null : toRecord(row);
    },
    async apiKeys(organizationId, { personalOf, includeRevoked, after, limit }) {
      const { createdAtMs, id } = after ?? { createdAtMs: Number.MAX_SAFE_INTEGER, id: '' };
      const revokedBeforeMs = includeRevoked ? Number.MAX_SAFE_INTEGER : 0;
      const params = { organizationId, personalOf, revokedBeforeMs, createdAtMs, id, limit };
      return (await runQuery(keys.listKeys, params)).map(toRecord);
    },
    apiKeysOf: async (organizationId, userId) =>
      (await runQuery(keys.listKeysOf, { organizationId, userId })).map(toRecord),
  };
}

function toRecord({ bindings, ...row }: RowOf<Queries['keys']['findKey']>): ApiKeyRecord {
  return { ...row, bindings: bindings.map(unpackGrant) };
}

/** Inserts or updates a key; an update keeps its last use and replaces its grants. */
export async function storeKey(tx: Transaction, key: ApiKeyRecord): Promise<void> {
  const { keys } = tx.queries;
  if ((await tx.change(keys.updateKey, key)) === 0) await tx.change(keys.insertKey, key);
  else await tx.change(keys.removeKeyBindings, { apiKeyId: key.id });
  for (const [position, binding] of key.bindings.entries()) {
    await tx.change(keys.insertKeyBinding, { ...packGrant(binding), apiKeyId: key.id, position });
  }
}

/**
 * See ManagementStore.recordUse. Never waits for a lock while it has locked rows: keys that others have locked are updated
 * afterwards, one by one.
 */
export function createNoteUse(transact: Transact): ManagementStore['recordUse'] {
  return async (uses) => {
    for (let start = 0; start < uses.length; start += IDS_PER_QUERY_MAX)
      await noteSome(uses.slice(start, start + IDS_PER_QUERY_MAX));
  };

  async function noteSome(uses: readonly CredentialUse[]): Promise<void> {
    const noted = await transact(async (tx) => {
      const available = new Set([
        ...(await lockAvailable(tx, uses, 'api_key')),
        ...(await lockAvailable(tx, uses, 'project_key')),
      ]);
      for (const use of uses) if (available.has(use.id)) await note(tx, use);
      return available;
    });
    for (const use of uses) if (!noted.has(use.id)) await transact((tx) => note(tx, use));
  }

  async function note(tx: Transaction, { kind, id, atMs }: CredentialUse): Promise<void> {
    await tx.change(tx.queries.keys[QUERIES[kind].note], { id, atMs });
  }
}

const QUERIES = {
  api_key: { lock: 'lockAvailableKeys', note: 'noteKeyUse' },
  project_key: { lock: 'lockAvailableProjects', note: 'noteProjectKeyUse' },
} as const;

async function lockAvailable(
  { runQuery, queries }: Transaction,
  uses: readonly CredentialUse[],
  kind: CredentialUse['kind'],
): Promise<string[]> {
  const ids = uses.filter((use) => use.kind === kind).map(({ id }) => id);
  return ids.length === 0 ? [] : (await runQuery(queries.keys[QUERIES[kind].lock], { ids })).map(({ id }) => id);
}

const LISTS_MAX = 1000;
const lists = new Map<string, readonly string[]>();

export function unpackGrant<Row extends { readonly permissionsJson: string }>({ permissionsJson, ...grant }: Row) {
  return { ...grant, permissions: listOf(permissionsJson) };
}

export function packGrant<Grant extends { readonly permissions: readonly string[] }>({ permissions, ...row }: Grant) {
  return { ...row, permissionsJson: JSON.stringify(permissions) };
}

/** Equal texts give the same array, because expansions of a list are cached by its identity. */
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
    // A damaged grant allows nothing, and does not keep other grants from working.
    return [];
  }
}
