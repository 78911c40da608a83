import { randomBytes } from 'node:crypto';
import { beforeEach, describe, expect, it } from 'vitest';
import { newId } from '../../../src/domain/ids.ts';
import type { KeyListRequest } from '../../../src/domain/keys/keys.ts';
import { ROLE_PERMISSIONS } from '../../../src/domain/keys/permission-catalogue.ts';
import {
  ADMIN_AT_O,
  bind,
  createFixture,
  customAt,
  type Fixture,
  faultOf,
  MEMBER_AT_O,
  NOW_MS,
  O,
} from './keys-fixture.ts';

let fixture: Fixture;
beforeEach(() => {
  fixture = createFixture();
});

const list = async (question: Partial<KeyListRequest> = {}, by = fixture.callers.SA) =>
  fixture.keys.list(await fixture.callWith(by.id), {
    scope: 'own',
    includeRevoked: false,
    cursor: '',
    limit: null,
    ...question,
  });
const get = async (id: string, by = fixture.callers.PA) => fixture.keys.get(await fixture.callWith(by.id), id);

describe('listing keys', () => {
  it('is newest first, whole without a page, and ends in null page by page', async () => {
    const all = await list();
    expect(all.nextCursor).toBeUndefined();
    const ids = all.keys.map(({ id }) => id);
    expect(ids).toHaveLength(Object.keys(fixture.callers).length);
    const instants = all.keys.map(({ createdAtMs }) => createdAtMs);
    expect(instants).toEqual(instants.toSorted((one, other) => other - one));
    const walked: string[] = [];
    let cursor: string | null | undefined = '';
    for (let page = 0; page < 9 && typeof cursor === 'string'; page += 1) {
      const { keys, nextCursor } = await list({ limit: 3, cursor });
      walked.push(...keys.map(({ id }) => id));
      cursor = nextCursor;
    }
    expect(walked).toEqual(ids);
    expect(cursor).toBeNull();
  });

  it('goes by the id where instants are equal', async () => {
    const same = Array.from({ length: 4 }, () => fixture.addKey(null, [MEMBER_AT_O], { createdAtMs: NOW_MS }).id);
    const { keys } = await list({ limit: 4 });
    expect(keys.map(({ id }) => id)).toEqual(same.toSorted().toReversed());
  });

  it('without a page answers up to 1,000 keys and says where more begin', async () => {
    for (let count = 0; count < 1_000; count += 1) fixture.addKey(null, [MEMBER_AT_O]);
    const { keys, nextCursor } = await list();
    expect(keys).toHaveLength(1_000);
    const rest = await list({ cursor: nextCursor ?? '' });
    expect([rest.keys.length, rest.nextCursor]).toEqual([Object.keys(fixture.callers).length, null]);
    expect((await list({ cursor: (await list({ limit: 1 })).nextCursor ?? '' })).keys).toHaveLength(50);
  });

  it('takes only its own cursors', async () => {
    const { PA, SA } = fixture.callers;
    const { nextCursor } = await list({ limit: 1 }, PA);
    const cursor = nextCursor ?? '';
    for (const question of [{ includeRevoked: true }, { scope: 'organization' as const }]) {
      expect((await faultOf(list({ cursor, ...question }, PA))).code).toBe('invalid_cursor');
    }
    expect((await faultOf(list({ cursor }, SA))).code).toBe('invalid_cursor');
    // A service key has one listing, whatever scope it names.
    const { nextCursor: ofService } = await list({ limit: 1 }, SA);
    expect((await list({ scope: 'organization', cursor: ofService ?? '' }, SA)).nextCursor).toBeNull();
    expect((await faultOf(list({ cursor: 'nope\0' }))).code).toBe('invalid_cursor');
  });

  it('shows revoked keys on request, and expired ones always', async () => {
    const revoked = fixture.addKey(null, [MEMBER_AT_O], { revokedAtMs: 1 });
    const expired = fixture.addKey(null, [MEMBER_AT_O], { expiresAtMs: 1 });
    const ids = async (includeRevoked: boolean) => (await list({ includeRevoked })).keys.map(({ id }) => id);
    expect(await ids(false)).toContain(expired.id);
    expect(await ids(false)).not.toContain(revoked.id);
    expect(await ids(true)).toContain(revoked.id);
  });

  it('shows each key as reading it does', async () => {
    fixture.addKey('user_off', [MEMBER_AT_O]);
    fixture.addKey('user_removed', [MEMBER_AT_O]);
    fixture.addKey(null, [bind('ADMIN', 'PROJECT', 'project_1')], { lastUsedAtMs: 5 });
    for (const key of (await list({ includeRevoked: true })).keys) expect(await get(key.id)).toEqual(key);
  });
});

