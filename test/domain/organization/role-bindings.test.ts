import { describe, expect, it } from 'vitest';
import { PERMISSIONS } from '../../../src/domain/keys/permission-catalogue.ts';
import { roleBindingProblems } from '../../../src/domain/organization/role-bindings.ts';
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
  O,
} from './organization-fixture.ts';

const any = { userId: null, scopeType: null, scopeId: null };
const all = { cursor: '', limit: null };

describe('granting', () => {
  it('a CUSTOM grant keeps its permissions once and sorted', async () => {
    const fixture = createFixture();
    const admin = await callBy(fixture, 'adm', [ADMIN]);
    const grant = bind('CUSTOM', 'PROJECT', 'project_1', ['traces:view', 'cost:view', 'traces:view']);
    const binding = await fixture.roleBindings.create(admin, { userId: 'user_vie', ...grant });
    expect(binding.permissions).toEqual(['cost:view', 'traces:view']);
    expect(lastAudit(fixture)).toEqual([
      { action: 'roleBinding.create', targetId: binding.id, status: 201, fields: [] },
    ]);
    const again = { ...grant, permissions: ['cost:view', 'traces:view'], userId: 'user_vie' };
    expect(await codeOf(fixture.roleBindings.create(admin, again))).toBe('role_binding_already_exists');
    await fixture.roleBindings.create(admin, { ...again, permissions: ['traces:view'] });
  });

  it('refuses in order: not found, ceiling, conflict', async () => {
    const fixture = createFixture();
    const manager = await callBy(fixture, 'mgr', [MANAGE]);
    const grant = bind('VIEWER', 'PROJECT', 'project_1');
    expect(await codeOf(fixture.roleBindings.create(manager, { userId: 'nope', ...grant }))).toBe('member_not_found');
    const refused = await faultOf(fixture.roleBindings.create(manager, { userId: 'user_vie', ...grant }));
    expect(refused.code).toBe('role_binding_scope_violation');
    expect(refused.meta).toMatchObject({ scopeType: 'PROJECT', scopeId: 'project_1' });
  });

  it('a narrow key of an administrator cannot give itself or anybody more', async () => {
    const fixture = createFixture();
    const narrow = await callBy(fixture, 'adm', [MANAGE]);
    for (const userId of ['user_adm', 'user_vie']) {
      const custom = bind('CUSTOM', 'ORGANIZATION', O, ['organization:delete', 'traces:view']);
      const refused = await faultOf(fixture.roleBindings.create(narrow, { userId, ...custom }));
      expect(refused).toMatchObject({
        code: 'role_binding_scope_violation',
        meta: { missingPermissions: ['traces:view'] },
      });
    }
    const held = bind('CUSTOM', 'ORGANIZATION', O, ['organization:manage']);
    await fixture.roleBindings.create(narrow, { userId: 'user_vie', ...held });
  });

  it('an unknown, an archived and a foreign scope get the same refusal', async () => {
    const fixture = createFixture();
    const admin = await callBy(fixture, 'adm', [ADMIN]);
    await fixture.projects.archive(admin, 'project_2');
    const scopes = [
      ['PROJECT', 'nope'],
      ['PROJECT', 'project_2'],
      ['TEAM', 'team_other'],
      ['ORGANIZATION', 'organization_2'],
    ] as const;
    for (const [scopeType, scopeId] of scopes) {
      const grant = bind('CUSTOM', scopeType, scopeId, ['traces:view']);
      const refused = await faultOf(fixture.roleBindings.create(admin, { userId: 'user_vie', ...grant }));
      expect({ code: refused.code, message: refused.message, meta: refused.meta }).toEqual({
        code: 'role_binding_scope_violation',
        message: 'The access asked for exceeds what the caller holds there.',
        meta: { scopeType, scopeId },
      });
    }
  });
});

