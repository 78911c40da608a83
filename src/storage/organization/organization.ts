/**
 * Commits changes of an organization if it has not changed since it was read; also creates organizations, stores settings,
 * claims idempotency keys, and reads all of this.
 */

import { AHEAD_MAX_MS } from '../../domain/clock.ts';
import type {
  ClaimInstants,
  ManagementChange,
  ManagementStore,
  ProjectRecord,
  Receipt,
  ReceiptName,
} from '../../domain/management/management.ts';
import type { ClockStore } from '../../domain/management/retention-store.ts';
import { recordsOfNew } from '../../domain/organization/new-organization.ts';
import type { InstallationStore, NewOrganization, ProjectStore, RequestStore } from '../../domain/store.ts';
import { packGrant, storeKey, unpackGrant } from '../keys/key-records.ts';
import { NOT_AS_READ, storeWebhooks, TOO_OFTEN } from '../management/endpoint-commit.ts';
import { type QueryRunner, queryInBatches, type Transact, type Transaction } from '../queries.ts';

/**
 * `too_often`: an endpoint has changed too often to record. Returned rather than thrown, because errors lose their
 * identity between threads.
 */
export type CommitOutcome = Awaited<ReturnType<ManagementStore['commit']>> | 'too_often';

const KEY_TAKEN = new Error('a project key is still in use in another project');
/** Errors that roll back a change, and their outcomes. */
const UNDONE: ReadonlyMap<unknown, CommitOutcome> = new Map([
  [KEY_TAKEN, 'key_taken'],
  [NOT_AS_READ, 'stale'],
  [TOO_OFTEN, 'too_often'],
]);

/** See ManagementStore.commit. */
export function createCommit(transact: Transact): (change: ManagementChange) => Promise<CommitOutcome> {
  return async (change) => {
    try {
      return await transact((tx) => storeAll(tx, change));
    } catch (error) {
      const outcome = UNDONE.get(error);
      if (outcome !== undefined) return outcome;
      // When two changes store the same key at once, the database refuses one.
      if (await transact((tx) => isAnyKeyInUse(tx, change))) return 'key_taken';
      throw error;
    }
  };
}

async function storeAll(tx: Transaction, change: ManagementChange): Promise<CommitOutcome> {
  const { organizationId: id, expectedVersion, receipt } = change;
  // The effect may already belong to the new holder of the claim.
  const claim = receipt && { ...receipt.name, fingerprint: receipt.fingerprint };
  if (claim && (await tx.runQuery(tx.queries.organization.lockClaim, claim)).length === 0) return 'stale';
  if ((await tx.change(tx.queries.organization.bumpAccessVersionFrom, { id, accessVersion: expectedVersion })) === 0)
    return 'stale';
  await storeRecords(tx, change);
  if (receipt) await tx.change(tx.queries.organization.completeClaim, { ...receipt.name, answer: receipt.answer });
  await storeWebhooks(tx, change);
  return 'stored';
}

async function storeRecords(tx: Transaction, change: Omit<ManagementChange, 'expectedVersion'>): Promise<void> {
  const { organization: records } = tx.queries;
  const { organizationId, organization } = change;
  // Removals come first: a new member may have the e-mail of a removed one.
  for (const each of change.removedMembers ?? []) await tx.change(records.removeMember, { ...each, organizationId });
  for (const each of change.removedRoleBindings ?? []) {
    await tx.change(records.removeRoleBinding, { ...each, organizationId });
  }
  if (organization !== undefined) await tx.change(records.updateOrganization, organization);
  for (const team of change.teams ?? []) await tx.change(records.storeTeam, team);
  for (const project of change.projects ?? []) await storeProject(tx, project);
  for (const member of change.members ?? []) await tx.change(records.storeMember, member);
  for (const binding of change.roleBindings ?? []) await tx.change(records.storeRoleBinding, packGrant(binding));
  for (const key of change.apiKeys ?? []) await storeKey(tx, key);
  await storeOverrides(tx, change);
  for (const entry of change.audit) await tx.change(tx.queries.audit.insertEntry, entry);
}

