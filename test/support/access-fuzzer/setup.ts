/** Creates the organizations of a run, the same in the database and in the model. */

import { randomBytes } from 'node:crypto';
import { newId } from '../../../src/domain/ids.ts';
import { mintApiKey, mintProjectKey } from '../../../src/domain/secrets.ts';
import { addForeign, type Foreign } from '../../api/access/foreign.ts';
import { ALL_PERMISSIONS } from '../access-model/catalogue.ts';
import { createOrganization, type Grant, type MemberRole, type Organization } from '../access-model/state.ts';
import type { TestApp } from '../app.ts';
import type { Labels } from './labels.ts';
import { storeOrganization } from './store-organization.ts';

type Where = 'organization' | 'team' | 'team2' | 'project' | 'project2';
/** A CUSTOM grant takes its permissions from the list. */
type Wish = `${Grant['role']}@${Where}`;
type KeyWish = {
  readonly owner: keyof typeof MEMBERS | null;
  readonly grants: readonly Wish[];
  readonly list?: readonly string[];
  readonly ends?: boolean;
};

const MEMBERS = {
  adm: 'ADMIN',
  mgr: 'MEMBER',
  mem: 'MEMBER',
  vie: 'VIEWER',
  ext: 'EXTERNAL',
  tea: 'EXTERNAL',
  eve: 'EXTERNAL',
} as const satisfies Readonly<Record<string, MemberRole>>;

const MANAGE = ['organization:manage'];
const MOVE = ['organization:manage', 'project:view', 'project:update', 'project:create', 'project:delete'];

const HELD: readonly (readonly [keyof typeof MEMBERS, Wish, readonly string[]])[] = [
  ['mgr', 'CUSTOM@organization', [...MOVE, 'webhookEndpoints:view']],
  ['ext', 'MEMBER@project2', []],
  // At a team, organization permissions give nothing.
  ['ext', 'CUSTOM@team', [...MANAGE, 'auditLog:view', 'webhookEndpoints:manage']],
  ['tea', 'ADMIN@team2', []],
  ['tea', 'CUSTOM@organization', MANAGE],
  // All permissions do not equal ADMIN.
  ['eve', 'CUSTOM@organization', ALL_PERMISSIONS],
];

const PROJECTS = { project2: 'team2', project3: 'team2', project4: 'team' } as const;

/** Personal keys begin with P, service keys with S; those with E expire soon. */
const KEYS: Readonly<Record<string, KeyWish>> = {
  PA: { owner: 'adm', grants: ['ADMIN@organization'] },
  PE: { owner: 'adm', grants: ['ADMIN@organization'], ends: true },
  PN: { owner: 'adm', grants: ['CUSTOM@organization'], list: MANAGE },
  PQ: { owner: 'adm', grants: ['CUSTOM@organization'], list: ['organization:view'] },
  PM: { owner: 'mgr', grants: ['CUSTOM@organization'], list: MANAGE },
  PX: { owner: 'mgr', grants: ['CUSTOM@organization'], list: MOVE },
  PD: { owner: 'mgr', grants: ['ADMIN@organization'] },
  PV: { owner: 'mem', grants: ['MEMBER@organization'] },
  PR: { owner: 'vie', grants: ['VIEWER@organization'] },
  PO: { owner: 'ext', grants: ['ADMIN@organization'] },
  PF: { owner: 'eve', grants: ['CUSTOM@organization'], list: ALL_PERMISSIONS },
  PP: { owner: 'ext', grants: ['MEMBER@project2'] },
  PT: { owner: 'tea', grants: ['CUSTOM@organization', 'ADMIN@team2'], list: MANAGE },
  SA: { owner: null, grants: ['ADMIN@organization'] },
  SE: { owner: null, grants: ['CUSTOM@organization'], list: MOVE, ends: true },
  SM: { owner: null, grants: ['CUSTOM@organization'], list: MOVE },
  SF: { owner: null, grants: ['CUSTOM@organization'], list: ALL_PERMISSIONS },
  SV: { owner: null, grants: ['CUSTOM@organization'], list: ['organization:view'] },
  SR: { owner: null, grants: ['CUSTOM@organization'], list: [...MANAGE, 'project:manage'] },
  SP: { owner: null, grants: ['ADMIN@project'] },
  ST: {
    owner: null,
    grants: ['CUSTOM@organization', 'MEMBER@team2', 'VIEWER@team'],
    list: [...MANAGE, 'project:update', 'project:view'],
  },
};
const LASTS_MS = 3_600_000;

export type Founding = { readonly app: TestApp; readonly labels: Labels; readonly nowMs: number };

/** Creates members and keys of every kind. */
export async function foundOrganization({ app, labels, nowMs }: Founding, label: string): Promise<Organization> {
  const first = await addForeign(app);
  const organization = modelOf(first);
  const name = <T extends string>(of: string, text: T): T => {
    labels.name(`${label}.${of}`, text);
    return text;
  };
  // Lists are sorted by age, so every row needs its own creation time.
  let bornAtMs = nowMs - 1000;
  const times = () => {
    bornAtMs += 1;
    return { createdAtMs: bornAtMs, updatedAtMs: bornAtMs };
  };
  const making = { organization, first, name, times };
  addMembers(making, addScopes(making), nowMs);
  await storeOrganization(app, organization, first);
  return organization;
}

