import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../../support/app.ts';
import { addMember, ask, mint, restrictedTo, SURFACES } from './keys-client.ts';

let app: TestApp;
let nowMs = Date.now();
beforeAll(async () => {
  app = await startApp({ clock: () => nowMs });
});
afterAll(async () => {
  await app.close();
});

/** Whether the token works, on all surfaces. */
async function works(token: string): Promise<boolean> {
  const codes = [];
  for (const surface of SURFACES) codes.push((await ask(app, [surface, 'list'], { token })).code);
  expect(new Set(codes).size).toBe(1);
  expect([null, 'invalid_credentials']).toContain(codes[0]);
  return codes[0] === null;
}

describe.each(SURFACES)('ending a key over %s', (surface) => {
  it('refuses it on the very next request, and keeps it readable', async () => {
    const { id, token } = await mint(app, {});
    expect(await works(token)).toBe(true);
    expect(await ask(app, [surface, 'revoke'], { id })).toMatchObject({ status: 200, body: { success: true } });
    expect(await works(token)).toBe(false);
    const read = await ask(app, [surface, 'get'], { id });
    expect(read.body).toMatchObject({ revokedAt: new Date(nowMs).toISOString(), effectivePermissions: [] });
    const listed = async (query: { [name: string]: string }) => {
      const { body } = await ask(app, [surface, 'list'], { query });
      return body.data.some((key: { id: string }) => key.id === id);
    };
    expect([await listed({}), await listed({ includeRevoked: 'true' })]).toEqual([false, true]);
  });

  it('a second time, and any other change, is refused with the instant of the first', async () => {
    const { id } = await mint(app, {});
    await ask(app, [surface, 'revoke'], { id });
    const revokedAt = new Date(nowMs).toISOString();
    nowMs += 60_000;
    const again = await Promise.all([
      ask(app, [surface, 'revoke'], { id }),
      ask(app, [surface, 'rotate'], { id }),
      ask(app, [surface, 'update'], { id, body: { name: 'another' } }),
    ]);
    for (const outcome of again) {
      expect(outcome).toMatchObject({ status: 409, code: 'api_key_already_revoked', body: { revokedAt } });
      expect(outcome.message).toContain(revokedAt);
    }
  });

  it('works on that of another person for an administrator, however narrow the calling key, and on the key itself', async () => {
    const self = await mint(app, restrictedTo(app, 'organization:manage'));
    const other = await addMember(app, 'MEMBER');
    expect((await ask(app, [surface, 'revoke'], { id: other.key.id, token: self.token })).status).toBe(200);
    expect(await works(other.key.token)).toBe(false);
    expect((await ask(app, [surface, 'revoke'], { id: self.id, token: self.token })).status).toBe(200);
    expect(await works(self.token)).toBe(false);
  });

  it('comes by itself at the instant of its expiry, and can be taken back', async () => {
    const { id, token } = await mint(app, { expiresAt: nowMs + 1_000 });
    nowMs += 999;
    expect(await works(token)).toBe(true);
    nowMs += 1;
    expect(await works(token)).toBe(false);
    expect((await ask(app, [surface, 'rotate'], { id })).code).toBe('api_key_expired');
    await ask(app, [surface, 'update'], { id, body: { expiresAt: null } });
    expect(await works(token)).toBe(true);
  });
});

describe.each(SURFACES)('rotating a key over %s', (surface) => {
  it('gives a new token, and ends the one before at once', async () => {
    const { id, token, apiKey } = await mint(app, {});
    const outcome = await ask(app, [surface, 'rotate'], { id });
    expect(outcome.status).toBe(200);
    expect(outcome.body).toEqual({
      token: expect.stringMatching(new RegExp(`^sk-lw-${id}_`)),
      apiKey: expect.anything(),
    });
    expect(outcome.body.apiKey).toEqual({
      ...apiKey,
      updatedAt: outcome.body.apiKey.updatedAt,
      lastUsedAt: outcome.body.apiKey.lastUsedAt,
    });
    expect([await works(token), await works(outcome.body.token)]).toEqual([false, true]);
  });

  it('with an overlap lets both work for that long', async () => {
    const { id, token } = await mint(app, {});
    const { body } = await ask(app, [surface, 'rotate'], { id, body: { overlapSeconds: 60 } });
    nowMs += 59_999;
    expect([await works(token), await works(body.token)]).toEqual([true, true]);
    nowMs += 1;
    expect([await works(token), await works(body.token)]).toEqual([false, true]);
    const again = await ask(app, [surface, 'rotate'], { id, body: { overlapSeconds: 60 } });
    expect([await works(body.token), await works(again.body.token)]).toEqual([true, true]);
    await ask(app, [surface, 'revoke'], { id });
    expect([await works(body.token), await works(again.body.token)]).toEqual([false, false]);
  });

  it('is allowed only to its owner, only to a caller who could mint it, and within bounds', async () => {
    const { key } = await addMember(app, 'MEMBER');
    expect((await ask(app, [surface, 'rotate'], { id: key.id })).code).toBe('api_key_not_owned');
    const service = await mint(app, { keyType: 'service' });
    const narrow = await mint(app, restrictedTo(app, 'organization:manage'));
    const outcome = await ask(app, [surface, 'rotate'], { id: service.id, token: narrow.token });
    expect(outcome).toMatchObject({ status: 403, code: 'api_key_scope_violation' });
    for (const overlapSeconds of [-1, 86_401]) {
      const bad = await ask(app, [surface, 'rotate'], { id: service.id, body: { overlapSeconds } });
      expect(bad).toMatchObject({ status: 422, code: 'validation_error', body: { fields: ['overlapSeconds'] } });
    }
    expect((await ask(app, [surface, 'rotate'], { id: narrow.id, token: narrow.token })).status).toBe(200);
  });

  it('replays its answer for the same idempotency key', async () => {
    const { id } = await mint(app, {});
    const rotation = { id, body: { overlapSeconds: 5 }, headers: { 'idempotency-key': `rotate-${id}` } };
    const first = await ask(app, [surface, 'rotate'], rotation);
    expect((await ask(app, [surface, 'rotate'], rotation)).body).toEqual(first.body);
    expect(await works(first.body.token)).toBe(true);
  });
});

describe('the audit log', () => {
  it('has every change of a key, and no token', async () => {
    const { id, token } = await mint(app, {});
    await ask(app, ['gRPC', 'update'], { id, body: { name: 'renamed', permissionMode: 'readonly' } });
    await ask(app, ['gRPC', 'update'], { id, body: { name: 'renamed' } });
    await ask(app, ['/api/api-keys', 'rotate'], { id });
    await ask(app, ['/api/v1/api-keys', 'revoke'], { id });
    const listing = { fromMs: null, toMs: null, action: null, actorUserId: null, actorKeyId: null, targetId: id };
    const entries = await app.store.management.audit(app.organizationId, {
      ...listing,
      outcome: 'success',
      after: null,
      limit: 10,
    });
    const changes = entries.map(({ action, status, fields }) => [action, status, fields] as const);
    expect(changes).toHaveLength(4);
    expect(changes).toEqual(
      expect.arrayContaining([
        ['apiKey.create', 201, []],
        ['apiKey.update', 200, ['name', 'permissionMode']],
        ['apiKey.rotate', 200, []],
        ['apiKey.revoke', 200, []],
      ]),
    );
    expect(JSON.stringify(entries)).not.toContain(token.slice(-48));
  });
});
