import { describe, expect, it } from 'vitest';
import {
  ADMIN,
  bind,
  callBy,
  codeOf,
  createFixture,
  faultOf,
  lastAudit,
  MANAGE,
  MEMBER,
  NOW_MS,
  O,
  VIEWER,
} from './organization-fixture.ts';

const draft = { email: 'New@Example.com', name: 'New', role: 'VIEWER' } as const;

describe('adding a member', () => {
  it('keeps the e-mail in lower case and the role as one binding', async () => {
    const fixture = createFixture();
    const admin = await callBy(fixture, 'adm', [ADMIN]);
    const member = await fixture.members.create(admin, draft);
    expect(member).toMatchObject({ email: 'new@example.com', role: 'VIEWER', disabledAtMs: null, createdAtMs: NOW_MS });
    expect(await fixture.store.roleBindings(O, member.userId)).toMatchObject([VIEWER]);
    expect(lastAudit(fixture)).toEqual([{ action: 'member.create', targetId: member.userId, status: 201, fields: [] }]);
    expect(await codeOf(fixture.members.create(admin, { ...draft, email: 'NEW@example.COM' }))).toBe(
      'member_already_exists',
    );
  });

  it('EXTERNAL has no binding, and is covered by any caller', async () => {
    const fixture = createFixture();
    const manager = await callBy(fixture, 'mgr', [MANAGE]);
    const member = await fixture.members.create(manager, { ...draft, role: 'EXTERNAL' });
    expect(member.role).toBe('EXTERNAL');
    expect(await fixture.store.roleBindings(O, member.userId)).toEqual([]);
  });

  it('gives no more than the calling key and its owner hold', async () => {
    const fixture = createFixture();
    for (const owner of ['adm', 'mgr'] as const) {
      const narrow = await callBy(fixture, owner, [MANAGE]);
      const refused = await faultOf(fixture.members.create(narrow, draft));
      expect(refused).toMatchObject({
        code: 'role_binding_scope_violation',
        meta: { scopeType: 'ORGANIZATION', scopeId: O, missingPermissions: expect.arrayContaining(['traces:view']) },
      });
      expect(await codeOf(fixture.members.create(narrow, { ...draft, role: 'ADMIN' }))).toBe('administrator_required');
    }
    // The key holds everything, but the member who owns it does not.
    const wide = await callBy(fixture, 'mgr', [ADMIN]);
    expect(await codeOf(fixture.members.create(wide, { ...draft, role: 'ADMIN' }))).toBe('administrator_required');
    await fixture.members.create(wide, { ...draft, role: 'MEMBER' });
  });
});

describe('changing a member', () => {
  it('audits what changed, and stores nothing when nothing does', async () => {
    const fixture = createFixture();
    const admin = await callBy(fixture, 'adm', [ADMIN]);
    await fixture.members.update(admin, 'user_mem', {});
    await fixture.members.update(admin, 'user_mem', { role: 'MEMBER', disabled: false, name: 'mem' });
    expect(fixture.store.changes).toEqual([]);
    const changed = await fixture.members.update(admin, 'user_mem', { role: 'VIEWER', disabled: true, name: 'Mem' });
    expect(changed).toMatchObject({ role: 'VIEWER', disabledAtMs: NOW_MS, name: 'Mem', updatedAtMs: NOW_MS });
    expect(lastAudit(fixture)).toEqual([
      { action: 'member.update', targetId: 'user_mem', status: 200, fields: ['role', 'disabled', 'name'] },
    ]);
    const enabled = await fixture.members.update(admin, 'user_mem', { disabled: false });
    expect(enabled.disabledAtMs).toBeNull();
  });

  it('the role stays one binding, and EXTERNAL is none', async () => {
    const fixture = createFixture();
    const admin = await callBy(fixture, 'adm', [ADMIN]);
    await fixture.members.update(admin, 'user_mgr', { role: 'VIEWER' });
    const roles = async () => (await fixture.store.roleBindings(O, 'user_mgr')).map(({ role }) => role);
    expect(await roles()).toEqual(['VIEWER', 'CUSTOM']);
    await fixture.members.update(admin, 'user_mgr', { role: 'EXTERNAL' });
    expect(await roles()).toEqual(['CUSTOM']);
    await fixture.members.update(admin, 'user_mgr', { role: 'MEMBER' });
    expect(await roles()).toEqual(['CUSTOM', 'MEMBER']);
  });

  it('refuses in order: not found, administrator, ceiling, conflict', async () => {
    const fixture = createFixture();
    const narrow = await callBy(fixture, 'adm', [MANAGE]);
    expect(await codeOf(fixture.members.update(narrow, 'nope', { role: 'ADMIN' }))).toBe('member_not_found');
    expect(await codeOf(fixture.members.update(narrow, 'user_adm', { role: 'MEMBER' }))).toBe('administrator_required');
    expect(await codeOf(fixture.members.update(narrow, 'user_adm', { disabled: false }))).toBe(
      'administrator_required',
    );
    expect(await codeOf(fixture.members.update(narrow, 'user_mem', { role: 'ADMIN' }))).toBe('administrator_required');
    expect(await codeOf(fixture.members.update(narrow, 'user_mem', { disabled: true }))).toBe(
      'role_binding_scope_violation',
    );
    const admin = await callBy(fixture, 'adm', [ADMIN]);
    expect(await codeOf(fixture.members.update(admin, 'user_adm', { role: 'MEMBER', disabled: true }))).toBe(
      'cannot_demote_last_admin',
    );
    expect(await codeOf(fixture.members.update(admin, 'user_adm', { disabled: true }))).toBe(
      'cannot_disable_last_admin',
    );
    // A name is nobody's power.
    expect((await fixture.members.update(narrow, 'user_adm', { name: 'Boss' })).name).toBe('Boss');
  });

  it('removes only permissions that the caller holds, further grants of the member included', async () => {
    const fixture = createFixture();
    const call = await callBy(fixture, 'mgr', [MEMBER, MANAGE]);
    await fixture.members.update(call, 'user_vie', { role: 'EXTERNAL' });
    await fixture.roleBindings.create(await callBy(fixture, 'adm', [ADMIN]), {
      userId: 'user_vie',
      ...bind('ADMIN', 'PROJECT', 'project_1'),
    });
    expect(await codeOf(fixture.members.update(call, 'user_vie', { disabled: true }))).toBe(
      'role_binding_scope_violation',
    );
    await fixture.projects.archive(await callBy(fixture, 'adm', [ADMIN]), 'project_1');
    // A grant at what is archived grants nothing, so it holds nobody up.
    await fixture.members.update(call, 'user_vie', { disabled: true });
  });
});

