/** What an organization manages, as it is stored, and the port that keeps it. Instants are epoch milliseconds. */

import type { Budget } from '../budgets/budget.ts';
import type { BudgetRecords } from '../budgets/budget-store.ts';
import type { NewReplay } from '../delivery/delivery.ts';
import type { Redelivery } from '../delivery/webhook-store.ts';
import type { EndpointChange } from '../endpoints/endpoint.ts';
import type { NewEvent } from '../events/event.ts';
import type { GovernanceEventType } from '../events/event-type.ts';
import type { Binding } from '../keys/permissions.ts';
import type { ModelProviderRecord } from '../model-providers/model-provider.ts';
import type { StoredOverride } from '../pricing/override.ts';
import type { IdentityRecord, SessionOwner, SessionRecord, SessionStore } from '../sessions/session.ts';
import type { VirtualKeyListing, VirtualKeyProject, VirtualKeyRecord } from '../virtual-keys/virtual-key.ts';
import type { PageRange } from './listing.ts';

export type OrganizationRecord = {
  readonly id: string;
  readonly name: string;
  readonly slug: string;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
};

export type TeamRecord = OrganizationRecord & { readonly organizationId: string };

export type ProjectRecord = TeamRecord & {
  readonly teamId: string;
  readonly language: string;
  readonly framework: string;
  readonly keyHash: Buffer;
  /** The last characters of the project key, to recognise it. */
  readonly keyHint: string;
  /** Whether the key has no valid checksum. */
  readonly keyImported: boolean;
  /** The previous key, which works until an instant after a rotation; all three null when there is none. */
  readonly previousKeyHash: Buffer | null;
  readonly previousKeyUntilMs: number | null;
  readonly previousKeyImported: boolean | null;
  readonly keyLastUsedAtMs: number | null;
  readonly archivedAtMs: number | null;
};

export type MemberRecord = {
  readonly organizationId: string;
  readonly userId: string;
  /** Lower case, unique in the organization. */
  readonly email: string;
  readonly name: string;
  readonly disabledAtMs: number | null;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
};

/** A grant of a member. A built-in role at the organization, at most one, is the member's role. */
export type RoleBindingRecord = Readonly<Binding> & {
  readonly organizationId: string;
  readonly userId: string;
  readonly id: string;
  readonly createdAtMs: number;
};

export type ApiKeyRecord = {
  readonly organizationId: string;
  readonly id: string;
  readonly keyType: 'personal' | 'service';
  readonly name: string;
  readonly description: string | null;
  /** The owner; null for service keys. */
  readonly userId: string | null;
  readonly createdByUserId: string | null;
  readonly permissionMode: 'all' | 'readonly' | 'restricted';
  readonly secretHash: Buffer;
  /** Whether the token has no valid checksum. */
  readonly imported: boolean;
  /** The previous secret, which works until an instant after a rotation; both null when there is none. */
  readonly previousSecretHash: Buffer | null;
  readonly previousSecretUntilMs: number | null;
  readonly expiresAtMs: number | null;
  readonly revokedAtMs: number | null;
  readonly lastUsedAtMs: number | null;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
  /** In the order of the request. */
  readonly bindings: readonly (Readonly<Binding> & { readonly id: string })[];
};

export type AuditRecord = {
  readonly organizationId: string;
  readonly id: string;
  readonly createdAtMs: number;
  readonly actorKind: 'personal_key' | 'service_key' | 'project_key' | 'session' | 'bootstrap' | 'cli';
  readonly actorUserId: string | null;
  readonly actorKeyId: string | null;
  readonly action: string;
  readonly targetType: string;
  readonly targetId: string | null;
  readonly outcome: 'success' | 'refused';
  /** The HTTP status of the answer. */
  readonly status: number;
  readonly code: string | null;
  /** Names of the changed fields. */
  readonly fields: readonly string[];
  readonly ip: string | null;
  readonly userAgent: string | null;
  readonly requestId: string | null;
  readonly traceId: string | null;
  /** How often it happened within a minute. */
  readonly count: number;
};

