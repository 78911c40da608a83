import { beforeEach, describe, expect, it } from 'vitest';
import type { BindingDraft, KeyDraft, MintedKey } from '../../../src/domain/keys/keys.ts';
import { deriveRootKeys, hashSecret, parseToken } from '../../../src/domain/secrets.ts';
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
  VIEWER_AT_O,
} from './keys-fixture.ts';

let fixture: Fixture;
beforeEach(() => {
  fixture = createFixture();
});

const CUSTOM_AT_O: BindingDraft = { role: 'CUSTOM', scopeType: 'ORGANIZATION', scopeId: O };
const customAtProject: BindingDraft = { role: 'CUSTOM', scopeType: 'PROJECT', scopeId: 'project_1' };
const shown = (bindings: readonly BindingDraft[]) =>
  bindings.map(({ role, scopeType, scopeId }) => `${role} ${scopeType} ${scopeId}`);

async function fieldsOf(draft: KeyDraft, by = fixture.callers.PA): Promise<unknown> {
  const fault = await faultOf(fixture.create(by, draft));
  expect(fault.code).toBe('validation_error');
  return fault.meta.fields;
}

describe('a new key', () => {
  it('has a token that its stored hash proves, and is shown without any secret', async () => {
    const { token, key } = await fixture.create(fixture.callers.PA, { description: 'for CI', expiresAtMs: NOW_MS + 1 });
    const parsed = parseToken(token, ['sk-lw-']);
    if (parsed?.kind !== 'apiKey') throw new Error('no API key');
    expect(parsed).toMatchObject({ keyId: key.id, checksumValid: true });
    const { pepper } = deriveRootKeys('0123456789abcdef0123456789abcdef');
    expect((await fixture.stored(key.id)).secretHash).toEqual(hashSecret(pepper, parsed.secret));
    expect(JSON.stringify(key)).not.toContain(parsed.secret);
    expect(key).toEqual({
      organizationId: O,
      id: parsed.keyId,
      keyType: 'personal',
      name: 'new',
      description: 'for CI',
      userId: 'user_adm',
      createdByUserId: 'user_adm',
      permissionMode: 'all',
      permissions: [],
      bindings: [{ ...ADMIN_AT_O, id: expect.stringMatching(/^rolebinding_[0-9A-Za-z]{21}$/) }],
      projectIds: [],
      effectivePermissions: expect.objectContaining({ length: 126 }),
      warnings: [],
      expiresAtMs: NOW_MS + 1,
      revokedAtMs: null,
      lastUsedAtMs: null,
      createdAtMs: NOW_MS,
      updatedAtMs: NOW_MS,
    });
  });

  it('is stored together with one audit entry and the receipt of its answer', async () => {
    const call = await fixture.callWith(fixture.callers.PA.id);
    const name = { organizationId: O, keyId: fixture.callers.PA.id, operation: 'create', value: 'once-only' };
    let seen = '';
    const receipt = ({ token }: MintedKey) => {
      seen = token;
      return { name, fingerprint: Buffer.alloc(1), answer: Buffer.alloc(2) };
    };
    const minted = await fixture.keys.create({ ...call, receipt }, { name: 'new' });
    expect(seen).toBe(minted.token);
    expect(fixture.store.changes).toHaveLength(1);
    expect(fixture.store.changes[0]).toMatchObject({
      apiKeys: [{ id: minted.key.id }],
      receipt: { name },
      audit: [
        {
          action: 'apiKey.create',
          targetType: 'apiKey',
          targetId: minted.key.id,
          outcome: 'success',
          status: 201,
          code: null,
          fields: [],
          actorKind: 'personal_key',
          actorUserId: 'user_adm',
          actorKeyId: fixture.callers.PA.id,
          count: 1,
        },
      ],
    });
  });

  it('of oneself is by default a copy of the calling key', async () => {
    const by = fixture.addKey('user_adm', [customAt('organization:manage'), bind('VIEWER', 'TEAM', 'team_1')]);
    const { key } = await fixture.create(by, {});
    expect(key).toMatchObject({ permissionMode: 'restricted', permissions: ['organization:manage'] });
    expect(shown(key.bindings)).toEqual(shown(by.bindings));
    expect(key.bindings[0]?.id).not.toBe(by.bindings[0]?.id);
    expect((await fixture.create(fixture.callers.PA, { assignedToUserId: 'user_adm' })).key.userId).toBe('user_adm');
  });

  it.each<[KeyDraft, string]>([
    [{ bindings: [] }, 'all'],
    [{ permissions: [] }, 'all'],
    [{ bindings: [], permissions: [], permissionMode: 'readonly' }, 'readonly'],
    [{ permissionMode: 'readonly' }, 'readonly'],
  ])('of oneself is a copy when %j is sent, under the label %s', async (draft, permissionMode) => {
    const { key } = await fixture.create(fixture.callers.PA, draft);
    expect(key).toMatchObject({ permissionMode, permissions: [] });
    expect(shown(key.bindings)).toEqual(shown(fixture.callers.PA.bindings));
  });

  it.each(['all', 'readonly', 'restricted'] as const)(
    'of oneself needs bindings when the calling key is restricted and %s is sent',
    async (permissionMode) => {
      const by = fixture.addKey('user_adm', [customAt('organization:manage')]);
      const fields = await fieldsOf({ permissionMode }, by);
      expect(fields).toContain('bindings');
      expect((await fixture.create(by, { permissions: [], bindings: [] })).key.permissionMode).toBe('restricted');
    },
  );

  it('of another member has that role by default, and none without a role', async () => {
    const { key } = await fixture.create(fixture.callers.PA, {
      assignedToUserId: 'user_mgr',
      permissionMode: 'readonly',
    });
    expect(key).toMatchObject({ userId: 'user_mgr', createdByUserId: 'user_adm', permissionMode: 'readonly' });
    expect(shown(key.bindings)).toEqual(['MEMBER ORGANIZATION organization_O']);
    expect(await fieldsOf({ assignedToUserId: 'user_ext' })).toEqual(['bindings']);
  });

  it('cannot belong to anybody but an active member', async () => {
    for (const assignedToUserId of ['user_off', 'user_unknown', '', 'x'.repeat(300)]) {
      const fault = await faultOf(fixture.create(fixture.callers.PA, { assignedToUserId, bindings: [VIEWER_AT_O] }));
      expect([fault.code, fault.meta], assignedToUserId).toEqual(['api_key_scope_violation', {}]);
    }
  });

  it('of a service holds the organization when neither grants nor projects are named, also when meant for reading', async () => {
    for (const draft of [{}, { bindings: [] }, { permissionMode: 'readonly' as const }]) {
      const { key } = await fixture.create(fixture.callers.SA, { keyType: 'service', ...draft });
      expect(key).toMatchObject({ keyType: 'service', userId: null, createdByUserId: null, projectIds: [] });
      expect(shown(key.bindings)).toEqual(['ADMIN ORGANIZATION organization_O']);
    }
  });

  it('of a service administers each project named, beside its other grants', async () => {
    const { key } = await fixture.create(fixture.callers.PA, {
      keyType: 'service',
      bindings: [bind('VIEWER', 'TEAM', 'team_1')],
      projectIds: ['project_2', 'project_1', 'project_2'],
    });
    expect(key.projectIds).toEqual(['project_2', 'project_1']);
    expect(shown(key.bindings)).toEqual(['VIEWER TEAM team_1', 'ADMIN PROJECT project_2', 'ADMIN PROJECT project_1']);
    const none = await fixture.create(fixture.callers.PA, {
      keyType: 'service',
      bindings: [bind('VIEWER', 'TEAM', 'team_1')],
      projectIds: [],
    });
    expect(none.key.bindings).toHaveLength(1);
  });

  it('has each grant and each permission once, the permissions sorted in every CUSTOM grant', async () => {
    const { key } = await fixture.create(fixture.callers.PA, {
      permissionMode: 'restricted',
      permissions: ['traces:view', 'cost:view', 'traces:view'],
      bindings: [CUSTOM_AT_O, MEMBER_AT_O, customAtProject, CUSTOM_AT_O],
    });
    expect(key.permissions).toEqual(['cost:view', 'traces:view']);
    expect(key.bindings.map(({ permissions }) => permissions)).toEqual([
      ['cost:view', 'traces:view'],
      [],
      ['cost:view', 'traces:view'],
    ]);
  });

  it('of a person cannot be created by a service key that does not name the person', async () => {
    expect(await fieldsOf({}, fixture.callers.SA)).toEqual(['assignedToUserId']);
    expect(await outcomeOf(fixture.create(fixture.callers.SM, {}))).toBe('administrator_required');
  });
});