describe('reading a key', () => {
  it('a hidden one costs and answers what an unknown one does', async () => {
    const hidden = fixture.addKey('user_vie', [MEMBER_AT_O]);
    const { PM } = fixture.callers;
    const cost = async (id: string) => {
      const call = await fixture.callWith(PM.id);
      fixture.store.calls.clear();
      const fault = await faultOf(fixture.keys.get(call, id));
      const read = [...fixture.store.calls];
      fixture.store.calls.clear();
      const kept = await faultOf(fixture.keys.revoke(call, id));
      return [fault.code, fault.message, fault.meta, kept.code, kept.message, read, [...fixture.store.calls]];
    };
    expect(await cost('0000000000000000')).toEqual(await cost(hidden.id));
  });

  it("another organization's key is unknown", async () => {
    const foreign = fixture.addKey('user_adm', [ADMIN_AT_O], { organizationId: 'organization_X' });
    expect((await faultOf(get(foreign.id))).code).toBe('api_key_not_found');
    expect((await faultOf(get('\0'))).code).toBe('api_key_not_found');
    expect((await faultOf(get('x'.repeat(201)))).code).toBe('api_key_not_found');
  });

  it('lists all its current permissions at all scopes', async () => {
    const { effectivePermissions: everything } = await get(fixture.callers.PA.id);
    expect(everything).toHaveLength(126);
    expect(everything).toEqual(everything.toSorted());
    const member = (await get(fixture.callers.PV.id)).effectivePermissions;
    expect(member).toEqual([...ROLE_PERMISSIONS.MEMBER, 'organization:view'].toSorted());
    const atProject = fixture.addKey(null, [bind('VIEWER', 'PROJECT', 'project_1')]);
    expect((await get(atProject.id)).effectivePermissions).toEqual([...ROLE_PERMISSIONS.VIEWER].toSorted());
    const archived = fixture.addKey(null, [bind('VIEWER', 'PROJECT', 'project_gone')]);
    expect((await get(archived.id)).effectivePermissions).toEqual([]);
    const expanded = fixture.addKey(null, [customAt('team:manage')]);
    expect(await get(expanded.id)).toMatchObject({
      permissions: ['team:manage'],
      effectivePermissions: ['team:manage', 'team:view'],
    });
  });

  it('shrinks with its owner, at the same scope', async () => {
    const wide = fixture.addKey('user_vie', [ADMIN_AT_O]);
    expect((await get(wide.id)).effectivePermissions).toEqual(
      [...ROLE_PERMISSIONS.VIEWER, 'organization:view'].toSorted(),
    );
    const elsewhere = fixture.addKey('user_ext', [bind('MEMBER', 'PROJECT', 'project_2')]);
    expect((await get(elsewhere.id)).effectivePermissions).toEqual([]);
    const there = fixture.addKey('user_ext', [bind('ADMIN', 'TEAM', 'team_1')]);
    expect((await get(there.id)).effectivePermissions).toEqual([...ROLE_PERMISSIONS.MEMBER].toSorted());
    fixture.store.seed({
      roleBindings: [
        {
          ...bind('VIEWER', 'PROJECT', 'project_2'),
          organizationId: O,
          userId: 'user_ext',
          id: newId('rolebinding', randomBytes),
          createdAtMs: NOW_MS,
        },
      ],
    });
    expect((await get(elsewhere.id)).effectivePermissions).toEqual([...ROLE_PERMISSIONS.VIEWER].toSorted());
  });

  it.each([
    ['revoked', 'user_adm', { revokedAtMs: 1 }],
    ['expired', 'user_adm', { expiresAtMs: NOW_MS }],
    ['of a disabled member', 'user_off', {}],
    ['of a removed member', 'user_removed', {}],
  ] as const)('one that is %s can do nothing', async (_, userId, more) => {
    const key = fixture.addKey(userId, [MEMBER_AT_O], more);
    expect((await get(key.id)).effectivePermissions).toEqual([]);
  });
});
