/** A session of a browser: a secret in a cookie that stands for the key that began it, or for the person who signed in. */

import type { PageRange } from '../management/listing.ts';

export type SessionRecord = {
  readonly organizationId: string;
  readonly id: string;
  readonly secretHash: Buffer;
  /**
   * The stored hash of the token that began it: the session ends when that token no longer works. Of the identity of a person
   * who signed in without a key.
   */
  readonly keyHash: Buffer;
  /** The person whose session it is; null for service keys and project keys. */
  readonly userId: string | null;
  /** The key that began it: one of both is set, or none for a person who signed in without a key. */
  readonly apiKeyId: string | null;
  readonly projectId: string | null;
  readonly userAgent: string | null;
  readonly ip: string | null;
  readonly createdAtMs: number;
  readonly lastSeenAtMs: number;
  readonly expiresAtMs: number;
};

/** All sessions of a person, of a key, or of the key of a project. */
export type SessionOwner = { readonly userId: string } | { readonly apiKeyId: string } | { readonly projectId: string };

/** Sessions that have not ended at `nowMs`. */
export type SessionListing = PageRange & { readonly owner: SessionOwner | 'all'; readonly nowMs: number };

/** Who a member is to an issuer of OpenID Connect. A member has one identity of an issuer. */
export type IdentityRecord = {
  readonly organizationId: string;
  readonly userId: string;
  readonly issuer: string;
  readonly subject: string;
  readonly createdAtMs: number;
};

export type SessionStore = {
  /** In whichever organization. */
  identity(issuer: string, subject: string): Promise<IdentityRecord | null>;
  identityOf(organizationId: string, userId: string, issuer: string): Promise<IdentityRecord | null>;
  /** The oldest organization that has a member with this lower-case e-mail address, else the oldest of all. */
  findHome(email: string): Promise<string | null>;
  session(organizationId: string, id: string): Promise<SessionRecord | null>;
  /** Newest first by (createdAt, id). */
  sessions(organizationId: string, listing: SessionListing): Promise<readonly SessionRecord[]>;
};

/** How long a session lives without use. */
export const SESSION_IDLE_MS = 12 * 3_600_000;
/** How long a session lives at most. */
export const SESSION_AGE_MAX_MS = 7 * 86_400_000;
/** The most sessions of one owner; a further one ends the oldest. */
export const SESSIONS_PER_OWNER_MAX = 100;

/** What a rotation does to the sessions that the previous token began: they end with it. Null: it ends now. */
export function endSessions(owner: SessionOwner, tokenUntilMs: number | null) {
  return tokenUntilMs === null ? { endedSessions: [owner] } : { endingSessions: [{ owner, atMs: tokenUntilMs }] };
}

export function isIdle({ lastSeenAtMs }: Pick<SessionRecord, 'lastSeenAtMs'>, nowMs: number): boolean {
  return nowMs - lastSeenAtMs >= SESSION_IDLE_MS;
}

export function hasEnded(session: SessionRecord, nowMs: number): boolean {
  return nowMs >= session.expiresAtMs || isIdle(session, nowMs);
}
