/** What an organization manages, the settings of projects, new organizations, and what the installation knows of the time. */

import { sql } from 'kysely';
import { changedFields } from '../../domain/management/audit.ts';
import type { ClockStore } from '../../domain/management/clock-store.ts';
import type { ManagementStore } from '../../domain/management/management.ts';
import type {
  InstallationStore,
  NewOrganization,
  ProjectStore,
  StoredProjectSettings,
} from '../../domain/management/management-port.ts';
import { recordsOfNew } from '../../domain/organization/new-organization.ts';
import { AuditEntry } from '../entities/audit.ts';
import { Installation, Member, Organization, Project, RoleBinding, Team } from '../entities/organization.ts';
import { unpackGrant } from '../keys/grants.ts';
import type { EntityManager } from '../mapper.ts';
import { storeRecords } from './commits.ts';
import { increased, kyselyOf, plain, rowReads, type Units } from './units.ts';

const OLDEST_FIRST = { createdAtMs: 'asc', id: 'asc' } as const;
const OLDEST_MEMBER_FIRST = { createdAtMs: 'asc', userId: 'asc' } as const;
/** Columns of a project that management does not see. */
const OWN = ['number', 'emitRequestEvents', 'traceRetentionDays'] as const;

export function createOrganizationReader({ read }: Units) {
  const { one, all } = rowReads(read);
  return {
    version: (id) => read(async (em) => (await em.findOne(Organization, { id }))?.accessVersion ?? 0),
    organization: (id) =>
      one(Organization, { id }, 'number', 'accessVersion', 'priceVersion', 'budgetVersion', 'promptVersion'),
    teams: (organizationId) => all(Team, { organizationId }, { orderBy: OLDEST_FIRST }),
    projects: (organizationId) =>
      all(Project, { organizationId, archivedAtMs: null }, { orderBy: OLDEST_FIRST, without: OWN }),
    project: (organizationId, id) => one(Project, { organizationId, id }, ...OWN),
    members: (organizationId) => all(Member, { organizationId }, { orderBy: OLDEST_MEMBER_FIRST }),
    member: (organizationId, userId) => one(Member, { organizationId, userId }),
    roleBindings: (organizationId, userId) =>
      read(async (em) => {
        const ofSome = { organizationId, ...(userId !== null && { userId }) };
        const bindings = await em.find(RoleBinding, ofSome, { orderBy: OLDEST_FIRST });
        return bindings.map((binding) => unpackGrant(plain(binding)));
      }),
    findAdministrators: (email) => read((em) => findAdministrators(em, email)),
  } satisfies Partial<ManagementStore>;
}

async function findAdministrators(em: EntityManager, email: string) {
  const members = await em.find(Member, { email, disabledAtMs: null }, { orderBy: OLDEST_MEMBER_FIRST });
  const userIds = members.map(({ userId }) => userId);
  const administrating = { userId: { $in: userIds }, role: 'ADMIN', scopeType: 'ORGANIZATION' } as const;
  const grants = userIds.length === 0 ? [] : await em.find(RoleBinding, administrating);
  const isAdministrator = ({ organizationId, userId }: (typeof members)[number]) =>
    grants.some(
      (grant) => grant.organizationId === organizationId && grant.scopeId === organizationId && grant.userId === userId,
    );
  return members.filter(isAdministrator).map((member) => plain(member));
}

/** See ProjectStore.updateSettings. */
export function createProjectSettings({ transact }: Units): Omit<ProjectStore, 'numbers'> {
  return {
    updateSettings: (id, change, audited) =>
      transact(async ({ em }) => {
        const isChange = Object.keys(change).length > 0;
        // First, as in every change: the row lock keeps other changes out.
        if (isChange) await bumpVersionOf(em, id);
        const project = await em.findOne(Project, { id, archivedAtMs: null });
        if (project === null) return null;
        const before = settingsOf(project);
        const after = { ...before, ...change };
        const fields = changedFields<StoredProjectSettings>(SETTINGS, before, after);
        if (isChange) Object.assign(project, { ...change, updatedAtMs: audited.createdAtMs });
        if (fields.length > 0) em.create(AuditEntry, { ...audited, fields });
        return after;
      }),
  };
}

