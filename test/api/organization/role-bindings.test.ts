import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Role, ScopeType } from '../../../gen/spandrel/v1/keys_pb.js';
import { RoleBindingService } from '../../../gen/spandrel/v1/organization_pb.js';
import { startApp, type TestApp } from '../../support/app.ts';
import { addKey, custom } from '../../support/fixtures.ts';
import { type Body, callRest, callRpc } from '../../support/surfaces.ts';
import { act, anyId, askAll, bearer, expectOnlyApiKeys, INSTANT } from './organization-client.ts';

const { listRoleBindings, createRoleBinding, deleteRoleBinding } = RoleBindingService.method;
const PATH = '/api/role-bindings';

let app: TestApp;
let userId: string;
let manager: { readonly authorization: string };
let viewer: { readonly authorization: string };
beforeAll(async () => {
  app = await startApp();
  const member = { email: 'jane@example.com', name: 'Jane', role: 'VIEWER' };
  userId = (await act(app, 'POST', '/api/organization/members', member)).userId;
  const keyWith = async (permission: string) =>
    bearer(await addKey(app, { bindings: [custom('ORGANIZATION', app.organizationId, [permission])] }));
  manager = await keyWith('organization:manage');
  viewer = await keyWith('organization:view');
});
afterAll(async () => {
  await app.close();
});

type Grant = {
  readonly userId?: string;
  readonly role: keyof typeof Role;
  readonly scopeType: keyof typeof ScopeType;
  readonly scopeId?: string;
  readonly permissions?: readonly string[];
};

function grant({ role, scopeType, permissions = [], ...rest }: Grant) {
  const ids = { userId, scopeId: app.projectId, ...rest };
  return {
    rest: { verb: 'POST', path: PATH, body: { ...ids, role, scopeType, permissions } },
    method: createRoleBinding,
    request: { ...ids, role: Role[role], scopeType: ScopeType[scopeType], permissions: [...permissions] },
  };
}

const remove = (id: string) => ({
  rest: { verb: 'DELETE', path: `${PATH}/${id}` },
  method: deleteRoleBinding,
  request: { id },
});
const list = (query = '', request = {}) => ({ rest: { path: PATH + query }, method: listRoleBindings, request });
const give = (each: Grant): Promise<Body> => act(app, 'POST', PATH, grant(each).rest.body);

describe('granting, over REST and gRPC', () => {
  it('answers every field', async () => {
    const both = grant({ role: 'CUSTOM', scopeType: 'PROJECT', permissions: ['traces:view', 'cost:view'] });
    await askAll(
      app,
      { ...both, request: { ...both.request, permissions: ['traces:view'] } },
      {
        status: 201,
        check: ({ permissions, ...body }) => {
          expect(permissions.at(-1)).toBe('traces:view');
          expect(body).toEqual({
            id: anyId('rolebinding'),
            userId,
            role: 'CUSTOM',
            scopeType: 'PROJECT',
            scopeId: app.projectId,
            createdAt: INSTANT,
          });
        },
      },
    );
    await askAll(app, both, { status: 409, code: 'role_binding_already_exists' });
  });

  it('a grant works at once, and is over once it is taken back', async () => {
    const body = { email: 'ext@example.com', name: 'Ext', role: 'EXTERNAL' };
    const external = (await act(app, 'POST', '/api/organization/members', body)).userId;
    const { id } = await give({ userId: external, role: 'MEMBER', scopeType: 'PROJECT' });
    const bindings = [{ role: 'MEMBER', scopeType: 'PROJECT', scopeId: app.projectId }];
    const key = { name: 'key', assignedToUserId: external, bindings };
    const headers = bearer((await act(app, 'POST', '/api/api-keys', key)).token);
    const status = async () => (await callRest(app.address, { path: '/api/evaluators/none', headers })).status;
    expect(await status()).toBe(404);
    await act(app, 'DELETE', `${PATH}/${id}`);
    expect(await status()).toBe(403);
  });

  it.each<[string, Grant, string[]]>([
    [
      'permissions without CUSTOM',
      { role: 'VIEWER', scopeType: 'PROJECT', permissions: ['traces:view'] },
      ['permissions'],
    ],
    ['CUSTOM without permissions', { role: 'CUSTOM', scopeType: 'PROJECT' }, ['permissions']],
    [
      'an unknown permission',
      { role: 'CUSTOM', scopeType: 'PROJECT', permissions: ['traces:View'] },
      ['permissions.0'],
    ],
    ['a built-in role at ORGANIZATION', { role: 'VIEWER', scopeType: 'ORGANIZATION' }, ['role']],
    [
      'U+0000',
      { role: 'CUSTOM', scopeType: 'PROJECT', scopeId: 'a\0', permissions: ['a\0'] },
      ['permissions.0', 'scopeId'],
    ],
    ['empty ids', { role: 'VIEWER', scopeType: 'PROJECT', scopeId: '', userId: '' }, ['scopeId', 'userId']],
  ])('refuses %s', async (_, each, fields) => {
    const check = (body: Body) => expect(body.fields.toSorted()).toEqual(fields);
    await askAll(app, grant(each), { status: 422, code: 'validation_error', check });
  });

  it('refuses what is missing, and words it does not know', async () => {
    const empty = { rest: { verb: 'POST', path: PATH, body: {} }, method: createRoleBinding, request: {} };
    const check = (body: Body) => expect(body.fields.toSorted()).toEqual(['role', 'scopeId', 'scopeType', 'userId']);
    await askAll(app, empty, { status: 422, code: 'validation_error', check });
    const odd = grant({ role: 'VIEWER', scopeType: 'PROJECT' });
    const body = { ...odd.rest.body, role: 'OWNER', scopeType: 'project', permissions: 'traces:view' };
    const answer = await callRest(app.address, { verb: 'POST', path: PATH, body, headers: bearer(app.adminKey) });
    expect(answer.body.fields.toSorted()).toEqual(['permissions', 'role', 'scopeType']);
    const request = { ...odd.request, role: 9 as Role, scopeType: 9 as ScopeType };
    const rpc = await callRpc(app.address, { method: createRoleBinding, headers: bearer(app.adminKey), request });
    expect(rpc).toMatchObject({ ok: false, code: 'validation_error', meta: { fields: ['role', 'scopeType'] } });
  });

  it('is bounded by what the caller holds; unknown scopes are refused the same way', async () => {
    const code = 'role_binding_scope_violation';
    const viewerAtProject = grant({ role: 'VIEWER', scopeType: 'PROJECT' });
    await askAll(app, viewerAtProject, { headers: manager, status: 403, code });
    const unknown = grant({ role: 'VIEWER', scopeType: 'TEAM', scopeId: 'nope' });
    const check = (body: Body) => {
      expect(body).toMatchObject({ scopeType: 'TEAM', scopeId: 'nope' });
      expect(body).not.toHaveProperty('missingPermissions');
    };
    await askAll(app, unknown, { status: 403, code, check });
    const nobody = grant({ userId: 'nope', role: 'VIEWER', scopeType: 'PROJECT' });
    await askAll(app, nobody, { headers: manager, status: 404, code: 'member_not_found' });
    await askAll(app, viewerAtProject, { headers: viewer, status: 403, code: 'insufficient_permissions' });
    await expectOnlyApiKeys(app, viewerAtProject);
  });
});

