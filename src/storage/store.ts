/** The store as every engine has it: what reads and writes go through, in what order it closes, and that it is closed then. */

import { unavailableFault } from '../domain/fault.ts';
import type { ManagementStore } from '../domain/management.ts';
import type { SpendBlocks, SpendStore } from '../domain/spend/spend-store.ts';
import type { KeyStore, Store, TraceStore } from '../domain/store.ts';
import type { TraceAnalytics } from '../domain/trace-analytics-store.ts';
import type { SearchIndex, TraceSearch } from '../domain/trace-search-store.ts';
import type { Append, AppendOutcome, Report, Reported } from './append/apply.ts';
import { createCommitQueue } from './append/commit-queue.ts';
import type { LookUps } from './append/reader.ts';
import { createDatasetStore } from './datasets/datasets.ts';
import type { DeliveryWork } from './delivery/work.ts';
import { createDeliveryStore, type DeliveryStoreDeps } from './endpoints/delivery-store.ts';
import { createWebhookStore } from './endpoints/webhook-store.ts';
import { createJobStore, type JobWork } from './evaluations/jobs.ts';
import { createEventFinder, createEventList, createOldestAdmitted } from './events/event-reader.ts';
import { createLogSearch } from './events/log-search.ts';
import { createExperimentStore } from './experiments/experiments.ts';
import type { KeyReader } from './keys/key-cache.ts';
import { createKeyReader } from './keys/key-reader.ts';
import {
  createEvaluatorStore,
  createManagementStore,
  createMonitorStore,
  createRunStore,
  type ManagementWriter,
} from './management.ts';
import { createInstallationReader, createProjectNumbers } from './organization/organization-reader.ts';
import { createRepricingReader } from './pricing/repricing.ts';
import type { Ask, Asking } from './questions.ts';

/** What an engine does in its own way. */
export type Engine = Pick<Store, 'retention'> & {
  /** For point reads that requests wait for. */
  readonly control: Asking;
  /** For what may take longer. */
  readonly reads: Asking;
  readonly management: Asking;
  readonly writer: ManagementWriter;
  readonly cacheKeys: (reader: KeyReader) => Omit<KeyStore, 'insertApiKey'>;
  /** One transaction for all. */
  readonly append: (appends: readonly Append[]) => Promise<readonly AppendOutcome[]>;
  readonly traces: Omit<TraceStore, 'append' | 'appendBatch'>;
  readonly lookUps: LookUps;
  readonly delivery: Delivery;
  readonly search: TraceSearch;
  readonly analytics: TraceAnalytics;
  readonly searchIndex: SearchIndex;
  readonly spend: SpendStore;
  readonly spendBlocks: SpendBlocks;
  /** What is done to the queue of evaluations. */
  readonly jobs: JobWork;
  /** There may be something new to deliver. */
  readonly notify: () => void;
  readonly check: () => Promise<void>;
  readonly release: () => Promise<void>;
};

/** What webhooks take of an engine. */
export type Delivery = Omit<DeliveryStoreDeps, 'questions' | 'search'> & {
  readonly work: DeliveryWork;
  /** Where reading the log holds up others, so many events are looked at in one go; null: all at once. */
  readonly searchedAtOnce: number | null;
  /** Calls whenever the database may have become another one. */
  readonly onReconnect: (forget: () => void) => void;
};

export type StoreState = {
  readonly isClosed: () => boolean;
  /** Questions that come after the end are refused; appends under way still finish. */
  readonly refuseWhenClosed: () => void;
  /** Whether a batch is being committed. */
  readonly isBusy: () => boolean;
};

export type QueueLimits = { readonly queueMaxBytes: number; readonly batchesUnderWayMax: number };

/** Where a store tells what its operator should know. */
export type StoreLog = {
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
};

const CLOSED_RETRY_AFTER_SECONDS = 1;

