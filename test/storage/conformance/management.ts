import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { insertKey } from '../../support/insert-key.ts';
import { auditConformance } from './audit.ts';
import { managementReadConformance } from './management-reads.ts';
import {
  AT_MS,
  change,
  found,
  foundAnother,
  sampleApiKey,
  sampleAudit,
  sampleGrant,
  sampleMember,
  sampleProject,
  sampleRoleBinding,
  sampleTeam,
} from './management-samples.ts';
import { priceOverrideConformance } from './price-overrides.ts';
import { receiptConformance } from './receipts.ts';
import { sampleKey } from './samples.ts';
import { type OpenManagement, withStore } from './subject.ts';

const ALL_AT_ONCE = 20;

export function managementConformance(open: OpenManagement): void {
  commitConformance(open);
  judgementConformance(open);
  managementReadConformance(open);
  auditConformance(open);
  priceOverrideConformance(open);
  receiptConformance(open);
}

function commitConformance(open: OpenManagement): void {
  describe('a change of an organization', () => {
    it(
      'MUST return stale and store nothing when the version is another than expected',
      withStore(open, async (store) => {
        const { organization } = await found(store);
        const team = sampleTeam(organization.id);
        const before = await store.management.version(organization.id);
        await change(store, organization.id, { teams: [team] });
        const after = await store.management.version(organization.id);
        expect(after).toBeGreaterThan(before);
        for (const expectedVersion of [before, after + 1]) {
          const late = {
            organizationId: organization.id,
            expectedVersion,
            teams: [sampleTeam(organization.id)],
            audit: [sampleAudit(organization.id)],
          };
          expect(await store.management.commit(late)).toBe('stale');
        }
        expect(await store.management.version(organization.id)).toBe(after);
        expect(await store.management.teams(organization.id)).toHaveLength(2);
      }),
    );

    it(
      'is one of many when they come at once: the others are stale',
      withStore(open, async (store) => {
        const { organization } = await found(store);
        const expectedVersion = await store.management.version(organization.id);
        const members = Array.from({ length: ALL_AT_ONCE }, () => sampleMember(organization.id));
        const outcomes = await Promise.all(
          members.map((member) =>
            store.management.commit({
              organizationId: organization.id,
              expectedVersion,
              members: [member],
              audit: [sampleAudit(organization.id)],
            }),
          ),
        );
        expect(outcomes.filter((outcome) => outcome === 'stored')).toHaveLength(1);
        expect(outcomes.filter((outcome) => outcome === 'stale')).toHaveLength(ALL_AT_ONCE - 1);
        expect(await store.management.members(organization.id)).toHaveLength(2);
      }),
    );

    it(
      'is stored all of it or nothing, in one transaction',
      withStore(open, async (store) => {
        const { organization, auditId, member } = await found(store);
        const expectedVersion = await store.management.version(organization.id);
        const team = sampleTeam(organization.id);
        const failing = store.management.commit({
          organizationId: organization.id,
          expectedVersion,
          teams: [team],
          projects: [sampleProject(team)],
          apiKeys: [sampleApiKey(organization.id)],
          removedMembers: [{ userId: member.userId }],
          // A repeated id makes the commit fail.
          audit: [sampleAudit(organization.id, { id: auditId })],
        });
        await expect(failing).rejects.toThrow();
        expect(await store.management.version(organization.id)).toBe(expectedVersion);
        expect(await store.management.teams(organization.id)).toHaveLength(1);
        expect(await store.management.projects(organization.id)).toHaveLength(1);
        expect(await store.management.members(organization.id)).toHaveLength(1);
        expect(await store.management.apiKeysOf(organization.id, member.userId)).toHaveLength(1);
      }),
    );

    it(
      'MUST return key_taken when a project key is in use anywhere',
      withStore(open, async (store, subject) => {
        const { organization, project, team } = await found(store);
        const others = await foundAnother(subject);
        const otherTeam = sampleTeam(others);
        await change(store, others, { teams: [otherTeam] });
        const own = await store.management.project(organization.id, project.id);
        for (const rival of [
          sampleProject({ organizationId: organization.id, id: team.id }, { keyHash: project.keyHash }),
          sampleProject(otherTeam, { keyHash: project.keyHash }),
        ]) {
          const { organizationId } = rival;
          const expectedVersion = await store.management.version(organizationId);
          const taking = { organizationId, expectedVersion, projects: [rival], audit: [sampleAudit(organizationId)] };
          expect(await store.management.commit(taking)).toBe('key_taken');
          expect(await store.management.version(organizationId)).toBe(expectedVersion);
          expect(await store.management.project(organizationId, rival.id)).toBeNull();
        }
        expect(await store.management.project(organization.id, project.id)).toEqual(own);
      }),
    );

    it(
      'MUST return key_taken for the key before of another project, until its overlap ends',
      withStore(open, async (store, subject) => {
        const { organization, team } = await found(store);
        const others = await foundAnother(subject);
        const otherTeam = sampleTeam(others);
        await change(store, others, { teams: [otherTeam] });
        const before = { previousKeyHash: randomBytes(32), previousKeyUntilMs: AT_MS, previousKeyImported: true };
        const rotated = sampleProject({ organizationId: organization.id, id: team.id }, before);
        const known = sampleProject(otherTeam);
        await change(store, organization.id, { projects: [rotated] });
        await change(store, others, { projects: [known] });
        const take = async (project: typeof known, updatedAtMs: number) => {
          const expectedVersion = await store.management.version(others);
          const projects = [{ ...project, keyHash: before.previousKeyHash, updatedAtMs }];
          const audit = [sampleAudit(others)];
          return await store.management.commit({ organizationId: others, expectedVersion, projects, audit });
        };
        const version = await store.management.version(others);
        for (const project of [known, sampleProject(otherTeam)]) {
          expect(await take(project, AT_MS - 1)).toBe('key_taken');
        }
        expect(await store.management.version(others)).toBe(version);
        expect(await store.management.projects(others)).toEqual([known]);
        expect(await take(known, AT_MS)).toBe('stored');
        // The project that has the key now may change, even by a slow clock.
        expect(await take(known, AT_MS - 1)).toBe('stored');
      }),
    );

    it(
      'replaces the grants of a known key outright, in the order they are given',
      withStore(open, async (store) => {
        const { organization } = await found(store);
        const key = sampleApiKey(organization.id, {
          bindings: ['traces:view', 'project:view', 'cost:view'].map((name) => sampleGrant(organization.id, [name])),
        });
        await change(store, organization.id, { apiKeys: [key] });
        expect(await store.management.apiKey(organization.id, key.id)).toEqual(key);
        const edited = {
          ...key,
          name: 'another name',
          previousSecretHash: key.secretHash,
          previousSecretUntilMs: AT_MS + 5,
          secretHash: randomBytes(32),
          bindings: [sampleGrant(organization.id, ["it's", '?']), ...key.bindings.slice(0, 1)],
        };
        await change(store, organization.id, { apiKeys: [edited] });
        expect(await store.management.apiKey(organization.id, key.id)).toEqual(edited);
        await change(store, organization.id, { apiKeys: [{ ...edited, bindings: [] }] });
        expect(await store.management.apiKey(organization.id, key.id)).toMatchObject({ bindings: [] });
      }),
    );

    it(
      'takes the grants of a member along who goes, and leaves the keys',
      withStore(open, async (store) => {
        const { organization } = await found(store);
        const member = sampleMember(organization.id);
        const stays = sampleMember(organization.id);
        const grants = [sampleRoleBinding(member), sampleRoleBinding(member), sampleRoleBinding(stays)];
        const key = sampleApiKey(organization.id, { keyType: 'personal', userId: member.userId });
        await change(store, organization.id, { members: [member, stays], roleBindings: grants, apiKeys: [key] });
        // A member added in the same change may have the same address.
        const back = sampleMember(organization.id, { email: member.email });
        await change(store, organization.id, { removedMembers: [member], members: [back] });
        expect(await store.management.member(organization.id, member.userId)).toBeNull();
        expect(await store.management.roleBindings(organization.id, member.userId)).toEqual([]);
        expect(await store.management.roleBindings(organization.id, stays.userId)).toEqual([grants[2]]);
        expect(await store.management.member(organization.id, back.userId)).toEqual(back);
        expect(await store.management.apiKeysOf(organization.id, member.userId)).toEqual([key]);
      }),
    );

    it(
      'leaves the settings of a project alone, and when its key was last used',
      withStore(open, async (store) => {
        const { organization, project } = await found(store);
        const { management, projects, keys } = store;
        await projects.updateSettings(
          project.id,
          { traceRetentionDays: 9, emitRequestEvents: false },
          sampleAudit(organization.id),
        );
        const read = await management.project(organization.id, project.id);
        if (read === null) throw new Error('the project is gone');
        await management.recordUse([{ kind: 'project_key', id: project.id, atMs: AT_MS + 7 }]);
        await change(store, organization.id, { projects: [{ ...read, name: 'Renamed' }] });
        expect(await management.project(organization.id, project.id)).toMatchObject({
          name: 'Renamed',
          keyLastUsedAtMs: AT_MS + 7,
        });
        expect(await keys.findProject(project.id)).toMatchObject({ traceRetentionDays: 9, emitRequestEvents: false });
      }),
    );

    it(
      'is checked against keys and settings that others stored meanwhile',
      withStore(open, async (store) => {
        const plan = await found(store);
        const { id } = plan.organization;
        const others = [
          () => insertKey(store, sampleKey(plan)),
          () => store.projects.updateSettings(plan.project.id, { traceRetentionDays: 1 }, sampleAudit(id)),
        ];
        for (const other of others) {
          const expectedVersion = await store.management.version(id);
          await other();
          expect(await store.management.commit({ organizationId: id, expectedVersion, audit: [] })).toBe('stale');
        }
      }),
    );
  });
}