describe('taking grants back, over REST and gRPC', () => {
  it('once', async () => {
    const one = await give({ role: 'MEMBER', scopeType: 'PROJECT' });
    const two = await give({ role: 'ADMIN', scopeType: 'PROJECT' });
    await askAll(app, remove(one.id), { headers: manager, status: 403, code: 'role_binding_scope_violation' });
    await expectOnlyApiKeys(app, remove(one.id));
    const rest = await callRest(app.address, { ...remove(one.id).rest, headers: bearer(app.adminKey) });
    expect(rest).toMatchObject({ status: 200, body: { success: true } });
    const rpc = await callRpc(app.address, { ...remove(two.id), headers: bearer(app.adminKey) });
    expect(rpc).toMatchObject({ ok: true, body: { success: true } });
    await askAll(app, remove(one.id), { status: 404, code: 'role_binding_not_found' });
  });

  it('but not the role of a member', async () => {
    const { data } = await act(app, 'GET', `${PATH}?userId=${userId}&scopeType=ORGANIZATION`);
    expect(data).toMatchObject([{ role: 'VIEWER', permissions: [] }]);
    await askAll(app, remove(data[0].id), { status: 409, code: 'role_binding_is_member_role' });
  });
});

describe('listing grants, over REST and gRPC', () => {
  it('by member and scope, in pages', async () => {
    await give({ role: 'ADMIN', scopeType: 'PROJECT' });
    const ofMember = list(`?userId=${userId}&scopeType=PROJECT&limit=1`, {
      userId,
      scopeType: ScopeType.PROJECT,
      pageSize: 1,
    });
    const cursors = new Set<string>();
    await askAll(app, ofMember, {
      headers: manager,
      status: 200,
      check: (body) => {
        expect(body.data).toMatchObject([{ userId, scopeType: 'PROJECT' }]);
        cursors.add(body.next_cursor);
      },
    });
    expect(cursors.size).toBe(1);
    const [cursor = ''] = cursors;
    const elsewhere = list(`?cursor=${encodeURIComponent(cursor)}`, { pageToken: cursor });
    await askAll(app, elsewhere, { status: 422, code: 'invalid_cursor' });
    const nobody = list('?userId=nope', { userId: 'nope' });
    await askAll(app, nobody, { status: 200, check: (body) => expect(body).toEqual({ data: [], next_cursor: null }) });
  });

  it('refuses bad input and who may not', async () => {
    await askAll(app, list('?scopeType=GALAXY', { scopeType: 9 }), { status: 422, code: 'validation_error' });
    await askAll(app, list('?limit=0', { pageSize: 0 }), { status: 422, code: 'validation_error' });
    await askAll(app, list(), { headers: viewer, status: 403, code: 'insufficient_permissions' });
    await expectOnlyApiKeys(app, list());
  });
});
