/**
 * API keys with their grants, and sessions, as management sees them, and their last use. Authentication has shorter reads
 * of its own.
 */

import { LockMode } from '@mikro-orm/core';
import type { ApiKeyRecord, CredentialUse, KeyListing, ManagementStore } from '../../domain/management/management.ts';
import { SESSION_IDLE_MS, type SessionStore } from '../../domain/sessions/session.ts';
import { ApiKey, ApiKeyBinding, SessionRow } from '../entities/keys.ts';
import { Identity, Member, Organization, Project } from '../entities/organization.ts';
import { VirtualKeyRow } from '../entities/virtual-keys.ts';
import { packGrant, unpackGrant } from '../keys/grants.ts';
import type { EntityManager } from '../mapper.ts';
import { type Db, IDS_PER_QUERY_MAX } from '../queries.ts';
import { kyselyOf, plain, rowReads, type Units } from './units.ts';

type KeyVerbs = 'apiKey' | 'apiKeys' | 'apiKeysOf' | 'recordUse';

export function createKeyRecords({ read, transact }: Units): Pick<ManagementStore, KeyVerbs> {
  return {
    apiKey: (organizationId, id) =>
      read(async (em) => {
        const [record] = await findRecords(em, (db) => keysOf(db, organizationId).where('id', '=', id));
        return record ?? null;
      }),
    apiKeys: (organizationId, listing) =>
      read((em) => findRecords(em, (db) => listed(keysOf(db, organizationId), listing))),
    apiKeysOf: (organizationId, userId) =>
      read((em) => findRecords(em, (db) => keysOf(db, organizationId).where('userId', '=', userId))),
    async recordUse(uses) {
      for (let start = 0; start < uses.length; start += IDS_PER_QUERY_MAX)
        await noteSome(uses.slice(start, start + IDS_PER_QUERY_MAX));
    },
  };

  /**
   * Never waits for a lock while it has locked rows: keys that others have locked are updated afterwards, one by one.
   */
  async function noteSome(uses: readonly CredentialUse[]): Promise<void> {
    const noted = await transact(({ em }) => note(em, uses, LockMode.PESSIMISTIC_PARTIAL_WRITE));
    for (const use of uses)
      if (!noted.has(use.id)) await transact(({ em }) => note(em, [use], LockMode.PESSIMISTIC_WRITE));
  }
}

const NEWEST_FIRST = { createdAtMs: 'desc', id: 'desc' } as const;

export function createSessionRecords({ read }: Units): SessionStore {
  const { one } = rowReads(read);
  return {
    identity: (issuer, subject) => one(Identity, { issuer, subject }),
    identityOf: (organizationId, userId, issuer) => one(Identity, { organizationId, userId, issuer }),
    findHome: (email) =>
      read(async (em) => {
        const members = await em.find(Member, { email });
        const known = members.length === 0 ? {} : { id: { $in: members.map((each) => each.organizationId) } };
        const [oldest] = await em.find(Organization, known, { orderBy: { number: 'asc' }, limit: 1 });
        return oldest?.id ?? null;
      }),
    session: (organizationId, id) => one(SessionRow, { organizationId, id }),
    sessions: (organizationId, { owner, nowMs, after, limit }) =>
      read(async (em) => {
        const asked = {
          organizationId,
          ...(owner !== 'all' && owner),
          expiresAtMs: { $gt: nowMs },
          lastSeenAtMs: { $gt: nowMs - SESSION_IDLE_MS },
          ...(after !== null && {
            createdAtMs: { $lte: after.createdAtMs },
            $or: [{ createdAtMs: { $lt: after.createdAtMs } }, { id: { $lt: after.id } }],
          }),
        };
        const rows = await em.find(SessionRow, asked, { orderBy: NEWEST_FIRST, limit });
        return rows.map((row) => plain(row));
      }),
  };
}

type Keys = ReturnType<typeof keysOf>;

function keysOf(db: Db, organizationId: string) {
  return db.selectFrom('ApiKey').where('organizationId', '=', organizationId).select('id');
}

/** A page of keys. */
function listed(keys: Keys, { personalOf, includeRevoked, after, limit }: KeyListing): Keys {
  return keys
    .$if(personalOf !== 'all', (some) =>
      some.where(({ eb, or }) => or([eb('keyType', '=', 'service'), eb('userId', '=', personalOf)])),
    )
    .$if(!includeRevoked, (some) => some.where('revokedAtMs', 'is', null))
    .$if(after !== null, (some) =>
      some.where(({ eb, refTuple, tuple }) =>
        eb(refTuple('createdAtMs', 'id'), '<', tuple(after?.createdAtMs ?? 0, after?.id ?? '')),
      ),
    )
    .orderBy('createdAtMs', 'desc')
    .orderBy('id', 'desc')
    .limit(limit);
}

