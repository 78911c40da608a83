import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MemberRole, MemberService } from '../../../gen/spandrel/v1/organization_pb.js';
import { startApp, type TestApp } from '../../support/app.ts';
import { addKey, custom } from '../../support/fixtures.ts';
import { type Body, callRest, callRpc } from '../../support/surfaces.ts';
import { act, anyId, askAll, bearer, expectOnlyApiKeys, INSTANT } from './organization-client.ts';

const { listMembers, createMember, updateMember, removeMember } = MemberService.method;
const PATH = '/api/organization/members';

let app: TestApp;
let manager: { readonly authorization: string };
let viewer: { readonly authorization: string };
beforeAll(async () => {
  app = await startApp();
  const keyWith = async (permission: string) =>
    bearer(await addKey(app, { bindings: [custom('ORGANIZATION', app.organizationId, [permission])] }));
  manager = await keyWith('organization:manage');
  viewer = await keyWith('organization:view');
});
afterAll(async () => {
  await app.close();
});

let added = 0;
const add = (body: object = {}): Promise<Body> => {
  added += 1;
  return act(app, 'POST', PATH, { email: `m${added}@example.com`, name: `M ${added}`, ...body });
};
const create = (body: { email?: string; name?: string }, role = MemberRole.UNSPECIFIED, word?: string) => ({
  rest: { verb: 'POST', path: PATH, body: word === undefined ? body : { ...body, role: word } },
  method: createMember,
  request: { ...body, role },
});
const update = (userId: string, body: object, request: object = body) => ({
  rest: { verb: 'PATCH', path: `${PATH}/${userId}`, body },
  method: updateMember,
  request: { userId, member: request },
});
const remove = (userId: string) => ({
  rest: { verb: 'DELETE', path: `${PATH}/${userId}` },
  method: removeMember,
  request: { userId },
});
const list = { rest: { path: PATH }, method: listMembers, request: {} };

/** Creates a key of the member; returns its token. */
async function keyOf(assignedToUserId: string, role = 'VIEWER'): Promise<string> {
  const bindings = [{ role, scopeType: 'ORGANIZATION', scopeId: app.organizationId }];
  return (await act(app, 'POST', '/api/api-keys', { name: 'key', assignedToUserId, bindings })).token;
}

async function statusOf(token: string): Promise<number> {
  return (await callRest(app.address, { path: '/api/organization', headers: bearer(token) })).status;
}

describe('adding members, over REST and gRPC', () => {
  it('answers every field, with MEMBER by default', async () => {
    await askAll(
      app,
      {
        ...create({ email: 'Jane@Example.com', name: 'Jane' }),
        request: { email: 'Jane2@Example.com', name: 'Jane' },
      },
      {
        status: 201,
        check: (body) =>
          expect(body).toEqual({
            userId: anyId('user'),
            email: expect.stringMatching(/^jane2?@example\.com$/),
            name: 'Jane',
            role: 'MEMBER',
            disabled: false,
            disabledAt: null,
            createdAt: INSTANT,
            updatedAt: INSTANT,
          }),
      },
    );
    const again = create({ email: 'JANE@example.com', name: 'Jane' });
    await askAll(app, again, { status: 409, code: 'member_already_exists' });
  });

  it.each([
    ['nothing', {}, ['email', 'name']],
    ['an address without @', { email: 'jane', name: 'x' }, ['email']],
    ['an address with two', { email: 'a@b@c', name: 'x' }, ['email']],
    ['a long address', { email: `${'a'.repeat(320)}@b`, name: 'x' }, ['email']],
    ['U+0000', { email: 'a\0@b', name: 'x\0' }, ['email', 'name']],
  ])('refuses %s', async (_, body, fields) => {
    const check = (answer: Body) => expect(answer.fields.toSorted()).toEqual(fields);
    await askAll(app, create(body), { status: 422, code: 'validation_error', check });
  });

  it('refuses an unknown role', async () => {
    const body = { email: 'role@example.com', name: 'x' };
    await askAll(app, create(body, 9 as MemberRole, 'CUSTOM'), { status: 422, code: 'validation_error' });
  });

  it('is bounded by what the caller holds', async () => {
    const body = { email: 'ceiling@example.com', name: 'x' };
    await askAll(app, create(body, MemberRole.ADMIN, 'ADMIN'), {
      headers: manager,
      status: 403,
      code: 'administrator_required',
    });
    await askAll(app, create(body, MemberRole.VIEWER, 'VIEWER'), {
      headers: manager,
      status: 403,
      code: 'role_binding_scope_violation',
      check: (answer) => expect(answer).toMatchObject({ scopeType: 'ORGANIZATION', scopeId: app.organizationId }),
    });
    await askAll(app, create(body), { headers: viewer, status: 403, code: 'insufficient_permissions' });
    await expectOnlyApiKeys(app, create(body));
  });
});

