/** The management port over the verbs of a driver, wherever they run. */

import { Fault } from '../domain/fault.ts';
import type {
  ApiKeyRecord,
  AuditListing,
  CredentialUse,
  ManagementStore,
  ProjectRecord,
  Receipt,
} from '../domain/management.ts';
import type { ManagedWebhooks } from './orm/management.ts';
import type { CallManagement } from './orm/management-verbs.ts';
import { toBuffer, toBufferOrNull } from './rows/bytes.ts';

/** So many at once hold up nobody. */
const USES_PER_CALL = 100;
const CHANGES_RETRY_AFTER_SECONDS = 60;
const NUL = '\u0000';

export function createManagementStore(call: CallManagement): ManagementStore {
  return {
    version: (organizationId) => call('version', organizationId),
    commit: async (change) => {
      const outcome = await call('commit', change);
      if (outcome === 'too_often') throw tooOftenFault();
      return outcome;
    },
    organization: (organizationId) => call('organization', organizationId),
    teams: (organizationId) => call('teams', organizationId),
    projects: async (organizationId) => (await call('projects', organizationId)).map(restoreProject),
    project: async (organizationId, projectId) => {
      const project = isStorable(projectId) ? await call('project', organizationId, projectId) : null;
      return project === null ? null : restoreProject(project);
    },
    members: (organizationId) => call('members', organizationId),
    member: async (organizationId, userId) =>
      isStorable(userId) ? await call('member', organizationId, userId) : null,
    roleBindings: async (organizationId, userId) =>
      isStorable(userId) ? await call('roleBindings', organizationId, userId) : [],
    apiKey: async (organizationId, keyId) => {
      const key = isStorable(keyId) ? await call('apiKey', organizationId, keyId) : null;
      return key === null ? null : restoreKey(key);
    },
    apiKeys: async (organizationId, listing) => (await call('apiKeys', organizationId, listing)).map(restoreKey),
    apiKeysOf: async (organizationId, userId) =>
      isStorable(userId) ? (await call('apiKeysOf', organizationId, userId)).map(restoreKey) : [],
    audit: async (organizationId, listing) => (isFindable(listing) ? await call('audit', organizationId, listing) : []),
    noteRefusal: (refusal) => call('noteRefusal', refusal),
    noteUse: async (uses) => {
      for (const some of splitUses(uses)) await call('noteUse', some);
    },
    claim: async (name, fingerprint, at) => {
      const outcome = await call('claim', name, fingerprint, at);
      return typeof outcome === 'string' ? outcome : restoreReceipt(outcome);
    },
    release: (name) => call('release', name),
    findAdministrators: async (email) => (isStorable(email) ? await call('findAdministrators', email) : []),
  };
}

function tooOftenFault(): Fault {
  return new Fault('rate_limited', 'The endpoint has changed too often while its events wait; try again later.', {
    retryAfterSeconds: CHANGES_RETRY_AFTER_SECONDS,
  });
}

/** What of webhooks is read through the verbs of management. */
export function createManagedWebhooks(call: CallManagement): ManagedWebhooks {
  return {
    countEndpoints: (organizationId) => call('countEndpoints', organizationId),
    replay: async (endpointNumber, replayId) =>
      isStorable(replayId) ? await call('replay', endpointNumber, replayId) : null,
    countUnfinishedReplays: (endpointNumber) => call('countUnfinishedReplays', endpointNumber),
  };
}

/** PostgreSQL refuses the character in text, so nothing that is stored has it. */
function isStorable(text: string | null): boolean {
  return text === null || !text.includes(NUL);
}

function isFindable({ action, actorUserId, actorKeyId, targetId, outcome }: AuditListing): boolean {
  return [action, actorUserId, actorKeyId, targetId, outcome].every(isStorable);
}

function splitUses(uses: readonly CredentialUse[]): (readonly CredentialUse[])[] {
  return Array.from({ length: Math.ceil(uses.length / USES_PER_CALL) }, (_, index) =>
    uses.slice(index * USES_PER_CALL, (index + 1) * USES_PER_CALL),
  );
}

// Between threads a Buffer becomes a plain array of bytes.
function restoreProject(project: ProjectRecord): ProjectRecord {
  const { keyHash, previousKeyHash } = project;
  return { ...project, keyHash: toBuffer(keyHash), previousKeyHash: toBufferOrNull(previousKeyHash) };
}

function restoreKey(key: ApiKeyRecord): ApiKeyRecord {
  const { secretHash, previousSecretHash } = key;
  return { ...key, secretHash: toBuffer(secretHash), previousSecretHash: toBufferOrNull(previousSecretHash) };
}

function restoreReceipt({ name, fingerprint, answer }: Receipt): Receipt {
  return { name, fingerprint: toBuffer(fingerprint), answer: toBuffer(answer) };
}