type Making = {
  readonly organization: Organization;
  readonly first: Foreign;
  readonly name: <T extends string>(of: string, text: T) => T;
  readonly times: () => { readonly createdAtMs: number; readonly updatedAtMs: number };
};
type ScopeIds = Readonly<Record<Where, string>>;

function addScopes({ organization, first, name, times }: Making): ScopeIds {
  const { organizationId, teamId, projectId, userId, keyId, token, bindingId } = first;
  const known = { organization: organizationId, team: teamId, project: projectId, role: bindingId };
  for (const [of, id] of Object.entries({ ...known, first: userId, key: keyId, token })) name(of, id);
  const scopeIds: Record<string, string> = { ...known, team2: name('team2', newId('team', randomBytes)) };
  organization.teams.set(scopeIds.team2 ?? '', { id: scopeIds.team2 ?? '', name: 'second' });
  for (const [of, team] of Object.entries(PROJECTS)) {
    const id = name(of, newId('project', randomBytes));
    const secret = secretOf(name(`${of}.token`, mintProjectKey('sk-lw-', randomBytes).token));
    const project = { id, name: of, teamId: scopeIds[team] ?? '', ...UNNAMED, archived: false, secret, ...times() };
    organization.projects.set(id, project);
    scopeIds[of] = id;
  }
  return scopeIds as ScopeIds;
}

function addMembers({ organization, name, times }: Making, scopeIds: ScopeIds, nowMs: number): void {
  const userIds = new Map<string, string>();
  for (const [of, role] of Object.entries(MEMBERS)) {
    const userId = name(of, newId('user', randomBytes));
    userIds.set(of, userId);
    const email = `${of}@localhost`;
    organization.members.set(userId, { userId, email, name: of, role, disabledAtMs: null, ...times() });
    if (role !== 'EXTERNAL') organization.roleIds.set(name(`${of}.role`, newId('rolebinding', randomBytes)), userId);
  }
  for (const [index, [of, wish, list]] of HELD.entries()) {
    const id = name(`held${index}`, newId('rolebinding', randomBytes));
    organization.roleBindings.add({ ...grantOf(scopeIds, wish, list), id, userId: userIds.get(of) ?? '' });
  }
  for (const [of, { owner, grants, list = [], ends = false }] of Object.entries(KEYS)) {
    const { keyId, token } = mintApiKey('sk-lw-', randomBytes);
    name(`key-${of}`, keyId);
    organization.keys.set(keyId, {
      ...NEW_KEY,
      ...times(),
      id: keyId,
      keyType: owner === null ? 'service' : 'personal',
      name: of,
      userId: owner === null ? null : (userIds.get(owner) ?? null),
      permissionMode: list.length > 0 ? 'restricted' : 'all',
      grants: grants.map((wish) => grantOf(scopeIds, wish, list)),
      expiresAtMs: ends ? nowMs + LASTS_MS : null,
      secret: secretOf(name(`key-${of}.token`, token)),
    });
  }
}

function grantOf(scopeIds: ScopeIds, wish: Wish, list: readonly string[]): Grant {
  const [role, where] = wish.split('@') as [Grant['role'], Where];
  const scopeType = where.replace('2', '').toUpperCase() as Grant['scopeType'];
  return { role, scopeType, scopeId: scopeIds[where], permissions: role === 'CUSTOM' ? [...list].sort() : [] };
}

function secretOf(current: string | null) {
  return { current, previous: null, previousUntilMs: 0 };
}

const UNNAMED = { language: 'other', framework: 'other' };
const NEW_KEY = { description: null, createdByUserId: null, expiresAtMs: null, revokedAtMs: null };

/** The model of a new organization. */
function modelOf({ organizationId, teamId, projectId, userId, bindingId, keyId, token }: Foreign): Organization {
  const organization = createOrganization(organizationId, 'Foreign');
  const named = { name: 'Foreign', createdAtMs: 0, updatedAtMs: 0 };
  organization.teams.set(teamId, { id: teamId, name: 'Foreign' });
  // This key is unknown here.
  const project = { id: projectId, teamId, ...UNNAMED, archived: false, secret: secretOf(null), ...named };
  organization.projects.set(projectId, project);
  const email = 'foreign@localhost';
  organization.members.set(userId, { userId, email, role: 'ADMIN', disabledAtMs: null, ...named });
  organization.roleIds.set(bindingId, userId);
  organization.keys.set(keyId, {
    ...NEW_KEY,
    ...named,
    id: keyId,
    keyType: 'personal',
    userId,
    permissionMode: 'all',
    grants: [{ role: 'ADMIN', scopeType: 'ORGANIZATION', scopeId: organizationId, permissions: [] }],
    secret: secretOf(token),
  });
  return organization;
}