/** Newest first. One statement reads keys with their grants, so that no change of both comes in between. */
async function findRecords(em: EntityManager, keys: (db: Db) => Keys): Promise<ApiKeyRecord[]> {
  const db = kyselyOf(em);
  const rows = await db
    .selectFrom('ApiKey')
    .leftJoin('ApiKeyBinding as grant', 'grant.apiKeyId', 'ApiKey.id')
    .where('ApiKey.id', 'in', keys(db))
    .selectAll('ApiKey')
    .select(({ ref }) => [
      ref('grant.id').as('grantId'),
      // Null only with the id.
      ref('grant.role').$notNull().as('role'),
      ref('grant.scopeType').$notNull().as('scopeType'),
      ref('grant.scopeId').$notNull().as('scopeId'),
      ref('grant.permissionsJson').$notNull().as('permissionsJson'),
    ])
    .orderBy('ApiKey.createdAtMs', 'desc')
    .orderBy('ApiKey.id', 'desc')
    .orderBy('grant.position')
    .execute();
  const records = new Map<string, ApiKeyRecord & { bindings: ApiKeyRecord['bindings'][number][] }>();
  for (const { grantId, role, scopeType, scopeId, permissionsJson, ...key } of rows) {
    const record = records.get(key.id) ?? { ...key, bindings: [] };
    records.set(key.id, record);
    if (grantId !== null) record.bindings.push(unpackGrant({ id: grantId, role, scopeType, scopeId, permissionsJson }));
  }
  return [...records.values()];
}

type UseLock = LockMode.PESSIMISTIC_WRITE | LockMode.PESSIMISTIC_PARTIAL_WRITE;

/** Returns the ids of the credentials that it could lock. */
async function note(em: EntityManager, uses: readonly CredentialUse[], lockMode: UseLock): Promise<Set<string>> {
  const idsOf = (kind: CredentialUse['kind']) => uses.filter((use) => use.kind === kind).map(({ id }) => id);
  const [keyIds, projectIds, virtualIds] = [idsOf('api_key'), idsOf('project_key'), idsOf('virtual_key')];
  const sessionIds = idsOf('session');
  const keys = keyIds.length === 0 ? [] : await em.find(ApiKey, { id: { $in: keyIds } }, { lockMode });
  const projects = projectIds.length === 0 ? [] : await em.find(Project, { id: { $in: projectIds } }, { lockMode });
  const virtualKeys =
    virtualIds.length === 0 ? [] : await em.find(VirtualKeyRow, { id: { $in: virtualIds } }, { lockMode });
  const sessions = sessionIds.length === 0 ? [] : await em.find(SessionRow, { id: { $in: sessionIds } }, { lockMode });
  const atMs = (id: string, known: number | null) =>
    // Never sets an instant back: processes may report in any order.
    Math.max(known ?? 0, ...uses.filter((use) => use.id === id).map((use) => use.atMs));
  for (const key of keys) key.lastUsedAtMs = atMs(key.id, key.lastUsedAtMs);
  for (const project of projects) project.keyLastUsedAtMs = atMs(project.id, project.keyLastUsedAtMs);
  for (const key of virtualKeys) key.lastUsedAtMs = atMs(key.id, key.lastUsedAtMs);
  for (const session of sessions) session.lastSeenAtMs = atMs(session.id, session.lastSeenAtMs);
  return new Set([...keys, ...projects, ...virtualKeys, ...sessions].map(({ id }) => id));
}

/** Inserts or updates a key; an update keeps its last use and replaces its grants. */
export async function storeKey(em: EntityManager, { bindings, lastUsedAtMs, ...key }: ApiKeyRecord): Promise<void> {
  const { organizationId, id } = key;
  if ((await em.nativeUpdate(ApiKey, { organizationId, id }, key)) === 0)
    await em.insert(ApiKey, { ...key, lastUsedAtMs });
  else await em.nativeDelete(ApiKeyBinding, { apiKeyId: id });
  const rows = bindings.map((binding, position) => ({ ...packGrant(binding), apiKeyId: id, position }));
  if (rows.length > 0) await em.insertMany(ApiKeyBinding, rows);
}