/** Identifies one use of an idempotency key. */
export type ReceiptName = {
  readonly organizationId: string;
  readonly keyId: string;
  readonly operation: string;
  readonly value: string;
};

/** The answer of an operation, stored with its change. */
export type Receipt = { readonly name: ReceiptName; readonly fingerprint: Buffer; readonly answer: Buffer };

/**
 * Rows are stored whole: a new id is inserted, a known one replaced together with its grants. The last use of a known
 * credential stays as `recordUse` set it. Removing a member removes their role bindings.
 */
export type ManagementChange = {
  readonly organizationId: string;
  /** The answer of `version` before the attempt read anything. */
  readonly expectedVersion: number;
  readonly organization?: OrganizationRecord;
  readonly teams?: readonly TeamRecord[];
  readonly projects?: readonly ProjectRecord[];
  readonly members?: readonly MemberRecord[];
  readonly roleBindings?: readonly RoleBindingRecord[];
  readonly apiKeys?: readonly ApiKeyRecord[];
  /**
   * Endpoints have versions of their own too, because deliveries change them. A new mask applies to events that commit
   * afterwards. Archiving an endpoint ends its unfinished replays.
   */
  readonly endpoints?: readonly EndpointChange[];
  readonly replays?: readonly NewReplay[];
  readonly redeliveries?: readonly Redelivery[];
  /** Increases the version of the organization's budgets. */
  readonly budgets?: readonly Budget[];
  /** Immutable once stored. */
  readonly priceOverrides?: readonly StoredOverride[];
  readonly removedPriceOverrides?: readonly { readonly id: string }[];
  readonly modelProviders?: readonly ModelProviderRecord[];
  readonly removedModelProviders?: readonly { readonly id: string }[];
  readonly virtualKeys?: readonly VirtualKeyRecord[];
  /** New ones. */
  readonly sessions?: readonly SessionRecord[];
  /** New ones. Removing a member removes theirs. */
  readonly identities?: readonly IdentityRecord[];
  /** By `untilMs`: all of the organization that had ended at that instant. They are removed before new ones are stored. */
  readonly endedSessions?: readonly (SessionOwner | { readonly id: string } | { readonly untilMs: number })[];
  /** Sessions of an owner that end at that instant, unless they end before it. */
  readonly endingSessions?: readonly { readonly owner: SessionOwner; readonly atMs: number }[];
  /** What happened to virtual keys. Their ids are new. */
  readonly events?: readonly NewEvent<GovernanceEventType>[];
  readonly removedMembers?: readonly { readonly userId: string }[];
  readonly removedRoleBindings?: readonly { readonly userId: string; readonly id: string }[];
  readonly audit: readonly AuditRecord[];
  readonly receipt?: Receipt;
};

export type KeyListing = PageRange & {
  /** Personal keys of this owner; null: none; `all`: of every owner. */
  readonly personalOf: string | null | 'all';
  readonly includeRevoked: boolean;
};

/** The range includes both ends. */
export type AuditListing = PageRange & {
  readonly fromMs: number | null;
  readonly toMs: number | null;
  readonly action: string | null;
  readonly actorUserId: string | null;
  readonly actorKeyId: string | null;
  readonly targetId: string | null;
  readonly outcome: string | null;
};

/**
 * Rules run outside the store on what they read, and a change is committed only if nothing of the organization changed
 * since: so every rule holds when several requests or processes commit at once.
 */
