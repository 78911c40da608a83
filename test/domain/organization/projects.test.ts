import { describe, expect, it } from 'vitest';
import { hashSecret } from '../../../src/domain/secrets.ts';
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

const pepper = Buffer.alloc(32, 2);
const draft = { name: 'New Shop', teamId: null, language: null, framework: null, apiKey: null };
const wish = { page: null, limit: null };

describe('seeing projects', () => {
  it('lists those where the caller has project:view, oldest first, in pages', async () => {
    const fixture = createFixture();
    const ids = async (...given: [Parameters<typeof callBy>[1], Parameters<typeof callBy>[2]]) =>
      (await fixture.projects.list(await callBy(fixture, ...given), wish)).items.map(({ id }) => id);
    expect(await ids('adm', [ADMIN])).toEqual(['project_1', 'project_2']);
    expect(await ids('adm', [MANAGE])).toEqual([]);
    expect(await ids('vie', [VIEWER])).toEqual(['project_1', 'project_2']);
    expect(await ids('mem', [bind('MEMBER', 'PROJECT', 'project_1')])).toEqual(['project_1']);
    expect(await ids(null, [bind('ADMIN', 'TEAM', 'team_2')])).toEqual(['project_2']);
    const second = await fixture.projects.list(await callBy(fixture, 'adm', [ADMIN]), { page: 2, limit: 1 });
    expect(second).toMatchObject({ page: 2, limit: 1, total: 2, items: [{ id: 'project_2' }] });
  });

  it('a hidden, an unknown and an archived project get the same refusal', async () => {
    const fixture = createFixture();
    const narrow = await callBy(fixture, 'mem', [bind('MEMBER', 'PROJECT', 'project_1')]);
    const admin = await callBy(fixture, 'adm', [ADMIN]);
    await fixture.projects.archive(admin, 'project_2');
    const refusals = [
      await faultOf(fixture.projects.get(narrow, 'project_2')),
      await faultOf(fixture.projects.get(narrow, 'nope')),
      await faultOf(fixture.projects.get(admin, 'project_2')),
      await faultOf(fixture.projects.update(admin, 'project_2', {})),
      await faultOf(fixture.projects.get(admin, 'x'.repeat(201))),
      await faultOf(fixture.projects.get(admin, 'a\0b')),
    ];
    for (const { code, message, meta } of refusals) {
      expect({ code, message, meta }).toEqual({ code: 'project_not_found', message: 'Project not found.', meta: {} });
    }
  });

  it('a seen project without the permission says which one is missing', async () => {
    const fixture = createFixture();
    const viewer = await callBy(fixture, 'vie', [VIEWER]);
    expect(await faultOf(fixture.projects.update(viewer, 'project_1', { name: 'x' }))).toMatchObject({
      code: 'insufficient_permissions',
      meta: { requiredPermission: 'project:update' },
    });
    expect(await codeOf(fixture.projects.archive(viewer, 'project_1'))).toBe('insufficient_permissions');
    expect(await codeOf(fixture.projects.admit(viewer, 'project_1', 'project:manage'))).toBe(
      'insufficient_permissions',
    );
  });
});