async function storeOverrides(
  tx: Transaction,
  { organizationId, priceOverrides = [], removedPriceOverrides = [] }: Omit<ManagementChange, 'expectedVersion'>,
): Promise<void> {
  const { pricing } = tx.queries;
  if (priceOverrides.length + removedPriceOverrides.length === 0) return;
  for (const { id } of removedPriceOverrides) await tx.change(pricing.removeOverride, { organizationId, id });
  for (const override of priceOverrides) await tx.change(pricing.insertOverride, override);
  await tx.change(pricing.bumpPriceVersion, { id: organizationId });
}

/** An update keeps the settings, and when the key was last used. */
async function storeProject(tx: Transaction, project: ProjectRecord): Promise<void> {
  const { findProject, insertProject, updateProject } = tx.queries.organization;
  const [known] = await tx.runQuery(findProject, { organizationId: project.organizationId, id: project.id });
  if (known !== undefined) await tx.change(updateProject, project);
  else await tx.change(insertProject, { ...project, emitRequestEvents: true, traceRetentionDays: null });
  if (known?.keyHash.equals(project.keyHash)) return;
  // Only after the write: until then another project could make the key its previous one, unseen.
  if (await isKeyInUse(tx, project)) throw KEY_TAKEN;
}

async function isAnyKeyInUse(tx: Transaction, { projects = [] }: ManagementChange): Promise<boolean> {
  for (const project of projects) if (await isKeyInUse(tx, project)) return true;
  return false;
}

/** Whether another project has the key, or had it before and still accepts it. */
async function isKeyInUse(tx: Transaction, { id, keyHash, updatedAtMs: atMs }: ProjectRecord): Promise<boolean> {
  return (await tx.runQuery(tx.queries.organization.findKeyHolder, { id, keyHash, atMs })).length > 0;
}

/** See ProjectStore.updateSettings. */
export function createUpdateSettings(transact: Transact): ProjectStore['updateSettings'] {
  return (id, change, updatedAtMs) =>
    transact(async (tx) => {
      const { organization } = tx.queries;
      const isChange = Object.keys(change).length > 0;
      // First, as in every change: the row lock keeps other changes out.
      if (isChange) await tx.change(organization.bumpAccessVersionOfProject, { projectId: id });
      const [known] = await tx.runQuery(organization.findSettings, { id });
      if (known === undefined || !isChange) return known ?? null;
      const settings = { ...known, ...change };
      await tx.change(organization.updateSettings, { id, ...settings, updatedAtMs });
      return settings;
    });
}

const INSTALLATION_ID = 1;

export function createNewOrganizations(transact: Transact): Pick<InstallationStore, 'bootstrap' | 'addOrganization'> {
  return {
    bootstrap: (plan) =>
      transact(async (tx) => {
        // Of two processes, one waits here for the other and then finds the row.
        const installation = { id: INSTALLATION_ID, verifier: plan.verifier, trustedAtMs: null };
        if ((await tx.change(tx.queries.organization.insertInstallation, installation)) === 0) return false;
        await storeNew(tx, plan, 'bootstrap');
        return true;
      }),
    addOrganization: (plan) => transact((tx) => storeNew(tx, plan, 'cli')),
  };
}

async function storeNew(tx: Transaction, plan: NewOrganization, actorKind: 'bootstrap' | 'cli'): Promise<void> {
  const times = { createdAtMs: plan.createdAtMs, updatedAtMs: plan.createdAtMs };
  await tx.change(tx.queries.organization.insertOrganization, { ...plan.organization, ...times });
  await storeRecords(tx, recordsOfNew(plan, actorKind));
}

type Claim = { readonly name: ReceiptName; readonly fingerprint: Buffer; readonly at: ClaimInstants };

// More than one, so that expired receipts are removed faster than new ones are stored.
const REMOVED_PER_CLAIM = 10;
// An attempt fails only when another claim or release happens at the same moment.
const ATTEMPTS_MAX = 10;

/**
 * Idempotency keys are claimed before the effect, and completed in the transaction of the effect. Each claim also removes
 * a few expired receipts.
 */
