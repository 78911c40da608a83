/** What an organization manages, as it is stored, and the port that keeps it. Instants are epoch milliseconds. */

import type { NewReplay } from './delivery.ts';
import type { EndpointChange } from './endpoint.ts';
import type { Binding } from './permissions.ts';
import type { StoredOverride } from './pricing/override.ts';
import type { Redelivery } from './webhook-store.ts';

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
  /** The last characters of the project key. */
  readonly keyHint: string;
  /** Whether the key has no valid checksum. */
  readonly keyImported: boolean;
  /** The key before a rotation, which works until an instant; all three null when there is none. */
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

/** A grant of a member. The one built-in role at the organization, when there is one, is the role of the member. */
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
  /** The secret before a rotation, which works until an instant; both null when there is none. */
  readonly previousSecretHash: Buffer | null;
  readonly previousSecretUntilMs: number | null;
  readonly expiresAtMs: number | null;
  readonly revokedAtMs: number | null;
  readonly lastUsedAtMs: number | null;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
  /** In the order they were given. */
  readonly bindings: readonly (Readonly<Binding> & { readonly id: string })[];
};

export type AuditRecord = {
  readonly organizationId: string;
  readonly id: string;
  readonly createdAtMs: number;
  readonly actorKind: 'personal_key' | 'service_key' | 'project_key' | 'bootstrap' | 'cli';
  readonly actorUserId: string | null;
  readonly actorKeyId: string | null;
  readonly action: string;
  readonly targetType: string;
  readonly targetId: string | null;
  readonly outcome: 'success' | 'refused';
  /** Of the answer, as over HTTP. */
  readonly status: number;
  readonly code: string | null;
  /** The names of the fields that changed. */
  readonly fields: readonly string[];
  readonly ip: string | null;
  readonly userAgent: string | null;
  readonly requestId: string | null;
  readonly traceId: string | null;
  /** How often it happened within a minute. */
  readonly count: number;
};

/** What an idempotency key stands for. */
export type ReceiptName = {
  readonly organizationId: string;
  readonly keyId: string;
  readonly operation: string;
  readonly value: string;
};

/** The answer of an effect that is stored together with it. */
export type Receipt = { readonly name: ReceiptName; readonly fingerprint: Buffer; readonly answer: Buffer };

/**
 * Rows are stored whole: a new id is inserted, a known one replaced together with the grants in it. When a known
 * credential was last used stays as `noteUse` left it. Members who are removed take their role bindings along.
 */
export type ManagementChange = {
  readonly organizationId: string;
  /** As `version` answered before anything of the decision was read. */
  readonly expectedVersion: number;
  readonly organization?: OrganizationRecord;
  readonly teams?: readonly TeamRecord[];
  readonly projects?: readonly ProjectRecord[];
  readonly members?: readonly MemberRecord[];
  readonly roleBindings?: readonly RoleBindingRecord[];
  readonly apiKeys?: readonly ApiKeyRecord[];
  /**
   * Endpoints are compared by their own versions too, because deliveries change them. What a new mask means holds for events
   * that commit afterwards. One that is archived takes its unfinished replays along.
   */
  readonly endpoints?: readonly EndpointChange[];
  readonly replays?: readonly NewReplay[];
  readonly redeliveries?: readonly Redelivery[];
  /** Never changed once they are stored. */
  readonly priceOverrides?: readonly StoredOverride[];
  readonly removedPriceOverrides?: readonly { readonly id: string }[];
  readonly removedMembers?: readonly { readonly userId: string }[];
  readonly removedRoleBindings?: readonly { readonly userId: string; readonly id: string }[];
  readonly audit: readonly AuditRecord[];
  readonly receipt?: Receipt;
};

export type KeyListing = {
  /** Personal keys of this owner; null: of nobody; `all`: of everybody. */
  readonly personalOf: string | null | 'all';
  readonly includeRevoked: boolean;
  readonly after: { readonly createdAtMs: number; readonly id: string } | null;
  readonly limit: number;
};

