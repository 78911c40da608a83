/**
 * THE PORT. Every driver implements these verbs; each MUST is tested by the conformance suite with
 * the same words. A driver that cannot serve right now throws the `unavailable` Fault.
 */

import type { ApiKey, Project } from './caller.ts';
import type { DatasetStore } from './datasets/dataset.ts';
import type { EvaluatorRunStore } from './evaluations/evaluator-run.ts';
import type { EvaluationJobStore } from './evaluations/jobs.ts';
import type { EvaluatorStore } from './evaluators/evaluator-store.ts';
import type { EventRange, StoredEvent } from './event.ts';
import type { ExperimentStore } from './experiments/experiment.ts';
import type { ManagementStore } from './management.ts';
import type { MonitorStore } from './monitors/monitor-store.ts';
import type { Binding } from './permissions.ts';
import type { RepricingStore } from './pricing/repricing.ts';
import type {
  GovernanceReport,
  GovernanceResult,
  RequestReport,
  RequestsReported,
  Settled,
  Settlement,
} from './request-report.ts';
import type { SpendBlocks, SpendStore } from './spend/spend-store.ts';
import type { Evaluation, Span, TraceAppend, TraceAppended, TraceBatch, TraceRecord } from './trace.ts';
import type { TraceChoice } from './trace-aggregates.ts';
import type { TraceAnalytics } from './trace-analytics-store.ts';
import type { TraceChangeStore } from './trace-changes.ts';
import type { SearchIndex, TraceSearch } from './trace-search-store.ts';
import type { DeliveryStore, WebhookStore } from './webhook-store.ts';

export type { EvaluatorPage, EvaluatorStore } from './evaluators/evaluator-store.ts';

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
  readonly monitors: MonitorStore;
  readonly evaluationJobs: EvaluationJobStore;
  readonly projects: ProjectStore;
  readonly management: ManagementStore;
  readonly retention: RetentionStore;
  readonly repricing: RepricingStore;
  readonly webhooks: WebhookStore;
  readonly deliveries: DeliveryStore;
  /** Resolves when the store can read and write; MUST throw the unavailable Fault otherwise. */
  ready(): Promise<void>;
  /** MUST finish every accepted write, then release every file and thread. */
  close(): Promise<void>;
};

/** What exists once per database. */
export type InstallationStore = {
  /** The verifier of the root secret, null on a fresh database. */
  readVerifier(): Promise<Buffer | null>;
  /**
   * Creates the first organization with everything in it, and keeps the verifier, in one transaction.
   * MUST do nothing and answer false when an organization exists already, also when several
   * processes start at once.
   */
  bootstrap(plan: Bootstrap): Promise<boolean>;
  /** Creates one more organization with everything in it, in one transaction. */
  addOrganization(plan: NewOrganization): Promise<void>;
};

export type Bootstrap = NewOrganization & { readonly verifier: Buffer };

/** An organization with its first team, project, administrator and keys. */
export type NewOrganization = {
  readonly createdAtMs: number;
  readonly organization: { readonly id: string; readonly name: string; readonly slug: string };
  readonly team: { readonly id: string; readonly name: string; readonly slug: string };
  readonly project: {
    readonly id: string;
    readonly name: string;
    readonly slug: string;
    readonly keyHash: Buffer;
    readonly keyHint: string;
    /** True for a key without a valid checksum. */
    readonly keyImported: boolean;
  };
  readonly member: {
    readonly userId: string;
    readonly email: string;
    readonly name: string;
    readonly bindingId: string;
  };
  readonly apiKey: {
    readonly id: string;
    readonly name: string;
    readonly bindingId: string;
    readonly secretHash: Buffer;
    /** True for a token without a valid checksum. */
    readonly imported: boolean;
  };
  readonly auditId: string;
};

/** What authentication reads. Every answer MUST reflect all writes acknowledged before the call. */
export type KeyStore = {
  /** MUST answer revoked and expired keys too; null only for an unknown id. Bindings to archived projects MUST be absent. */
  findApiKey(keyId: string): Promise<ApiKey | null>;
  /** Reads what an unknown id costs to read, for nothing: a refusal MUST take as long whether or not the key exists. */
  readInVain(): Promise<void>;
  /** By the hash of a whole project key, or of the one before within its overlap at `nowMs`. MUST NOT answer archived projects. */
  findProjectByKeyHash(keyHash: Buffer, nowMs: number): Promise<Project | null>;
  /** MUST NOT answer archived projects. */
  findProject(projectId: string): Promise<Project | null>;
  /** Whether any credential without a valid checksum exists. MUST be at most 5 s old. */
  hasImportedCredentials(): Promise<boolean>;
  /** Stores an API key with its grants. MUST refuse nothing: rules are the caller's. */
  insertApiKey(key: NewApiKey): Promise<void>;
};

