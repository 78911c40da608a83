/** Assembles the store from an engine: the commit queue, the order in which parts close, and refusals after that. */

import { unavailableFault } from '../domain/fault.ts';
import type { Store, Upkeep } from '../domain/store.ts';
import type { TraceChangeStore } from '../domain/traces/trace-changes.ts';
import { createAnnotationStore, createScoreStore } from './annotations/annotations.ts';
import { createQueueStore } from './annotations/queues.ts';
import type { PeopleWriter } from './annotations/writers.ts';
import { type AnswerWork, createAnswerStore } from './answers/answers.ts';
import type { Append, AppendOutcome, Report, Reported } from './append/apply.ts';
import { createCommitQueue } from './append/commit-queue.ts';
import type { LookUps } from './append/reader.ts';
import { createBudgetLedger } from './budgets/budgets.ts';
import { createLeaseStore, type LeaseWork } from './budgets/leases.ts';
import type { DeliveryWork } from './delivery/work.ts';
import { createDeliveryStore, type DeliveryStoreDeps } from './endpoints/delivery-store.ts';
import { createWebhookLog } from './endpoints/webhook-store.ts';
import { createJobStore, type JobWork } from './evaluations/jobs.ts';
import { createEventFinder, createEventList, createLogSearch } from './events/events.ts';
import { createFeedbackStore } from './feedback/feedback.ts';
import { createTraceLimit, rememberOrganizations } from './long-reads.ts';
import { createManagement, type ManagementEngine } from './management/management-store.ts';
import { limitSumReads, type SumReads, withFreshTotals } from './reads.ts';
import { createIndexer, createUnindexedCount, type IndexWork } from './search/indexer.ts';
import { createSpendBlocks, type SpendWriter } from './spend/spend-blocks.ts';
import { createLogRecordStore, type LogRecordWriter } from './traces/log-records.ts';
import { completeSums, type KeepSums, type TraceFinder } from './traces/trace-finder.ts';
import { limitWholeReads, type TraceReads, type WholeTraceReads } from './traces/trace-reads.ts';
import type { QueryRunner, RunQuery } from './transaction.ts';

/** The parts of a store that differ between engines. */
export type Engine = ManagementEngine &
  Pick<Store, 'logRetention' | 'telemetryRetention' | 'usage' | 'kind'> & {
    /** For longer reads. */
    readonly reads: QueryRunner;
    readonly traceChanges: TraceChangeStore;
    readonly logRecords: LogRecordWriter;
    readonly people: PeopleWriter;
    /** Stores all appends in one transaction. */
    readonly append: (appends: readonly Append[]) => Promise<readonly AppendOutcome[]>;
    readonly traces: TraceReads & TraceFinder & Pick<WholeTraceReads, 'sums'>;
    /** How many large traces are read as a whole at once. */
    readonly wholeTracesAtOnce: number;
    readonly keepSums: KeepSums;
    readonly lookUps: LookUps;
    readonly delivery: Delivery;
    readonly sums: SumReads;
    readonly indexWork: IndexWork;
    /** What the engine alone does in the background. */
    readonly upkeep?: readonly Upkeep[];
    readonly spendWriter: SpendWriter;
    /** Changes of the queue of evaluations. */
    readonly jobs: JobWork;
    readonly leases: LeaseWork;
    readonly answers: AnswerWork;
    readonly check: () => Promise<void>;
    readonly release: () => Promise<void>;
  };

/** The parts of an engine that deliveries use. */
type Delivery = Omit<DeliveryStoreDeps, 'queries' | 'search'> & {
  readonly work: DeliveryWork;
  /** The most events that one read of the log examines, where a read blocks others; null: no limit. */
  readonly searchedAtOnce: number | null;
  /** Registers a callback for when the pool may have connected to another database. */
  readonly onReconnect: (dropCaches: () => void) => void;
};

export type StoreState = {
  readonly isClosed: () => boolean;
  /** Throws once the store is closed. Appends under way still finish. */
  readonly refuseWhenClosed: () => void;
  /** Whether a batch is being committed. */
  readonly isBusy: () => boolean;
};

type QueueLimits = { readonly queueMaxBytes: number; readonly besideBytesMin: number };

