/**
 * The management side of the store. Reads use the read connections; writes are verbs, which another thread may serve.
 */

import { Fault } from '../domain/fault.ts';
import type { ManagementStore, Receipt } from '../domain/management/management.ts';
import type { InstallationStore, ProjectStore } from '../domain/store.ts';
import type { TraceChangeStore } from '../domain/traces/trace-changes.ts';
import { createAuditList, createNoteRefusal } from './audit/audit.ts';
import { createDatasetWriter, type DatasetWriter } from './datasets/datasets.ts';
import { createRunWriter, type RunWriter } from './evaluations/evaluator-runs.ts';
import { createEvaluatorWriter, type EvaluatorWriter } from './evaluators/evaluators.ts';
import { createExperimentWriter, type ExperimentWriter } from './experiments/experiments.ts';
import { createKeyRecords, createNoteUse } from './keys/key-records.ts';
import { createMonitorWriter, type MonitorWriter } from './monitors/monitors.ts';
import {
  type CommitOutcome,
  createCommit,
  createNewOrganizations,
  createOrganizationReader,
  createReceipts,
  createUpdateSettings,
} from './organization/organization.ts';
import type { QueryRunner, Transact } from './queries.ts';
import { toBuffer } from './rows/endpoint-rows.ts';
import { createTraceChanges, type Enqueuing } from './traces/trace-changes.ts';

export type ManagementWriter = EvaluatorWriter &
  DatasetWriter &
  ExperimentWriter &
  RunWriter &
  MonitorWriter &
  TraceChangeStore &
  Pick<InstallationStore, 'bootstrap' | 'addOrganization'> &
  Pick<ManagementStore, 'recordRefusal' | 'recordUse' | 'claim' | 'release'> &
  Pick<ProjectStore, 'updateSettings'> & { readonly commit: ReturnType<typeof createCommit> };

/**
 * `seen`: the verb changes what authentication reads. `unseen`: it affects no decision about requests. Complete, so that
 * nobody adds a verb without deciding: an accepted key that was revoked would else stay in the cache.
 */
const VERBS: Readonly<Record<keyof ManagementWriter, 'seen' | 'unseen'>> = {
  bootstrap: 'seen',
  addOrganization: 'seen',
  updateSettings: 'seen',
  commit: 'seen',
  insertEvaluator: 'unseen',
  replaceEvaluator: 'unseen',
  removeEvaluator: 'unseen',
  insertDataset: 'unseen',
  appendDataset: 'unseen',
  removeDataset: 'unseen',
  initExperiment: 'unseen',
  hideExperiment: 'unseen',
  insertExperimentRun: 'unseen',
  reportExperimentRun: 'unseen',
  hideExperimentRun: 'unseen',
  removeHiddenExperimentRuns: 'unseen',
  insertRun: 'unseen',
  cancelRun: 'unseen',
  leaseRun: 'unseen',
  advanceRun: 'unseen',
  insertMonitor: 'unseen',
  replaceMonitor: 'unseen',
  removeMonitor: 'unseen',
  recordRefusal: 'unseen',
  recordUse: 'unseen',
  claim: 'unseen',
  release: 'unseen',
  removeTrace: 'unseen',
  patchMetadata: 'unseen',
};
const KINDS: ReadonlyMap<string, string> = new Map(Object.entries(VERBS));

/** Also false for verbs outside of management. */
export function isSeenByAuthentication(verb: string): boolean {
  return KINDS.get(verb) === 'seen';
}

export function createManagementWriter(transact: Transact, enqueuing: Enqueuing): ManagementWriter {
  return {
    ...createNewOrganizations(transact),
    ...createEvaluatorWriter(transact),
    ...createDatasetWriter(transact),
    ...createExperimentWriter(transact),
    ...createRunWriter(transact),
    ...createMonitorWriter(transact),
    ...createReceipts(transact),
    ...createTraceChanges(transact, enqueuing),
    updateSettings: createUpdateSettings(transact),
    commit: createCommit(transact),
    recordRefusal: createNoteRefusal(transact),
    recordUse: createNoteUse(transact),
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
