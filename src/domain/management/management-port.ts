/**
 * The port of management: organizations, what belongs to them, and who may do what. Every driver implements its methods; the
 * conformance suite tests each MUST with the same words. A driver that cannot serve right now throws the `unavailable` Fault.
 */

import type { ApiKey, PresentedSession, Project } from '../caller.ts';
import type { DashboardStore } from '../dashboards/dashboard.ts';
import type { DatasetStore } from '../datasets/dataset.ts';
import type { WebhookStore } from '../delivery/webhook-store.ts';
import type { EvaluatorRunStore } from '../evaluations/evaluator-run.ts';
import type { JudgeSpendingStore } from '../evaluations/judge-spending.ts';
import type { EvaluatorStore } from '../evaluators/evaluator.ts';
import type { ExperimentStore } from '../experiments/experiment.ts';
import type { GatewaySetup } from '../gateway/gateway-setup.ts';
import type { MonitorStore } from '../monitors/monitor.ts';
import type { PromptStore } from '../prompts/prompt.ts';
import type { PortRetention } from '../retention-walk.ts';
import type { TraceDeletionStore } from '../traces/deletion/trace-deletion.ts';
import type { TraceShareStore } from '../traces/sharing/trace-share.ts';
import type { SavedViewStore } from '../traces/views/saved-view.ts';
import type { TriggerStore } from '../triggers/trigger-store.ts';
import type { PresentedKey } from '../virtual-keys/virtual-key.ts';
import type { BackfillStore } from './backfill.ts';
import type {
  ApiKeyRecord,
  AuditRecord,
  ManagementStore,
  MemberRecord,
  OrganizationRecord,
  ProjectRecord,
  TeamRecord,
} from './management.ts';

export type Management = {
  readonly installation: InstallationStore;
  readonly sealed: SealedStore;
  readonly keys: KeyStore;
  readonly management: ManagementStore;
  readonly projects: ProjectStore;
  readonly evaluators: EvaluatorStore;
  readonly evaluatorRuns: EvaluatorRunStore;
  readonly traceDeletions: TraceDeletionStore;
  readonly traceShares: TraceShareStore;
  readonly savedViews: SavedViewStore;
  readonly judgeSpending: JudgeSpendingStore;
  readonly monitors: MonitorStore;
  readonly dashboards: DashboardStore;
  readonly triggers: TriggerStore;
  readonly datasets: DatasetStore;
  readonly prompts: PromptStore;
  readonly experiments: ExperimentStore;
  readonly webhooks: WebhookStore;
  readonly backfills: BackfillStore;
  readonly managementRetention: ManagementRetention;
};

export type ManagementRetention = PortRetention<ManagementCuts> & {
  /** The distinct trace retentions that projects have stored, archived projects included. */
  traceTerms(): Promise<readonly (number | null)[]>;
};

export type ManagementCuts = {
  /** Audit entries from before the instant are removed; null: they are kept for ever. */
  readonly auditBeforeMs: number | null;
};

/** Data that exists once per database. */
export type InstallationStore = {
  /** What is stored of the root secret, null on a fresh database. */
  readSecret(): Promise<InstalledSecret | null>;
  /** Makes another root secret the one of the database. */
  replaceSecret(secret: InstalledSecret): Promise<void>;
  /**
   * Creates the first organization with its initial records and stores the verifier, in one transaction. MUST do
   * nothing and return false when an organization exists already, also when several processes start at once.
   */
  bootstrap(plan: Bootstrap): Promise<boolean>;
  /** Creates one more organization with its initial records, in one transaction. */
  addOrganization(plan: NewOrganization): Promise<void>;
};

export type InstalledSecret = {
  readonly verifier: Buffer;
  /** The pepper of an earlier root secret, sealed; null: the root secret was never replaced. */
  readonly pepper: Buffer | null;
};

/** The stored values that are sealed with a key of the root secret, by column. */
export type SealedStore = {
  columns(): Promise<readonly string[]>;
  /** A page of the values of a column, after the `next` of the page before. */
  list(column: string, after: string | null): Promise<{ values: readonly SealedValue[]; next: string | null }>;
  /** MUST leave values that have changed since they were listed. */
  replace(column: string, changes: readonly { value: SealedValue; sealed: Buffer }[]): Promise<void>;
};

export type SealedValue = {
  /** The primary key of the row. */
  readonly key: { readonly [property: string]: string | number };
  /** The context it was sealed for. */
  readonly belongsTo: string;
  readonly sealed: Buffer;
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
  /** Null only for an unknown id: MUST return revoked and expired keys. MUST omit bindings to archived projects. */
  findApiKey(keyId: string): MaybePromise<ApiKey | null>;
  /** Costs as much as reading an unknown id: a refusal MUST take as long whether or not the key exists. */
  readDecoy(): MaybePromise<unknown>;
  /**
   * Finds a project by the hash of its key, or of the previous key while its overlap lasts at `nowMs`. MUST NOT return
   * archived projects.
   */
  findProjectByKeyHash(keyHash: Buffer, nowMs: number): MaybePromise<Project | null>;
  /** MUST NOT return archived projects. */
  findProject(projectId: string): MaybePromise<Project | null>;
  /**
   * Finds a virtual key by the hash of its secret, or of the secret before while its overlap lasts at `nowMs`. MUST return
   * disabled, revoked and expired keys, and those of members who are not active, and MUST NOT return keys of archived
   * projects.
   */
  findVirtualKey(secretHash: Buffer, nowMs: number): MaybePromise<PresentedKey | null>;
  /**
   * Finds a session by the hash of its secret; null once it is revoked. Returns expired sessions, and MUST NOT return one as
   * idle at `nowMs` that another process has used.
   */
  findSession(secretHash: Buffer, nowMs: number): MaybePromise<PresentedSession | null>;
  /** The model providers and budgets of an organization. */
  findGatewaySetup(organizationId: string): MaybePromise<GatewaySetup>;
  /** Whether any credential without a valid checksum exists. MUST be at most 5 s old. */
  hasImportedCredentials(): MaybePromise<boolean>;
};

export type ProjectStore = {
  /** Numbers of the projects of the organization among those ids, archived projects included. */
  numbers(organizationId: string, ids: readonly string[]): Promise<ReadonlyMap<string, number>>;
  /**
   * Changes the named settings and returns all of them; null when the project is unknown or archived. MUST leave other
   * settings alone. Every request that begins after the answer MUST use the new settings. Stores `audited` with the names of
   * the settings that get another value, where there are any; its time is that of the change.
   */
  updateSettings(
    projectId: string,
    change: ProjectSettingsChange,
    audited: AuditRecord,
  ): Promise<StoredProjectSettings | null>;
};

export type StoredProjectSettings = Pick<Project, 'traceRetentionDays' | 'emitRequestEvents'>;

/** A chosen term is always a number: null would mean that the project never chose. */
export type ProjectSettingsChange = { readonly traceRetentionDays?: number; readonly emitRequestEvents?: boolean };