export function createReceipts(transact: Transact): Pick<ManagementStore, 'claim' | 'release'> {
  return {
    claim: (name, fingerprint, at) => transact((tx) => claim(tx, { name, fingerprint, at })),
    release: (name) => transact(async (tx) => void (await tx.change(tx.queries.organization.releaseClaim, name))),
  };

  async function claim(tx: Transaction, { name, fingerprint, at }: Claim): Promise<'claimed' | 'running' | Receipt> {
    const fresh = { ...name, fingerprint, claimedAtMs: at.nowMs, answer: null };
    for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt += 1) {
      const [known] = await tx.runQuery(tx.queries.organization.findReceipt, name);
      if (known === undefined) {
        if ((await tx.change(tx.queries.organization.insertClaim, fresh)) === 0) continue;
        await tx.change(tx.queries.organization.removeOldReceipts, {
          beforeMs: at.expiredBeforeMs,
          limit: REMOVED_PER_CLAIM,
        });
        return 'claimed';
      }
      const { answer, claimedAtMs } = known;
      if (answer && claimedAtMs >= at.expiredBeforeMs) return { name, fingerprint: known.fingerprint, answer };
      // A later claim was made by a clock that was ahead.
      if (!answer && claimedAtMs >= at.staleBeforeMs && claimedAtMs <= at.nowMs + AHEAD_MAX_MS) return 'running';
      if ((await tx.change(tx.queries.organization.takeOver, { ...fresh, knownAtMs: claimedAtMs })) > 0)
        return 'claimed';
    }
    return 'running';
  }
}

export function createInstallationReader({ queries: { organization }, runQuery }: QueryRunner) {
  return {
    readVerifier: async () => (await runQuery(organization.findVerifier, {}))[0]?.verifier ?? null,
    hasOrganization: async () => (await runQuery(organization.findAnyOrganization, {})).length > 0,
  } satisfies Partial<InstallationStore> & { hasOrganization(): Promise<boolean> };
}

/** The numbers of the projects in reports. */
export function createProjectNumbers(runner: QueryRunner): RequestStore['projectNumbers'] {
  const { queries, runQuery, pointsPerQuery } = runner;
  return async (organizationId, ids) => {
    const find = (some: readonly string[]) =>
      runQuery(queries.organization.findProjectNumbers, { organizationId, ids: some });
    const rows = await queryInBatches(ids, pointsPerQuery, find);
    return new Map(rows.map(({ id, number }) => [id, number]));
  };
}

export function createOrganizationReader({ queries: { organization }, runQuery }: QueryRunner) {
  return {
    version: async (id) => (await runQuery(organization.findVersion, { id }))[0]?.accessVersion ?? 0,
    organization: async (id) => (await runQuery(organization.findOrganization, { id }))[0] ?? null,
    teams: (organizationId) => runQuery(organization.listTeams, { organizationId }),
    projects: (organizationId) => runQuery(organization.listProjects, { organizationId }),
    project: async (organizationId, id) =>
      (await runQuery(organization.findProject, { organizationId, id }))[0] ?? null,
    members: (organizationId) => runQuery(organization.listMembers, { organizationId }),
    member: async (organizationId, userId) =>
      (await runQuery(organization.findMember, { organizationId, userId }))[0] ?? null,
    roleBindings: async (organizationId, userId) =>
      (await runQuery(organization.listRoleBindings, { organizationId, userId })).map(unpackGrant),
    findAdministrators: (email) => runQuery(organization.findAdministrators, { email }),
  } satisfies Partial<ManagementStore>;
}

export function createClockStore(
  { queries: { organization }, runQuery }: QueryRunner,
  { trust, nowMs }: Pick<ClockStore, 'trust' | 'nowMs'>,
): ClockStore {
  return {
    nowMs,
    trust,
    async instants() {
      const [found] = await runQuery(organization.findInstants, {});
      const logEndAtMs = found?.logEndAtMs || null;
      const newestAtMs = Math.max(logEndAtMs ?? 0, found?.keyUsedAtMs ?? 0) || null;
      return { trustedAtMs: found?.trustedAtMs ?? null, newestAtMs, logEndAtMs, logResets: found?.logResets ?? 0 };
    },
  };
}

export function createTrust(transact: Transact): ClockStore['trust'] {
  return (trustedAtMs) =>
    transact(async ({ change, queries: { organization } }) => {
      await change(organization.trust, { trustedAtMs });
    });
}
