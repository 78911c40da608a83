/** Stores decisions about an organization, if nothing of the organization has changed since they were made; new ones; settings. */

import type { ManagementChange, ManagementStore, ProjectRecord } from '../../domain/management.ts';
import { recordsOfNew } from '../../domain/new-organization.ts';
import type { InstallationStore, NewOrganization, ProjectStore } from '../../domain/store.ts';
import { insertEntry } from '../audit/audit.ts';
import { NOT_AS_READ, storeWebhooks, TOO_OFTEN } from '../endpoints/endpoint-commit.ts';
import { packGrant, storeKey } from '../keys/key-records.ts';
import type { Managing } from '../management.ts';
import { storeOverrides } from '../pricing/overrides.ts';
import type { Changing } from '../questions.ts';

/**
 * `too_often`: an endpoint has changed more often than can be remembered. It is said, not thrown, because between
 * threads errors lose what tells them apart.
 */
export type CommitOutcome = Awaited<ReturnType<ManagementStore['commit']>> | 'too_often';

const KEY_TAKEN = new Error('a project key is still in use in another project');
/** What undoes all of a change, and how that is told. */
const UNDONE: ReadonlyMap<unknown, CommitOutcome> = new Map([
  [KEY_TAKEN, 'key_taken'],
  [NOT_AS_READ, 'stale'],
  [TOO_OFTEN, 'too_often'],
]);

/** See ManagementStore.commit. */
export function createCommit({ transact }: Managing): (change: ManagementChange) => Promise<CommitOutcome> {
  return async (change) => {
    try {
      return await transact((tx) => storeAll(tx, change));
    } catch (error) {
      const outcome = UNDONE.get(error);
      if (outcome !== undefined) return outcome;
      // Of two that store a key at once the database refuses one.
      if (await transact((tx) => isAnyKeyInUse(tx, change))) return 'key_taken';
      throw error;
    }
  };
}

async function storeAll(tx: Changing, change: ManagementChange): Promise<CommitOutcome> {
  const { organizationId: id, expectedVersion, receipt } = change;
  // Whoever has the claim now may have brought about the effect.
  const claim = receipt && { ...receipt.name, fingerprint: receipt.fingerprint };
  if (claim && (await tx.ask(tx.questions.organization.holdClaim, claim)).length === 0) return 'stale';
  if ((await tx.change(tx.questions.organization.moveOnFrom, { id, accessVersion: expectedVersion })) === 0)
    return 'stale';
  await storeRecords(tx, change);
  if (receipt) await tx.change(tx.questions.organization.completeClaim, { ...receipt.name, answer: receipt.answer });
  await storeWebhooks(tx, change);
  return 'stored';
}

async function storeRecords(tx: Changing, change: Omit<ManagementChange, 'expectedVersion'>): Promise<void> {
  const { organization: records } = tx.questions;
  const { organizationId, organization } = change;
  // Before what is stored: a member who is new may have the e-mail of one who goes.
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
  for (const entry of change.audit) await insertEntry(tx, entry);
}

/** Leaves alone the settings of a known project, and when its key was last used. */
async function storeProject(tx: Changing, project: ProjectRecord): Promise<void> {
  const { findProject, insertProject, updateProject } = tx.questions.organization;
  const [known] = await tx.ask(findProject, { organizationId: project.organizationId, id: project.id });
  if (known !== undefined) await tx.change(updateProject, project);
  else await tx.change(insertProject, { ...project, emitRequestEvents: true, traceRetentionDays: null });
  if (known?.keyHash.equals(project.keyHash)) return;
  // Only once it is stored: until then another project may turn the key into its one before, unseen.
  if (await isKeyInUse(tx, project)) throw KEY_TAKEN;
}

async function isAnyKeyInUse(tx: Changing, { projects = [] }: ManagementChange): Promise<boolean> {
  for (const project of projects) if (await isKeyInUse(tx, project)) return true;
  return false;
}

/** Whether another project has the key, or had it before and still works with it. */
async function isKeyInUse(tx: Changing, { id, keyHash, updatedAtMs: atMs }: ProjectRecord): Promise<boolean> {
  return (await tx.ask(tx.questions.organization.findKeyHolder, { id, keyHash, atMs })).length > 0;
}

/** See ProjectStore.updateSettings. */
export function createUpdateSettings({ transact }: Managing): ProjectStore['updateSettings'] {
  return (id, change, updatedAtMs) =>
    transact(async (tx) => {
      const { organization } = tx.questions;
      const isChange = Object.keys(change).length > 0;
      // First of all, as in every change: from here on nobody else changes them.
      if (isChange) await tx.change(organization.moveOnWithProject, { projectId: id });
      const [known] = await tx.ask(organization.findSettings, { id });
      if (known === undefined || !isChange) return known ?? null;
      const settings = { ...known, ...change };
      await tx.change(organization.updateSettings, { id, ...settings, updatedAtMs });
      return settings;
    });
}

const INSTALLATION_ID = 1;

export function createNewOrganizations({
  transact,
}: Managing): Pick<InstallationStore, 'bootstrap' | 'addOrganization'> {
  return {
    bootstrap: (plan) =>
      transact(async (tx) => {
        // Of two processes one waits here for the other, and finds it done.
        const installation = { id: INSTALLATION_ID, verifier: plan.verifier };
        if ((await tx.change(tx.questions.organization.insertInstallation, installation)) === 0) return false;
        await storeNew(tx, plan, 'bootstrap');
        return true;
      }),
    addOrganization: (plan) => transact((tx) => storeNew(tx, plan, 'cli')),
  };
}

async function storeNew(tx: Changing, plan: NewOrganization, actorKind: 'bootstrap' | 'cli'): Promise<void> {
  const times = { createdAtMs: plan.createdAtMs, updatedAtMs: plan.createdAtMs };
  await tx.change(tx.questions.organization.insertOrganization, { ...plan.organization, ...times });
  await storeRecords(tx, recordsOfNew(plan, actorKind));
}
