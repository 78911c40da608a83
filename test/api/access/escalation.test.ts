import { afterAll, beforeAll, expect, it } from 'vitest';
import { ApiKeyService } from '../../../gen/spandrel/v1/keys_pb.js';
import { MemberService, ProjectService, RoleBindingService } from '../../../gen/spandrel/v1/organization_pb.js';
import { type Body, callRest } from '../../support/surfaces.ts';
import { atOrganization, createFixture, type Fixture, freshName } from './access-fixture.ts';
import { ask, type Question, SURFACES } from './question.ts';

const { createApiKey, getApiKey, updateApiKey, revokeApiKey, rotateApiKey } = ApiKeyService.method;
const { createMember, updateMember, removeMember } = MemberService.method;
const { createRoleBinding, deleteRoleBinding } = RoleBindingService.method;
const { getProject, updateProject, archiveProject, rotateProjectKey, createProject } = ProjectService.method;

let fixture: Fixture;
beforeAll(async () => {
  fixture = await createFixture();
});
afterAll(async () => {
  await fixture.app.close();
});

type Attempt = readonly [what: string, question: Question, code: string];

const everything = () => [atOrganization('ADMIN', fixture.scopeIds)];
const listed = (...permissions: string[]) => ({
  bindings: [atOrganization('CUSTOM', fixture.scopeIds)],
  permissionMode: 'restricted',
  permissions,
});
const email = () => `${freshName('m').replace(' ', '')}@localhost`;

/** All attempts of a key with only organization:manage to gain more. */
async function attempts(): Promise<readonly Attempt[]> {
  const { adm, mem } = fixture.members;
  const organization = { scopeType: 'ORGANIZATION', scopeId: fixture.scopeIds.organization };
  const p1 = { scopeType: 'PROJECT', scopeId: fixture.projects.P1 };
  const wide = await fixture.addKey({ owner: 'adm', body: { bindings: everything() } });
  const narrow = await fixture.addKey({ owner: 'adm', body: listed('organization:manage') });
  const service = await fixture.addKey({ owner: null, body: listed('organization:view') });
  const mint = (body: object): Question => ({
    method: createApiKey,
    body: JSON.parse(JSON.stringify({ name: 'x', ...body })),
  });
  const patch = (id: string, body: object): Question => ({
    method: updateApiKey,
    parameters: { id },
    body: JSON.parse(JSON.stringify(body)),
  });
  const s = 'api_key_scope_violation';
  const r = 'role_binding_scope_violation';
  const a = 'administrator_required';
  const bind = (body: object): Question => ({
    method: createRoleBinding,
    body: JSON.parse(JSON.stringify({ userId: mem, ...body })),
  });
  return [
    ['mint ADMIN', mint({ bindings: everything() }), s],
    ['mint one permission more', mint(listed('organization:manage', 'auditLog:view')), s],
    ['mint what implies more', mint(listed('organization:manage', 'project:manage')), s],
    ['mint for one project', mint({ bindings: [{ role: 'VIEWER', ...p1 }] }), s],
    [
      'mint a mixture',
      mint({ ...listed('organization:view'), bindings: [{ role: 'VIEWER', ...p1 }, ...listed().bindings] }),
      s,
    ],
    ['mint a service key', mint({ keyType: 'service' }), a],
    ['mint a service key of a project', mint({ keyType: 'service', projectIds: [fixture.projects.P1] }), a],
    ['mint for another', mint({ assignedToUserId: mem, bindings: [atOrganization('MEMBER', fixture.scopeIds)] }), a],
    ['widen itself', patch(fixture.callerIds.PN, { bindings: everything(), permissionMode: 'all' }), s],
    ['widen its own list', patch(fixture.callerIds.PN, { permissions: ['organization:manage', 'traces:view'] }), s],
    ['widen a sister', patch(narrow.id, { bindings: everything(), permissionMode: 'all' }), s],
    ['widen a service key', patch(service.id, { permissions: ['organization:view', 'traces:view'] }), s],
    ['give a service key a project', patch(service.id, { projectIds: [fixture.projects.P1] }), s],
    ['take the token of a wider sister', { method: rotateApiKey, parameters: { id: wide.id }, body: {} }, s],
    ['take the token of a service key', { method: rotateApiKey, parameters: { id: fixture.svc }, body: {} }, s],
    [
      'take the token of another',
      { method: rotateApiKey, parameters: { id: fixture.targets.vie }, body: {} },
      'api_key_not_owned',
    ],
    ['invite an administrator', { method: createMember, body: { email: email(), name: 'x', role: 'ADMIN' } }, a],
    ['invite a member', { method: createMember, body: { email: email(), name: 'x', role: 'MEMBER' } }, r],
    ['promote a member', { method: updateMember, parameters: { user_id: mem }, body: { role: 'ADMIN' } }, a],
    ['demote a member', { method: updateMember, parameters: { user_id: mem }, body: { role: 'EXTERNAL' } }, r],
    ['disable the administrator', { method: updateMember, parameters: { user_id: adm }, body: { disabled: true } }, a],
    ['remove the administrator', { method: removeMember, parameters: { user_id: adm } }, a],
    ['bind ADMIN at a project', bind({ role: 'ADMIN', ...p1 }), r],
    ['bind a permission', bind({ role: 'CUSTOM', permissions: ['traces:view'], ...organization }), r],
    ['bind at what does not exist', bind({ role: 'VIEWER', scopeType: 'PROJECT', scopeId: 'none' }), r],
    ['create a project', { method: createProject, body: { name: 'x' } }, 'insufficient_permissions'],
  ];
}

