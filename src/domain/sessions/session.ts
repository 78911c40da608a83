/** A session of a browser: a secret in a cookie that stands for the key that began it. */

import type { PageRange } from '../management/listing.ts';

export type SessionRecord = {
  readonly organizationId: string;
  readonly id: string;
  readonly secretHash: Buffer;
  /** The stored hash of the token that began it: the session ends when that token no longer works. */
  readonly keyHash: Buffer;
  /** The person whose session it is; null for service keys and project keys. */
  readonly userId: string | null;
  /** The key that began it: one of both is set. */
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

export type SessionStore = {
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

export function isIdle({ lastSeenAtMs }: Pick<SessionRecord, 'lastSeenAtMs'>, nowMs: number): boolean {
  return nowMs - lastSeenAtMs >= SESSION_IDLE_MS;
}

export function hasEnded(session: SessionRecord, nowMs: number): boolean {
  return nowMs >= session.expiresAtMs || isIdle(session, nowMs);
}
