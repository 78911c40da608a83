import { beforeEach, describe, expect, it } from 'vitest';
import type { BindingDraft, KeyDraft, KeyView } from '../../../src/domain/keys/keys.ts';
import type { ApiKeyRecord } from '../../../src/domain/management/management.ts';
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
  outcomeOf,
} from './keys-fixture.ts';

let fixture: Fixture;
let restricted: ApiKeyRecord;
let service: ApiKeyRecord;
beforeEach(() => {
  fixture = createFixture();
  restricted = fixture.addKey('user_adm', [customAt('cost:view', 'traces:view'), MEMBER_AT_O], { description: 'old' });
  service = fixture.addKey(null, [
    bind('VIEWER', 'TEAM', 'team_1'),
    bind('ADMIN', 'PROJECT', 'project_1'),
    bind('ADMIN', 'PROJECT', 'project_2'),
  ]);
});

const CUSTOM_AT_O: BindingDraft = { role: 'CUSTOM', scopeType: 'ORGANIZATION', scopeId: O };

async function update(key: ApiKeyRecord, draft: KeyDraft, by = fixture.callers.PA): Promise<KeyView> {
  return fixture.keys.update(await fixture.callWith(by.id), key.id, draft);
}

async function fieldsOf(key: ApiKeyRecord, draft: KeyDraft): Promise<unknown> {
  const fault = await faultOf(update(key, draft));
  expect(fault.code).toBe('validation_error');
  expect(fixture.store.changes).toEqual([]);
  return fault.meta.fields;
}

const shown = ({ bindings }: Pick<ApiKeyRecord, 'bindings'>) =>
  bindings.map(({ role, scopeType, scopeId }) => `${role} ${scopeType} ${scopeId}`);

/** A key as a client sends it back. */
const whole = ({ userId, ...view }: KeyView): KeyDraft => ({ ...view, assignedToUserId: userId });