describe('taking a grant back', () => {
  it('is over at once, and says so in the audit log', async () => {
    const fixture = createFixture();
    const admin = await callBy(fixture, 'adm', [ADMIN]);
    await fixture.roleBindings.remove(admin, 'rolebinding_mgr_CUSTOM');
    expect((await fixture.store.roleBindings(O, 'user_mgr')).map(({ role }) => role)).toEqual(['MEMBER']);
    expect(lastAudit(fixture)).toEqual([
      { action: 'roleBinding.delete', targetId: 'rolebinding_mgr_CUSTOM', status: 200, fields: [] },
    ]);
  });

  it('refuses in order: not found, ceiling, the role of a member', async () => {
    const fixture = createFixture();
    const narrow = await callBy(fixture, 'mgr', [MANAGE]);
    expect(await codeOf(fixture.roleBindings.remove(narrow, 'nope'))).toBe('role_binding_not_found');
    expect(await codeOf(fixture.roleBindings.remove(narrow, 'rolebinding_adm_ADMIN'))).toBe(
      'role_binding_scope_violation',
    );
    const admin = await callBy(fixture, 'adm', [ADMIN]);
    expect(await codeOf(fixture.roleBindings.remove(admin, 'rolebinding_adm_ADMIN'))).toBe(
      'role_binding_is_member_role',
    );
  });

  it('works on a grant at what was archived since', async () => {
    const fixture = createFixture();
    const admin = await callBy(fixture, 'adm', [ADMIN]);
    const grant = { userId: 'user_vie', ...bind('MEMBER', 'PROJECT', 'project_1') };
    const { id } = await fixture.roleBindings.create(admin, grant);
    await fixture.projects.archive(admin, 'project_1');
    await fixture.roleBindings.remove(await callBy(fixture, 'mgr', [MANAGE]), id);
  });
});

describe('listing grants', () => {
  it('filters by member and scope, and a cursor belongs to its filter', async () => {
    const fixture = createFixture();
    const call = await callBy(fixture, 'mgr', [MANAGE, MEMBER]);
    const ids = async (filter: object) =>
      (await fixture.roleBindings.list(call, { ...any, ...filter }, all)).items.map(({ id }) => id);
    expect(await ids({})).toHaveLength(5);
    expect(await ids({ userId: 'user_mgr' })).toEqual(['rolebinding_mgr_CUSTOM', 'rolebinding_mgr_MEMBER']);
    expect(await ids({ scopeType: 'TEAM' })).toEqual([]);
    expect(await ids({ scopeId: O, userId: 'user_vie' })).toEqual(['rolebinding_vie_VIEWER']);
    const { nextCursor } = await fixture.roleBindings.list(call, any, { cursor: '', limit: 2 });
    const cursor = nextCursor ?? '';
    const rest = await fixture.roleBindings.list(call, any, { cursor, limit: 200 });
    expect(rest.items).toHaveLength(3);
    expect(rest.nextCursor).toBeNull();
    const elsewhere = fixture.roleBindings.list(call, { ...any, userId: 'user_mgr' }, { cursor, limit: null });
    expect(await codeOf(elsewhere)).toBe('invalid_cursor');
  });
});

describe('what a grant may say', () => {
  const fieldsOf = (...given: Parameters<typeof roleBindingProblems>) =>
    roleBindingProblems(...given).map(({ field }) => field);

  it.each([
    [
      'permissions beside a built-in role',
      { role: 'VIEWER', scopeType: 'TEAM', permissions: ['traces:view'] },
      ['permissions'],
    ],
    ['a built-in role at ORGANIZATION', { role: 'VIEWER', scopeType: 'ORGANIZATION', permissions: [] }, ['role']],
    ['CUSTOM without permissions', { role: 'CUSTOM', scopeType: 'TEAM', permissions: [] }, ['permissions']],
    [
      'an unknown permission',
      { role: 'CUSTOM', scopeType: 'TEAM', permissions: ['traces:view', 'x'] },
      ['permissions.1'],
    ],
    ['the whole catalogue', { role: 'CUSTOM', scopeType: 'ORGANIZATION', permissions: PERMISSIONS }, []],
    [
      'one more than that',
      { role: 'CUSTOM', scopeType: 'TEAM', permissions: [...PERMISSIONS, 'traces:view'] },
      ['permissions'],
    ],
  ] as const)('%s', (_, grant, fields) => {
    expect(fieldsOf(grant)).toEqual(fields);
  });
});
