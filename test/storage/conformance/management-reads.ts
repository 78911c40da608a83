import { describe, expect, it } from 'vitest';
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
import { samplePlan } from './samples.ts';
import { type OpenManagement, withStore } from './subject.ts';

const NUL = 'a\u0000b';

export function managementReadConformance(open: OpenManagement): void {
  describe('what an organization manages, read back', () => {
    it(
      'is whole, and oldest first',
      withStore(open, async (store) => {
        const { organization } = await found(store);
        const { management } = store;
        const { id } = organization;
        const renamed = {
          ...organization,
          name: "Größe's \\ ?? :a $1 {b}",
          createdAtMs: AT_MS,
          updatedAtMs: AT_MS + 9,
        };
        const teams = [3, 1, 2].map((age) => sampleTeam(id, { createdAtMs: AT_MS + age }));
        const [team = sampleTeam(id)] = teams;
        const rotated = { previousKeyHash: Buffer.alloc(32, 7), previousKeyUntilMs: AT_MS, previousKeyImported: true };
        const projects = [
          sampleProject(team, { createdAtMs: AT_MS + 2, keyImported: true, ...rotated }),
          sampleProject(team, { createdAtMs: AT_MS + 1, keyLastUsedAtMs: AT_MS }),
        ];
        const archived = sampleProject(team, { archivedAtMs: AT_MS });
        const members = [2, 1].map((age) => sampleMember(id, { createdAtMs: AT_MS + age, disabledAtMs: AT_MS }));
        const [member = sampleMember(id)] = members;
        const grants = [3, 2, 1].map((age) =>
          sampleRoleBinding(member, { createdAtMs: AT_MS + age, role: 'CUSTOM', permissions: ["it's", '?'] }),
        );
        await change(store, id, {
          organization: renamed,
          teams,
          projects: [...projects, archived],
          members,
          roleBindings: grants,
        });
        expect(await management.organization(id)).toEqual(renamed);
        expect((await management.teams(id)).slice(1)).toEqual([teams[1], teams[2], teams[0]]);
        expect((await management.projects(id)).slice(1)).toEqual([projects[1], projects[0]]);
        expect(await management.project(id, archived.id)).toEqual(archived);
        expect((await management.members(id)).slice(1)).toEqual([members[1], members[0]]);
        expect(await management.member(id, member.userId)).toEqual(member);
        expect(await management.roleBindings(id, member.userId)).toEqual(grants.toReversed());
        expect(await management.roleBindings(id, null)).toHaveLength(grants.length + 1);
      }),
    );

    it(
      'is nothing of another organization',
      withStore(open, async (store, subject) => {
        const { organization, project, member, apiKey } = await found(store);
        const { management } = store;
        const others = await foundAnother(subject);
        for (const id of [others, 'organization_unknown']) {
          expect(await management.project(id, project.id)).toBeNull();
          expect(await management.member(id, member.userId)).toBeNull();
          expect(await management.apiKey(id, apiKey.id)).toBeNull();
          expect(await management.apiKeysOf(id, member.userId)).toEqual([]);
          expect(await management.roleBindings(id, null)).toEqual([]);
          for (const list of [management.teams, management.projects, management.members]) {
            expect(await list(id)).toEqual([]);
          }
        }
        expect(await management.organization(others)).toMatchObject({ name: 'Others' });
        expect(await management.version('organization_unknown')).toBe(0);
        for (const id of ['unknown', '', NUL]) {
          expect(await management.project(organization.id, id)).toBeNull();
          expect(await management.member(organization.id, id)).toBeNull();
          expect(await management.apiKey(organization.id, id)).toBeNull();
          expect(await management.roleBindings(organization.id, id)).toEqual([]);
          expect(await management.apiKeysOf(organization.id, id)).toEqual([]);
        }
      }),
    );

    it(
      'finds the active members with the role ADMIN by e-mail, oldest first',
      withStore(open, async (store) => {
        const { organization, member } = await found(store);
        const { management } = store;
        const second = samplePlan();
        const later = { ...second, createdAtMs: second.createdAtMs + 1 };
        await store.installation.addOrganization(later);
        expect(await management.findAdministrators('admin@localhost')).toMatchObject([
          { organizationId: organization.id, userId: member.userId },
          { organizationId: later.organization.id, userId: later.member.userId },
        ]);
        const plain = sampleMember(organization.id, { email: 'plain@localhost' });
        const elsewhere = sampleRoleBinding(plain, { role: 'ADMIN', scopeType: 'PROJECT', scopeId: 'project_1' });
        const disabled = sampleMember(organization.id, { email: 'gone@localhost', disabledAtMs: AT_MS });
        await change(store, organization.id, {
          members: [plain, disabled],
          roleBindings: [elsewhere, sampleRoleBinding(plain), sampleRoleBinding(disabled, { role: 'ADMIN' })],
        });
        for (const email of ['plain@localhost', 'gone@localhost', 'nobody@localhost', NUL]) {
          expect(await management.findAdministrators(email)).toEqual([]);
        }
      }),
    );
  });

  keyListConformance(open);
  useConformance(open);
}