describe('changing members, over REST and gRPC', () => {
  it('only what is sent changes', async () => {
    const { userId } = await add();
    const viewerRole = update(userId, { role: 'VIEWER' }, { role: MemberRole.VIEWER });
    await askAll(app, viewerRole, { status: 200, check: (body) => expect(body.role).toBe('VIEWER') });
    const disable = update(userId, { disabled: true });
    await askAll(app, disable, {
      status: 200,
      check: (body) => expect(body).toMatchObject({ role: 'VIEWER', disabled: true, disabledAt: INSTANT }),
    });
    const { updatedAt } = (await act(app, 'PATCH', `${PATH}/${userId}`, {})) as Body;
    await askAll(app, update(userId, {}), { status: 200, check: (body) => expect(body.updatedAt).toBe(updatedAt) });
    const enable = update(userId, { disabled: false });
    await askAll(app, enable, {
      status: 200,
      check: (body) => expect(body).toMatchObject({ disabled: false, disabledAt: null }),
    });
    const { data } = await act(app, 'GET', `/api/audit-log?targetId=${userId}&action=member.update`);
    expect(data.map(({ fields }: Body) => fields)).toEqual([['disabled'], ['disabled'], ['role']]);
  });

  it('refuses null, unknown words and unknown members', async () => {
    const { userId } = await add();
    const headers = bearer(app.adminKey);
    for (const field of ['role', 'disabled', 'name']) {
      const answer = await callRest(app.address, { ...update(userId, { [field]: null }).rest, headers });
      expect(answer).toMatchObject({ status: 422, body: { fields: [field] } });
      const request = { userId, updateMask: { paths: [field] } };
      const rpc = await callRpc(app.address, { method: updateMember, headers, request });
      expect(rpc).toMatchObject({ ok: false, code: 'validation_error', meta: { fields: [field] } });
    }
    await askAll(app, update('nope', { name: 'x' }), { status: 404, code: 'member_not_found' });
    await askAll(app, update('x'.repeat(201), { name: 'x' }), { status: 404, code: 'member_not_found' });
    await expectOnlyApiKeys(app, update(userId, { name: 'x' }));
  });

  it('the last active administrator stays', async () => {
    const demote = update(app.userId, { role: 'MEMBER' }, { role: MemberRole.MEMBER });
    await askAll(app, demote, { status: 409, code: 'cannot_demote_last_admin' });
    const disable = update(app.userId, { disabled: true });
    await askAll(app, disable, { status: 409, code: 'cannot_disable_last_admin' });
    await askAll(app, remove(app.userId), { status: 409, code: 'cannot_remove_last_admin' });
    for (const both of [demote, disable, remove(app.userId)]) {
      await askAll<never>(app, both as never, { headers: manager, status: 403, code: 'administrator_required' });
    }
  });

  it('a member who is disabled has no working key until enabled again', async () => {
    const { userId } = await add();
    const token = await keyOf(userId);
    expect(await statusOf(token)).toBe(200);
    await act(app, 'PATCH', `${PATH}/${userId}`, { disabled: true });
    expect(await statusOf(token)).toBe(401);
    await act(app, 'PATCH', `${PATH}/${userId}`, { disabled: false });
    expect(await statusOf(token)).toBe(200);
  });

  it('an administrator who is demoted loses with every key what the role gave', async () => {
    const { userId } = await add({ role: 'ADMIN' });
    const headers = bearer(await keyOf(userId, 'ADMIN'));
    expect((await callRest(app.address, { path: PATH, headers })).status).toBe(200);
    await act(app, 'PATCH', `${PATH}/${userId}`, { role: 'MEMBER' });
    expect((await callRest(app.address, { path: PATH, headers })).status).toBe(403);
  });
});