export type ManagementStore = BudgetRecords &
  SessionStore & {
    /**
     * Increases with every change of management data. 0 for an unknown organization. MUST be current for all writes
     * acknowledged before the call.
     */
    version(organizationId: string): Promise<number>;
    /**
     * Stores all of it or nothing, in one transaction. MUST return `stale` and store nothing when the version is not the
     * expected one, or when another request took over the claim of the receipt, and `key_taken` when a project key is in
     * use anywhere, within the overlap of a rotation too. Every request that begins after the answer MUST see the change.
     * MUST append its events to the log of the organization, in the same order as all other events.
     */
    commit(change: ManagementChange): Promise<'stored' | 'stale' | 'key_taken'>;
    organization(organizationId: string): Promise<OrganizationRecord | null>;
    /** Oldest first. */
    teams(organizationId: string): Promise<readonly TeamRecord[]>;
    /** Oldest first, without archived ones. */
    projects(organizationId: string): Promise<readonly ProjectRecord[]>;
    /** Archived ones included. */
    project(organizationId: string, projectId: string): Promise<ProjectRecord | null>;
    /** Oldest first. */
    members(organizationId: string): Promise<readonly MemberRecord[]>;
    member(organizationId: string, userId: string): Promise<MemberRecord | null>;
    /** Of one member, or of all members for null; oldest first. */
    roleBindings(organizationId: string, userId: string | null): Promise<readonly RoleBindingRecord[]>;
    /** Newest first, by (createdAt, id). */
    priceOverrides(organizationId: string): Promise<readonly StoredOverride[]>;
    /** Oldest first, by (createdAt, id). */
    modelProviders(organizationId: string): Promise<readonly ModelProviderRecord[]>;
    modelProvider(organizationId: string, id: string): Promise<ModelProviderRecord | null>;
    virtualKey(organizationId: string, id: string): Promise<VirtualKeyRecord | null>;
    /** Revoked ones included; newest first by (createdAt, id). */
    virtualKeys(organizationId: string, listing: VirtualKeyListing): Promise<readonly VirtualKeyRecord[]>;
    /** Revoked ones included. */
    countVirtualKeys(organizationId: string): Promise<number>;
    /** The virtual keys that have these ids, at most 500, with their projects. */
    virtualKeyProjects(organizationId: string, ids: readonly string[]): Promise<readonly VirtualKeyProject[]>;
    apiKey(organizationId: string, keyId: string): Promise<ApiKeyRecord | null>;
    /** Service keys and the requested personal keys; newest first by (createdAt, id). */
    apiKeys(organizationId: string, listing: KeyListing): Promise<readonly ApiKeyRecord[]>;
    /** Revoked ones included; newest first. */
    apiKeysOf(organizationId: string, userId: string): Promise<readonly ApiKeyRecord[]>;
    /** Newest first by (createdAt, id). */
    audit(organizationId: string, listing: AuditListing): Promise<readonly AuditRecord[]>;
    /** Stores a refusal without a version; increases the count of an equal refusal that is at most a minute old. */
    recordRefusal(refusal: AuditRecord): Promise<void>;
    /** Stores when credentials were used, outside of requests. MUST NOT invalidate the caches of authentication. */
    recordUse(uses: readonly CredentialUse[]): Promise<void>;
    /**
     * Claims an idempotency key before the operation. Returns the receipt when the operation took effect, `running` while
     * another claim is younger than `staleBeforeMs`, else `claimed`.
     */
    claim(name: ReceiptName, fingerprint: Buffer, at: ClaimInstants): Promise<'claimed' | 'running' | Receipt>;
    /** Releases a claim whose operation had no effect. A receipt stays. */
    release(name: ReceiptName): Promise<void>;
    /**
     * For recovery at the command line: active members with the role ADMIN and this lower-case e-mail, one per
     * organization, oldest first.
     */
    findAdministrators(email: string): Promise<readonly MemberRecord[]>;
  };

export type CredentialUse =
  | { readonly kind: 'api_key'; readonly id: string; readonly atMs: number }
  | { readonly kind: 'project_key'; readonly id: string; readonly atMs: number }
  | { readonly kind: 'virtual_key'; readonly id: string; readonly atMs: number }
  | { readonly kind: 'session'; readonly id: string; readonly atMs: number };

export type ClaimInstants = {
  readonly nowMs: number;
  /** Claims made earlier belong to a process that died. */
  readonly staleBeforeMs: number;
  /** Receipts claimed earlier have expired. */
  readonly expiredBeforeMs: number;
};
