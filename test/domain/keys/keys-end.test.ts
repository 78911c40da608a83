import { beforeEach, describe, expect, it } from 'vitest';
import type { ApiKeyRecord } from '../../../src/domain/management/management.ts';
import { parseToken } from '../../../src/domain/secrets.ts';
import {
  ADMIN_AT_O,
  bind,
  createFixture,
  type Fixture,
  faultOf,
  MEMBER_AT_O,
  NOW_MS,
  outcomeOf,
} from './keys-fixture.ts';

let fixture: Fixture;
let key: ApiKeyRecord;
beforeEach(() => {
  fixture = createFixture();
  key = fixture.addKey('user_adm', [MEMBER_AT_O]);
});

const rotate = async (id: string, overlapSeconds = 0, by = fixture.callers.PA) =>
  fixture.keys.rotate(await fixture.callWith(by.id), { id, overlapSeconds });
const revoke = async (id: string, by = fixture.callers.PA) => fixture.keys.revoke(await fixture.callWith(by.id), id);

describe('revoking a key', () => {
  it('is kept with its instant and its entry, and ends both secrets', async () => {
    await rotate(key.id, 60);
    fixture.advance(7);
    await revoke(key.id);
    const stored = await fixture.stored(key.id);
    expect(stored).toMatchObject({
      revokedAtMs: NOW_MS + 7,
      updatedAtMs: NOW_MS,
      previousSecretHash: null,
      previousSecretUntilMs: null,
    });
    expect(fixture.store.changes.at(-1)?.audit).toMatchObject([
      { action: 'apiKey.revoke', targetType: 'apiKey', targetId: key.id, fields: [], status: 200 },
    ]);
    const view = await fixture.keys.get(await fixture.callWith(fixture.callers.PA.id), key.id);
    expect(view).toMatchObject({ revokedAtMs: NOW_MS + 7, effectivePermissions: [] });
  });

  it('works once, and on the calling key too', async () => {
    await revoke(key.id);
    expect(await outcomeOf(revoke(key.id))).toBe('api_key_already_revoked');
    const { SM } = fixture.callers;
    await revoke(SM.id, SM);
    expect(await outcomeOf(revoke(key.id, SM))).toBe('invalid_credentials');
  });

  it('by two at once succeeds for one', async () => {
    fixture.store.beforeCommit(() => revoke(key.id));
    expect(await outcomeOf(revoke(key.id))).toBe('api_key_already_revoked');
    expect(fixture.store.changes).toHaveLength(1);
  });
});

describe('rotating a key', () => {
  it('keeps id, grants and expiry, and gives a token that the store can prove', async () => {
    fixture.advance(3);
    const { token, key: view } = await rotate(key.id);
    const parsed = parseToken(token, ['sk-lw-']);
    expect(parsed).toMatchObject({ kind: 'apiKey', keyId: key.id, checksumValid: true });
    const stored = await fixture.stored(key.id);
    expect(stored.secretHash).not.toEqual(key.secretHash);
    expect(stored).toMatchObject({ previousSecretHash: null, previousSecretUntilMs: null, updatedAtMs: NOW_MS + 3 });
    expect(view).toMatchObject({ id: key.id, bindings: key.bindings, expiresAtMs: null });
    expect(fixture.store.changes[0]?.audit).toMatchObject([{ action: 'apiKey.rotate', targetId: key.id, fields: [] }]);
  });

  it('with an overlap keeps the secret before for that long, and never the one before that', async () => {
    await rotate(key.id, 60);
    const once = await fixture.stored(key.id);
    expect(once).toMatchObject({ previousSecretHash: key.secretHash, previousSecretUntilMs: NOW_MS + 60_000 });
    await rotate(key.id, 30);
    expect(await fixture.stored(key.id)).toMatchObject({
      previousSecretHash: once.secretHash,
      previousSecretUntilMs: NOW_MS + 30_000,
    });
    await rotate(key.id);
    expect((await fixture.stored(key.id)).previousSecretHash).toBeNull();
  });

  it('of a key without a checksum is known for it as long as the secret before works', async () => {
    const imported = fixture.addKey('user_adm', [MEMBER_AT_O], { imported: true });
    await rotate(imported.id, 60);
    expect((await fixture.stored(imported.id)).imported).toBe(true);
    await rotate(imported.id);
    expect((await fixture.stored(imported.id)).imported).toBe(false);
  });

  it('of an expired key is refused; of a revoked one for that', async () => {
    const expired = fixture.addKey('user_adm', [MEMBER_AT_O], { expiresAtMs: NOW_MS });
    expect(await outcomeOf(rotate(expired.id))).toBe('api_key_expired');
    const both = fixture.addKey('user_adm', [MEMBER_AT_O], { expiresAtMs: NOW_MS, revokedAtMs: 1 });
    expect(await outcomeOf(rotate(both.id))).toBe('api_key_already_revoked');
  });

  it('of an own key is bounded by the calling key alone; what is archived never stops it', async () => {
    const wide = fixture.addKey('user_mgr', [ADMIN_AT_O]);
    const other = fixture.addKey('user_mgr', [ADMIN_AT_O]);
    expect(await outcomeOf(rotate(other.id, 0, wide))).toBe('ok');
    const old = fixture.addKey(null, [bind('ADMIN', 'PROJECT', 'project_gone'), bind('ADMIN', 'PROJECT', 'project_1')]);
    expect(await outcomeOf(rotate(old.id))).toBe('ok');
    const fault = await faultOf(rotate(old.id, 0, fixture.callers.SM));
    expect([fault.code, fault.meta.scopeId]).toEqual(['api_key_scope_violation', 'project_1']);
  });

  it('of a service key is bounded by the owner of the calling key as well', async () => {
    const left = fixture.addKey('user_mgr', [ADMIN_AT_O]);
    expect(await outcomeOf(rotate(fixture.callers.SA.id, 0, left))).toBe('api_key_scope_violation');
    expect(await outcomeOf(rotate(fixture.callers.SM.id, 0, left))).toBe('ok');
  });

  it('of the calling key itself lets the secret before act on while it overlaps', async () => {
    const { SM } = fixture.callers;
    const call = await fixture.callWith(SM.id);
    await fixture.keys.rotate(call, { id: SM.id, overlapSeconds: 60 });
    await fixture.keys.update(call, SM.id, { name: 'by the secret before' });
    expect((await fixture.stored(SM.id)).name).toBe('by the secret before');
    const late = { ...call, nowMs: NOW_MS + 60_000 };
    expect(await outcomeOf(fixture.keys.update(late, SM.id, { name: 'too late' }))).toBe('invalid_credentials');
  });
});
