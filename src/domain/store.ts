/**
 * The storage port. Every driver implements these methods; the conformance suite tests each MUST with the same words. A
 * driver that cannot serve right now throws the `unavailable` Fault.
 */

import type { TraceAnalytics } from './analytics/trace-analytics-store.ts';
import type { ApiKey, Project } from './caller.ts';
import type { DatasetStore } from './datasets/dataset.ts';
import type { DeliveryStore, WebhookStore } from './delivery/webhook-store.ts';
import type { EvaluatorRunStore } from './evaluations/evaluator-run.ts';
import type { EvaluationJobStore } from './evaluations/jobs.ts';
import type { JudgeSpendingStore } from './evaluations/judge-spending.ts';
import type { EvaluatorStore } from './evaluators/evaluator.ts';
import type { EventRange, StoredEvent } from './events/event.ts';
import type {
  GovernanceReport,
  GovernanceResult,
  RequestReport,
  RequestsReported,
  Settled,
  Settlement,
} from './events/request-report.ts';
import type { ExperimentStore } from './experiments/experiment.ts';
import type { BackfillStore } from './management/backfill.ts';
import type {
  ApiKeyRecord,
  ManagementStore,
  MemberRecord,
  OrganizationRecord,
  ProjectRecord,
  TeamRecord,
} from './management/management.ts';
import type { ClockStore, RetentionStore } from './management/retention-store.ts';
import type { StoreUsage } from './management/store-usage.ts';
import type { MonitorStore } from './monitors/monitor.ts';
import type { MeasuringStore } from './pricing/measuring.ts';
import type { RepricingStore } from './pricing/repricing.ts';
import type { SpendBlocks, SpendStore } from './spend/spend-store.ts';
import type { SearchIndex, TraceSearch } from './traces/search/trace-search-store.ts';
import type { ListedCall } from './traces/shares/trace-calls.ts';
import type { Evaluation, Span, TraceAppend, TraceAppended, TraceRecord } from './traces/trace.ts';
import type { TraceChoice } from './traces/trace-aggregates.ts';
import type { TraceChangeStore } from './traces/trace-changes.ts';

export type { EvaluatorSize, EvaluatorStore } from './evaluators/evaluator.ts';

export type Store = {
  readonly installation: InstallationStore;
  readonly keys: KeyStore;
  readonly traces: TraceStore;
  readonly traceChanges: TraceChangeStore;
  readonly search: TraceSearch;
  readonly analytics: TraceAnalytics;
  readonly searchIndex: SearchIndex;
  readonly spend: SpendStore;
  readonly spendBlocks: SpendBlocks;
  readonly requests: RequestStore;
  readonly events: EventStore;
  readonly evaluators: EvaluatorStore;
  readonly datasets: DatasetStore;
  readonly experiments: ExperimentStore;
  readonly evaluatorRuns: EvaluatorRunStore;
  readonly judgeSpending: JudgeSpendingStore;
  readonly monitors: MonitorStore;
  readonly evaluationJobs: EvaluationJobStore;
  readonly projects: ProjectStore;
  readonly management: ManagementStore;
  readonly retention: RetentionStore;
  readonly clock: ClockStore;
  readonly backfills: BackfillStore;
  readonly repricing: RepricingStore;
  readonly measuring: MeasuringStore;
  readonly webhooks: WebhookStore;
  readonly deliveries: DeliveryStore;
  /** What the database and the connections to it hold now. */
  usage(): Promise<StoreUsage>;
  /** Resolves when the store can read and write; MUST throw the unavailable Fault otherwise. */
  ready(): Promise<void>;
  /** MUST finish every accepted write, then release every file and thread. */
  close(): Promise<void>;
};