export function createStore(limits: QueueLimits, start: (state: StoreState) => Engine): Store {
  let closing: Promise<void> | undefined;
  const isClosed = () => closing !== undefined;
  const queue = createCommitQueue({
    ...limits,
    commit: async (appends) => {
      const outcomes = await engine.append(appends);
      engine.notify();
      return outcomes;
    },
  });
  const engine = start({ isClosed, refuseWhenClosed, isBusy: queue.isBusy });
  const { control, reads, management, writer, notify } = engine;
  const events = { ...reads, questions: reads.questions.events };
  const installation = createInstallationReader(control);
  const { webhooks, deliveries } = createWebhooks(engine);

  function refuseWhenClosed(): void {
    if (isClosed()) throw unavailableFault('The store is closed.', CLOSED_RETRY_AFTER_SECONDS);
  }

  async function send<R extends Report>(report: R): Promise<Reported[R['kind']]> {
    refuseWhenClosed();
    return await queue.report(report);
  }

  async function close(): Promise<void> {
    await queue.drain();
    await engine.release();
  }

  return {
    installation: {
      readVerifier: installation.readVerifier,
      bootstrap: async (plan) => !(await installation.hasOrganization()) && (await writer.bootstrap(plan)),
      addOrganization: writer.addOrganization,
    },
    keys: {
      ...engine.cacheKeys(createKeyReader(control)),
      insertApiKey: writer.insertApiKey,
    },
    traces: {
      ...engine.traces,
      append: async (append) => {
        refuseWhenClosed();
        return await queue.append(append);
      },
      appendBatch: send,
    },
    search: engine.search,
    analytics: engine.analytics,
    searchIndex: engine.searchIndex,
    spend: engine.spend,
    spendBlocks: engine.spendBlocks,
    traceChanges: { removeTrace: writer.removeTrace, patchMetadata: writer.patchMetadata },
    requests: {
      projectNumbers: createProjectNumbers(control),
      report: send,
      reportGovernance: send,
      settle: send,
      oldestAdmittedAtMs: createOldestAdmitted(events),
    },
    events: { list: createEventList(events), find: createEventFinder(engine.lookUps) },
    evaluators: createEvaluatorStore(management, writer),
    datasets: createDatasetStore(management, writer),
    experiments: createExperimentStore(management, writer),
    evaluatorRuns: createRunStore(management, writer),
    monitors: createMonitorStore(management, writer),
    evaluationJobs: createJobStore({ ...control, work: engine.jobs, delivery: engine.delivery, end: send }),
    projects: { updateSettings: writer.updateSettings },
    management: wakeAfterCommits(createManagementStore(management, writer), notify),
    retention: engine.retention,
    repricing: { ...createRepricingReader(reads), reprice: send },
    webhooks,
    deliveries,
    ready: async () => {
      refuseWhenClosed();
      await engine.check();
    },
    close: () => {
      closing ??= close();
      return closing;
    },
  };
}

function createWebhooks({ reads: { questions, ask }, delivery }: Engine): Pick<Store, 'webhooks' | 'deliveries'> {
  const searchWith = (asking: Ask) =>
    createLogSearch({ questions: questions.events, ask: asking }, delivery.searchedAtOnce);
  const { forget, ...deliveries } = createDeliveryStore({
    ...delivery,
    questions,
    search: searchWith(delivery.askAside),
  });
  delivery.onReconnect(forget);
  return {
    deliveries,
    webhooks: createWebhookStore({ questions, ask, search: searchWith(ask), tests: delivery.work }),
  };
}

function wakeAfterCommits(management: ManagementStore, notify: () => void): ManagementStore {
  return {
    ...management,
    async commit(change) {
      const outcome = await management.commit(change);
      const { endpoints = [], replays = [], redeliveries = [] } = change;
      if (outcome === 'stored' && endpoints.length + replays.length + redeliveries.length > 0) notify();
      return outcome;
    },
  };
}
