import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ApiKeyService } from '../../../gen/spandrel/v1/keys_pb.js';
import { startApp, type TestApp } from '../../support/app.ts';
import { addKey, custom, llmTrace } from '../../support/fixtures.ts';
import { callRest, callRpc } from '../../support/surfaces.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});
afterAll(async () => {
  await app.close();
});

const NOBODY = '0000000000000000';

async function audited(query: { readonly [name: string]: string }) {
  const path = `/api/audit-log?${new URLSearchParams({ outcome: 'refused', ...query })}`;
  const { body } = await callRest(app.address, { path, headers: { 'x-auth-token': app.adminKey } });
  return body.data;
}

/** Waits for audit entries: refusals are written after the answer. */
async function eventually<T>(read: () => Promise<T>, holds: (found: T) => boolean): Promise<T> {
  const endMs = performance.now() + 20_000;
  for (;;) {
    const found = await read();
    if (holds(found)) return found;
    if (performance.now() > endMs) throw new Error(`still not: ${JSON.stringify(found)}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

describe('the audit log keeps', () => {
  it('who was refused a permission, from where, and when', async () => {
    const token = await addKey(app, { bindings: [custom('ORGANIZATION', app.organizationId, ['organization:view'])] });
    const headers = { 'x-auth-token': token, 'user-agent': 'probe/1', 'x-request-id': 'refused-1' };
    const refused = await callRest(app.address, { verb: 'POST', path: '/api/teams', body: {}, headers });
    expect(refused.status).toBe(403);
    const [actorKeyId = ''] = token.slice('sk-lw-'.length).split('_');
    const [entry] = await eventually(
      () => audited({ actorKeyId }),
      (found) => found.length > 0,
    );
    expect(entry).toMatchObject({
      actorKind: 'service_key',
      actorUserId: null,
      actorKeyId,
      action: 'team.create',
      targetType: 'team',
      targetId: null,
      outcome: 'refused',
      status: 403,
      code: 'insufficient_permissions',
      fields: [],
      ip: '127.0.0.1',
      userAgent: 'probe/1',
      requestId: 'refused-1',
      traceId: refused.body.trace_id,
      count: 1,
    });
  });

  it('the id of a key that was not found, over every protocol, with a count of repeats', async () => {
    const headers = { 'x-auth-token': app.adminKey };
    for (let time = 0; time < 3; time += 1) {
      expect((await callRest(app.address, { path: `/api/api-keys/${NOBODY}`, headers })).status).toBe(404);
    }
    await callRpc(app.address, { method: ApiKeyService.method.getApiKey, request: { id: NOBODY }, headers });
    const total = (found: readonly { count: number }[]) => found.reduce((sum, { count }) => sum + count, 0);
    const found = await eventually(
      () => audited({ targetId: NOBODY, action: 'apiKey.read' }),
      (entries) => total(entries) === 4,
    );
    expect(found).toHaveLength(1);
    expect(found[0]).toMatchObject({ actorUserId: app.userId, status: 404, code: 'api_key_not_found' });
  });

  it('that a project key was tried on the organization', async () => {
    const headers = { 'x-auth-token': app.projectKey };
    expect((await callRest(app.address, { path: '/api/api-keys', headers })).body.code).toBe(
      'credential_class_mismatch',
    );
    const [entry] = await eventually(
      () => audited({ actorKeyId: app.projectId }),
      (entries) => entries.length > 0,
    );
    expect(entry).toMatchObject({ actorKind: 'project_key', status: 401, code: 'credential_class_mismatch' });
  });
});

describe('the last use', () => {
  it('of an API key and of a project key is kept, to a minute', async () => {
    const headers = { 'x-auth-token': app.adminKey };
    const [id = ''] = app.adminKey.slice('sk-lw-'.length).split('_');
    const used = { 'x-auth-token': app.projectKey };
    const trace = llmTrace(Date.now());
    await callRest(app.address, { verb: 'POST', path: '/api/collector', body: trace, headers: used });
    const read = async () => {
      const key = await callRest(app.address, { path: `/api/api-keys/${id}`, headers });
      const project = await callRest(app.address, { path: `/api/projects/${app.projectId}`, headers });
      return [key.body.lastUsedAt, project.body.apiKeyLastUsedAt];
    };
    const instants = await eventually(read, (found) => found.every((instant) => instant !== null));
    for (const instant of instants) expect(Math.abs(Date.parse(instant) - Date.now())).toBeLessThan(60_000);
    expect(await read()).toEqual(instants);
  });

  it('is not kept of a token that was refused', async () => {
    const token = await addKey(app, {
      bindings: [custom('ORGANIZATION', app.organizationId, ['organization:view'])],
      expiresAtMs: Date.now() - 1_000,
    });
    const [id = ''] = token.slice('sk-lw-'.length).split('_');
    expect((await callRest(app.address, { path: '/api/api-keys', headers: { 'x-auth-token': token } })).status).toBe(
      401,
    );
    const other = await addKey(app, { bindings: [custom('ORGANIZATION', app.organizationId, ['organization:view'])] });
    const [otherId = ''] = other.slice('sk-lw-'.length).split('_');
    await callRest(app.address, { path: '/api/api-keys', headers: { 'x-auth-token': other } });
    const lastUse = async (key: string) => (await app.store.management.apiKey(app.organizationId, key))?.lastUsedAtMs;
    await eventually(
      () => lastUse(otherId),
      (instant) => instant !== null,
    );
    expect(await lastUse(id)).toBeNull();
  });
});