it.each(SURFACES)(
  'a key narrowed to organization:manage gains nothing by any rpc over %s, for every owner',
  async (surface) => {
    const { app, tokens } = fixture;
    const before = await stateOf();
    for (const [what, question, code] of await attempts()) {
      const { code: answered } = await ask(surface, question, {
        address: app.address,
        token: tokens.PN,
        wanted: { status: 403, code },
      });
      expect({ what, answered }).toEqual({ what, answered: code });
    }
    const { permissions, members, bindings } = await stateOf();
    expect(permissions).toEqual(before.permissions);
    expect(members).toEqual(before.members);
    expect(bindings).toEqual(before.bindings);
  },
);

/** All that an attempt could change: the key's permissions, the members and their role bindings. */
async function stateOf(): Promise<Body> {
  const { act, callerIds } = fixture;
  return {
    permissions: (await act('GET', `/api/api-keys/${callerIds.PN}`)).effectivePermissions,
    members: (await act('GET', '/api/organization/members')).data,
    bindings: (await act('GET', '/api/role-bindings')).data,
  };
}

it('what a narrow key mints for its owner is as narrow', async () => {
  const { app, tokens } = fixture;
  const call = (token: string, verb: string, path: string, body?: object) =>
    callRest(app.address, { verb, path, headers: { authorization: `Bearer ${token}` }, ...(body ? { body } : {}) });
  const minted = await call(tokens.PN, 'POST', '/api/api-keys', { name: 'copy' });
  expect(minted.status).toBe(201);
  expect(minted.body.apiKey.effectivePermissions).toEqual([
    'organization:delete',
    'organization:manage',
    'organization:view',
  ]);
  expect((await call(minted.body.token, 'GET', '/api/audit-log')).status).toBe(403);
  expect((await call(minted.body.token, 'POST', '/api/api-keys', { name: 'x', bindings: everything() })).status).toBe(
    403,
  );
});

it.each(SURFACES)(
  'an administrator mints a narrow organization key for a member or viewer who holds its permissions, over %s',
  async (surface) => {
    const { app, members, tokens } = fixture;
    const mint = (owner: 'mem' | 'vie', ...permissions: string[]) =>
      ask(
        surface,
        { method: createApiKey, body: { name: 'narrow', assignedToUserId: members[owner], ...listed(...permissions) } },
        { address: app.address, token: tokens.PA, wanted: { status: 201, code: null } },
      );
    for (const owner of ['mem', 'vie'] as const) {
      const { status, body } = await mint(owner, 'organization:view', 'traces:view');
      expect({ owner, status }).toEqual({ owner, status: 201 });
      expect(body.apiKey.effectivePermissions).toEqual(['organization:view', 'traces:view']);
    }
    expect((await mint('vie', 'traces:create')).code).toBe('api_key_scope_violation');
    expect((await mint('mem', 'auditLog:view')).code).toBe('api_key_scope_violation');
  },
);

it('keys of a removed member stay dead when the same e-mail is added again', async () => {
  const { act, app } = fixture;
  const address = email();
  const invite = () => act('POST', '/api/organization/members', { email: address, name: 'Again', role: 'MEMBER' });
  const first = await invite();
  const bindings = [atOrganization('MEMBER', fixture.scopeIds)];
  const key = await act('POST', '/api/api-keys', { name: 'old', assignedToUserId: first.userId, bindings });
  const read = () => callRest(app.address, { path: '/api/organization', headers: { 'x-auth-token': key.token } });
  expect((await read()).status).toBe(200);
  await act('DELETE', `/api/organization/members/${first.userId}`);
  expect((await read()).status).toBe(401);
  const second = await invite();
  expect(second.userId).not.toBe(first.userId);
  expect((await read()).status).toBe(401);
  const old = await act('GET', `/api/api-keys/${key.id}`);
  expect(old.revokedAt).not.toBeNull();
  expect(old.effectivePermissions).toEqual([]);
});

