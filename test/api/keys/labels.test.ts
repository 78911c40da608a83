/** What answers say of a key's label, its purpose and itself. */

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../../support/app.ts';
import { ask, mint, restrictedTo, SURFACES } from './keys-client.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});
afterAll(async () => {
  await app.close();
});

const bindings = (role: string) => [{ role, scopeType: 'ORGANIZATION', scopeId: app.organizationId }];
const READONLY = 'permissionMode readonly does not restrict this key; its bindings grant ';

describe.each(SURFACES)('a key labelled readonly, over %s', (surface) => {
  it('is answered with a warning wherever its bindings change more than they look at', async () => {
    const body = { name: 'label', permissionMode: 'readonly', bindings: bindings('MEMBER') };
    const warnings = [`${READONLY}what MEMBER at ORGANIZATION may do`];
    const made = await ask(app, [surface, 'create'], { body });
    expect(made.body).toMatchObject({ warnings, apiKey: { warnings } });
    const { id } = made.body.apiKey;
    expect((await ask(app, [surface, 'get'], { id })).body).toMatchObject({ warnings });
    expect((await ask(app, [surface, 'update'], { id, body: { name: 'again' } })).body).toMatchObject({ warnings });
    expect((await ask(app, [surface, 'rotate'], { id })).body).toMatchObject({ warnings, apiKey: { warnings } });
    const listed = (await ask(app, [surface, 'list'], {})).body.data;
    expect(listed.find((key: { id: string }) => key.id === id)).toMatchObject({ warnings });
  });

  it('warns of the organization that a service key without grants administers', async () => {
    const { body } = await ask(app, [surface, 'create'], {
      body: { name: 'label', keyType: 'service', permissionMode: 'readonly' },
    });
    expect(body.warnings).toEqual([`${READONLY}what ADMIN at ORGANIZATION may do`]);
  });

  it.each([
    ['its bindings only look', { permissionMode: 'readonly', role: 'VIEWER' }],
    ['the label is another', { permissionMode: 'all', role: 'MEMBER' }],
  ])('says nothing where %s', async (_what, { permissionMode, role }) => {
    const body = { name: 'label', permissionMode, bindings: bindings(role) };
    const made = await ask(app, [surface, 'create'], { body });
    expect(made.status).toBe(201);
    expect(made.body).not.toHaveProperty('warnings');
    expect(made.body.apiKey).not.toHaveProperty('warnings');
  });
});

describe.each(SURFACES)('reading a key over %s', (surface) => {
  it('shows an empty description where none was given, and repeating it is not a change', async () => {
    const { id, apiKey } = await mint(app, {});
    expect(apiKey.description).toBe('');
    const read = await ask(app, [surface, 'get'], { id });
    expect(read.body.description).toBe('');
    const { body } = await ask(app, [surface, 'update'], { id, body: { description: '' } });
    expect(body.updatedAt).toBe(read.body.updatedAt);
  });

  it('lets a service key with organization:view read itself, and no other', async () => {
    const own = await mint(app, { keyType: 'service', ...restrictedTo(app, 'organization:view') });
    const other = await mint(app, { keyType: 'service' });
    const { token } = own;
    expect(await ask(app, [surface, 'get'], { id: own.id, token })).toMatchObject({
      status: 200,
      body: { id: own.id },
    });
    expect((await ask(app, [surface, 'get'], { id: other.id, token })).code).toBe('api_key_not_found');
    expect((await ask(app, [surface, 'list'], { token })).code).toBe('insufficient_permissions');
  });
});

describe.each(SURFACES)('an administrator whose key holds only organization:manage, over %s', (surface) => {
  it("changes another member's key within the ceiling of the calling key", async () => {
    const { token } = await mint(app, restrictedTo(app, 'organization:manage'));
    const target = await mint(app, { assignedToUserId: await addViewer(), bindings: bindings('VIEWER') });
    const change = (body: object) => ask(app, [surface, 'update'], { id: target.id, token, body });
    expect(await change({ name: 'renamed' })).toMatchObject({ status: 200, body: { name: 'renamed' } });
    expect((await change({ bindings: [{ role: 'VIEWER', scopeType: 'PROJECT', scopeId: app.projectId }] })).code).toBe(
      'api_key_scope_violation',
    );
    expect((await ask(app, [surface, 'rotate'], { id: target.id, token })).code).toBe('api_key_not_owned');
  });
});

async function addViewer(): Promise<string> {
  const answer = await fetch(`${app.address}/api/organization/members`, {
    method: 'POST',
    headers: { authorization: `Bearer ${app.adminKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ email: `${crypto.randomUUID()}@example.com`, name: 'Viewer', role: 'VIEWER' }),
  });
  const { userId } = (await answer.json()) as { userId: string };
  return userId;
}