describe('the last active administrator', () => {
  it('two at once cannot take the role from each other', async () => {
    const fixture = createFixture();
    const adm = await callBy(fixture, 'adm', [ADMIN]);
    await fixture.members.update(adm, 'user_mem', { role: 'ADMIN' });
    const mem = await callBy(fixture, 'mem', [ADMIN]);
    const outcomes = await Promise.allSettled([
      fixture.members.update(adm, 'user_mem', { disabled: true }),
      fixture.members.remove(mem, 'user_adm'),
      fixture.members.update(adm, 'user_mem', { role: 'VIEWER' }),
    ]);
    expect(outcomes.filter(({ status }) => status === 'fulfilled').length).toBeGreaterThan(0);
    const left = await fixture.members.list(await callBy(fixture, null, [ADMIN]), { cursor: '', limit: null });
    expect(left.items.filter(({ role, disabledAtMs }) => role === 'ADMIN' && disabledAtMs === null)).toHaveLength(1);
  });

  it('one that is disabled does not count', async () => {
    const fixture = createFixture();
    const adm = await callBy(fixture, 'adm', [ADMIN]);
    await fixture.members.update(adm, 'user_mem', { role: 'ADMIN', disabled: true });
    expect(await codeOf(fixture.members.remove(adm, 'user_adm'))).toBe('cannot_remove_last_admin');
    await fixture.members.remove(adm, 'user_mem');
  });
});

describe('removing a member', () => {
  it('revokes the personal keys and removes the bindings, and keeps the keys of others', async () => {
    const fixture = createFixture();
    const adm = await callBy(fixture, 'adm', [ADMIN]);
    const own = await callBy(fixture, 'mem', [MEMBER]);
    await callBy(fixture, null, [MEMBER]);
    await fixture.members.remove(adm, 'user_mem');
    expect(await fixture.store.member(O, 'user_mem')).toBeNull();
    expect(await fixture.store.roleBindings(O, 'user_mem')).toEqual([]);
    const [key] = await fixture.store.apiKeysOf(O, 'user_mem');
    expect(key).toMatchObject({ revokedAtMs: NOW_MS, previousSecretHash: null });
    expect(lastAudit(fixture)).toEqual([
      { action: 'member.remove', targetId: 'user_mem', status: 200, fields: [] },
      { action: 'apiKey.revoke', targetId: own.caller.key.id, status: 200, fields: [] },
    ]);
    const again = await fixture.members.create(adm, { ...draft, email: 'mem@example.com' });
    expect(again.userId).not.toBe('user_mem');
    expect(await fixture.store.apiKeysOf(O, again.userId)).toEqual([]);
  });

  it('refuses in order: not found, administrator, ceiling', async () => {
    const fixture = createFixture();
    const narrow = await callBy(fixture, null, [MANAGE]);
    expect(await codeOf(fixture.members.remove(narrow, 'nope'))).toBe('member_not_found');
    expect(await codeOf(fixture.members.remove(narrow, 'user_adm'))).toBe('administrator_required');
    expect(await codeOf(fixture.members.remove(narrow, 'user_vie'))).toBe('role_binding_scope_violation');
  });
});

describe('listing members', () => {
  it('goes through all of them in pages, oldest first, with their roles', async () => {
    const fixture = createFixture();
    const call = await callBy(fixture, 'mgr', [MANAGE]);
    const seen: string[] = [];
    let cursor = '';
    for (let pages = 0; pages < 4; pages += 1) {
      const page = await fixture.members.list(call, { cursor, limit: 2 });
      seen.push(...page.items.map(({ name, role }) => `${name} ${role}`));
      cursor = page.nextCursor ?? '';
      if (cursor === '') break;
    }
    expect(seen).toEqual(['adm ADMIN', 'mgr MEMBER', 'mem MEMBER', 'vie VIEWER']);
    expect(await codeOf(fixture.members.list(call, { cursor: 'forged', limit: null }))).toBe('invalid_cursor');
  });
});