export type NewApiKey = {
  readonly id: string;
  readonly organizationId: string;
  readonly keyType: 'personal' | 'service';
  readonly name: string;
  readonly userId: string | null;
  readonly createdByUserId: string | null;
  readonly permissionMode: 'all' | 'readonly' | 'restricted';
  readonly secretHash: Buffer;
  readonly imported: boolean;
  readonly expiresAtMs: number | null;
  readonly createdAtMs: number;
  readonly bindings: readonly (Binding & { readonly id: string })[];
};

export type TraceStore = {
  /**
   * Commits one collector request. It MUST resolve only after the commit is durable, MUST store all
   * of it or nothing, MUST replace a span or evaluation that is sent again, MUST leave the totals equal
   * to a recomputation from the stored spans, MUST merge metadata per key, and MUST append exactly
   * one completed event per request id however often it is sent, none for a span that had its event already. Inside one append the later of two equal ids wins.
   * A new span beyond `spansMax` MUST be refused alone, with its event, and one that is stored MUST still be replaced;
   * nothing is stored of an append that brought spans of which every one was refused, and no evaluation.
   */
  append(append: TraceAppend): Promise<TraceAppended>;
  /** Commits several as `append` does, in their order. It MUST store all of them or nothing. Answers by their places. */
  appendBatch(batch: TraceBatch): Promise<readonly TraceAppended[]>;
  /** By the exact normalised id. MUST see every append acknowledged before the call. */
  find(projectNumber: number, traceId: string): Promise<TraceRecord | null>;
  /** Ids that start with the prefix, stored at or after `sinceMs`, at most `limit`, ascending. */
  findByPrefix(projectNumber: number, prefix: string, sinceMs: number, limit: number): Promise<readonly string[]>;
  /** What the trace shows of all its spans together. MUST answer however many they are, without holding up others. */
  outline(trace: StoredTrace): Promise<TraceOutline>;
  /** The digest of the trace, as trace-digest.ts writes it. MUST answer as outline does. */
  digest(trace: StoredTrace): Promise<string>;
  /** Spans by start, then id. */
  spanOrder(trace: StoredTrace, range: ListRange): Promise<readonly (ListPlace & SizedText)[]>;
  /** The named spans in full, in the order of the ids; unknown ids are left out. */
  spans(trace: StoredTrace, spanIds: readonly string[]): Promise<readonly Span[]>;
  /** The spans of a type that started first or last, in that order. MUST answer as outline does. */
  spanIdsOfType(trace: StoredTrace, question: SpansOfType): Promise<readonly string[]>;
  /** Evaluations by insertion, then id. */
  evaluationOrder(trace: StoredTrace, range: ListRange): Promise<readonly (ListPlace & SizedText)[]>;
  /** The named evaluations in full, in the order of the ids; unknown ids are left out. */
  evaluations(trace: StoredTrace, evaluationIds: readonly string[]): Promise<readonly Evaluation[]>;
};

/** A trace as `find` answered it, with the number of its project. */
export type StoredTrace = Pick<TraceRecord, 'sequence' | 'spanCount' | 'aggregatesJson'> & {
  readonly projectNumber: number;
};

export type TraceOutline = {
  /** Of a trace that keeps aggregates it is in those. */
  readonly choice: TraceChoice;
  readonly tree: string;
};

/** Where something stands in a list of a trace. */
export type ListPlace = { readonly atMs: number; readonly id: string };
/** `after` null: from the first on. */
export type ListRange = { readonly after: ListPlace | null; readonly limit: number };
/** A type that no span has is one that none is found of. */
export type SpansOfType = { readonly type: string; readonly order: 'first' | 'last'; readonly limit: number };
/** About how many bytes of text it is made of. */
export type SizedText = { readonly bytes: number };