describe('a draft of a key', () => {
  const long = (length: number) => 'x'.repeat(length);
  it.each<[string, KeyDraft, string[]]>([
    ['no name', { name: undefined }, ['name']],
    ['a null name', { name: null }, ['name']],
    ['a blank name', { name: ' \t\u00a0' }, ['name']],
    ['a long name', { name: long(101) }, ['name']],
    ['a name with U+0000', { name: 'a\0' }, ['name']],
    ['a long description', { description: long(501) }, ['description']],
    ['a description with U+0000', { description: '\0' }, ['description']],
    ['an owner with U+0000', { assignedToUserId: '\0' }, ['assignedToUserId']],
    ['an expiry that is now', { expiresAtMs: NOW_MS }, ['expiresAt']],
    ['an expiry beyond the calendar', { expiresAtMs: 253_402_300_800_000 }, ['expiresAt']],
    ['21 grants', { bindings: Array.from({ length: 21 }, () => ADMIN_AT_O) }, ['bindings']],
    [
      'grants without permissions',
      { bindings: [{ role: null, scopeType: null, scopeId: '' }] },
      ['bindings.0.role', 'bindings.0.scopeType', 'bindings.0.scopeId'],
    ],
    ['a long scope id', { bindings: [bind('ADMIN', 'PROJECT', long(201))] }, ['bindings.0.scopeId']],
    ['a personal key with projects', { projectIds: ['project_1'], bindings: [ADMIN_AT_O] }, ['projectIds']],
    ['a service with an owner', { keyType: 'service', assignedToUserId: 'user_adm' }, ['assignedToUserId']],
    ['a service with an empty list of projects', { keyType: 'service', projectIds: [] }, ['projectIds']],
    ['51 projects', { keyType: 'service', projectIds: Array.from({ length: 51 }, String) }, ['projectIds']],
    ['an empty project id', { keyType: 'service', projectIds: [''] }, ['projectIds.0']],
    ['restricted without grants', { permissionMode: 'restricted' }, ['bindings', 'permissions']],
    ['permissions alone', { permissions: ['traces:view'] }, ['permissionMode', 'bindings']],
    ['a CUSTOM grant alone', { bindings: [CUSTOM_AT_O] }, ['permissionMode', 'permissions']],
    [
      'permissions outside the catalogue',
      { permissionMode: 'restricted', bindings: [CUSTOM_AT_O], permissions: ['traces:view', 'Traces:view', '*'] },
      ['permissions.1', 'permissions.2'],
    ],
    [
      'a permission of the organization bound to a project',
      { permissionMode: 'restricted', bindings: [customAtProject], permissions: ['organization:view', 'traces:view'] },
      ['permissions'],
    ],
    ['everything at once', { name: '', keyType: null, expiresAtMs: 1 }, ['keyType', 'name', 'expiresAt']],
  ])('with %s is refused by its fields', async (_, draft, fields) => {
    expect(await fieldsOf(draft)).toEqual(fields);
    expect(fixture.store.calls.size).toBe(2);
  });

  it.each<[string, KeyDraft]>([
    ['100 characters beyond the first plane', { name: '\u{1f511}'.repeat(100) }],
    ['blanks around', { name: ' a ', description: '' }],
    ['nulls where they say nothing', { description: null, expiresAtMs: null, assignedToUserId: null, projectIds: [] }],
  ])('with %s is fine', async (_, draft) => {
    const { key } = await fixture.create(fixture.callers.PA, draft);
    expect(key.name).toBe(draft.name ?? 'new');
    expect(key.description).toBe(draft.description ?? null);
  });

  it('is refused before the caller is read', async () => {
    expect(await fieldsOf({ keyType: 'service', projectIds: [] }, fixture.callers.PM)).toEqual(['projectIds']);
  });
});