const SETTINGS = { traceRetentionDays: 'traceRetentionDays', emitRequestEvents: 'emitRequestEvents' } as const;

function settingsOf({ traceRetentionDays, emitRequestEvents }: StoredProjectSettings): StoredProjectSettings {
  return { traceRetentionDays, emitRequestEvents };
}

async function bumpVersionOf(em: EntityManager, projectId: string): Promise<void> {
  const live = { id: projectId, archivedAtMs: null };
  const found = await em.findOne(Project, live, { fields: ['organizationId'], disableIdentityMap: true });
  if (found === null) return;
  await em.nativeUpdate(Organization, { id: found.organizationId }, { accessVersion: increased('access_version') });
}

const INSTALLATION_ID = 1;

export function createInstallationStore({ read, transact }: Units): InstallationStore {
  return {
    readSecret: () =>
      read(async (em) => {
        const found = await em.findOne(Installation, { id: INSTALLATION_ID });
        return found && { verifier: found.verifier, pepper: found.pepper };
      }),
    replaceSecret: ({ verifier, pepper }) =>
      transact(
        async ({ em }) => void (await em.nativeUpdate(Installation, { id: INSTALLATION_ID }, { verifier, pepper })),
      ),
    async bootstrap(plan) {
      if (await read(hasOrganization)) return false;
      return await transact(async ({ em }) => {
        const installation = { id: INSTALLATION_ID, verifier: plan.verifier, pepper: null, trustedAtMs: null };
        // Of two processes, one waits here for the other and then finds the row.
        const insert = em.createQueryBuilder(Installation).insert(installation).onConflict().ignore();
        if ((await insert.execute('run')).affectedRows === 0) return false;
        await storeNew(em, plan, 'bootstrap');
        return true;
      });
    },
    addOrganization: (plan) => transact(({ em }) => storeNew(em, plan, 'cli')),
  };
}

async function hasOrganization(em: EntityManager): Promise<boolean> {
  return (await em.find(Organization, {}, { limit: 1 })).length > 0;
}

async function storeNew(em: EntityManager, plan: NewOrganization, actorKind: 'bootstrap' | 'cli'): Promise<void> {
  const times = { createdAtMs: plan.createdAtMs, updatedAtMs: plan.createdAtMs };
  await em.insert(Organization, { ...plan.organization, ...times });
  await storeRecords(em, recordsOfNew(plan, actorKind));
}

export function createClockRecords({ read, transact }: Units): Pick<ClockStore, 'instants' | 'trust'> {
  return {
    instants: () =>
      read(async (em) => {
        const found = await findInstants(em);
        const logEndAtMs = found?.logEndAtMs || null;
        const newestAtMs = Math.max(logEndAtMs ?? 0, found?.keyUsedAtMs ?? 0) || null;
        return { trustedAtMs: found?.trustedAtMs ?? null, newestAtMs, logEndAtMs, logResets: found?.logResets ?? 0 };
      }),
    trust: (trustedAtMs) =>
      transact(async ({ em }) => void (await em.nativeUpdate(Installation, { id: INSTALLATION_ID }, { trustedAtMs }))),
  };
}

/** Sums and maxima of no rows are null. */
async function findInstants(em: EntityManager) {
  return await kyselyOf(em)
    .selectNoFrom(({ selectFrom }) => [
      selectFrom('Installation').where('id', '=', sql.lit(INSTALLATION_ID)).select('trustedAtMs').as('trustedAtMs'),
      selectFrom('LogHead')
        .select(({ fn }) => fn.max('createdAtMs').as('atMs'))
        .as('logEndAtMs'),
      selectFrom('LogHead')
        .select(({ fn }) => fn.sum<number>('resets').as('sum'))
        .as('logResets'),
      selectFrom('Project')
        .select(({ fn }) => fn.max('keyLastUsedAtMs').as('atMs'))
        .as('keyUsedAtMs'),
    ])
    .executeTakeFirst();
}