export type RequestStore = {
  /** Of those ids that are projects of the organization, archived ones included. */
  projectNumbers(organizationId: string, ids: readonly string[]): Promise<ReadonlyMap<string, number>>;
  /**
   * Commits one report. It MUST resolve only after the commit is durable, MUST store all of it or nothing, MUST take
   * each request from state to state as request-state.ts says, whoever else tells of it meanwhile, and MUST give an
   * outcome what it leaves out from the admission of its request. Answers by the places of the records.
   */
  report(report: RequestReport): Promise<RequestsReported>;
  /**
   * Commits one report, in the same order as all other events of the organization. MUST emit every id once, and MUST
   * keep the events out of the log. Answers by the places of the events.
   */
  reportGovernance(report: GovernanceReport): Promise<readonly GovernanceResult[]>;
  /** Settles in one commit what nobody waits for any more. MUST settle a request once, and never one that has its outcome. */
  settle(settlement: Settlement): Promise<Settled>;
  /** When the oldest of those requests came in that still wait for their outcome; null when none does. For metrics. */
  oldestAdmittedAtMs(): Promise<number | null>;
};

export type EventStore = {
  /**
   * Newest first by (created, id), ids by bytes. MUST answer each event that existed when a walk
   * began exactly once, whatever is appended meanwhile.
   */
  list(range: EventRange): Promise<readonly StoredEvent[]>;
  /** MUST answer the bytes that were appended. Null when the organization has no such event created at or after `sinceMs`. */
  find(organization: { id: string; number: number }, eventId: string, sinceMs: number): Promise<StoredEvent | null>;
};

export type ProjectStore = {
  /**
   * Changes the settings that are named and answers all of them; null when the project is unknown or archived. MUST
   * leave alone what is not named. Every request that begins after the answer MUST be judged by the new settings.
   */
  updateSettings(
    projectId: string,
    change: ProjectSettingsChange,
    nowMs: number,
  ): Promise<StoredProjectSettings | null>;
};

export type StoredProjectSettings = Pick<Project, 'traceRetentionDays' | 'emitRequestEvents'>;

/** A term, once chosen, is a number: null would say that the project never chose. */
export type ProjectSettingsChange = { readonly traceRetentionDays?: number; readonly emitRequestEvents?: boolean };

/** Removes what is past its term. */
export type RetentionStore = {
  /** What time it is: MUST be by the clock that events get their time from; null where that is this process's own. */
  nowMs(): Promise<number | null>;
  /** Every trace retention that a project has stored, once each; archived projects count too. */
  traceTerms(): Promise<readonly (number | null)[]>;
  /** Begins a walk over all that is stored. Nothing changes before its first step. */
  begin(cuts: RetentionCuts): RetentionWalk;
};

export type RetentionCuts = {
  /** The first instant of a month: events created before it go, and requests of which no event is left. */
  readonly eventsBeforeMs: number;
  readonly traces: readonly TraceCut[];
  /** Entries of the audit log from before the instant go; null: they are kept for ever. */
  readonly auditBeforeMs: number | null;
};

/** Traces that came in before the instant go, in projects that have this very term stored while the step is taken. */
export type TraceCut = { readonly storedDays: number | null; readonly goneBeforeMs: number };

export type RetentionWalk = {
  /**
   * Takes one small step. It MUST NOT hold up an append for more than 100 ms, MUST remove at most `rowsMax` rows
   * beside whole months, MUST remove nothing that is within its term, and MUST put a trace that it cannot erase at
   * once out of reach before it removes anything of it. It MUST be safe while other processes take steps.
   * After the last step all is gone that was past its term, but for what others were holding.
   */
  step(rowsMax: number): Promise<RetentionStep>;
};

export type RetentionStep = {
  /**
   * `held`: all that is left is held by others, and to be tried again some time later. `busy`: another process is at
   * it, and this walk ends here.
   */
  readonly outcome: 'more' | 'held' | 'done' | 'busy';
  readonly removed: RetentionCounts;
  /** How long others may have had to wait for it. */
  readonly heldMs: number;
};

export type RetentionCounts = {
  /** One by one. */
  readonly events: number;
  /** With all that belongs to them. */
  readonly traces: number;
  /** Of the audit log. */
  readonly auditEntries: number;
  /** Tables that held one month each and are dropped whole. */
  readonly months: number;
};
