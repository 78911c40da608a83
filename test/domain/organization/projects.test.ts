import { describe, expect, it } from 'vitest';
import { hashSecret } from '../../../src/domain/secrets.ts';
import {
  ADMIN,
  bind,
  callBy,
  codeOf,
  createWorld,
  faultOf,
  lastAudit,
  MANAGE,
  MEMBER,
  NOW_MS,
  noReceipt,
  O,
  VIEWER,
} from './organization-world.ts';

const pepper = Buffer.alloc(32, 2);
const draft = { name: 'New Shop', teamId: null, language: null, framework: null, apiKey: null };
const wish = { page: null, limit: null };

describe('seeing projects', () => {
  it('lists those where the caller has project:view, oldest first, in pages', async () => {
    const world = createWorld();
    const ids = async (...given: [Parameters<typeof callBy>[1], Parameters<typeof callBy>[2]]) =>
      (await world.projects.list(await callBy(world, ...given), wish)).items.map(({ id }) => id);
    expect(await ids('adm', [ADMIN])).toEqual(['project_1', 'project_2']);
    expect(await ids('adm', [MANAGE])).toEqual([]);
    expect(await ids('vie', [VIEWER])).toEqual(['project_1', 'project_2']);
    expect(await ids('mem', [bind('MEMBER', 'PROJECT', 'project_1')])).toEqual(['project_1']);
    expect(await ids(null, [bind('ADMIN', 'TEAM', 'team_2')])).toEqual(['project_2']);
    const second = await world.projects.list(await callBy(world, 'adm', [ADMIN]), { page: 2, limit: 1 });
    expect(second).toMatchObject({ page: 2, limit: 1, total: 2, items: [{ id: 'project_2' }] });
  });

  it('a hidden, an unknown and an archived project are refused alike', async () => {
    const world = createWorld();
    const narrow = await callBy(world, 'mem', [bind('MEMBER', 'PROJECT', 'project_1')]);
    const admin = await callBy(world, 'adm', [ADMIN]);
    await world.projects.archive(admin, 'project_2');
    const refusals = [
      await faultOf(world.projects.get(narrow, 'project_2')),
      await faultOf(world.projects.get(narrow, 'nope')),
      await faultOf(world.projects.get(admin, 'project_2')),
      await faultOf(world.projects.update(admin, 'project_2', {})),
      await faultOf(world.projects.get(admin, 'x'.repeat(201))),
      await faultOf(world.projects.get(admin, 'a\0b')),
    ];
    for (const { code, message, meta } of refusals) {
      expect({ code, message, meta }).toEqual({ code: 'project_not_found', message: 'Project not found.', meta: {} });
    }
  });

  it('a seen project without the permission says which one is missing', async () => {
    const world = createWorld();
    const viewer = await callBy(world, 'vie', [VIEWER]);
    expect(await faultOf(world.projects.update(viewer, 'project_1', { name: 'x' }))).toMatchObject({
      code: 'insufficient_permissions',
      meta: { requiredPermission: 'project:update' },
    });
    expect(await codeOf(world.projects.archive(viewer, 'project_1'))).toBe('insufficient_permissions');
    expect(await codeOf(world.projects.admit(viewer, 'project_1', 'project:manage'))).toBe('insufficient_permissions');
  });
});

