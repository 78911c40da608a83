/** An expiring key gives no access that outlasts it. */

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../../support/app.ts';
import { ask, type Minted, mint, restrictedTo, SURFACES } from './keys-client.ts';

const HOUR_MS = 3_600_000;
const VIOLATION = { status: 403, code: 'api_key_scope_violation' };

let app: TestApp;
let nowMs = Date.now();
beforeAll(async () => {
  app = await startApp({ clock: () => nowMs });
});
afterAll(async () => {
  await app.close();
});

const isoAt = (atMs: number) => new Date(atMs).toISOString();
const administrator = () => ({
  bindings: [{ role: 'ADMIN', scopeType: 'ORGANIZATION', scopeId: app.organizationId }],
});

/** Creates an administrator's key that expires in an hour. */
async function mintExpiring(): Promise<Minted & { readonly expiresAtMs: number }> {
  const expiresAtMs = nowMs + HOUR_MS;
  return { ...(await mint(app, { ...administrator(), expiresAt: expiresAtMs })), expiresAtMs };
}

describe.each(SURFACES)('a key that expires, over %s', (surface) => {
  it('mints keys that end with it, unless they are to end earlier', async () => {
    const { token, expiresAtMs } = await mintExpiring();
    const create = (body: object) => ask(app, [surface, 'create'], { token, body: { name: 'x', ...body } });
    const service = { keyType: 'service' };
    for (const kind of [{}, service, { ...service, projectIds: [app.projectId] }, administrator()]) {
      const whenAsked = async (body: object) => (await create({ ...kind, ...body })).body.apiKey.expiresAt;
      expect(await whenAsked({})).toBe(isoAt(expiresAtMs));
      expect(await whenAsked({ expiresAt: isoAt(expiresAtMs) })).toBe(isoAt(expiresAtMs));
      expect(await whenAsked({ expiresAt: isoAt(expiresAtMs - 1) })).toBe(isoAt(expiresAtMs - 1));
      expect(await create({ ...kind, expiresAt: isoAt(expiresAtMs + 1) })).toMatchObject(VIOLATION);
      expect(await create({ ...kind, expiresAt: null })).toMatchObject(VIOLATION);
    }
  });

  it('prolongs no key beyond its own end, least of all itself', async () => {
    const calling = await mintExpiring();
    const { token, expiresAtMs } = calling;
    const short = await mint(app, { ...administrator(), expiresAt: nowMs + 1_000 });
    const update = (id: string, body: object) => ask(app, [surface, 'update'], { id, token, body });
    for (const { id } of [calling, short]) {
      expect(await update(id, { expiresAt: isoAt(expiresAtMs + 1) })).toMatchObject(VIOLATION);
      expect(await update(id, { expiresAt: null })).toMatchObject(VIOLATION);
      expect((await update(id, { expiresAt: isoAt(expiresAtMs) })).body.expiresAt).toBe(isoAt(expiresAtMs));
    }
  });

  it('changes of a key that lasts longer what is not power, and nothing else', async () => {
    const { token, expiresAtMs } = await mintExpiring();
    const { id } = await mint(app, restrictedTo(app, 'organization:view'));
    const update = (body: object) => ask(app, [surface, 'update'], { id, token, body });
    expect(await update({ name: 'renamed', expiresAt: null })).toMatchObject({
      status: 200,
      body: { name: 'renamed' },
    });
    expect(await update({ permissions: ['organization:manage'] })).toMatchObject(VIOLATION);
    const ended = await update({ permissions: ['organization:manage'], expiresAt: isoAt(expiresAtMs) });
    expect(ended).toMatchObject({ status: 200, body: { permissions: ['organization:manage'] } });
  });

  it('gets no token of a key that lasts longer', async () => {
    const { id, token, expiresAtMs } = await mintExpiring();
    const rotate = (of: string, by = token) => ask(app, [surface, 'rotate'], { id: of, token: by });
    const lasting = [
      await mint(app, administrator()),
      await mint(app, { ...administrator(), expiresAt: expiresAtMs + 1 }),
      await mint(app, { keyType: 'service' }),
    ];
    for (const each of lasting) expect(await rotate(each.id)).toMatchObject(VIOLATION);
    const equal = await mint(app, { ...administrator(), expiresAt: expiresAtMs });
    expect((await rotate(equal.id)).status).toBe(200);
    expect((await rotate(id)).status).toBe(200);
  });

  it.each([
    ['comes back to life', 1, 401],
    ['lives longer', 0, 200],
  ])('%s only by who holds all it holds', async (_, passedMs, status) => {
    const wide = await mint(app, { ...administrator(), expiresAt: nowMs + 1 });
    const narrow = await mint(app, { ...restrictedTo(app, 'organization:view'), expiresAt: nowMs + 1 });
    const { token } = await mint(app, restrictedTo(app, 'organization:manage'));
    nowMs += passedMs;
    const revive = (id: string, by: string, expiresAt: string | null) =>
      ask(app, [surface, 'update'], { id, token: by, body: { expiresAt } });
    for (const expiresAt of [null, isoAt(nowMs + HOUR_MS)]) {
      const outcome = await revive(wide.id, token, expiresAt);
      expect(outcome).toMatchObject({ ...VIOLATION, body: { scopeType: 'ORGANIZATION', scopeId: app.organizationId } });
    }
    expect((await ask(app, [surface, 'list'], { token: wide.token })).status).toBe(status);
    expect((await ask(app, [surface, 'update'], { id: wide.id, token, body: { name: 'renamed' } })).status).toBe(200);
    expect((await revive(narrow.id, token, null)).status).toBe(200);
    expect((await revive(wide.id, app.adminKey, null)).status).toBe(200);
    expect((await ask(app, [surface, 'list'], { token: wide.token })).status).toBe(200);
  });
});
