/** Keys that a person makes who signed in without one: a key has one list of permissions, a person may have many. */

import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { signPersonIn } from '../../../src/domain/sessions/people.ts';
import { startApp, type TestApp } from '../../support/app.ts';
import { addKey, custom, hex } from '../../support/fixtures.ts';
import { type Body, callRest } from '../../support/surfaces.ts';
import { act } from '../organization/organization-client.ts';
import { ask } from './keys-client.ts';

let app: TestApp;
let other: string;
beforeAll(async () => {
  app = await startApp();
  other = (await act(app, 'POST', '/api/projects', { name: 'other' })).id;
});
afterAll(async () => {
  await app.close();
});

type Held = { readonly scopeType: string; readonly scopeId: string; readonly permissions: readonly string[] };

/** The headers of a session of a new member with these CUSTOM role bindings. */
async function signIn(held: readonly Held[]): Promise<{ readonly [name: string]: string }> {
  const email = `${hex(12)}@example.com`;
  const { userId } = await act(app, 'POST', '/api/organization/members', { email, name: 'P', role: 'EXTERNAL' });
  for (const grant of held) await act(app, 'POST', '/api/role-bindings', { userId, role: 'CUSTOM', ...grant });
  const { secret } = await signPersonIn(
    {
      ...{ store: app.store.management, random: randomBytes, pepper: app.rootKeys.pepper, retentionNowMs: Date.now },
      rules: { allowedDomains: [], trustsEmail: false, roleClaim: null, roleMap: new Map(), defaultRole: 'EXTERNAL' },
      limits: { team: 100, project: 100, member: 100, role_binding: 100 },
    },
    { ip: null, userAgent: null, requestId: 'request', traceId: null, nowMs: Date.now() },
    { issuer: 'https://issuer', subject: email, email, isEmailVerified: true, name: 'P', groups: [] },
  );
  return { cookie: `spandrel_session=${secret}`, 'x-spandrel-console': '1' };
}

const manages = () => ({
  scopeType: 'ORGANIZATION',
  scopeId: app.organizationId,
  permissions: ['organization:manage', 'organization:view'],
});
const at = (scopeId: string, ...permissions: string[]) => ({ scopeType: 'PROJECT', scopeId, permissions });

async function mint(
  held: readonly Held[],
  body: object = {},
): Promise<{ readonly status: number; readonly body: Body }> {
  const headers = await signIn(held);
  const request = { verb: 'POST', path: '/api/api-keys', headers, body: { name: 'copy', ...body } };
  return await callRest(app.address, request);
}

it('a copy of CUSTOM grants with different permissions is refused: one list could not say what it grants', async () => {
  const held = [manages(), at(app.projectId, 'project:view', 'traces:view')];
  const { status, body } = await mint(held);
  expect([status, body.code, body.fields]).toEqual([422, 'validation_error', ['bindings']]);
  const bindings = [{ role: 'CUSTOM', scopeType: 'PROJECT', scopeId: app.projectId }];
  const named = await mint(held, { bindings, permissionMode: 'restricted', permissions: ['traces:view'] });
  expect(named.status).toBe(201);
});

it('a copy of CUSTOM grants with one list is made, and may be sent back as it was read', async () => {
  const { permissions } = manages();
  const { status, body } = await mint([manages()]);
  expect([status, body.apiKey.permissions]).toEqual([201, permissions]);
  const sent = await ask(app, ['/api/api-keys', 'update'], { id: body.id, body: body.apiKey });
  expect([sent.status, sent.body]).toEqual([200, body.apiKey]);
});

it('a key whose CUSTOM grants differ from before, sent back as it was read, stays as it is', async () => {
  const different = [
    custom('ORGANIZATION', app.organizationId, ['organization:manage']),
    custom('PROJECT', other, ['datasets:view']),
    custom('PROJECT', other, ['prompts:view']),
  ];
  const token = await addKey(app, { bindings: different, keyType: 'personal' });
  const id = token.slice('sk-lw-'.length).split('_')[0] ?? '';
  for (const surface of ['/api/api-keys', 'gRPC'] as const) {
    const read = (await ask(app, [surface, 'get'], { id })).body;
    expect(read.permissions).toEqual(['datasets:view', 'organization:manage', 'prompts:view']);
    const { bindings, permissions, permissionMode } = read;
    const grants = { bindings, permissions, permissionMode };
    const whole = await ask(app, [surface, 'update'], { id, token, body: grants });
    // The use of the key may be noted meanwhile.
    expect([whole.status, whole.body]).toEqual([200, { ...read, lastUsedAt: whole.body.lastUsedAt }]);
    const renamed = await ask(app, [surface, 'update'], { id, token, body: { ...grants, description: surface } });
    expect([renamed.status, renamed.body.effectivePermissions]).toEqual([200, read.effectivePermissions]);
    expect(await ask(app, [surface, 'update'], { id, token, body: { permissions: ['prompts:view'] } })).toMatchObject({
      status: 403,
      code: 'api_key_scope_violation',
    });
  }
});