describe('the ceiling of a new key', () => {
  it('names the first grant that exceeds it and what is missing there', async () => {
    const bindings = [VIEWER_AT_O, bind('ADMIN', 'PROJECT', 'project_1')];
    const by = fixture.addKey('user_adm', [bind('MEMBER', 'ORGANIZATION', O), customAt('organization:manage')]);
    const fault = await faultOf(fixture.create(by, { bindings }));
    expect(fault.code).toBe('api_key_scope_violation');
    expect(fault.meta).toMatchObject({ scopeType: 'PROJECT', scopeId: 'project_1' });
    const missing = fault.meta.missingPermissions as string[];
    expect(missing).toContain('project:manage');
    expect(missing).not.toContain('traces:view');
    expect(missing).toEqual(missing.toSorted());
  });

  it('is that of the member who will own it as well', async () => {
    const fault = await faultOf(
      fixture.create(fixture.callers.PA, { assignedToUserId: 'user_vie', bindings: [MEMBER_AT_O] }),
    );
    expect(fault.meta.missingPermissions).toContain('traces:create');
  });

  it('answers the same for scopes that are unknown, archived or elsewhere', async () => {
    const texts = new Set<string>();
    for (const scopeId of ['project_gone', 'project_unknown', 'organization_X', '\u{1f511}']) {
      const fault = await faultOf(
        fixture.create(fixture.callers.PA, { bindings: [bind('VIEWER', 'PROJECT', scopeId)] }),
      );
      expect(fault.meta).toEqual({ scopeType: 'PROJECT', scopeId });
      texts.add(`${fault.code} ${fault.message}`);
    }
    const exceeded = await faultOf(fixture.create(fixture.callers.PN, { bindings: [ADMIN_AT_O] }));
    texts.add(`${exceeded.code} ${exceeded.message}`);
    expect(texts.size).toBe(1);
  });

  it('is checked against current grants, not those at the start of the request', async () => {
    const call = await fixture.callWith(fixture.callers.PA.id);
    const [binding] = await fixture.store.roleBindings(O, 'user_adm');
    if (!binding) throw new Error('no role');
    fixture.store.seed({ roleBindings: [{ ...binding, role: 'MEMBER' }] });
    const mint = () => outcomeOf(fixture.keys.create(call, { name: 'late', keyType: 'service' }));
    expect(await mint()).toBe('insufficient_permissions');
    fixture.store.seed({ roleBindings: [binding], apiKeys: [{ ...fixture.callers.PA, revokedAtMs: NOW_MS }] });
    expect(await mint()).toBe('invalid_credentials');
    fixture.store.seed({ apiKeys: [{ ...fixture.callers.PA, secretHash: Buffer.alloc(32) }] });
    expect(await mint()).toBe('invalid_credentials');
    expect(fixture.store.changes).toEqual([]);
  });

  it('holds although the caller is demoted between the decision and the commit', async () => {
    const [binding] = await fixture.store.roleBindings(O, 'user_adm');
    if (!binding) throw new Error('no role');
    fixture.store.beforeCommit(async () => {
      const expectedVersion = await fixture.store.version(O);
      const change = { organizationId: O, expectedVersion, audit: [] };
      await fixture.store.commit({ ...change, roleBindings: [{ ...binding, role: 'MEMBER' }] });
    });
    expect(await outcomeOf(fixture.create(fixture.callers.PA, { keyType: 'service' }))).toBe(
      'insufficient_permissions',
    );
    expect(fixture.store.changes.flatMap(({ apiKeys = [] }) => apiKeys)).toEqual([]);
  });
});
