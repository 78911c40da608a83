import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../../support/app.ts';
import { callRest } from '../../support/surfaces.ts';
import {
  addMember,
  ask,
  type Minted,
  mint,
  OPERATION_NAMES,
  type Outcome,
  restrictedTo,
  SURFACES,
} from './keys-client.ts';

let app: TestApp;
let member: Minted;
let viewer: Minted;
let service: Minted;
beforeAll(async () => {
  app = await startApp();
  member = (await addMember(app, 'MEMBER')).key;
  viewer = (await addMember(app, 'VIEWER')).key;
  service = await mint(app, { keyType: 'service' });
});
afterAll(async () => {
  await app.close();
});

/** An error without the ids of the call. */
function said({ status, code, message, body }: Outcome) {
  const { trace_id: _, span_id: _span, trace: _trace, ...members } = body;
  return { status, code, message, members };
}

describe.each(SURFACES)('reading keys over %s', (surface) => {
  it('a member sees their own and service keys; hidden and unknown ids get the same answer', async () => {
    const { token } = member;
    const ids = (body: { data: { id: string }[] }) => body.data.map(({ id }) => id).toSorted();
    const list = await ask(app, [surface, 'list'], { token });
    expect(list.status).toBe(200);
    expect(ids(list.body)).toEqual(expect.arrayContaining([member.id, service.id]));
    expect(ids(list.body)).not.toContain(viewer.id);
    expect((await ask(app, [surface, 'get'], { id: service.id, token })).body).toMatchObject({ keyType: 'service' });
    const hidden = await ask(app, [surface, 'get'], { id: viewer.id, token });
    const unknown = await ask(app, [surface, 'get'], { id: '0'.repeat(16), token });
    expect(hidden).toMatchObject({ status: 404, code: 'api_key_not_found' });
    expect(said(unknown)).toEqual(said(hidden));
  });

  it('the organization-wide list takes organization:manage', async () => {
    const query = { scope: 'organization' };
    expect(await ask(app, [surface, 'list'], { query, token: member.token })).toMatchObject({
      status: 403,
      code: 'insufficient_permissions',
      body: { requiredPermission: 'organization:manage' },
    });
    const all = await ask(app, [surface, 'list'], { query });
    expect(all.body.data.map(({ id }: Minted) => id)).toEqual(expect.arrayContaining([member.id, viewer.id]));
    const ofService = await ask(app, [surface, 'list'], { token: service.token });
    const idsOf = ({ body }: Outcome) => body.data.map(({ id }: Minted) => id);
    expect(idsOf(ofService)).toEqual(idsOf(await ask(app, [surface, 'list'], { query })));
  });

  it('a list of no page says nothing of a next one; pages end in null', async () => {
    const whole = await ask(app, [surface, 'list'], { query: { scope: 'organization' } });
    expect(Object.keys(whole.body)).toEqual(['data']);
    const ids: string[] = [];
    let cursor = '';
    for (let page = 0; page < 9; page += 1) {
      const query = { scope: 'organization', limit: '2', cursor };
      const { body } = await ask(app, [surface, 'list'], { query });
      ids.push(...body.data.map(({ id }: Minted) => id));
      expect(body).toHaveProperty('next_cursor');
      if (body.next_cursor === null) break;
      cursor = body.next_cursor;
    }
    expect(ids).toEqual(whole.body.data.map(({ id }: Minted) => id));
  });

  it('bad questions are refused', async () => {
    const cases = [
      // A gRPC enum cannot hold an invalid scope.
      ...(surface === 'gRPC' ? [] : [{ query: { scope: 'all' }, field: 'scope' }]),
      { query: { limit: '0' }, field: 'limit' },
      { query: { limit: '201' }, field: 'limit' },
    ];
    for (const { query, field } of cases) {
      const outcome = await ask(app, [surface, 'list'], { query });
      expect(outcome, field).toMatchObject({ status: 422, code: 'validation_error', body: { fields: [field] } });
    }
    const foreign = await ask(app, [surface, 'list'], { query: { cursor: 'bm9wZQ' } });
    expect(foreign).toMatchObject({ status: 422, code: 'invalid_cursor' });
  });

  it('a service key without organization:manage sees nothing at all', async () => {
    const { token } = await mint(app, { keyType: 'service', ...restrictedTo(app, 'organization:view') });
    expect((await ask(app, [surface, 'list'], { token })).code).toBe('insufficient_permissions');
    expect((await ask(app, [surface, 'get'], { id: service.id, token })).code).toBe('api_key_not_found');
  });
});

describe('every operation on API keys', () => {
  it.each(OPERATION_NAMES)('%s is refused without a proper credential, on every surface', async (operation) => {
    for (const surface of SURFACES) {
      const request = { id: service.id, body: operation === 'create' ? { name: 'x' } : {} };
      const refusalOf = async (token: string) => {
        const { status, code } = await ask(app, [surface, operation], { ...request, token });
        return `${status} ${code}`;
      };
      expect(await refusalOf('')).toBe('401 missing_credentials');
      expect(await refusalOf(`${service.token.slice(0, -1)}!`)).toBe('401 invalid_credentials');
      expect(await refusalOf(app.projectKey)).toBe('401 credential_class_mismatch');
    }
  });

  it.each(['get', 'update', 'revoke', 'rotate'] as const)('%s hides what its caller may not see', async (operation) => {
    const { token } = await mint(app, restrictedTo(app, 'organization:manage'), (await manager()).token);
    for (const surface of SURFACES) {
      const bodies = [];
      for (const id of [viewer.id, '0'.repeat(16), 'x'.repeat(201), 'a-b c']) {
        const outcome = await ask(app, [surface, operation], { id, token, body: {} });
        expect(outcome, id).toMatchObject({ status: 404, code: 'api_key_not_found' });
        bodies.push(said(outcome));
      }
      expect(new Set(bodies.map((body) => JSON.stringify(body))).size).toBe(1);
    }
    expect((await ask(app, ['/api/api-keys', 'get'], { id: viewer.id })).body.revokedAt).toBeNull();
  });

  it('knows no key by an empty id or one with U+0000', async () => {
    const headers = { authorization: `Bearer ${app.adminKey}` };
    const empty = await callRest(app.address, { path: '/api/api-keys/', headers });
    expect([empty.status, empty.body.code]).toEqual([404, 'route_not_found']);
    for (const surface of SURFACES) {
      const outcome = await ask(app, [surface, 'get'], { id: 'a\0b' });
      expect(outcome).toMatchObject({ status: 422, code: 'validation_error', body: { fields: ['id'] } });
    }
  });
});

/** Adds a non-administrator with organization:manage; returns the key. */
async function manager(): Promise<Minted> {
  const { userId } = await addMember(app, 'MEMBER');
  const answer = await callRest(app.address, {
    verb: 'POST',
    path: '/api/role-bindings',
    headers: { authorization: `Bearer ${app.adminKey}` },
    body: {
      userId,
      role: 'CUSTOM',
      permissions: ['organization:manage'],
      scopeType: 'ORGANIZATION',
      scopeId: app.organizationId,
    },
  });
  expect(answer.status, answer.text).toBe(201);
  return mint(app, { assignedToUserId: userId, ...restrictedTo(app, 'organization:manage') });
}