describe('creating a project', () => {
  it('goes into the oldest team, with a key that is shown once and stored as its hash', async () => {
    const world = createWorld();
    const call = await callBy(world, 'mem', [MEMBER]);
    const { project, apiKey } = await world.projects.create(call, draft, noReceipt);
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
    expect(lastAudit(world)).toEqual([{ action: 'project.create', targetId: project.id, status: 201, fields: [] }]);
  });

  it('needs project:create at the team; an unknown team counts as one without bindings of its own', async () => {
    const world = createWorld();
    const inTeam2 = await callBy(world, 'adm', [bind('ADMIN', 'TEAM', 'team_2')]);
    await world.projects.admitCreation(inTeam2);
    expect(await codeOf(world.projects.create(inTeam2, { ...draft, teamId: 'team_1' }, noReceipt))).toBe(
      'insufficient_permissions',
    );
    for (const teamId of ['nope', 'team_other']) {
      expect(await codeOf(world.projects.create(inTeam2, { ...draft, teamId }, noReceipt))).toBe(
        'insufficient_permissions',
      );
      const admin = await callBy(world, 'adm', [ADMIN]);
      expect(await codeOf(world.projects.create(admin, { ...draft, teamId }, noReceipt))).toBe('team_not_found');
    }
    expect(await codeOf(world.projects.admitCreation(await callBy(world, 'adm', [MANAGE])))).toBe(
      'insufficient_permissions',
    );
  });

  it('a name is taken once per team', async () => {
    const world = createWorld();
    const admin = await callBy(world, 'adm', [ADMIN]);
    const taken = { ...draft, name: 'project_1' };
    expect(await codeOf(world.projects.create(admin, taken, noReceipt))).toBe('project_name_taken');
    await world.projects.create(admin, { ...taken, teamId: 'team_2' }, noReceipt);
    await world.projects.archive(admin, 'project_1');
    await world.projects.create(admin, taken, noReceipt);
  });

  it('of two at once with one name, one is refused', async () => {
    const world = createWorld();
    const admin = await callBy(world, 'adm', [ADMIN]);
    const outcomes = await Promise.allSettled([1, 2, 3].map(() => world.projects.create(admin, draft, noReceipt)));
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  });

  it('a key is imported by administrators only, and never one that is in use', async () => {
    const world = createWorld();
    const wanted = { ...draft, apiKey: 'sk-lw-of_an_older_installation' };
    const member = await callBy(world, 'mem', [MEMBER]);
    expect(await codeOf(world.projects.create(member, wanted, noReceipt))).toBe('administrator_required');
    const admin = await callBy(world, null, [ADMIN]);
    const { project, apiKey } = await world.projects.create(admin, wanted, noReceipt);
    expect({ apiKey, imported: project.keyImported }).toEqual({ apiKey: wanted.apiKey, imported: true });
    const again = { ...wanted, name: 'Another' };
    expect(await codeOf(world.projects.create(admin, again, noReceipt))).toBe('project_key_taken');
    const minted = `sk-lw-${'A'.repeat(42)}2fwxgK`;
    const own = await world.projects.create(admin, { ...again, apiKey: minted }, noReceipt);
    expect(own.project.keyImported).toBe(false);
  });

  it('commits the receipt of the answer with the effect', async () => {
    const world = createWorld();
    const name = { organizationId: O, keyId: 'k', operation: 'CreateProject', value: 'v' };
    const receipt = { name, fingerprint: Buffer.alloc(32), answer: Buffer.from('sealed') };
    await world.projects.create(await callBy(world, 'adm', [ADMIN]), draft, () => receipt);
    expect(world.store.changes.at(-1)?.receipt).toBe(receipt);
  });
});

describe('changing a project', () => {
  it('tells what changed, and stores nothing when nothing does', async () => {
    const world = createWorld();
    const call = await callBy(world, 'mem', [MEMBER]);
    const same = await world.projects.update(call, 'project_1', { name: 'project_1' });
    expect(same.updatedAtMs).toBe(1_000);
    expect(world.store.changes).toEqual([]);
    const changed = await world.projects.update(call, 'project_1', { name: 'Shop', language: 'go' });
    expect(changed).toMatchObject({ name: 'Shop', language: 'go', slug: 'project_1', updatedAtMs: NOW_MS });
    expect(lastAudit(world)).toEqual([
      { action: 'project.update', targetId: 'project_1', status: 200, fields: ['name', 'language'] },
    ]);
  });

  it('moves only to where the caller may create', async () => {
    const world = createWorld();
    const narrow = await callBy(world, 'mem', [bind('MEMBER', 'PROJECT', 'project_1')]);
    const denied = world.projects.update(narrow, 'project_1', { teamId: 'team_2' });
    expect(await faultOf(denied)).toMatchObject({ meta: { requiredPermission: 'project:create' } });
    const admin = await callBy(world, 'adm', [ADMIN]);
    expect(await codeOf(world.projects.update(admin, 'project_1', { teamId: 'nope' }))).toBe('team_not_found');
    await world.projects.create(admin, { ...draft, name: 'project_1', teamId: 'team_2' }, noReceipt);
    expect(await codeOf(world.projects.update(admin, 'project_1', { teamId: 'team_2' }))).toBe('project_name_taken');
    const moved = await world.projects.update(admin, 'project_1', { teamId: 'team_2', name: 'Moved' });
    expect(moved.teamId).toBe('team_2');
  });
});