describe('creating a project', () => {
  it('goes into the oldest team, with a key that is shown once and stored as its hash', async () => {
    const fixture = createFixture();
    const call = await callBy(fixture, 'mem', [MEMBER]);
    const { project, apiKey } = await fixture.projects.create(call, draft);
    expect(project).toMatchObject({
      teamId: 'team_1',
      slug: `new-shop-${project.id.slice(-6)}`,
      language: 'other',
      framework: 'other',
      keyImported: false,
      keyHint: apiKey.slice(-4),
    });
    expect(apiKey).toMatch(/^sk-lw-[0-9A-Za-z]{48}$/);
    expect(project.keyHash).toEqual(hashSecret(pepper, apiKey));
    expect(lastAudit(fixture)).toEqual([{ action: 'project.create', targetId: project.id, status: 201, fields: [] }]);
  });

  it('needs project:create at the team; an unknown team counts as one without bindings', async () => {
    const fixture = createFixture();
    const inTeam2 = await callBy(fixture, 'adm', [bind('ADMIN', 'TEAM', 'team_2')]);
    await fixture.projects.admitCreation(inTeam2);
    expect(await codeOf(fixture.projects.create(inTeam2, { ...draft, teamId: 'team_1' }))).toBe(
      'insufficient_permissions',
    );
    for (const teamId of ['nope', 'team_other']) {
      expect(await codeOf(fixture.projects.create(inTeam2, { ...draft, teamId }))).toBe('insufficient_permissions');
      const admin = await callBy(fixture, 'adm', [ADMIN]);
      expect(await codeOf(fixture.projects.create(admin, { ...draft, teamId }))).toBe('team_not_found');
    }
    expect(await codeOf(fixture.projects.admitCreation(await callBy(fixture, 'adm', [MANAGE])))).toBe(
      'insufficient_permissions',
    );
  });

  it('a name is taken once per team', async () => {
    const fixture = createFixture();
    const admin = await callBy(fixture, 'adm', [ADMIN]);
    const taken = { ...draft, name: 'project_1' };
    expect(await codeOf(fixture.projects.create(admin, taken))).toBe('project_name_taken');
    await fixture.projects.create(admin, { ...taken, teamId: 'team_2' });
    await fixture.projects.archive(admin, 'project_1');
    await fixture.projects.create(admin, taken);
  });

  it('of two at once with one name, one is refused', async () => {
    const fixture = createFixture();
    const admin = await callBy(fixture, 'adm', [ADMIN]);
    const outcomes = await Promise.allSettled([1, 2, 3].map(() => fixture.projects.create(admin, draft)));
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  });

  it('a key is imported by administrators only, and never one that is in use', async () => {
    const fixture = createFixture();
    const wanted = { ...draft, apiKey: 'sk-lw-of_an_older_installation' };
    const member = await callBy(fixture, 'mem', [MEMBER]);
    expect(await codeOf(fixture.projects.create(member, wanted))).toBe('administrator_required');
    const admin = await callBy(fixture, null, [ADMIN]);
    const { project, apiKey } = await fixture.projects.create(admin, wanted);
    expect({ apiKey, imported: project.keyImported }).toEqual({ apiKey: wanted.apiKey, imported: true });
    const again = { ...wanted, name: 'Another' };
    expect(await codeOf(fixture.projects.create(admin, again))).toBe('project_key_taken');
    const minted = `sk-lw-${'A'.repeat(42)}2fwxgK`;
    const own = await fixture.projects.create(admin, { ...again, apiKey: minted });
    expect(own.project.keyImported).toBe(false);
  });

  it('commits the receipt of the answer with the effect', async () => {
    const fixture = createFixture();
    const name = { organizationId: O, keyId: 'k', operation: 'CreateProject', value: 'v' };
    const receipt = { name, fingerprint: Buffer.alloc(32), answer: Buffer.from('sealed') };
    await fixture.projects.create({ ...(await callBy(fixture, 'adm', [ADMIN])), receipt: () => receipt }, draft);
    expect(fixture.store.changes.at(-1)?.receipt).toBe(receipt);
  });
});

describe('changing a project', () => {
  it('audits what changed, and stores nothing when nothing does', async () => {
    const fixture = createFixture();
    const call = await callBy(fixture, 'mem', [MEMBER]);
    const same = await fixture.projects.update(call, 'project_1', { name: 'project_1' });
    expect(same.updatedAtMs).toBe(1_000);
    expect(fixture.store.changes).toEqual([]);
    const changed = await fixture.projects.update(call, 'project_1', { name: 'Shop', language: 'go' });
    expect(changed).toMatchObject({ name: 'Shop', language: 'go', slug: 'project_1', updatedAtMs: NOW_MS });
    expect(lastAudit(fixture)).toEqual([
      { action: 'project.update', targetId: 'project_1', status: 200, fields: ['name', 'language'] },
    ]);
  });

  it('moves only to where the caller may create', async () => {
    const fixture = createFixture();
    const narrow = await callBy(fixture, 'mem', [bind('MEMBER', 'PROJECT', 'project_1')]);
    const denied = fixture.projects.update(narrow, 'project_1', { teamId: 'team_2' });
    expect(await faultOf(denied)).toMatchObject({ meta: { requiredPermission: 'project:create' } });
    const admin = await callBy(fixture, 'adm', [ADMIN]);
    expect(await codeOf(fixture.projects.update(admin, 'project_1', { teamId: 'nope' }))).toBe('team_not_found');
    await fixture.projects.create(admin, { ...draft, name: 'project_1', teamId: 'team_2' });
    expect(await codeOf(fixture.projects.update(admin, 'project_1', { teamId: 'team_2' }))).toBe('project_name_taken');
    const moved = await fixture.projects.update(admin, 'project_1', { teamId: 'team_2', name: 'Moved' });
    expect(moved.teamId).toBe('team_2');
  });
});

