import { describe, expect, it } from 'vitest';
import { rangeProblems } from '../../../src/domain/reasons.ts';
import { ADMIN, bind, callBy, codeOf, createFixture, lastAudit, MANAGE, NOW_MS, O } from './organization-fixture.ts';

const noFilter = {
  fromMs: null,
  toMs: null,
  action: null,
  actorUserId: null,
  actorKeyId: null,
  targetId: null,
  outcome: null,
};

describe('the organization', () => {
  it('is renamed, keeps its slug, and says so in the audit log', async () => {
    const fixture = createFixture();
    const call = await callBy(fixture, 'adm', [MANAGE]);
    await fixture.organizations.update(call, {});
    await fixture.organizations.update(call, { name: O });
    expect(fixture.store.changes).toEqual([]);
    const changed = await fixture.organizations.update(call, { name: 'Acme' });
    expect(changed).toMatchObject({ name: 'Acme', slug: O, updatedAtMs: NOW_MS });
    expect(await fixture.organizations.get(call)).toEqual(changed);
    expect(lastAudit(fixture)).toEqual([{ action: 'organization.update', targetId: O, status: 200, fields: ['name'] }]);
  });
});

describe('teams', () => {
  it('are listed where the caller has team:view', async () => {
    const fixture = createFixture();
    const ids = async (call: Awaited<ReturnType<typeof callBy>>) =>
      (await fixture.teams.list(call, { page: null, limit: null })).items.map(({ id }) => id);
    expect(await ids(await callBy(fixture, 'adm', [ADMIN]))).toEqual(['team_1', 'team_2']);
    expect(await ids(await callBy(fixture, 'adm', [bind('VIEWER', 'TEAM', 'team_2')]))).toEqual(['team_2']);
    expect(await ids(await callBy(fixture, 'mem', [bind('MEMBER', 'PROJECT', 'project_1')]))).toEqual([]);
  });

  it('have names that are taken once in the organization', async () => {
    const fixture = createFixture();
    const admin = await callBy(fixture, 'adm', [ADMIN]);
    const team = await fixture.teams.create(admin, { name: 'Zürich 1' });
    expect(team.slug).toBe(`z-rich-1-${team.id.slice(-6)}`);
    expect(lastAudit(fixture)).toEqual([{ action: 'team.create', targetId: team.id, status: 201, fields: [] }]);
    expect(await codeOf(fixture.teams.create(admin, { name: 'Zürich 1' }))).toBe('team_name_taken');
    expect((await fixture.teams.list(admin, { page: null, limit: null })).items).toHaveLength(3);
  });
});

describe('the audit log', () => {
  it('is read newest first, in pages, by filters', async () => {
    const fixture = createFixture();
    const admin = await callBy(fixture, 'adm', [ADMIN]);
    for (let index = 0; index < 5; index += 1) {
      await fixture.organizations.update({ ...admin, nowMs: NOW_MS + index }, { name: `Name ${index}` });
    }
    await fixture.teams.create(admin, { name: 'Team' });
    const updates = { ...noFilter, action: 'organization.update' };
    const first = await fixture.auditLog.list(admin, updates, { cursor: '', limit: 3 });
    expect(first.items.map(({ createdAtMs }) => createdAtMs - NOW_MS)).toEqual([4, 3, 2]);
    const rest = await fixture.auditLog.list(admin, updates, { cursor: first.nextCursor ?? '', limit: 3 });
    expect(rest.items.map(({ createdAtMs }) => createdAtMs - NOW_MS)).toEqual([1, 0]);
    expect(rest.nextCursor).toBeNull();
    const other = { ...noFilter, action: 'team.create' };
    const crossed = fixture.auditLog.list(admin, other, { cursor: first.nextCursor ?? '', limit: null });
    expect(await codeOf(crossed)).toBe('invalid_cursor');
    const window = { ...updates, fromMs: NOW_MS + 1, toMs: NOW_MS + 2, actorKeyId: admin.caller.key.id };
    expect((await fixture.auditLog.list(admin, window, { cursor: '', limit: null })).items).toHaveLength(2);
  });

  it('a range ends no earlier than it begins', () => {
    expect(rangeProblems(2, 1)).toMatchObject([{ field: '(root)', type: 'custom' }]);
    expect([...rangeProblems(1, 1), ...rangeProblems(null, 1), ...rangeProblems(1, null)]).toEqual([]);
  });
});