/** Data that exists once per database. */
export type InstallationStore = {
  /** The verifier of the root secret, null on a fresh database. */
  readVerifier(): Promise<Buffer | null>;
  /**
   * Creates the first organization with its initial records and stores the verifier, in one transaction. MUST do
   * nothing and answer false when an organization exists already, also when several processes start at once.
   */
  bootstrap(plan: Bootstrap): Promise<boolean>;
  /** Creates one more organization with its initial records, in one transaction. */
  addOrganization(plan: NewOrganization): Promise<void>;
};

export type Bootstrap = NewOrganization & { readonly verifier: Buffer };

/** An organization with its first team, project, administrator and keys. */
export type NewOrganization = {
  readonly createdAtMs: number;
  readonly organization: Pick<OrganizationRecord, 'id' | 'name' | 'slug'>;
  readonly team: Pick<TeamRecord, 'id' | 'name' | 'slug'>;
  readonly project: Pick<ProjectRecord, 'id' | 'name' | 'slug' | 'keyHash' | 'keyHint' | 'keyImported'>;
  readonly member: Pick<MemberRecord, 'userId' | 'email' | 'name'> & { readonly bindingId: string };
  readonly apiKey: Pick<ApiKeyRecord, 'id' | 'name' | 'secretHash' | 'imported'> & { readonly bindingId: string };
  readonly auditId: string;
};

/** What is known already comes without a promise: every request would wait for it. */
export type MaybePromise<T> = T | Promise<T>;

/** Reads for authentication. Every answer MUST reflect all writes acknowledged before the call. */
export type KeyStore = {
  /** Null only for an unknown id: MUST answer revoked and expired keys. MUST omit bindings to archived projects. */
  findApiKey(keyId: string): MaybePromise<ApiKey | null>;
  /** Costs as much as reading an unknown id: a refusal MUST take as long whether or not the key exists. */
  readDecoy(): MaybePromise<unknown>;
  /**
   * Finds a project by the hash of its key, or of the previous key while its overlap lasts at `nowMs`. MUST NOT answer
   * archived projects.
   */
  findProjectByKeyHash(keyHash: Buffer, nowMs: number): MaybePromise<Project | null>;
  /** MUST NOT answer archived projects. */
  findProject(projectId: string): MaybePromise<Project | null>;
  /** Whether any credential without a valid checksum exists. MUST be at most 5 s old. */
  hasImportedCredentials(): MaybePromise<boolean>;
};

export type TraceStore = {
  /**
   * Commits one collector request. It MUST resolve only after the commit is durable, MUST store all of it or nothing,
   * MUST replace a span or evaluation that is sent again, MUST leave the totals equal to a recomputation from the
   * stored spans, MUST merge metadata per key, and MUST append exactly one completed event per request id however often
   * it is sent, none for a span that had its event already. Inside one append the later of two equal ids wins. A new
   * span beyond `spansMax` MUST be refused alone, with its event; a stored span MUST still be replaced. An append
   * without evaluations whose spans are all refused stores nothing.
   */
  append(append: TraceAppend): Promise<TraceAppended>;
  /** By the exact normalised id. MUST see every append acknowledged before the call. */
  find(projectNumber: number, traceId: string): Promise<TraceRecord | null>;
  /** Ids with the prefix that were stored at or after `sinceMs`, at most `limit`, ascending. */
  findByPrefix(projectNumber: number, prefix: string, sinceMs: number, limit: number): Promise<readonly string[]>;
  /** Summarizes all spans of a trace. MUST answer for any number of spans, without delaying other requests. */
  outline(trace: StoredTrace): Promise<TraceOutline>;
  /** The digest of the trace, in the format of trace-digest.ts. MUST answer as `outline` does. */
  digest(trace: StoredTrace): Promise<string>;
  /** The calls of a trace with their requests, in a fixed order. MUST answer as `outline` does. */
  calls(trace: StoredTrace): Promise<readonly ListedCall[]>;
  /** Positions of spans, in the order of `SpanPosition`. */
  spanOrder(trace: StoredTrace, range: ListRange<SpanPosition>): Promise<readonly (SpanPosition & SizedText)[]>;
  /** The named spans in the order of the ids; unknown ids are left out. */
  spans(trace: StoredTrace, spanIds: readonly string[]): Promise<readonly Span[]>;
  /** Ids of the spans of a type that come first or last, in that order. MUST answer as `outline` does. */
  spanIdsOfType(trace: StoredTrace, question: SpansOfType): Promise<readonly string[]>;
  /** Positions of evaluations, by insertion and then id. */
  evaluationOrder(trace: StoredTrace, range: ListRange<ListPosition>): Promise<readonly (ListPosition & SizedText)[]>;
  /** The named evaluations in the order of the ids; unknown ids are left out. */
  evaluations(trace: StoredTrace, evaluationIds: readonly string[]): Promise<readonly Evaluation[]>;
};