describe('removing members, over REST and gRPC', () => {
  it('revokes their keys permanently, even when the same address is added again', async () => {
    const [one, two] = [await add(), await add()];
    const token = await keyOf(one.userId);
    const keyId = token.slice('sk-lw-'.length).split('_')[0] ?? '';
    const headers = bearer(app.adminKey);
    const rest = await callRest(app.address, { ...remove(one.userId).rest, headers });
    expect(rest).toMatchObject({ status: 200, body: { success: true } });
    const rpc = await callRpc(app.address, { ...remove(two.userId), headers });
    expect(rpc).toMatchObject({ ok: true, body: { success: true } });
    await askAll(app, remove(one.userId), { status: 404, code: 'member_not_found' });
    expect(await statusOf(token)).toBe(401);
    const again = await add({ email: one.email });
    expect(again.userId).not.toBe(one.userId);
    expect(await statusOf(token)).toBe(401);
    expect(await act(app, 'GET', `/api/api-keys/${keyId}`)).toMatchObject({ userId: one.userId, revokedAt: INSTANT });
    const { data } = await act(app, 'GET', `/api/audit-log?targetId=${keyId}&action=apiKey.revoke`);
    expect(data).toMatchObject([{ outcome: 'success', targetType: 'apiKey' }]);
  });

  it('is for those who hold what the member holds', async () => {
    const { userId } = await add();
    const refused = { headers: manager, status: 403, code: 'role_binding_scope_violation' };
    await askAll(app, remove(userId), refused);
    await expectOnlyApiKeys(app, remove(userId));
  });
});

describe('listing members, over REST and gRPC', () => {
  it('goes through all of them, oldest first', async () => {
    const all = (await act(app, 'GET', `${PATH}?limit=200`)).data;
    expect(all[0]).toMatchObject({ userId: app.userId, role: 'ADMIN', name: 'Administrator' });
    const seen: string[] = [];
    let cursor: string | null = '';
    while (cursor !== null) {
      const page: Body = await act(app, 'GET', `${PATH}?limit=3&cursor=${encodeURIComponent(cursor)}`);
      seen.push(...page.data.map(({ userId }: Body) => userId));
      cursor = page.next_cursor;
    }
    expect(seen).toEqual(all.map(({ userId }: Body) => userId));
    await askAll(app, list, {
      headers: manager,
      status: 200,
      check: (body) => expect(body).toMatchObject({ next_cursor: null, data: all }),
    });
  });

  it('refuses a forged cursor, a limit out of range, and who may not', async () => {
    const forged = { rest: { path: `${PATH}?cursor=abc` }, method: listMembers, request: { pageToken: 'abc' } };
    await askAll(app, forged, { status: 422, code: 'invalid_cursor' });
    const wide = { rest: { path: `${PATH}?limit=201` }, method: listMembers, request: { pageSize: 201 } };
    await askAll(app, wide, { status: 422, code: 'validation_error' });
    await askAll(app, list, { headers: viewer, status: 403, code: 'insufficient_permissions' });
    await expectOnlyApiKeys(app, list);
  });
});
