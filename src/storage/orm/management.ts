/** Every management verb, ready to be called by name: the caller may sit in another thread. */

import type { EntityManager } from '@mikro-orm/core';
import type { ManagementChange, ManagementStore } from '../../domain/management.ts';
import type { EvaluatorStore, KeyStore, StoredProjectSettings } from '../../domain/store.ts';
import type { WebhookStore } from '../../domain/webhook-store.ts';
import { listAudit, noteRefusal } from './audit.ts';
import { type CommitOutcome, commit } from './commit.ts';
import { findEvaluator, insertEvaluator, listEvaluators, removeEvaluator, replaceEvaluator } from './evaluators.ts';
import { noteUse } from './key-use.ts';
import { insertApiKey, listApiKeys, listApiKeysOf, readApiKey } from './keys.ts';
import {
  findAdministrators,
  listMembers,
  listProjects,
  listRoleBindings,
  listTeams,
  readMember,
  readOrganization,
  readProject,
} from './organization-records.ts';
import { type UpdateProjectSettings, updateProjectSettings } from './projects.ts';
import { claim, release } from './receipts.ts';
import { readVersion } from './version.ts';
import { countEndpoints, countUnfinishedReplays, readReplay } from './webhooks.ts';

/** What is read about webhooks off the busy paths. */
export type ManagedWebhooks = Pick<WebhookStore, 'countEndpoints' | 'replay' | 'countUnfinishedReplays'>;

export type Management = Omit<ManagementStore, 'commit'> &
  ManagedWebhooks & {
    commit(change: ManagementChange): Promise<CommitOutcome>;
    insertApiKey: KeyStore['insertApiKey'];
    insertEvaluator: EvaluatorStore['insert'];
    findEvaluator: EvaluatorStore['find'];
    listEvaluators: EvaluatorStore['list'];
    replaceEvaluator: EvaluatorStore['replace'];
    removeEvaluator: EvaluatorStore['remove'];
    updateProjectSettings(update: UpdateProjectSettings): Promise<StoredProjectSettings | null>;
  };

/** `fork` answers an entity manager without memory: a remembered row may be out of date. */
export function createManagement(fork: () => EntityManager): Management {
  return {
    insertApiKey: (key) => insertApiKey(fork(), key),
    insertEvaluator: (evaluator, liveMax) => insertEvaluator(fork(), evaluator, liveMax),
    findEvaluator: (projectId, idOrSlug) => findEvaluator(fork(), projectId, idOrSlug),
    listEvaluators: (projectId, page) => listEvaluators(fork(), projectId, page),
    replaceEvaluator: (evaluator, expectedUpdatedAtMs) => replaceEvaluator(fork(), evaluator, expectedUpdatedAtMs),
    removeEvaluator: (projectId, id, nowMs) => removeEvaluator(fork(), { projectId, id, nowMs }),
    updateProjectSettings: (update) => updateProjectSettings(fork(), update),
    version: (organizationId) => readVersion(fork(), organizationId),
    commit: (change) => commit(fork, change),
    organization: (organizationId) => readOrganization(fork(), organizationId),
    teams: (organizationId) => listTeams(fork(), organizationId),
    projects: (organizationId) => listProjects(fork(), organizationId),
    project: (organizationId, projectId) => readProject(fork(), organizationId, projectId),
    members: (organizationId) => listMembers(fork(), organizationId),
    member: (organizationId, userId) => readMember(fork(), organizationId, userId),
    roleBindings: (organizationId, userId) => listRoleBindings(fork(), organizationId, userId),
    apiKey: (organizationId, keyId) => readApiKey(fork(), organizationId, keyId),
    apiKeys: (organizationId, listing) => listApiKeys(fork(), organizationId, listing),
    apiKeysOf: (organizationId, userId) => listApiKeysOf(fork(), organizationId, userId),
    audit: (organizationId, listing) => listAudit(fork(), organizationId, listing),
    noteRefusal: (refusal) => noteRefusal(fork(), refusal),
    noteUse: (uses) => noteUse(fork, uses),
    claim: (name, fingerprint, at) => claim(fork, { name, fingerprint, at }),
    release: (name) => release(fork(), name),
    findAdministrators: (email) => findAdministrators(fork(), email),
    countEndpoints: (organizationId) => countEndpoints(fork(), organizationId),
    replay: (endpointNumber, replayId) => readReplay(fork(), endpointNumber, replayId),
    countUnfinishedReplays: (endpointNumber) => countUnfinishedReplays(fork(), endpointNumber),
  };
}