describe('replacing the key of a project', () => {
  it('lets the key before work on for the overlap, and only the newest of them', async () => {
    const fixture = createFixture();
    const call = await callBy(fixture, 'adm', [bind('ADMIN', 'PROJECT', 'project_1')]);
    const before = await fixture.store.project(O, 'project_1');
    const first = await fixture.projects.rotateKey(call, { id: 'project_1', overlapSeconds: 60, apiKey: null });
    expect(first.overlapEndsAtMs).toBe(NOW_MS + 60_000);
    expect(await fixture.store.project(O, 'project_1')).toMatchObject({
      keyHash: hashSecret(pepper, first.apiKey),
      previousKeyHash: before?.keyHash,
      previousKeyUntilMs: NOW_MS + 60_000,
      previousKeyImported: false,
    });
    await fixture.projects.rotateKey(call, { id: 'project_1', overlapSeconds: 5, apiKey: null });
    const after = await fixture.store.project(O, 'project_1');
    expect(after?.previousKeyHash).toEqual(hashSecret(pepper, first.apiKey));
    const last = await fixture.projects.rotateKey(call, { id: 'project_1', overlapSeconds: 0, apiKey: null });
    expect(last.overlapEndsAtMs).toBeNull();
    expect(await fixture.store.project(O, 'project_1')).toMatchObject({
      previousKeyHash: null,
      previousKeyUntilMs: null,
      previousKeyImported: null,
    });
    expect(lastAudit(fixture)).toEqual([
      { action: 'project.rotateApiKey', targetId: 'project_1', status: 200, fields: [] },
    ]);
  });

  it('is refused to a caller who lacks permissions of the new key', async () => {
    const fixture = createFixture();
    const manage = bind('CUSTOM', 'PROJECT', 'project_1', ['project:manage']);
    const call = await callBy(fixture, 'adm', [manage]);
    const refused = await faultOf(
      fixture.projects.rotateKey(call, { id: 'project_1', overlapSeconds: 0, apiKey: null }),
    );
    expect(refused).toMatchObject({
      code: 'api_key_scope_violation',
      meta: { scopeType: 'PROJECT', scopeId: 'project_1', missingPermissions: expect.arrayContaining(['traces:view']) },
    });
    expect(fixture.store.changes).toEqual([]);
  });

  it('imports for administrators, but not the key that is in use here', async () => {
    const fixture = createFixture();
    const rotation = { id: 'project_1', overlapSeconds: 0, apiKey: 'a key that is imported'.replaceAll(' ', '-') };
    const owner = await callBy(fixture, 'adm', [bind('ADMIN', 'PROJECT', 'project_1')]);
    expect(await codeOf(fixture.projects.rotateKey(owner, rotation))).toBe('administrator_required');
    const admin = await callBy(fixture, 'adm', [ADMIN]);
    await fixture.projects.rotateKey(admin, rotation);
    expect(await codeOf(fixture.projects.rotateKey(admin, rotation))).toBe('project_key_taken');
  });

  it('a caller who lost permissions during the request is refused', async () => {
    const fixture = createFixture();
    const call = await callBy(fixture, 'mem', [MEMBER]);
    await fixture.members.update(await callBy(fixture, 'adm', [ADMIN]), 'user_mem', { role: 'VIEWER' });
    expect(await codeOf(fixture.projects.create(call, draft))).toBe('insufficient_permissions');
    await fixture.members.remove(await callBy(fixture, 'adm', [ADMIN]), 'user_mem');
    expect(await codeOf(fixture.projects.create(call, draft))).toBe('invalid_credentials');
  });
});
