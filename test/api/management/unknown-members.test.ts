/** Misspelled members of bodies that hand out power: ignoring one could mean everything. */

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../../support/app.ts';
import { type Body, callRest } from '../../support/surfaces.ts';

let app: TestApp;
let keyId: string;
let userId: string;
beforeAll(async () => {
  app = await startApp();
  keyId = (await rest('POST', '/api/api-keys', { name: 'target' })).body.id;
  const member = { email: 'member@example.com', name: 'Member', role: 'EXTERNAL' };
  userId = (await rest('POST', '/api/organization/members', member)).body.userId;
});
afterAll(async () => {
  await app.close();
});

const headers = () => ({ authorization: `Bearer ${app.adminKey}` });
const rest = (verb: string, path: string, body?: object) =>
  callRest(app.address, { verb, path, headers: headers(), ...(body === undefined ? {} : { body }) });

async function connect(rpc: string, message: object): Promise<{ status: number; body: Body }> {
  const answer = await fetch(`${app.address}/spandrel.v1.${rpc}`, {
    method: 'POST',
    headers: { ...headers(), 'content-type': 'application/json' },
    body: JSON.stringify(message),
  });
  return { status: answer.status, body: await answer.json() };
}

const keyIds = async (): Promise<readonly string[]> =>
  (await rest('GET', '/api/api-keys?scope=organization')).body.data.map(({ id }: Body) => id);

describe('a service key whose projectIds are misspelled', () => {
  const body = () => ({ keyType: 'service', name: 'ci', project_ids: [app.projectId] });

  it('is refused with the nearest name, and administers nothing', async () => {
    const before = await keyIds();
    for (const path of ['/api/api-keys', '/api/v1/api-keys']) {
      const { status, body: error } = await rest('POST', path, body());
      expect({ status, code: error.code, fields: error.fields }).toEqual({
        status: 422,
        code: 'validation_error',
        fields: ['project_ids'],
      });
      expect(error.reasons[0].message).toBe('project_ids is not a member of this request, the nearest is projectIds');
    }
    expect(await keyIds()).toEqual(before);
  });

  it('is refused when the misspelled member is null, which says as little', async () => {
    const { status, body: error } = await rest('POST', '/api/api-keys', { ...body(), project_ids: null });
    expect([status, error.fields]).toEqual([422, ['project_ids']]);
  });

  it('is refused over Connect, in whose JSON the name of the field counts, too', async () => {
    const before = await keyIds();
    const typed = { keyType: 'KEY_TYPE_SERVICE', name: 'ci', projectIDs: { ids: [app.projectId] } };
    const { status, body: error } = await connect('ApiKeyService/CreateApiKey', typed);
    expect([status, error.code]).toEqual([400, 'invalid_argument']);
    expect(error.message).toContain('projectIDs is not a member of this request, the nearest is projectIds');
    expect(await keyIds()).toEqual(before);
  });
});

describe('a new key with a member that only answers have', () => {
  const grant = () => ({ role: 'VIEWER', scopeType: 'PROJECT', scopeId: app.projectId });
  type Case = readonly [member: string, body: () => object, nearest: string];

  it.each<Case>([
    ['roleBindings', () => ({ keyType: 'service', roleBindings: [grant()] }), 'bindings'],
    ['roleBindings', () => ({ keyType: 'service', bindings: [], roleBindings: [grant()] }), 'bindings'],
    ['roleBindings', () => ({ keyType: 'service', projectIds: [app.projectId], roleBindings: [grant()] }), 'bindings'],
    ['effectivePermissions', () => ({ keyType: 'service', effectivePermissions: ['traces:view'] }), 'bindings'],
    ['effectivePermissions', () => ({ effectivePermissions: [] }), 'bindings'],
    ['userId', () => ({ userId }), 'assignedToUserId'],
    ['userId', () => ({ userId, assignedToUserId: null }), 'assignedToUserId'],
  ])('in place of the member that requests have is refused: %s', async (member, body, nearest) => {
    const before = await keyIds();
    const { status, body: error } = await rest('POST', '/api/api-keys', { name: 'x', ...body() });
    expect([status, error.code, error.fields]).toEqual([422, 'validation_error', [member]]);
    expect(error.reasons[0].message).toBe(`${member} is not a member of this request, the nearest is ${nearest}`);
    expect(await keyIds()).toEqual(before);
  });

  it('is refused over Connect', async () => {
    const before = await keyIds();
    const typed = { keyType: 'KEY_TYPE_SERVICE', name: 'x', roleBindings: [] };
    const { status, body } = await connect('ApiKeyService/CreateApiKey', typed);
    expect(status).toBe(400);
    expect(body.message).toContain('roleBindings is not a member of this request');
    expect(await keyIds()).toEqual(before);
  });

  it('is ignored where it is null, as in a service key that is sent back', async () => {
    const { apiKey } = (await rest('POST', '/api/api-keys', { keyType: 'service', name: 'x' })).body;
    expect(apiKey.userId).toBe(null);
    expect((await rest('POST', '/api/api-keys', apiKey)).status).toBe(201);
  });
});

