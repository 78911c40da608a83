/** Commits changes of an organization if it has not changed since it was read. */

import { LockMode } from '@mikro-orm/core';
import type {
  ManagementChange,
  ManagementStore,
  OrganizationRecord,
  ProjectRecord,
} from '../../domain/management/management.ts';
import { SESSION_IDLE_MS } from '../../domain/sessions/session.ts';
import type { VirtualKeyRecord } from '../../domain/virtual-keys/virtual-key.ts';
import { packBudget } from '../budgets/budgets.ts';
import { AuditEntry } from '../entities/audit.ts';
import { BudgetRow } from '../entities/budgets.ts';
import { SessionRow } from '../entities/keys.ts';
import { ModelProviderRow } from '../entities/model-providers.ts';
import {
  IdempotencyReceipt,
  Identity,
  Member,
  Organization,
  Project,
  RoleBinding,
  Team,
} from '../entities/organization.ts';
import { PriceOverrideRow } from '../entities/pricing.ts';
import { SavedViewRow } from '../entities/traces.ts';
import { VirtualKeyRow } from '../entities/virtual-keys.ts';
import { packGrant } from '../keys/grants.ts';
import type { EntityManager } from '../mapper.ts';
import { NOT_AS_READ, storeWebhooks, TOO_OFTEN } from './endpoint-commit.ts';
import { storeKey } from './keys.ts';
import { appendEvents } from './log-events.ts';
import { increased, type LogEnd, type Units } from './units.ts';

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
export function createCommit({ transact, log }: Units): (change: ManagementChange) => Promise<CommitOutcome> {
  return async (change) => {
    try {
      return await transact(({ em }) => storeAll({ em, log }, change));
    } catch (error) {
      const outcome = UNDONE.get(error);
      if (outcome !== undefined) return outcome;
      // When two changes store the same key at once, the database refuses one.
      if (await transact(({ em }) => isAnyKeyInUse(em, change))) return 'key_taken';
      throw error;
    }
  };
}

type Commit = { readonly em: EntityManager; readonly log: LogEnd };

async function storeAll({ em, log }: Commit, change: ManagementChange): Promise<CommitOutcome> {
  const { receipt } = change;
  // The effect may already belong to the new holder of the claim.
  const claimed = receipt && { ...receipt.name, fingerprint: receipt.fingerprint, answer: null };
  const claim = claimed && (await em.findOne(IdempotencyReceipt, claimed, { lockMode: LockMode.PESSIMISTIC_WRITE }));
  if (claim === null) return 'stale';
  if (!(await storeOrganization(em, change))) return 'stale';
  await storeRecords(em, change);
  if (claim && receipt) claim.answer = receipt.answer;
  await em.flush();
  await storeWebhooks(em, change);
  await appendEvents({ em, log, organizationId: change.organizationId }, change.events ?? []);
  return 'stored';
}

/**
 * Stores the organization itself with its next version. Returns false when it has another version than the change
 * expects. Every change begins with this row, and so locks it until its end: transactions that begin with the same row
 * never deadlock.
 */
async function storeOrganization(em: EntityManager, change: ManagementChange): Promise<boolean> {
  const { organizationId: id, expectedVersion, organization, budgets = [] } = change;
  const { priceOverrides = [], removedPriceOverrides = [] } = change;
  const hasOtherPrices = priceOverrides.length + removedPriceOverrides.length > 0;
  const changed = {
    accessVersion: expectedVersion + 1,
    ...(organization && changesOf(organization)),
    // Caches of an organization's overrides, and of its budgets, are valid for one version.
    ...(hasOtherPrices && { priceVersion: increased('price_version') }),
    ...(budgets.length > 0 && { budgetVersion: increased('budget_version') }),
  };
  return (await em.nativeUpdate(Organization, { id, accessVersion: expectedVersion }, changed)) > 0;
}

function changesOf({ name, slug, updatedAtMs }: OrganizationRecord) {
  return { name, slug, updatedAtMs };
}

