/** What management reads and writes. Reads go where every read goes; writes are verbs, which may be served in another thread. */

import type { EvaluatorRunStore } from '../domain/evaluations/evaluator-run.ts';
import { Fault } from '../domain/fault.ts';
import type { ManagementStore, Receipt } from '../domain/management.ts';
import type { MonitorStore } from '../domain/monitors/monitor-store.ts';
import type { EvaluatorStore, InstallationStore, KeyStore, ProjectStore } from '../domain/store.ts';
import type { TraceChangeStore } from '../domain/trace-changes.ts';
import { createAuditList, createNoteRefusal } from './audit/audit.ts';
import { createDatasetWriter, type DatasetWriter } from './datasets/datasets.ts';
import { createEvaluatorReader, createEvaluatorWriter, type EvaluatorWriter } from './evaluators/evaluators.ts';
import { createRunReader, createRunWriter, type RunWriter } from './evaluators/runs.ts';
import { createExperimentWriter, type ExperimentWriter } from './experiments/experiments.ts';
import { createInsertApiKey, createKeyRecords, createNoteUse } from './keys/key-records.ts';
import { createMonitorReader, createMonitorWriter, type MonitorWriter } from './monitors/monitors.ts';
import {
  type CommitOutcome,
  createCommit,
  createNewOrganizations,
  createUpdateSettings,
} from './organization/commit.ts';
import { createOrganizationReader } from './organization/organization-reader.ts';
import { createReceipts } from './organization/receipts.ts';
import { createOverrideReader } from './pricing/overrides.ts';
import { type Asking, type Questions, type Transact, type TransactAll, withQuestions } from './questions.ts';
import { toBuffer } from './rows/endpoint-rows.ts';
import { createTraceChanges, type Enqueuing } from './traces/trace-changes.ts';

/** What writes need. */
export type Managing = { readonly transact: TransactAll };

export type ManagementWriter = EvaluatorWriter &
  DatasetWriter &
  ExperimentWriter &
  RunWriter &
  MonitorWriter &
  TraceChangeStore &
  Pick<InstallationStore, 'bootstrap' | 'addOrganization'> &
  Pick<KeyStore, 'insertApiKey'> &
  Pick<ManagementStore, 'noteRefusal' | 'noteUse' | 'claim' | 'release'> &
  Pick<ProjectStore, 'updateSettings'> & { readonly commit: ReturnType<typeof createCommit> };

/** `seen`: authentication must see it. `unseen`: a write that decides about no request. */
const VERBS: Readonly<Record<keyof ManagementWriter, 'seen' | 'unseen'>> = {
  bootstrap: 'seen',
  addOrganization: 'seen',
  insertApiKey: 'seen',
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
  sweepExperimentRuns: 'unseen',
  insertRun: 'unseen',
  cancelRun: 'unseen',
  leaseRun: 'unseen',
  advanceRun: 'unseen',
  insertMonitor: 'unseen',
  replaceMonitor: 'unseen',
  removeMonitor: 'unseen',
  noteRefusal: 'unseen',
  noteUse: 'unseen',
  claim: 'unseen',
  release: 'unseen',
  removeTrace: 'unseen',
  patchMetadata: 'unseen',
};
const KINDS: ReadonlyMap<string, string> = new Map(Object.entries(VERBS));

/** False also for other verbs that have nothing to do with management. */
export function isSeenByAuthentication(verb: string): boolean {
  return KINDS.get(verb) === 'seen';
}

export function createManagementWriter(
  questions: Questions,
  transact: Transact,
  enqueuing: Enqueuing,
): ManagementWriter {
  const managing = { transact: withQuestions(questions, transact) };
  return {
    ...createNewOrganizations(managing),
    ...createEvaluatorWriter(managing),
    ...createDatasetWriter(managing),
    ...createExperimentWriter(managing),
    ...createRunWriter(managing),
    ...createMonitorWriter(managing),
    ...createReceipts(managing),
    ...createTraceChanges(managing, enqueuing),
    insertApiKey: createInsertApiKey(managing),
    updateSettings: createUpdateSettings(managing),
    commit: createCommit(managing),
    noteRefusal: createNoteRefusal(managing),
    noteUse: createNoteUse(managing),
  };
}

export type CallManagement = <V extends keyof ManagementWriter>(
  verb: V,
  ...args: Parameters<ManagementWriter[V]>
) => ReturnType<ManagementWriter[V]>;

/** All verbs, each through `call`. */
export function spreadManagement(call: CallManagement): ManagementWriter {
  const verbs = Object.keys(VERBS) as (keyof ManagementWriter)[];
  return Object.fromEntries(
    verbs.map((verb) => [verb, (...args: Parameters<ManagementWriter[typeof verb]>) => call(verb, ...args)]),
  ) as ManagementWriter;
}

const CHANGES_RETRY_AFTER_SECONDS = 60;

export function createManagementStore(
  asking: Asking,
  { commit, claim, noteRefusal, noteUse, release }: ManagementWriter,
): ManagementStore {
  return {
    ...createOrganizationReader(asking),
    ...createKeyRecords(asking),
    ...createOverrideReader(asking),
    audit: createAuditList(asking),
    commit: async (change) => orFault(await commit(change)),
    claim: async (...asked) => {
      const outcome = await claim(...asked);
      return typeof outcome === 'string' ? outcome : restoreReceipt(outcome);
    },
    noteRefusal,
    noteUse,
    release,
  };
}

function orFault(outcome: CommitOutcome): Exclude<CommitOutcome, 'too_often'> {
  if (outcome !== 'too_often') return outcome;
  throw new Fault('rate_limited', 'The endpoint has changed too often while its events wait; try again later.', {
    retryAfterSeconds: CHANGES_RETRY_AFTER_SECONDS,
  });
}

// Between threads a Buffer becomes a plain array of bytes.
function restoreReceipt({ name, fingerprint, answer }: Receipt): Receipt {
  return { name, fingerprint: toBuffer(fingerprint), answer: toBuffer(answer) };
}

export function createEvaluatorStore(
  asking: Asking,
  { insertEvaluator, replaceEvaluator, removeEvaluator }: EvaluatorWriter,
): EvaluatorStore {
  return {
    ...createEvaluatorReader(asking),
    insert: insertEvaluator,
    replace: replaceEvaluator,
    remove: removeEvaluator,
  };
}

export function createRunStore(
  asking: Asking,
  { insertRun, cancelRun, leaseRun, advanceRun }: RunWriter,
): EvaluatorRunStore {
  return { ...createRunReader(asking), insert: insertRun, cancel: cancelRun, lease: leaseRun, advance: advanceRun };
}

export function createMonitorStore(
  asking: Asking,
  { insertMonitor, replaceMonitor, removeMonitor }: MonitorWriter,
): MonitorStore {
  return { ...createMonitorReader(asking), insert: insertMonitor, replace: replaceMonitor, remove: removeMonitor };
}