/** The log for the operator. */
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
  const { control, reads, rooms, traceChanges } = engine;
  const organizationOf = rememberOrganizations(
    async (projectNumber) =>
      (await reads.runQuery(reads.queries.organization.findOrganizationNumber, { projectNumber }))[0]
        ?.organizationNumber,
  );
  const traces = limitWholeReads(engine.traces, createTraceLimit(engine.wholeTracesAtOnce, organizationOf));
  const { find, completeTotals } = completeSums({
    finder: traces,
    sums: traces.sums,
    keep: engine.keepSums,
    nowMs: () => performance.now(),
  });
  const sums = limitSumReads(withFreshTotals(engine.sums, completeTotals), organizationOf);
  const countUnindexed = createUnindexedCount(engine.control, engine.indexWork);
  const spendBlocks = { reads: sums, writer: engine.spendWriter, clock: Date.now };
  const events = { ...reads, queries: reads.queries.events };
  /** The clock of the database. */
  const readNowMs = async () => (await engine.delivery.nowMs()) ?? Date.now();

  function refuseWhenClosed(): void {
    if (isClosed()) throw unavailableFault('The store is closed.', CLOSED_RETRY_AFTER_SECONDS);
  }

  async function submit<R extends Report>(report: R): Promise<Reported[R['kind']]> {
    refuseWhenClosed();
    return await queue.report(report);
  }

  async function close(): Promise<void> {
    await queue.drain();
    await engine.release();
  }

  return {
    ...createManagement(engine),
    ...createDeliveries(engine),
    traces: {
      ...traces,
      find,
      append: async (append) => {
        refuseWhenClosed();
        return await queue.append(append);
      },
    },
    search: { find: sums.find, match: sums.match, listValues: sums.listValues, countUnindexed },
    analytics: sums,
    spend: { sum: sums.sum },
    budgets: createBudgetLedger(reads),
    traceChanges: { removeTrace: traceChanges.removeTrace, patchMetadata: traceChanges.patchMetadata },
    logRecords: createLogRecordStore(control, engine.logRecords),
    feedback: createFeedbackStore(control, engine.people),
    annotations: createAnnotationStore(control, engine.people),
    annotationScores: createScoreStore(control, engine.people),
    annotationQueues: createQueueStore(control, engine.people),
    requests: {
      admit: submit,
      conclude: submit,
      renew: submit,
      report: submit,
      reportGovernance: submit,
      settle: submit,
      oldestAdmittedAtMs: async () =>
        (await reads.runQuery(events.queries.findOldestAdmitted, {}))[0]?.receivedAtMs ?? null,
    },
    events: { list: createEventList(events), find: createEventFinder(engine.lookUps) },
    evaluationJobs: createJobStore({ ...control, work: engine.jobs, delivery: engine.delivery, end: submit }),
    leases: createLeaseStore(engine.leases, readNowMs),
    answers: createAnswerStore({ ...reads, work: engine.answers, nowMs: readNowMs }),
    ...{ logRetention: engine.logRetention, telemetryRetention: engine.telemetryRetention },
    ...{ kind: engine.kind, isSingleProcess: engine.delivery.isSingleProcess },
    clock: { instants: rooms.clock.instants, trust: rooms.clock.trust, nowMs: engine.delivery.nowMs },
    repricing: {
      projects: () => reads.runQuery(reads.queries.pricing.listRepricedProjects, {}),
      spans: async (page) => {
        const rows = await reads.runQuery(reads.queries.pricing.listPricedSpans, page);
        return rows.map(({ mayNameTier, ...span }) => ({ span, mayNameTier: mayNameTier === 1 }));
      },
      reprice: submit,
      mend: submit,
    },
    measuring: {
      traces: (page) => reads.runQuery(reads.queries.pricing.listTracesToMeasure, page),
      spans: (page) => reads.runQuery(reads.queries.pricing.listUnmeasuredSpans, page),
      measure: submit,
    },
    upkeep: [createIndexer(engine.indexWork), createSpendBlocks(spendBlocks), ...(engine.upkeep ?? [])],
    usage: async () => {
      refuseWhenClosed();
      return await engine.usage();
    },
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

function createDeliveries({
  reads: { queries, runQuery },
  delivery,
  rooms,
}: Engine): Pick<Store, 'deliveries' | 'webhookLog'> {
  const searchWith = (runner: RunQuery) =>
    createLogSearch({ queries: queries.events, runQuery: runner }, delivery.searchedAtOnce);
  const { dropCaches, ...deliveries } = createDeliveryStore({
    ...delivery,
    queries,
    search: searchWith(delivery.runBackgroundQuery),
  });
  delivery.onReconnect(dropCaches);
  return {
    deliveries,
    webhookLog: createWebhookLog({
      ...{ room: rooms.webhooks, queries, runQuery },
      ...{ search: searchWith(runQuery), tests: delivery.work },
    }),
  };
}
