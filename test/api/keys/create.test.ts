import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ApiKeyService } from '../../../gen/spandrel/v1/keys_pb.js';
import { startApp, type TestApp } from '../../support/app.ts';
import { fetchChecked, type Sent } from '../../support/openapi/fetch-checked.ts';
import { type Body, callRest, callRpc } from '../../support/surfaces.ts';
import { addMember, ask, mint, restrictedTo, SURFACES } from './keys-client.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startApp({ writer: 'in its thread' });
});
afterAll(async () => {
  await app.close();
});

const ADMIN = () => ({ role: 'ADMIN', scopeType: 'ORGANIZATION', scopeId: app.organizationId });
const instant = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);

describe.each(SURFACES)('creating a key over %s', (surface) => {
  it('answers the token once, beside every field of the key', async () => {
    const expiresAt = new Date(Date.now() + 3_600_000).toISOString();
    const binding = { role: 'VIEWER', scopeType: 'PROJECT', scopeId: app.projectId };
    const body = { name: 'CI', description: 'deploys', bindings: [binding], permissionMode: 'readonly', expiresAt };
    const outcome = await ask(app, [surface, 'create'], { body });
    expect(outcome.status).toBe(201);
    const { id } = outcome.body;
    expect(outcome.body).toEqual({
      id: expect.stringMatching(/^[0-9A-Za-z]{16}$/),
      secret: outcome.body.token,
      token: expect.stringMatching(new RegExp(`^sk-lw-${id}_[0-9A-Za-z]{48}$`)),
      apiKey: {
        id,
        keyType: 'personal',
        name: 'CI',
        description: 'deploys',
        userId: app.userId,
        assignedToUserId: app.userId,
        createdByUserId: app.userId,
        permissionMode: 'readonly',
        permissions: [],
        bindings: [binding],
        roleBindings: [{ id: expect.stringMatching(/^rolebinding_[0-9A-Za-z]{21}$/), ...binding }],
        projectIds: [],
        effectivePermissions: expect.arrayContaining(['traces:view']),
        createdAt: instant,
        updatedAt: outcome.body.apiKey.createdAt,
        expiresAt,
        lastUsedAt: null,
        revokedAt: null,
      },
    });
    const read = await ask(app, [surface, 'get'], { id });
    expect(read.body).toEqual(outcome.body.apiKey);
    expect(JSON.stringify(read.body)).not.toContain(outcome.body.token.slice(-48));
  });

  it('copies the grants of the calling key when none are requested, under a label that may be equal', async () => {
    const body = { name: 'copy', bindings: [], permissions: [], permissionMode: 'readonly' };
    const outcome = await ask(app, [surface, 'create'], { body });
    expect(outcome).toMatchObject({
      status: 201,
      body: { apiKey: { permissionMode: 'readonly', bindings: [ADMIN()] } },
    });
    const narrow = await ask(app, [surface, 'create'], {
      body: { name: 'narrow', ...restrictedTo(app, 'organization:manage') },
    });
    const { token } = narrow.body;
    const copy = await ask(app, [surface, 'create'], { body: { name: 'copy', bindings: [] }, token });
    expect(copy.body.apiKey).toMatchObject({ permissionMode: 'restricted', permissions: ['organization:manage'] });
    const relabelled = await ask(app, [surface, 'create'], { body: { name: 'copy', permissionMode: 'all' }, token });
    expect(relabelled).toMatchObject({ status: 422, code: 'validation_error', body: { fields: ['bindings'] } });
  });

  it.each(['all', 'readonly'])(
    'for oneself takes the mode %s spelled out beside empty lists',
    async (permissionMode) => {
      const body = { name: 'mine', permissionMode, permissions: [], bindings: [] };
      const outcome = await ask(app, [surface, 'create'], { body });
      expect(outcome).toMatchObject({
        status: 201,
        body: { apiKey: { permissionMode, permissions: [], bindings: [ADMIN()] } },
      });
      expect((await ask(app, [surface, 'list'], { token: outcome.body.token })).status).toBe(200);
    },
  );

  it('copies the calling key also when a project that it names is archived', async () => {
    const headers = { 'x-auth-token': app.adminKey };
    const { body: project } = await callRest(app.address, {
      verb: 'POST',
      path: '/api/projects',
      headers,
      body: { name: `ended ${surface}` },
    });
    const bindings = [ADMIN(), { role: 'VIEWER', scopeType: 'PROJECT', scopeId: project.id }];
    const { token } = await mint(app, { bindings });
    await callRest(app.address, { verb: 'DELETE', path: `/api/projects/${project.id}`, headers });
    const copy = await ask(app, [surface, 'create'], { body: { name: 'copy' }, token });
    expect(copy).toMatchObject({ status: 201, body: { apiKey: { bindings } } });
    const named = await ask(app, [surface, 'create'], { body: { name: 'named', bindings }, token });
    expect(named).toMatchObject({ status: 403, code: 'api_key_scope_violation' });
  });

  it('gives a key that works at once, with exactly its grants', async () => {
    const { body } = await ask(app, [surface, 'create'], {
      body: { name: 'narrow', ...restrictedTo(app, 'organization:view') },
    });
    expect((await ask(app, [surface, 'list'], { token: body.token })).status).toBe(200);
    expect(await ask(app, [surface, 'create'], { body: { name: 'x' }, token: body.token })).toMatchObject({
      status: 403,
      code: 'insufficient_permissions',
    });
  });

  it('of a service holds the projects named, or the organization', async () => {
    const service = { name: 'svc', keyType: 'service' };
    const one = await ask(app, [surface, 'create'], { body: { ...service, projectIds: [app.projectId] } });
    const { apiKey } = one.body;
    expect(apiKey).toMatchObject({ keyType: 'service', userId: null, assignedToUserId: null });
    expect(apiKey.projectIds).toEqual([app.projectId]);
    expect(apiKey.bindings).toEqual([{ role: 'ADMIN', scopeType: 'PROJECT', scopeId: app.projectId }]);
    const all = await ask(app, [surface, 'create'], { body: service });
    expect(all.body.apiKey.bindings).toEqual([ADMIN()]);
    const none = await ask(app, [surface, 'create'], { body: { ...service, projectIds: [] } });
    expect(none).toMatchObject({ status: 422, code: 'validation_error', body: { fields: ['projectIds'] } });
  });

  it('reports every problem of a body together', async () => {
    const outcome = await ask(app, [surface, 'create'], {
      body: {
        name: '  ',
        description: 'x'.repeat(501),
        permissions: ['traces:view', 'nope'],
        projectIds: ['p'],
        expiresAt: 1,
        bindings: [{ role: 'ADMIN', scopeType: 'TEAM', scopeId: '' }],
      },
    });
    expect(outcome).toMatchObject({ status: 422, code: 'validation_error' });
    expect(outcome.body.fields.toSorted()).toEqual([
      'bindings',
      'bindings.0.scopeId',
      'description',
      'expiresAt',
      'name',
      'permissionMode',
      'permissions.1',
      'projectIds',
    ]);
    const { body } = await ask(app, [surface, 'create'], { body: {} });
    expect(body.fields).toEqual(['name']);
  });

  it('is refused without a credential, with a wrong one and with a project key', async () => {
    const body = { name: 'x' };
    expect((await ask(app, [surface, 'create'], { body, token: '' })).code).toBe('missing_credentials');
    expect((await ask(app, [surface, 'create'], { body, token: 'nope' })).code).toBe('invalid_credentials');
    expect(await ask(app, [surface, 'create'], { body, token: app.projectKey })).toMatchObject({
      status: 401,
      code: 'credential_class_mismatch',
      body: { required: 'organization_api_key', presented: 'project_api_key' },
    });
  });

  it('never gives more than caller and owner have', async () => {
    const manager = await mint(app, restrictedTo(app, 'organization:manage'));
    const { token } = manager;
    const wide = await ask(app, [surface, 'create'], { body: { name: 'wide', bindings: [ADMIN()] }, token });
    expect(wide).toMatchObject({
      status: 403,
      code: 'api_key_scope_violation',
      body: { scopeType: 'ORGANIZATION', scopeId: app.organizationId },
    });
    expect(wide.body.missingPermissions).toContain('webhookEndpoints:manage');
    expect(wide.body.missingPermissions).not.toContain('organization:view');
    const service = { name: 'svc', keyType: 'service' };
    expect((await ask(app, [surface, 'create'], { body: service, token })).code).toBe('administrator_required');
    const viewer = await addMember(app, 'VIEWER');
    const body = { name: 'for another', assignedToUserId: viewer.userId, bindings: [ADMIN()] };
    expect((await ask(app, [surface, 'create'], { body })).code).toBe('api_key_scope_violation');
    const unknown = [{ role: 'VIEWER', scopeType: 'PROJECT', scopeId: 'project_unknown' }];
    const outcome = await ask(app, [surface, 'create'], { body: { name: 'x', bindings: unknown } });
    expect([outcome.code, outcome.body.missingPermissions]).toEqual(['api_key_scope_violation', undefined]);
  });
});