/** Both ends of the range count. */
export type AuditListing = {
  readonly fromMs: number | null;
  readonly toMs: number | null;
  readonly action: string | null;
  readonly actorUserId: string | null;
  readonly actorKeyId: string | null;
  readonly targetId: string | null;
  readonly outcome: string | null;
  readonly after: { readonly createdAtMs: number; readonly id: string } | null;
  readonly limit: number;
};

/**
 * Decisions are made outside, on what was read, and stored only if nothing of the organization has changed since: so
 * every rule holds also when several requests, or several processes, decide at once.
 */
export type ManagementStore = {
  /**
   * Moves on with every change of what is decided upon. 0 for an unknown organization. MUST be current for all writes
   * acknowledged before the call.
   */
  version(organizationId: string): Promise<number>;
  /**
   * Stores all of it or nothing, in one transaction. MUST answer `stale` and store nothing when the version is
   * another than expected, or when the claim of the receipt went to somebody else, and `key_taken` when a project key
   * is in use anywhere, within the overlap of a rotation too. Every request that begins after the answer MUST be judged by what was stored.
   */
  commit(change: ManagementChange): Promise<'stored' | 'stale' | 'key_taken'>;
  organization(organizationId: string): Promise<OrganizationRecord | null>;
  /** Oldest first. */
  teams(organizationId: string): Promise<readonly TeamRecord[]>;
  /** Oldest first, archived ones left out. */
  projects(organizationId: string): Promise<readonly ProjectRecord[]>;
  /** Archived ones too. */
  project(organizationId: string, projectId: string): Promise<ProjectRecord | null>;
  /** Oldest first. */
  members(organizationId: string): Promise<readonly MemberRecord[]>;
  member(organizationId: string, userId: string): Promise<MemberRecord | null>;
  /** Of one member, or of all; oldest first. */
  roleBindings(organizationId: string, userId: string | null): Promise<readonly RoleBindingRecord[]>;
  /** Newest first, by (createdAt, id). */
  priceOverrides(organizationId: string): Promise<readonly StoredOverride[]>;
  apiKey(organizationId: string, keyId: string): Promise<ApiKeyRecord | null>;
  /** Service keys, and the personal ones asked for; newest first by (createdAt, id). */
  apiKeys(organizationId: string, listing: KeyListing): Promise<readonly ApiKeyRecord[]>;
  /** Revoked ones too; newest first. */
  apiKeysOf(organizationId: string, userId: string): Promise<readonly ApiKeyRecord[]>;
  /** Newest first by (createdAt, id). */
  audit(organizationId: string, listing: AuditListing): Promise<readonly AuditRecord[]>;
  /** A refusal: stored without a version, and counted up where the same one is at most a minute old. */
  noteRefusal(refusal: AuditRecord): Promise<void>;
  /** When credentials were used, off the path of requests. MUST NOT end what authentication remembers. */
  noteUse(uses: readonly CredentialUse[]): Promise<void>;
  /**
   * Claims an idempotency key before its effect. Answers the receipt when the effect is stored, `running` while
   * another claim is younger than `staleBeforeMs`, else `claimed`.
   */
  claim(name: ReceiptName, fingerprint: Buffer, at: ClaimInstants): Promise<'claimed' | 'running' | Receipt>;
  /** Lets go of a claim whose effect did not come about. A receipt stays. */
  release(name: ReceiptName): Promise<void>;
  /**
   * For recovery at the command line: the active members with the role ADMIN that have this e-mail in lower case, each
   * of another organization, oldest first.
   */
  findAdministrators(email: string): Promise<readonly MemberRecord[]>;
};

export type CredentialUse =
  | { readonly kind: 'api_key'; readonly id: string; readonly atMs: number }
  | { readonly kind: 'project_key'; readonly id: string; readonly atMs: number };

export type ClaimInstants = {
  readonly nowMs: number;
  /** Claims made before it belong to a process that died. */
  readonly staleBeforeMs: number;
  /** Receipts claimed before it count no more. */
  readonly forgottenBeforeMs: number;
};
