import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ApiKeyService } from '../../../gen/spandrel/v1/keys_pb.js';
import { startApp, type TestApp } from '../../support/app.ts';
import { callRest, callRpc } from '../../support/surfaces.ts';
import { ask, mint, restrictedTo, SURFACES } from './keys-client.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});
afterAll(async () => {
  await app.close();
});

const atProject = (role: string) => ({ role, scopeType: 'PROJECT', scopeId: app.projectId });

describe.each(SURFACES)('changing a key over %s', (surface) => {
  it('changes what is sent, and answers what reading answers', async () => {
    const { id, apiKey } = await mint(app, { description: 'old' });
    const outcome = await ask(app, [surface, 'update'], { id, body: { name: 'renamed', description: null } });
    expect(outcome.status).toBe(200);
    expect(outcome.body).toEqual({
      ...apiKey,
      name: 'renamed',
      description: '',
      updatedAt: expect.stringMatching(/Z$/),
    });
    expect((await ask(app, [surface, 'get'], { id })).body).toEqual(outcome.body);
  });

  it('changes nothing when nothing is sent, or what was read', async () => {
    for (const body of [{ keyType: 'service', projectIds: [app.projectId] }, restrictedTo(app, 'cost:view'), {}]) {
      const { id, apiKey } = await mint(app, body);
      expect((await ask(app, [surface, 'update'], { id, body: {} })).body).toEqual(apiKey);
      expect((await ask(app, [surface, 'update'], { id, body: apiKey })).body).toEqual(apiKey);
    }
  });

  it('takes back what was read of a service key with more grants than may be sent', async () => {
    const add = (index: number) =>
      callRest(app.address, {
        verb: 'POST',
        path: '/api/projects',
        headers: { authorization: `Bearer ${app.adminKey}` },
        body: { name: `${surface} ${index}` },
      });
    const projectIds = [];
    for (let index = 0; index < 21; index += 1) projectIds.push((await add(index)).body.id);
    const { id, apiKey } = await mint(app, { keyType: 'service', projectIds });
    expect((await ask(app, [surface, 'update'], { id, body: apiKey })).body).toEqual(apiKey);
    const renamed = await ask(app, [surface, 'update'], { id, body: { ...apiKey, name: 'renamed' } });
    expect(renamed.body).toEqual({ ...apiKey, name: 'renamed', updatedAt: renamed.body.updatedAt });
    const others = { ...apiKey, bindings: [...apiKey.bindings, atProject('VIEWER')] };
    expect(await ask(app, [surface, 'update'], { id, body: others })).toMatchObject({
      status: 422,
      body: { fields: ['bindings'] },
    });
  });

  it('replaces grants outright: the next request has the new ones and no others', async () => {
    const { id, token } = await mint(app, { keyType: 'service', projectIds: [app.projectId] });
    const evaluator = () => callRest(app.address, { path: '/api/evaluators/none', headers: { 'x-auth-token': token } });
    expect((await evaluator()).status).toBe(404);
    const bindings = [atProject('CUSTOM')];
    const narrowed = { bindings, permissionMode: 'restricted', permissions: ['traces:view'] };
    const outcome = await ask(app, [surface, 'update'], { id, body: narrowed });
    expect(outcome.body).toMatchObject({ ...narrowed, projectIds: [], effectivePermissions: ['traces:view'] });
    expect((await evaluator()).body.code).toBe('api_key_permission_denied');
    const widened = await ask(app, [surface, 'update'], { id, body: { permissions: ['evaluations:manage'] } });
    expect(widened.body.permissions).toEqual(['evaluations:manage']);
    expect((await evaluator()).status).toBe(404);
  });

  it('refuses what cannot change and what does not fit together', async () => {
    const { id } = await mint(app, restrictedTo(app, 'cost:view'));
    const fieldsOf = async (body: object) => {
      const outcome = await ask(app, [surface, 'update'], { id, body });
      expect(outcome).toMatchObject({ status: 422, code: 'validation_error' });
      return outcome.body.fields;
    };
    expect(await fieldsOf({ keyType: 'service', assignedToUserId: 'user_x' })).toEqual(['keyType', 'assignedToUserId']);
    expect(await fieldsOf({ permissionMode: 'all' })).toEqual(['permissionMode', 'permissions']);
    expect(await fieldsOf({ bindings: [] })).toEqual(['bindings']);
    expect(await fieldsOf({ name: null })).toEqual(['name']);
    expect(await fieldsOf({ expiresAt: '2001-01-01' })).toEqual(['expiresAt']);
  });

  it('stops at the ceiling of the caller, and leaves the key as it was', async () => {
    const narrow = await mint(app, restrictedTo(app, 'organization:manage'));
    const bindings = [{ role: 'ADMIN', scopeType: 'ORGANIZATION', scopeId: app.organizationId }];
    const body = { bindings, permissionMode: 'all', permissions: [] };
    const outcome = await ask(app, [surface, 'update'], { id: narrow.id, body, token: narrow.token });
    expect(outcome).toMatchObject({ status: 403, code: 'api_key_scope_violation' });
    expect((await ask(app, [surface, 'get'], { id: narrow.id })).body.bindings).toEqual(narrow.apiKey.bindings);
  });

  it('does not touch a revoked key', async () => {
    const { id } = await mint(app, {});
    await ask(app, [surface, 'revoke'], { id });
    expect(await ask(app, [surface, 'update'], { id, body: { name: 'late' } })).toMatchObject({
      status: 409,
      code: 'api_key_already_revoked',
    });
  });
});

describe('changing a key', () => {
  it('changes only the fields of the mask over gRPC', async () => {
    const { id } = await mint(app, { description: 'kept', keyType: 'service', projectIds: [app.projectId] });
    const headers = { authorization: `Bearer ${app.adminKey}` };
    const update = (apiKey: object, paths: string[] = []) => {
      const request = { id, apiKey, ...(paths.length > 0 ? { updateMask: { paths } } : {}) };
      return callRpc(app.address, { method: ApiKeyService.method.updateApiKey, headers, request });
    };
    expect(await update({ name: 'first' })).toMatchObject({ ok: true, body: { name: 'first', description: 'kept' } });
    expect(await update({}, ['description'])).toMatchObject({ ok: true, body: { name: 'first', description: '' } });
    expect(await update({ projectIds: [] })).toMatchObject({ ok: true, body: { projectIds: [app.projectId] } });
    expect(await update({}, ['project_ids'])).toMatchObject({ ok: false, code: 'validation_error' });
  });

  it('keeps both of two changes at once', async () => {
    const { id } = await mint(app, {});
    const update = (body: object) => ask(app, ['/api/api-keys', 'update'], { id, body });
    await Promise.all([
      update({ name: 'one' }),
      update({ description: 'two' }),
      update({ permissionMode: 'readonly' }),
    ]);
    const { body } = await ask(app, ['/api/api-keys', 'get'], { id });
    expect(body).toMatchObject({ name: 'one', description: 'two', permissionMode: 'readonly' });
  });
});