describe('replacing the key of a project', () => {
  it('lets the key before work on for the overlap, and only the newest of them', async () => {
    const world = createWorld();
    const call = await callBy(world, 'adm', [bind('ADMIN', 'PROJECT', 'project_1')]);
    const before = await world.store.project(O, 'project_1');
    const first = await world.projects.rotateKey(
      call,
      { id: 'project_1', overlapSeconds: 60, apiKey: null },
      noReceipt,
    );
    expect(first.overlapEndsAtMs).toBe(NOW_MS + 60_000);
    expect(await world.store.project(O, 'project_1')).toMatchObject({
      keyHash: hashSecret(pepper, first.apiKey),
      previousKeyHash: before?.keyHash,
      previousKeyUntilMs: NOW_MS + 60_000,
      previousKeyImported: false,
    });
    await world.projects.rotateKey(call, { id: 'project_1', overlapSeconds: 5, apiKey: null }, noReceipt);
    const after = await world.store.project(O, 'project_1');
    expect(after?.previousKeyHash).toEqual(hashSecret(pepper, first.apiKey));
    const last = await world.projects.rotateKey(call, { id: 'project_1', overlapSeconds: 0, apiKey: null }, noReceipt);
    expect(last.overlapEndsAtMs).toBeNull();
    expect(await world.store.project(O, 'project_1')).toMatchObject({
      previousKeyHash: null,
      previousKeyUntilMs: null,
      previousKeyImported: null,
    });
    expect(lastAudit(world)).toEqual([
      { action: 'project.rotateApiKey', targetId: 'project_1', status: 200, fields: [] },
    ]);
  });

  it('is refused to whoever could not do all that the new key can', async () => {
    const world = createWorld();
    const manage = bind('CUSTOM', 'PROJECT', 'project_1', ['project:manage']);
    const call = await callBy(world, 'adm', [manage]);
    const refused = await faultOf(
      world.projects.rotateKey(call, { id: 'project_1', overlapSeconds: 0, apiKey: null }, noReceipt),
    );
    expect(refused).toMatchObject({
      code: 'api_key_scope_violation',
      meta: { scopeType: 'PROJECT', scopeId: 'project_1', missingPermissions: expect.arrayContaining(['traces:view']) },
    });
    expect(world.store.changes).toEqual([]);
  });

  it('imports for administrators, but not the key that is in use here', async () => {
    const world = createWorld();
    const rotation = { id: 'project_1', overlapSeconds: 0, apiKey: 'a key that is imported'.replaceAll(' ', '-') };
    const owner = await callBy(world, 'adm', [bind('ADMIN', 'PROJECT', 'project_1')]);
    expect(await codeOf(world.projects.rotateKey(owner, rotation, noReceipt))).toBe('administrator_required');
    const admin = await callBy(world, 'adm', [ADMIN]);
    await world.projects.rotateKey(admin, rotation, noReceipt);
    expect(await codeOf(world.projects.rotateKey(admin, rotation, noReceipt))).toBe('project_key_taken');
  });

  it('a caller whose rights were taken while the request was on its way gets nothing', async () => {
    const world = createWorld();
    const call = await callBy(world, 'mem', [MEMBER]);
    await world.members.update(await callBy(world, 'adm', [ADMIN]), 'user_mem', { role: 'VIEWER' });
    expect(await codeOf(world.projects.create(call, draft, noReceipt))).toBe('insufficient_permissions');
    await world.members.remove(await callBy(world, 'adm', [ADMIN]), 'user_mem');
    expect(await codeOf(world.projects.create(call, draft, noReceipt))).toBe('invalid_credentials');
  });
});
