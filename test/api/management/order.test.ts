import { afterAll, beforeAll, expect, it } from 'vitest';
import { startApp, type TestApp } from '../../support/app.ts';
import { addKey } from '../../support/fixtures.ts';
import { callRest } from '../../support/surfaces.ts';

const UNREADABLE = '{"name": ';

let app: TestApp;
let looker: string;
let powerless: string;
beforeAll(async () => {
  app = await startApp();
  const scope = { scopeType: 'PROJECT', scopeId: app.projectId } as const;
  looker = await addKey(app, { bindings: [{ role: 'VIEWER', ...scope, permissions: [] }] });
  powerless = await addKey(app, {
    bindings: [
      { role: 'CUSTOM', scopeType: 'ORGANIZATION', scopeId: app.organizationId, permissions: ['organization:view'] },
    ],
  });
});
afterAll(async () => {
  await app.close();
});

const ask = (token: string, verb: string, path: string) =>
  callRest(app.address, { verb, path, body: UNREADABLE, headers: { authorization: `Bearer ${token}` } });

it.each([
  ['PATCH', (id: string) => `/api/projects/${id}`],
  ['POST', (id: string) => `/api/projects/${id}/rotate-api-key`],
])('%s of a project finds the project before it reads the body', async (verb, path) => {
  expect(await ask(looker, verb, path(app.projectId))).toMatchObject({
    status: 403,
    body: { code: 'insufficient_permissions' },
  });
  for (const id of [app.projectId, 'project_unknown']) {
    expect(await ask(powerless, verb, path(id))).toMatchObject({ status: 404, body: { code: 'project_not_found' } });
  }
  expect(await ask(app.adminKey, verb, path(app.projectId))).toMatchObject({
    status: 400,
    body: { code: 'malformed_request' },
  });
});

it('a caller who may not create projects is refused before the body is read', async () => {
  expect(await ask(looker, 'POST', '/api/projects')).toMatchObject({
    status: 403,
    body: { code: 'insufficient_permissions' },
  });
});

it('a refusal before the body is read names its target in the audit log', async () => {
  await ask(looker, 'PATCH', `/api/projects/${app.projectId}`);
  const read = async () =>
    (
      await callRest(app.address, {
        path: `/api/audit-log?action=project.update&outcome=refused&targetId=${app.projectId}`,
        headers: { authorization: `Bearer ${app.adminKey}` },
      })
    ).body.data;
  await expect.poll(read, { timeout: 10_000 }).toMatchObject([{ status: 403, code: 'insufficient_permissions' }]);
});