function judgementConformance(open: OpenManagement): void {
  describe('after a change of an organization', () => {
    it(
      'every request that begins after the answer MUST be judged by what was stored',
      withStore(open, async (store) => {
        const { organization } = await found(store);
        const member = sampleMember(organization.id);
        const grant = sampleRoleBinding(member);
        const key = sampleApiKey(organization.id, { keyType: 'personal', userId: member.userId });
        await change(store, organization.id, { members: [member], roleBindings: [grant], apiKeys: [key] });
        const find = () => store.keys.findApiKey(key.id);
        expect(await find()).toMatchObject({
          revokedAtMs: null,
          ownerActive: true,
          ownerBindings: [{ role: 'MEMBER' }],
        });
        await change(store, organization.id, { roleBindings: [{ ...grant, role: 'VIEWER' }] });
        expect(await find()).toMatchObject({ ownerBindings: [{ role: 'VIEWER' }] });
        await change(store, organization.id, { removedRoleBindings: [grant] });
        expect(await find()).toMatchObject({ ownerBindings: [] });
        await change(store, organization.id, { members: [{ ...member, disabledAtMs: AT_MS }] });
        expect(await find()).toMatchObject({ ownerActive: false });
        await change(store, organization.id, { members: [member] });
        expect(await find()).toMatchObject({ ownerActive: true });
        const grants = [sampleGrant(organization.id, ['cost:view'])];
        await change(store, organization.id, { apiKeys: [{ ...key, bindings: grants }] });
        expect(await find()).toMatchObject({ bindings: [{ permissions: ['cost:view'] }] });
        const secretHash = randomBytes(32);
        await change(store, organization.id, { apiKeys: [{ ...key, secretHash }] });
        expect(await find()).toMatchObject({ secretHash });
        await change(store, organization.id, { apiKeys: [{ ...key, revokedAtMs: AT_MS }] });
        expect(await find()).toMatchObject({ revokedAtMs: AT_MS });
      }),
    );

    it(
      'a project key that was replaced or whose project was archived is refused',
      withStore(open, async (store) => {
        const { organization, team } = await found(store);
        const project = sampleProject({ organizationId: organization.id, id: team.id });
        const find = async (hash: Buffer) => (await store.keys.findProjectByKeyHash(hash, AT_MS))?.id ?? null;
        expect(await find(project.keyHash)).toBeNull();
        await change(store, organization.id, { projects: [project] });
        expect(await find(project.keyHash)).toBe(project.id);
        const rotated = { ...project, keyHash: randomBytes(32) };
        await change(store, organization.id, { projects: [rotated] });
        expect(await find(project.keyHash)).toBeNull();
        expect(await find(rotated.keyHash)).toBe(project.id);
        await change(store, organization.id, { projects: [{ ...rotated, archivedAtMs: AT_MS }] });
        expect(await find(rotated.keyHash)).toBeNull();
        expect(await store.keys.findProject(project.id)).toBeNull();
      }),
    );
  });
}
