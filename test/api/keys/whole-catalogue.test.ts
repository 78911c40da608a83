import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PERMISSIONS } from '../../../src/domain/keys/permission-catalogue.ts';
import { startApp, type TestApp } from '../../support/app.ts';
import { ask, mint, restrictedTo, SURFACES } from './keys-client.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});
afterAll(async () => {
  await app.close();
});

const administrator = () => ({
  permissionMode: 'all',
  permissions: [],
  bindings: [{ role: 'ADMIN', scopeType: 'ORGANIZATION', scopeId: app.organizationId }],
});

describe.each(SURFACES)('a key that lists every permission there is, over %s', (surface) => {
  it.each(['personal', 'service'])('is not an administrator, and makes none: %s', async (keyType) => {
    const every = await mint(app, { keyType, ...restrictedTo(app, ...PERMISSIONS) });
    const { token } = every;
    const wide = await mint(app, { keyType, ...administrator() });
    const refused = { status: 403, code: 'api_key_scope_violation' };
    expect(await ask(app, [surface, 'update'], { id: every.id, token, body: administrator() })).toMatchObject(refused);
    expect(await ask(app, [surface, 'rotate'], { id: wide.id, token })).toMatchObject(refused);
    const created = await ask(app, [surface, 'create'], { token, body: { name: 'up', ...administrator() } });
    expect(created).toMatchObject(keyType === 'personal' ? refused : { status: 403, code: 'administrator_required' });
  });

  it('hands out everything else', async () => {
    const { token } = await mint(app, restrictedTo(app, ...PERMISSIONS));
    const bindings = [{ role: 'ADMIN', scopeType: 'PROJECT', scopeId: app.projectId }];
    expect((await ask(app, [surface, 'create'], { token, body: { name: 'x', bindings } })).status).toBe(201);
    expect((await ask(app, [surface, 'create'], { token, body: { name: 'copy' } })).status).toBe(201);
  });
});