describe('a change of a key', () => {
  it('touches only what is sent, and says so in the audit log', async () => {
    fixture.advance(5);
    const view = await update(restricted, { name: 'renamed', description: null, expiresAtMs: NOW_MS + 1000 });
    const { secretHash: _, imported: _imported, ...kept } = restricted;
    expect(view).toMatchObject({
      ...{ id: kept.id, permissionMode: 'restricted', bindings: kept.bindings, createdAtMs: kept.createdAtMs },
      ...{ name: 'renamed', description: null, expiresAtMs: NOW_MS + 1000, updatedAtMs: NOW_MS + 5 },
    });
    expect(fixture.store.changes[0]?.audit).toMatchObject([
      { action: 'apiKey.update', targetId: restricted.id, status: 200, fields: ['name', 'description', 'expiresAt'] },
    ]);
    expect((await fixture.stored(restricted.id)).secretHash).toEqual(restricted.secretHash);
  });

  it('that changes nothing stores nothing', async () => {
    for (const key of [restricted, service]) {
      const call = await fixture.callWith(fixture.callers.PA.id);
      const view = await fixture.keys.get(call, key.id);
      expect(await update(key, {})).toEqual(view);
      expect(await update(key, whole(view))).toEqual(view);
      expect(await update(key, { ...whole(view), assignedToUserId: null })).toEqual(view);
    }
    expect(await update(restricted, { permissions: ['traces:view', 'cost:view', 'cost:view'] })).toBeTruthy();
    expect(await update(service, { projectIds: ['project_2', 'project_1'] })).toBeTruthy();
    expect(fixture.store.changes).toEqual([]);
  });

  it('that repeats what is stored needs no ceiling, however narrow the caller', async () => {
    const view = await fixture.keys.get(await fixture.callWith(fixture.callers.PN.id), service.id);
    expect((await update(service, { ...whole(view), name: 'by a narrow key' }, fixture.callers.PN)).name).toBe(
      'by a narrow key',
    );
    const other = { bindings: view.bindings.toReversed(), projectIds: [] };
    expect(shown(await update(service, other, fixture.callers.PN))).toEqual(shown(service).toReversed());
    expect(await outcomeOf(update(service, { projectIds: ['project_1'] }, fixture.callers.PN))).toBe(
      'api_key_scope_violation',
    );
  });

  it('replaces all grants by those sent; one that stays keeps its id', async () => {
    const view = await update(service, {
      bindings: [bind('MEMBER', 'TEAM', 'team_2'), bind('VIEWER', 'TEAM', 'team_1')],
    });
    expect(shown(view)).toEqual(['MEMBER TEAM team_2', 'VIEWER TEAM team_1']);
    expect(view.projectIds).toEqual([]);
    expect(view.bindings[1]?.id).toBe(service.bindings[0]?.id);
    expect(fixture.store.changes[0]?.audit[0]?.fields).toEqual(['bindings', 'projectIds']);
  });

  it('of the projects leaves other grants alone; sent with grants both add up', async () => {
    expect(shown(await update(service, { projectIds: ['project_2'] }))).toEqual([
      'VIEWER TEAM team_1',
      'ADMIN PROJECT project_2',
    ]);
    expect(shown(await update(service, { projectIds: [] }))).toEqual(['VIEWER TEAM team_1']);
    const both = await update(service, { bindings: [bind('VIEWER', 'TEAM', 'team_2')], projectIds: ['project_1'] });
    expect(shown(both)).toEqual(['VIEWER TEAM team_2', 'ADMIN PROJECT project_1']);
  });

  it('of the permissions replaces the list of every CUSTOM grant', async () => {
    const view = await update(restricted, { permissions: ['traces:view', 'datasets:view', 'traces:view'] });
    expect(view.permissions).toEqual(['datasets:view', 'traces:view']);
    expect(view.bindings[0]).toEqual({ ...restricted.bindings[0], permissions: ['datasets:view', 'traces:view'] });
    expect(fixture.store.changes[0]?.audit[0]?.fields).toEqual(['permissions']);
  });

  it('away from restricted needs grants without CUSTOM ones', async () => {
    expect(await fieldsOf(restricted, { permissionMode: 'all' })).toEqual(['permissionMode', 'permissions']);
    const view = await update(restricted, { permissionMode: 'all', bindings: [MEMBER_AT_O] });
    expect(view).toMatchObject({ permissionMode: 'all', permissions: [] });
    expect(shown(view)).toEqual(['MEMBER ORGANIZATION organization_O']);
  });

  it('may turn a key into a restricted one', async () => {
    const view = await update(service, {
      permissionMode: 'restricted',
      permissions: ['organization:view'],
      bindings: [CUSTOM_AT_O],
    });
    expect(view).toMatchObject({ permissionMode: 'restricted', permissions: ['organization:view'], projectIds: [] });
  });

  it('may bring an expired key back to life, and leave its expiry as it is', async () => {
    const key = fixture.addKey('user_adm', [ADMIN_AT_O], { expiresAtMs: NOW_MS - 10 });
    expect((await update(key, { name: 'still expired', expiresAtMs: NOW_MS - 10 })).effectivePermissions).toEqual([]);
    expect((await update(key, { expiresAtMs: null })).effectivePermissions).toHaveLength(126);
  });

  it.each<[string, () => ApiKeyRecord, KeyDraft, string[]]>([
    ['another type', () => service, { keyType: 'personal' }, ['keyType']],
    ['another owner', () => restricted, { assignedToUserId: 'user_mem' }, ['assignedToUserId']],
    ['an owner of a service key', () => service, { assignedToUserId: 'user_adm' }, ['assignedToUserId']],
    ['an expiry that has passed', () => service, { expiresAtMs: NOW_MS }, ['expiresAt']],
    ['no grants for a personal key', () => restricted, { bindings: [] }, ['bindings']],
    ['projects for a personal key', () => restricted, { projectIds: ['project_1'] }, ['projectIds']],
    ['no grants for a service key', () => service, { bindings: [] }, ['bindings']],
    ['no grants and no projects', () => service, { bindings: [], projectIds: [] }, ['bindings', 'projectIds']],
    [
      'permissions without a CUSTOM grant',
      () => service,
      { permissions: ['cost:view'] },
      ['permissionMode', 'bindings'],
    ],
    ['restricted alone', () => service, { permissionMode: 'restricted' }, ['bindings', 'permissions']],
    ['no permissions for a restricted key', () => restricted, { permissions: [] }, ['permissions']],
    ['grants without the CUSTOM one', () => restricted, { bindings: [MEMBER_AT_O] }, ['bindings']],
    [
      'a permission of the organization for a grant at a project',
      () => restricted,
      { permissions: ['ops:view'], bindings: [{ ...CUSTOM_AT_O, scopeType: 'PROJECT', scopeId: 'project_1' }] },
      ['permissions'],
    ],
    ['a null name', () => restricted, { name: null }, ['name']],
    ['a null type and mode', () => restricted, { keyType: null, permissionMode: null }, ['keyType', 'permissionMode']],
    ['a blank name', () => restricted, { name: ' ' }, ['name']],
  ])('to %s is refused by its fields', async (_, key, draft, fields) => {
    expect(await fieldsOf(key(), draft)).toEqual(fields);
  });

  it('of a key that loses its last project is refused', async () => {
    const key = fixture.addKey(null, [bind('ADMIN', 'PROJECT', 'project_1')]);
    expect(await fieldsOf(key, { projectIds: [] })).toEqual(['projectIds']);
  });

  it('is refused in order: hidden, revoked, wrong, beyond the ceiling', async () => {
    const hidden = fixture.addKey('user_vie', [MEMBER_AT_O]);
    const revoked = fixture.addKey('user_vie', [MEMBER_AT_O], { revokedAtMs: 1 });
    const wrong: KeyDraft = { keyType: 'service', bindings: [ADMIN_AT_O] };
    expect(await outcomeOf(update(hidden, wrong, fixture.callers.PM))).toBe('api_key_not_found');
    expect(await outcomeOf(update(revoked, wrong, fixture.callers.PN))).toBe('api_key_already_revoked');
    expect(await outcomeOf(update(hidden, wrong))).toBe('validation_error');
    expect(await outcomeOf(update(hidden, { bindings: [ADMIN_AT_O] }))).toBe('api_key_scope_violation');
    expect(await outcomeOf(update(hidden, { bindings: [bind('VIEWER', 'PROJECT', 'project_1')] }))).toBe('ok');
  });

  it('loses nothing when another change of the same key comes in between', async () => {
    fixture.store.beforeCommit(async () => {
      await update(restricted, { description: 'from the other' });
    });
    await update(restricted, { name: 'from this one' });
    expect(await fixture.stored(restricted.id)).toMatchObject({ name: 'from this one', description: 'from the other' });
  });
});