function keyListConformance(open: OpenManagement): void {
  describe('the list of API keys', () => {
    it(
      'has service keys and the requested personal ones, newest first by (createdAt, id)',
      withStore(open, async (store) => {
        const { organization, apiKey, member } = await found(store);
        const { id } = organization;
        const own = { keyType: 'personal', userId: 'user_own' } as const;
        const keys = [
          sampleApiKey(id, { id: 'b', createdAtMs: AT_MS + 1 }),
          sampleApiKey(id, { id: 'B', createdAtMs: AT_MS + 1, ...own }),
          sampleApiKey(id, { id: 'c', createdAtMs: AT_MS + 3, revokedAtMs: AT_MS }),
          sampleApiKey(id, { id: 'd', createdAtMs: AT_MS + 2, expiresAtMs: 1, ...own }),
        ];
        await change(store, id, { apiKeys: keys });
        const list = async (personalOf: string | null, includeRevoked: boolean) => {
          const listing = { personalOf, includeRevoked, after: null, limit: 10 };
          return (await store.management.apiKeys(id, listing)).map((key) => key.id);
        };
        expect(await list('all', true)).toEqual(['c', 'd', 'b', 'B', apiKey.id]);
        expect(await list('all', false)).toEqual(['d', 'b', 'B', apiKey.id]);
        expect(await list(null, true)).toEqual(['c', 'b']);
        expect(await list('user_own', false)).toEqual(['d', 'b', 'B']);
        expect(await list(member.userId, false)).toEqual(['b', apiKey.id]);
        const ofOwn = await store.management.apiKeysOf(id, 'user_own');
        expect(ofOwn).toEqual([keys[3], keys[1]]);
      }),
    );

    it(
      'continues after any key, without gaps or repeats',
      withStore(open, async (store) => {
        const { organization } = await found(store);
        const { id } = organization;
        const keys = Array.from({ length: 23 }, (_, index) =>
          sampleApiKey(id, {
            createdAtMs: AT_MS + Math.floor(index / 5),
            bindings: [sampleGrant(id, [`a:${index}`]), sampleGrant(id, [`b:${index}`])],
          }),
        );
        await change(store, id, { apiKeys: keys });
        const listing = { personalOf: null, includeRevoked: false, limit: 4 } as const;
        const walked = [];
        let page = await store.management.apiKeys(id, { ...listing, after: null });
        while (page.length > 0) {
          walked.push(...page);
          page = await store.management.apiKeys(id, { ...listing, after: page.at(-1) ?? null });
        }
        const newestFirst = keys.toSorted((a, b) => b.createdAtMs - a.createdAtMs || (a.id < b.id ? 1 : -1));
        expect(walked).toEqual(newestFirst);
      }),
    );
  });
}

function useConformance(open: OpenManagement): void {
  describe('when keys were last used', () => {
    it(
      'is noted for known ones and never set back, and moves no version',
      withStore(open, async (store) => {
        const { organization, apiKey, project } = await found(store);
        const { management } = store;
        const version = await management.version(organization.id);
        const uses = (atMs: number) => [
          { kind: 'api_key' as const, id: apiKey.id, atMs },
          { kind: 'project_key' as const, id: project.id, atMs: atMs + 1 },
        ];
        const unknown = Array.from({ length: 250 }, (_, index) => ({
          kind: 'api_key' as const,
          id: `unknown${index}`,
          atMs: AT_MS,
        }));
        await management.recordUse([]);
        await management.recordUse([...unknown, ...uses(AT_MS + 10)]);
        await management.recordUse(uses(AT_MS));
        const key = await management.apiKey(organization.id, apiKey.id);
        expect(key).toMatchObject({ lastUsedAtMs: AT_MS + 10, updatedAtMs: AT_MS });
        const used = await management.project(organization.id, project.id);
        expect(used).toMatchObject({ keyLastUsedAtMs: AT_MS + 11, updatedAtMs: AT_MS });
        expect(await management.version(organization.id)).toBe(version);
        // Writing a key read before its use does not reset its last use.
        if (key !== null) await change(store, organization.id, { apiKeys: [{ ...key, lastUsedAtMs: null }] });
        expect(await management.apiKey(organization.id, apiKey.id)).toMatchObject({ lastUsedAtMs: AT_MS + 10 });
      }),
    );

    it(
      'MUST NOT end what authentication remembers',
      withStore(open, async (store, subject) => {
        const { organization, apiKey, project } = await found(store);
        const { keys, management } = store;
        const remembered = await keys.findApiKey(apiKey.id);
        const projectRemembered = await keys.findProject(project.id);
        expect(remembered).not.toBeNull();
        await management.recordUse([
          { kind: 'api_key', id: apiKey.id, atMs: AT_MS },
          { kind: 'project_key', id: project.id, atMs: AT_MS },
        ]);
        await management.recordRefusal(sampleAudit(organization.id));
        // The cached object, not an equal one.
        expect(await keys.findApiKey(apiKey.id)).toBe(remembered);
        expect(await keys.findProject(project.id)).toBe(projectRemembered);
        await subject.execute('UPDATE members SET disabled_at = 1');
        expect(await keys.findApiKey(apiKey.id)).not.toBe(remembered);
      }),
    );
  });
}
