/**
 * The management side of the store. Reads use the read connections; writes are verbs, which another thread may serve.
 */

import { Fault } from '../domain/fault.ts';
import type { ManagementStore, Receipt } from '../domain/management/management.ts';
import { createAuditList, createNoteRefusal } from './audit/audit.ts';
import { createKeyRecords, createNoteUse } from './keys/key-records.ts';
import { createMonitorWriter } from './monitors/monitors.ts';
import {
  type CommitOutcome,
  createCommit,
  createNewOrganizations,
  createOrganizationReader,
  createReceipts,
  createTrust,
  createUpdateSettings,
} from './organization/organization.ts';
import type { QueryRunner, Transact } from './queries.ts';
import { createTraceChanges, type Enqueuing } from './traces/trace-changes.ts';

/** The verbs that change what authentication reads: an accepted key that was revoked would else stay in the cache. */
function createSeenVerbs(transact: Transact) {
  return {
    ...createNewOrganizations(transact),
    updateSettings: createUpdateSettings(transact),
    commit: createCommit(transact),
  };
}

const SEEN: Readonly<Record<keyof ReturnType<typeof createSeenVerbs>, true>> = {
  bootstrap: true,
  addOrganization: true,
  updateSettings: true,
  commit: true,
};

/** Also false for verbs outside of management. */
export function isSeenByAuthentication(verb: string): boolean {
  return Object.hasOwn(SEEN, verb);
}

export type ManagementWriter = ReturnType<typeof createManagementWriter>;

export function createManagementWriter(transact: Transact, enqueuing: Enqueuing) {
  return {
    ...createSeenVerbs(transact),
    // These affect no decision about requests: a verb that does belongs above.
    ...createMonitorWriter(transact),
    ...createReceipts(transact),
    ...createTraceChanges(transact, enqueuing),
    recordRefusal: createNoteRefusal(transact),
    recordUse: createNoteUse(transact),
    trust: createTrust(transact),
  };
}

const CHANGES_RETRY_AFTER_SECONDS = 60;

export function createManagementStore(
  runner: QueryRunner,
  { commit, claim, recordRefusal, recordUse, release }: ManagementWriter,
): ManagementStore {
  return {
    ...createOrganizationReader(runner),
    ...createKeyRecords(runner),
    priceOverrides: (organizationId) => runner.runQuery(runner.queries.pricing.listOverrides, { organizationId }),
    audit: createAuditList(runner),
    commit: async (change) => orFault(await commit(change)),
    claim: async (...args) => {
      const outcome = await claim(...args);
      return typeof outcome === 'string' ? outcome : restoreReceipt(outcome);
    },
    recordRefusal,
    recordUse,
    release,
  };
}

function orFault(outcome: CommitOutcome): Exclude<CommitOutcome, 'too_often'> {
  if (outcome !== 'too_often') return outcome;
  throw new Fault('rate_limited', 'The endpoint has changed too often while its events wait; try again later.', {
    retryAfterSeconds: CHANGES_RETRY_AFTER_SECONDS,
  });
}

// Buffers become plain Uint8Arrays when they pass between threads.
function restoreReceipt({ name, fingerprint, answer }: Receipt): Receipt {
  return { name, fingerprint: toBuffer(fingerprint), answer: toBuffer(answer) };
}

function toBuffer(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