/** The same requests with ids of another organization and with unknown ids. */
function pairs(): readonly (readonly [
  what: string,
  ask: (id: string) => Question,
  foreign: string,
  unknown: string,
])[] {
  const { foreign } = fixture;
  const byId = (method: Question['method'], body?: Question['body']) => (id: string) => ({
    method,
    parameters: { id },
    ...(body === undefined ? {} : { body }),
  });
  const byUser = (method: Question['method'], body?: Question['body']) => (id: string) => ({
    method,
    parameters: { user_id: id },
    ...(body === undefined ? {} : { body }),
  });
  const binding = (scopeType: string) => (scopeId: string) => ({
    method: createApiKey,
    body: { name: 'x', assignedToUserId: fixture.members.adm, bindings: [{ role: 'VIEWER', scopeType, scopeId }] },
  });
  const key = [foreign.keyId, '0000000000000000'] as const;
  const project = [foreign.projectId, 'project_000000000000000000000'] as const;
  const user = [foreign.userId, 'user_000000000000000000000'] as const;
  const team = [foreign.teamId, 'team_000000000000000000000'] as const;
  const organization = [foreign.organizationId, 'organization_000000000000000000000'] as const;
  return [
    ['read a key', byId(getApiKey), ...key],
    ['rename a key', byId(updateApiKey, { name: 'x' }), ...key],
    ['revoke a key', byId(revokeApiKey), ...key],
    ['rotate a key', byId(rotateApiKey, {}), ...key],
    ['read a project', byId(getProject), ...project],
    ['rename a project', byId(updateProject, { name: 'x' }), ...project],
    ['archive a project', byId(archiveProject), ...project],
    ['rotate the key of a project', byId(rotateProjectKey, {}), ...project],
    ['rename a member', byUser(updateMember, { name: 'x' }), ...user],
    ['remove a member', byUser(removeMember), ...user],
    [
      'mint a key for a member',
      (id) => ({
        method: createApiKey,
        body: { name: 'x', assignedToUserId: id, bindings: JSON.parse(JSON.stringify(everything())) },
      }),
      ...user,
    ],
    ['take back a grant', byId(deleteRoleBinding), foreign.bindingId, 'rolebinding_000000000000000000000'],
    ['mint at a project', binding('PROJECT'), ...project],
    ['mint at a team', binding('TEAM'), ...team],
    ['mint at an organization', binding('ORGANIZATION'), ...organization],
    ['create a project in a team', (id) => ({ method: createProject, body: { name: 'x', teamId: id } }), ...team],
    [
      'grant a member something',
      (id) => ({
        method: createRoleBinding,
        body: { userId: id, role: 'VIEWER', scopeType: 'PROJECT', scopeId: fixture.projects.P1 },
      }),
      ...user,
    ],
    [
      'mint a service key for a project',
      (id) => ({ method: createApiKey, body: { name: 'x', keyType: 'service', projectIds: [id] } }),
      ...project,
    ],
  ];
}

it.each(SURFACES)(
  'over %s another organization answers like nothing at all, to an administrator too',
  async (surface) => {
    const { app, tokens, foreign } = fixture;
    for (const token of [tokens.PA, tokens.SA]) {
      for (const [what, question, elsewhere, nowhere] of pairs()) {
        const answers = [];
        for (const id of [elsewhere, nowhere]) {
          const { code, body } = await ask(surface, question(id), {
            address: app.address,
            token,
            wanted: { status: 0, code: null },
          });
          expect(code, what).toMatch(/not_found|scope_violation/);
          answers.push(
            JSON.stringify(body)
              .replaceAll(id, 'the id')
              .replace(/[0-9a-f]{32}|[0-9a-f]{16}/g, 'a trace id'),
          );
        }
        expect(answers[0], what).toBe(answers[1]);
      }
    }
    const still = await callRest(app.address, {
      path: '/api/organization',
      headers: { 'x-auth-token': foreign.token },
    });
    expect(still.body).toMatchObject({ id: foreign.organizationId, name: 'Foreign' });
  },
);