describe('a grant whose member is misspelled', () => {
  const grant = () => ({ role: 'VIEWER', scopeType: 'PROJECT', scopeId: app.projectId, scope_id: app.projectId });

  it('is refused with its path and the nearest name', async () => {
    const { status, body } = await rest('POST', '/api/api-keys', { name: 'x', bindings: [grant()] });
    expect([status, body.fields]).toEqual([422, ['bindings.0.scope_id']]);
    expect(body.reasons[0].message).toContain('the nearest is bindings.0.scopeId');
  });

  it('is refused over Connect with the names of the grant', async () => {
    const binding = { role: 'ROLE_VIEWER', scopeType: 'SCOPE_TYPE_PROJECT', scopeID: app.projectId };
    const { status, body } = await connect('ApiKeyService/CreateApiKey', { name: 'x', bindings: [binding] });
    expect(status).toBe(400);
    expect(body.message).toContain('scopeID is not a member of this request, the nearest is scopeId');
  });
});

type Refused = readonly [verb: string, path: () => string, body: object, nearest: string];

describe('every other body of access', () => {
  it.each<Refused>([
    ['PATCH', () => `/api/api-keys/${keyId}`, { binding: [] }, 'bindings'],
    ['POST', () => `/api/api-keys/${keyId}/rotate`, { overlapSecond: 60 }, 'overlapSeconds'],
    ['PATCH', () => '/api/organization', { nam: 'x' }, 'name'],
    ['POST', () => '/api/teams', { name: 'x', nmae: 'y' }, 'name'],
    ['POST', () => '/api/projects', { name: 'x', team_id: 'y' }, 'teamId'],
    ['PATCH', () => `/api/projects/${app.projectId}`, { team_id: 'y' }, 'teamId'],
    ['POST', () => `/api/projects/${app.projectId}/rotate-api-key`, { overlap_seconds: 60 }, 'overlapSeconds'],
    ['POST', () => '/api/organization/members', { email: 'x@example.com', name: 'x', rol: 'EXTERNAL' }, 'role'],
    ['PATCH', () => `/api/organization/members/${userId}`, { disable: true }, 'disabled'],
    [
      'POST',
      () => '/api/role-bindings',
      { userId: 'x', role: 'VIEWER', scopeType: 'PROJECT', scopeId: 'x', permission: [] },
      'permissions',
    ],
  ])('%s %s refuses an unknown member', async (verb, path, sent, nearest) => {
    const { status, body } = await rest(verb, path(), sent);
    expect([status, body.code]).toEqual([422, 'validation_error']);
    expect(body.reasons.at(-1).message).toContain(nearest);
  });

  it.each([
    ['model-providers', { name: 'x', kind: 'openai', api_key: 'sk-1234567890', projectIds: ['p'] }, 'project_ids'],
    [
      'virtual-keys',
      { name: 'x', project_id: 'p', model_provider_ids: [], expiresAt: null, expireAt: 1 },
      'expires_at',
    ],
    ['budgets', { limitUsd: '5' }, 'limit_usd'],
  ])('POST /api/gateway/v1/%s refuses an unknown member', async (path, sent, nearest) => {
    const { status, body } = await rest('POST', `/api/gateway/v1/${path}`, sent);
    expect(status).toBe(400);
    expect(JSON.stringify(body)).toContain(`is not a member of this request, the nearest is ${nearest}`);
  });

  it('takes a record back as it was read', async () => {
    const paths = [`/api/api-keys/${keyId}`, `/api/projects/${app.projectId}`, '/api/organization'];
    for (const path of paths) {
      const { body } = await rest('GET', path);
      expect({ path, ...(await rest('PATCH', path, body)) }).toMatchObject({ path, status: 200, body });
    }
    const { body } = await rest('GET', '/api/organization/members');
    for (const member of body.data) {
      expect((await rest('PATCH', `/api/organization/members/${member.userId}`, member)).status).toBe(200);
    }
  });

  it('takes the fields of a key that a write ignores in a new one as well', async () => {
    const { id, userId: owner, createdAt, roleBindings, ...key } = (await rest('GET', `/api/api-keys/${keyId}`)).body;
    const sent = { ...key, id, userId: owner, createdAt, roleBindings };
    expect((await rest('POST', '/api/api-keys', sent)).status).toBe(201);
  });

  it('ignores members of the records of other interfaces, which say so', async () => {
    const hook = { url: 'https://example.com/', enabled_events: ['*'], colour: 'red' };
    expect((await rest('POST', '/api/webhooks/v1/endpoints', hook)).body?.error?.code).not.toBe('validation_error');
  });
});
