/** An organization with two teams, two projects, four members and the rules of its API keys, in memory. */

import { randomBytes } from 'node:crypto';
import { createCursorCodec } from '../../../src/domain/cursor.ts';
import { Fault } from '../../../src/domain/fault.ts';
import { newId } from '../../../src/domain/ids.ts';
import { createApiKeys, type KeyDraft, type MintedKey } from '../../../src/domain/keys/keys.ts';
import type { Binding, Role, ScopeType } from '../../../src/domain/keys/permissions.ts';
import type { ApiKeyRecord, MemberRecord, ProjectRecord } from '../../../src/domain/management/management.ts';
import type { IdempotentCall } from '../../../src/domain/management/management-call.ts';
import type { KeyCaller } from '../../../src/domain/organization/administrators.ts';
import { deriveRootKeys, hashSecret, mintApiKey } from '../../../src/domain/secrets.ts';
import { createFakeManagementStore } from '../../support/management-store.ts';

export const NOW_MS = 1_700_000_000_000;
export const O = 'organization_O';

export function bind(role: Role, scopeType: ScopeType, scopeId: string, permissions: readonly string[] = []): Binding {
  return { role, scopeType, scopeId, permissions };
}

export const ADMIN_AT_O = bind('ADMIN', 'ORGANIZATION', O);
export const MEMBER_AT_O = bind('MEMBER', 'ORGANIZATION', O);
export const VIEWER_AT_O = bind('VIEWER', 'ORGANIZATION', O);
export const customAt = (...permissions: readonly string[]) => bind('CUSTOM', 'ORGANIZATION', O, permissions);
const MANAGE = customAt('organization:manage');
const VIEW = customAt('organization:view');

export type Fixture = ReturnType<typeof createFixture>;

export function createFixture() {
  const store = createFakeManagementStore();
  const pepper = deriveRootKeys('0123456789abcdef0123456789abcdef').pepper;
  let nowMs = NOW_MS;
  const clock = () => nowMs;
  const keys = createApiKeys({
    store,
    random: randomBytes,
    pepper,
    keyPrefix: 'sk-lw-',
    cursors: createCursorCodec(Buffer.alloc(32, 1)),
    clock,
  });
  seedOrganization(store);
  let seeded = 0;

  /** A stored key, as if it had been made before. */
  function addKey(userId: string | null, bindings: readonly Binding[], more: Partial<ApiKeyRecord> = {}): ApiKeyRecord {
    seeded += 1;
    const { keyId, secret } = mintApiKey('sk-lw-', randomBytes);
    const key: ApiKeyRecord = {
      organizationId: O,
      id: keyId,
      keyType: userId === null ? 'service' : 'personal',
      name: 'a key',
      description: null,
      userId,
      createdByUserId: null,
      permissionMode: bindings.some(({ role }) => role === 'CUSTOM') ? 'restricted' : 'all',
      secretHash: hashSecret(pepper, secret),
      imported: false,
      previousSecretHash: null,
      previousSecretUntilMs: null,
      expiresAtMs: null,
      revokedAtMs: null,
      lastUsedAtMs: null,
      createdAtMs: NOW_MS - 1_000_000 + seeded,
      updatedAtMs: NOW_MS - 1_000_000 + seeded,
      bindings: bindings.map((binding) => ({ ...binding, id: newId('rolebinding', randomBytes) })),
      ...more,
    };
    store.seed({ apiKeys: [key] });
    return key;
  }

  /** A call with the key, as authentication would hand it over. */
  async function callWith(id: string): Promise<IdempotentCall<unknown>> {
    const key = await stored(id);
    const ownerBindings = key.userId === null ? [] : await store.roleBindings(O, key.userId);
    const organization = { id: O, number: 1, priceVersion: 0, promptVersion: 0 };
    const principal: KeyCaller['principal'] =
      key.keyType === 'service'
        ? { kind: 'service', keyGrants: key.bindings }
        : { kind: 'personal', keyGrants: key.bindings, ownerGrants: ownerBindings };
    const caller = {
      kind: 'api_key' as const,
      principal,
      organization,
      project: null,
      keyHash: key.secretHash,
      key: { ...key, organization, ownerActive: true, ownerBindings },
    };
    const actor = {
      organizationId: O,
      actorKind: key.keyType === 'service' ? ('service_key' as const) : ('personal_key' as const),
      actorUserId: key.userId,
      actorKeyId: key.id,
      ip: '127.0.0.1',
      userAgent: 'test',
      requestId: 'req_1',
      traceId: null,
    };
    return { caller, actor, nowMs: clock(), receipt: () => undefined };
  }

  async function stored(id: string): Promise<ApiKeyRecord> {
    const key = await store.apiKey(O, id);
    if (!key) throw new Error(`no key ${id}`);
    return key;
  }

  return {
    store,
    keys,
    addKey,
    callWith,
    stored,
    /** The callers of the access matrix, and the targets they meet. */
    callers: {
      PA: addKey('user_adm', [ADMIN_AT_O]),
      PN: addKey('user_adm', [MANAGE]),
      PQ: addKey('user_adm', [VIEW]),
      PM: addKey('user_mgr', [MANAGE]),
      PV: addKey('user_mem', [MEMBER_AT_O]),
      SA: addKey(null, [ADMIN_AT_O]),
      SM: addKey(null, [MANAGE]),
      SV: addKey(null, [VIEW]),
    },
    advance(byMs: number) {
      nowMs += byMs;
    },
    create: async (by: ApiKeyRecord, draft: KeyDraft): Promise<MintedKey> =>
      keys.create(await callWith(by.id), { name: 'new', ...draft }),
  };
}