export async function storeRecords(
  em: EntityManager,
  change: Omit<ManagementChange, 'expectedVersion' | 'organization'>,
): Promise<void> {
  const { organizationId, teams = [], members = [], roleBindings = [] } = change;
  // Removals come first: a new member may have the e-mail of a removed one. The foreign key also removes a member's grants.
  for (const { userId } of change.removedMembers ?? []) {
    await em.nativeDelete(Member, { organizationId, userId });
    await em.nativeDelete(SavedViewRow, { createdBy: userId, visibility: 'PERSONAL' });
  }
  for (const { userId, id } of change.removedRoleBindings ?? [])
    await em.nativeDelete(RoleBinding, { organizationId, userId, id });
  if (teams.length > 0) await em.upsertMany(Team, [...teams]);
  for (const project of change.projects ?? []) await storeProject(em, project);
  if (members.length > 0) await em.upsertMany(Member, [...members]);
  if (roleBindings.length > 0) await em.upsertMany(RoleBinding, roleBindings.map(packGrant));
  if (change.identities) await em.insertMany(Identity, [...change.identities]);
  for (const key of change.apiKeys ?? []) await storeKey(em, key);
  for (const ended of change.endedSessions ?? [])
    await em.nativeDelete(SessionRow, { organizationId, ...('untilMs' in ended ? endedUntil(ended.untilMs) : ended) });
  for (const { owner, atMs } of change.endingSessions ?? []) {
    const longer = { organizationId, ...owner, expiresAtMs: { $gt: atMs } };
    await em.nativeUpdate(SessionRow, longer, { expiresAtMs: atMs });
  }
  if (change.sessions) await em.insertMany(SessionRow, [...change.sessions]);
  for (const { id } of change.removedPriceOverrides ?? [])
    await em.nativeDelete(PriceOverrideRow, { organizationId, id });
  if (change.priceOverrides) await em.insertMany(PriceOverrideRow, [...change.priceOverrides]);
  if (change.budgets) await em.upsertMany(BudgetRow, change.budgets.map(packBudget));
  for (const { id } of change.removedModelProviders ?? [])
    await em.nativeDelete(ModelProviderRow, { organizationId, id });
  if (change.modelProviders) await em.upsertMany(ModelProviderRow, [...change.modelProviders]);
  for (const key of change.virtualKeys ?? []) await storeVirtualKey(em, key);
  if (change.audit.length > 0) await em.insertMany(AuditEntry, [...change.audit]);
}

function endedUntil(atMs: number) {
  return { $or: [{ expiresAtMs: { $lte: atMs } }, { lastSeenAtMs: { $lte: atMs - SESSION_IDLE_MS } }] };
}

/** An update keeps when the key was last used. */
async function storeVirtualKey(em: EntityManager, { lastUsedAtMs, ...key }: VirtualKeyRecord): Promise<void> {
  const { organizationId, id } = key;
  if ((await em.nativeUpdate(VirtualKeyRow, { organizationId, id }, key)) > 0) return;
  await em.insert(VirtualKeyRow, { ...key, lastUsedAtMs });
}

/** An update keeps the settings, and when the key was last used. */
async function storeProject(em: EntityManager, project: ProjectRecord): Promise<void> {
  const { organizationId, id, keyLastUsedAtMs: _, ...changed } = project;
  const known = await em.findOne(Project, { organizationId, id });
  const isKept = known?.keyHash.equals(project.keyHash) === true;
  if (known === null) await em.insert(Project, { ...project, emitRequestEvents: true, traceRetentionDays: null });
  else Object.assign(known, changed);
  await em.flush();
  // Only after the write: until then another project could make the key its previous one, unseen.
  if (!isKept && (await isKeyInUse(em, project))) throw KEY_TAKEN;
}

async function isAnyKeyInUse(em: EntityManager, { projects = [] }: ManagementChange): Promise<boolean> {
  for (const project of projects) if (await isKeyInUse(em, project)) return true;
  return false;
}

/** Whether another project has the key, or had it before and still accepts it. */
async function isKeyInUse(em: EntityManager, { id, keyHash, updatedAtMs: atMs }: ProjectRecord): Promise<boolean> {
  const accepted = [{ keyHash }, { previousKeyHash: keyHash, previousKeyUntilMs: { $gt: atMs } }];
  return (await em.findOne(Project, { id: { $ne: id }, $or: accepted })) !== null;
}