describe('creating a key', () => {
  it('refuses words outside the contract, on REST by spelling and over gRPC by number', async () => {
    const headers = { authorization: `Bearer ${app.adminKey}` };
    const body = { name: 'x', keyType: 'Personal', permissionMode: '', bindings: [{ role: 'OWNER', scopeId: 'a' }] };
    const rest = await callRest(app.address, { verb: 'POST', path: '/api/api-keys', headers, body });
    const fields = ['bindings.0.role', 'bindings.0.scopeType', 'keyType', 'permissionMode'];
    expect(rest.body.fields.toSorted()).toEqual(fields);
    const request = {
      name: 'x',
      keyType: 9 as 1,
      permissionMode: 9 as 1,
      bindings: [{ role: 9 as 1, scopeType: 0, scopeId: 'a' }],
    };
    const rpc = await callRpc(app.address, { method: ApiKeyService.method.createApiKey, headers, request });
    if (rpc.ok) throw new Error('accepted');
    expect((rpc.meta as { fields: string[] }).fields.toSorted()).toEqual(fields);
  });

  it('refuses null where it means nothing, and takes it where it means none', async () => {
    const nulls = { description: null, expiresAt: null, assignedToUserId: null };
    const { apiKey } = await mint(app, nulls);
    expect(apiKey).toMatchObject({ description: '', expiresAt: null, assignedToUserId: app.userId });
    const outcome = await ask(app, ['/api/api-keys', 'create'], {
      body: { name: null, keyType: null, bindings: null, permissionMode: null, permissions: null, projectIds: null },
    });
    expect(outcome.status).toBe(422);
    expect(outcome.body.fields).toHaveLength(6);
  });

  it('replays its answer, token included, for the same idempotency key', async () => {
    const headers = { 'idempotency-key': 'create-one-key' };
    const first = await ask(app, ['/api/api-keys', 'create'], { body: { name: 'once' }, headers });
    const again = await ask(app, ['/api/v1/api-keys', 'create'], { body: { name: 'once' }, headers });
    expect(again.body).toEqual(first.body);
    const grpc = await ask(app, ['gRPC', 'create'], { body: { name: 'once' }, headers });
    expect(grpc.body).toEqual(first.body);
    expect(await ask(app, ['gRPC', 'create'], { body: { name: 'other' }, headers })).toMatchObject({
      code: 'idempotency_error',
      body: { reason: 'body_mismatch' },
    });
  });

  it('copies the calling key by default', async () => {
    const narrow = await mint(app, restrictedTo(app, 'organization:manage', 'team:view'));
    const copy = await mint(app, {}, narrow.token);
    const { permissionMode, permissions, bindings } = narrow.apiKey;
    expect(copy.apiKey).toMatchObject({ permissionMode, permissions, bindings });
  });
});

describe('creating a key over REST', () => {
  const create = (init: Sent) =>
    fetchChecked(app.address, '/api/api-keys', {
      method: 'POST',
      headers: { authorization: `Bearer ${app.adminKey}`, 'content-type': 'application/json' },
      ...init,
    });

  it('needs a body', async () => {
    const answer = await create({});
    expect([answer.status, await answer.json()]).toMatchObject([400, { code: 'malformed_request' }]);
  });

  it('distinguishes a missing member from a null one', async () => {
    const bindings = [
      { role: 'VIEWER', scopeType: 'PROJECT' },
      { role: 'VIEWER', scopeType: 'PROJECT', scopeId: null },
    ];
    const answer = await create({ body: JSON.stringify({ name: null, bindings }) });
    const body = (await answer.json()) as Body;
    const received = body.reasons.map(({ meta: { field, type, received } }: Body) => [field, type, received]);
    expect(received.toSorted()).toEqual([
      ['bindings.0.scopeId', 'invalid_type', 'undefined'],
      ['bindings.1.scopeId', 'invalid_type', 'null'],
      ['name', 'invalid_type', 'null'],
    ]);
  });
});