/** A trace as `find` answered it, with its project's number. */
export type StoredTrace = Pick<TraceRecord, 'sequence' | 'spanCount' | 'aggregatesJson'> & {
  readonly projectNumber: number;
};

export type TraceOutline = {
  /** Comes from the aggregates of a trace that has them. */
  readonly choice: TraceChoice;
  readonly tree: string;
};

/** The position of an item in a list of a trace. */
export type ListPosition = { readonly atMs: number; readonly id: string };
/** By the exact start, then the later end first, so that a span comes before those inside it, then id. */
export type SpanPosition = ListPosition & {
  readonly startedNs: number;
  readonly durationMs: number;
  readonly finishedNs: number;
};
/** `after` null: from the beginning. */
export type ListRange<Position> = { readonly after: Position | null; readonly limit: number };
/** An unknown type matches no span. */
type SpansOfType = { readonly type: string; readonly order: 'first' | 'last'; readonly limit: number };
/** The approximate size of the item's text. */
export type SizedText = { readonly bytes: number };

export type RequestStore = {
  /** Numbers of the projects of the organization among those ids, archived projects included. */
  projectNumbers(organizationId: string, ids: readonly string[]): Promise<ReadonlyMap<string, number>>;
  /**
   * Commits one report. It MUST resolve only after the commit is durable, MUST store all of it or nothing, MUST move
   * each request from state to state as request-state.ts says, also while others report it, and MUST complete an
   * outcome with missing fields from the admission of its request. Results have the order of the records.
   */
  report(report: RequestReport): Promise<RequestsReported>;
  /**
   * Commits one report, in the same order as all other events of the organization. MUST emit every id once, and MUST
   * keep the events out of the log. Results have the order of the events.
   */
  reportGovernance(report: GovernanceReport): Promise<readonly GovernanceResult[]>;
  /** Settles overdue requests in one commit. MUST settle a request once, and never one that has its outcome. */
  settle(settlement: Settlement): Promise<Settled>;
  /** When the oldest request without an outcome was received; null when there is none. For metrics. */
  oldestAdmittedAtMs(): Promise<number | null>;
};

export type EventStore = {
  /**
   * Newest first by (created, id), ids by bytes. MUST answer each event that existed when a traversal began exactly
   * once, whatever is appended meanwhile.
   */
  list(range: EventRange): Promise<readonly StoredEvent[]>;
  /** MUST answer the appended bytes. Null when the organization has no such event created at or after `sinceMs`. */
  find(organization: { id: string; number: number }, eventId: string, sinceMs: number): Promise<StoredEvent | null>;
};

export type ProjectStore = {
  /**
   * Changes the named settings and answers all of them; null when the project is unknown or archived. MUST leave other
   * settings alone. Every request that begins after the answer MUST use the new settings.
   */
  updateSettings(
    projectId: string,
    change: ProjectSettingsChange,
    nowMs: number,
  ): Promise<StoredProjectSettings | null>;
};

export type StoredProjectSettings = Pick<Project, 'traceRetentionDays' | 'emitRequestEvents'>;

/** A chosen term is always a number: null would mean that the project never chose. */
export type ProjectSettingsChange = { readonly traceRetentionDays?: number; readonly emitRequestEvents?: boolean };
