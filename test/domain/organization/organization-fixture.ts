/** An organization in memory with two teams, two projects and four members, and calls by any key of anybody in it. */

import { createHash, randomBytes } from 'node:crypto';
import { createCursorCodec } from '../../../src/domain/cursor.ts';
import { Fault } from '../../../src/domain/fault.ts';
import type { Binding, Role, ScopeType } from '../../../src/domain/keys/permissions.ts';
import type { ApiKeyRecord, ProjectRecord, RoleBindingRecord } from '../../../src/domain/management/management.ts';
import type { IdempotentCall } from '../../../src/domain/management/management-call.ts';
import { createAuditLog } from '../../../src/domain/organization/audit-log.ts';
import { createMembers } from '../../../src/domain/organization/members.ts';
import { createOrganizations } from '../../../src/domain/organization/organization.ts';
import { createProjects } from '../../../src/domain/organization/projects.ts';
import { createRoleBindings } from '../../../src/domain/organization/role-bindings.ts';
import { createTeams } from '../../../src/domain/organization/teams.ts';
import { createFakeManagementStore } from '../../support/management-store.ts';

export const NOW_MS = 1_800_000_000_000;
export const O = 'organization_1';

export function bind(role: Role, scopeType: ScopeType, scopeId: string, permissions: readonly string[] = []): Binding {
  return { role, scopeType, scopeId, permissions };
}

/** The grants of the matrix: everything, managing alone, viewing alone. */
export const ADMIN = bind('ADMIN', 'ORGANIZATION', O);
export const MEMBER = bind('MEMBER', 'ORGANIZATION', O);
export const VIEWER = bind('VIEWER', 'ORGANIZATION', O);
export const MANAGE = bind('CUSTOM', 'ORGANIZATION', O, ['organization:manage']);

type Owner = 'adm' | 'mgr' | 'mem' | 'vie';
type Fixture = ReturnType<typeof createFixture>;

const times = { createdAtMs: 1_000, updatedAtMs: 1_000 };

export function createFixture() {
  const store = createFakeManagementStore();
  const random = randomBytes;
  const cursors = createCursorCodec(Buffer.alloc(32, 1));
  const named = (id: string) => ({ id, name: id, slug: id, ...times });
  const grant = (owner: Owner, binding: Binding): RoleBindingRecord => ({
    ...binding,
    organizationId: O,
    userId: `user_${owner}`,
    id: `rolebinding_${owner}_${binding.role}`,
    createdAtMs: 1_000,
  });
  store.seed({
    organizations: [named(O), named('organization_2')],
    teams: [
      { ...named('team_1'), organizationId: O },
      { ...named('team_2'), organizationId: O, createdAtMs: 2_000 },
      { ...named('team_other'), organizationId: 'organization_2' },
    ],
    projects: [project('project_1', 'team_1'), project('project_2', 'team_2')],
    members: ['adm', 'mgr', 'mem', 'vie'].map((name, index) => ({
      organizationId: O,
      userId: `user_${name}`,
      email: `${name}@example.com`,
      name,
      disabledAtMs: null,
      createdAtMs: 1_000 + index,
      updatedAtMs: 1_000,
    })),
    roleBindings: [
      grant('adm', ADMIN),
      grant('mgr', MEMBER),
      grant('mgr', MANAGE),
      grant('mem', MEMBER),
      grant('vie', VIEWER),
    ],
  });
  const limits = { team: 100, project: 100, member: 100, role_binding: 100 };
  return {
    store,
    organizations: createOrganizations({ store, random }),
    teams: createTeams({ store, random, limits }),
    projects: createProjects({ store, random, pepper: Buffer.alloc(32, 2), keyPrefixes: ['sk-lw-'], limits }),
    members: createMembers({ store, random, cursors, limits }),
    roleBindings: createRoleBindings({ store, random, cursors, limits }),
    auditLog: createAuditLog({ store, cursors, retentionDays: null }),
  };
}

function project(id: string, teamId: string): ProjectRecord {
  return {
    id,
    name: id,
    slug: id,
    ...times,
    organizationId: O,
    teamId,
    language: 'other',
    framework: 'other',
    keyHash: createHash('sha256').update(id).digest(),
    keyHint: 'abcd',
    keyImported: false,
    previousKeyHash: null,
    previousKeyUntilMs: null,
    previousKeyImported: null,
    keyLastUsedAtMs: null,
    archivedAtMs: null,
  };
}

let keys = 0;

/** A call by a key that now exists; by a service key when nobody owns it. */
export async function callBy(
  { store }: Fixture,
  owner: Owner | null,
  bindings: readonly Binding[],
): Promise<IdempotentCall<unknown>> {
  keys += 1;
  const userId = owner === null ? null : `user_${owner}`;
  const key: ApiKeyRecord = {
    organizationId: O,
    id: `key${String(keys).padStart(13, '0')}`,
    keyType: userId === null ? 'service' : 'personal',
    name: 'key',
    description: null,
    userId,
    createdByUserId: null,
    permissionMode: 'all',
    secretHash: randomBytes(32),
    imported: false,
    previousSecretHash: null,
    previousSecretUntilMs: null,
    expiresAtMs: null,
    revokedAtMs: null,
    lastUsedAtMs: null,
    ...times,
    bindings: bindings.map((binding, index) => ({ ...binding, id: `rolebinding_${keys}_${index}` })),
  };
  store.seed({ apiKeys: [key] });
  const ownerBindings = userId === null ? [] : await store.roleBindings(O, userId);
  const organization = { id: O, number: 1, priceVersion: 0, promptVersion: 0 };
  return {
    nowMs: NOW_MS,
    receipt: () => undefined,
    caller: {
      kind: 'api_key',
      organization,
      project: null,
      keyHash: key.secretHash,
      key: { ...key, organization, ownerBindings },
      principal:
        userId === null
          ? { kind: 'service', keyGrants: key.bindings }
          : { kind: 'personal', keyGrants: key.bindings, ownerGrants: ownerBindings },
    },
    actor: {
      organizationId: O,
      actorKind: userId === null ? 'service_key' : 'personal_key',
      actorUserId: userId,
      actorKeyId: key.id,
      ip: '127.0.0.1',
      userAgent: 'test',
      requestId: 'req_1',
      traceId: null,
    },
  };
}

/** The code a promise is refused with. */
export async function codeOf(refused: Promise<unknown>): Promise<string> {
  return (await faultOf(refused)).code;
}

export async function faultOf(refused: Promise<unknown>): Promise<Fault> {
  const outcome = await refused.then(
    () => new Error('nothing was refused'),
    (error: unknown) => error,
  );
  if (!(outcome instanceof Fault)) throw outcome;
  return outcome;
}

/** What the last change wrote into the audit log, in short. */
export function lastAudit({ store }: Fixture) {
  const entries = store.changes.at(-1)?.audit ?? [];
  return entries.map(({ action, targetId, status, fields }) => ({ action, targetId, status, fields }));
}