function seedOrganization(store: ReturnType<typeof createFakeManagementStore>): void {
  const at = { createdAtMs: NOW_MS - 2_000_000, updatedAtMs: NOW_MS - 2_000_000 };
  const named = (id: string) => ({ id, name: id, slug: id, ...at });
  const project = (id: string, teamId: string, archivedAtMs: number | null = null): ProjectRecord => ({
    ...named(id),
    organizationId: O,
    teamId,
    language: 'other',
    framework: 'other',
    keyHash: Buffer.from(id),
    keyHint: 'abcd',
    keyImported: false,
    previousKeyHash: null,
    previousKeyUntilMs: null,
    previousKeyImported: null,
    keyLastUsedAtMs: null,
    archivedAtMs,
  });
  const member = (userId: string, disabledAtMs: number | null = null): MemberRecord => ({
    organizationId: O,
    userId,
    email: `${userId}@example.com`,
    name: userId,
    disabledAtMs,
    ...at,
  });
  const role = (userId: string, binding: Binding) => ({
    ...binding,
    organizationId: O,
    userId,
    id: newId('rolebinding', randomBytes),
    createdAtMs: at.createdAtMs,
  });
  store.seed({
    organizations: [named(O)],
    teams: ['team_1', 'team_2'].map((id) => ({ ...named(id), organizationId: O })),
    projects: [
      project('project_1', 'team_1'),
      project('project_2', 'team_2'),
      project('project_gone', 'team_1', NOW_MS - 1_000),
    ],
    members: [
      ...['user_adm', 'user_mgr', 'user_mem', 'user_vie', 'user_ext'].map((id) => member(id)),
      member('user_off', NOW_MS - 1_000),
    ],
    roleBindings: [
      role('user_adm', ADMIN_AT_O),
      role('user_mgr', MEMBER_AT_O),
      role('user_mgr', MANAGE),
      role('user_mem', MEMBER_AT_O),
      role('user_vie', VIEWER_AT_O),
      role('user_ext', bind('MEMBER', 'PROJECT', 'project_1')),
      role('user_off', MEMBER_AT_O),
    ],
  });
}

/** What was refused; fails when nothing was. */
export async function faultOf(promise: Promise<unknown>): Promise<Fault> {
  const error = await promise.then(
    () => null,
    (reason: unknown) => reason,
  );
  if (error instanceof Fault) return error;
  throw new Error(`expected a Fault, got ${String(error)}`);
}

/** "201" and the like for success, else the code with the fields it names. */
export async function outcomeOf(promise: Promise<unknown>): Promise<string> {
  try {
    await promise;
    return 'ok';
  } catch (error) {
    if (error instanceof Fault) return error.code;
    throw error;
  }
}
