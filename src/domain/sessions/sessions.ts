/** Begins, lists and ends the sessions of browsers. */

import type { RandomBytes } from '../clock.ts';
import type { CursorCodec } from '../cursor.ts';
import { Fault } from '../fault.ts';
import { isPossibleId, newId } from '../ids.ts';
import { type Actor, shownUserAgent } from '../management/audit.ts';
import { refreshCaller } from '../management/fresh-caller.ts';
import { type CursorPageRequest, readCursorPage } from '../management/listing.ts';
import type { ManagementStore } from '../management/management.ts';
import { type AuditedProposal, commitAudited } from '../management/optimistic-commit.ts';
import { isAdministrator } from '../organization/administrators.ts';
import { hashSecret, mintSecretPart } from '../secrets.ts';
import { readReach, type SessionCall, type SignedIn } from './reach.ts';
import {
  hasEnded,
  SESSION_AGE_MAX_MS,
  SESSIONS_PER_OWNER_MAX,
  type SessionOwner,
  type SessionRecord,
} from './session.ts';

/** A session with its secret, which goes into the cookie and nowhere else. */
export type NewSession = { readonly session: SessionRecord; readonly secret: string };

export type SessionMeans = {
  readonly store: ManagementStore;
  readonly random: RandomBytes;
  readonly pepper: Buffer;
  readonly retentionNowMs: () => number;
};

type SessionDeps = SessionMeans & {
  readonly cursors: CursorCodec;
  /** Whether keys begin sessions. */
  readonly byKey: boolean;
};

export type Sessions = ReturnType<typeof createSessions>;

export function createSessions(deps: SessionDeps) {
  const { store, cursors } = deps;
  return {
    /** Throws key_sign_in_off where keys begin none, and invalid_credentials when the key has ended meanwhile. */
    begin: (call: SessionCall) => begin(deps, call),
    /** What the credential of the call reaches. */
    reach: (call: SessionCall) => readReach(store, call),
    /** Those that the caller may end, newest first. Throws invalid_cursor. */
    async list({ caller, nowMs }: SessionCall, request: CursorPageRequest) {
      const organizationId = caller.organization.id;
      const owner = reachOf(caller);
      const binding = ['sessions', organizationId, owner === 'all' ? owner : JSON.stringify(owner)];
      return await readCursorPage(
        { cursors, binding, positionOf: (session: SessionRecord) => session },
        request,
        (at) => store.sessions(organizationId, { ...at, owner, nowMs }),
      );
    },
    /** Throws session_not_found for a session of somebody else, too. */
    async revoke(call: SessionCall, id: string): Promise<void> {
      await commitAudited(deps, call, async () => {
        const fresh = await refreshCaller(store, call);
        const session = isPossibleId(id) ? await store.session(fresh.organization.id, id) : null;
        if (session === null || hasEnded(session, call.nowMs) || !reaches(reachOf(fresh), session)) {
          throw new Fault('session_not_found', 'Session not found.');
        }
        return removal(id);
      });
    },
    /** Ends the session of the call, if there is one. */
    async end(call: SessionCall): Promise<void> {
      const { session } = call.caller;
      if (session === undefined) return;
      await commitAudited(deps, call, async () => {
        const stored = await store.session(call.caller.organization.id, session.id);
        return stored === null ? { result: undefined, change: null } : removal(session.id);
      });
    },
  };
}

function removal(id: string) {
  return {
    result: undefined,
    change: { endedSessions: [{ id }] },
    audited: { action: 'session.revoke', targetId: id },
  };
}

async function begin(deps: SessionDeps, call: SessionCall): Promise<NewSession> {
  const { nowMs, actor } = call;
  if (!deps.byKey) {
    throw new Fault('key_sign_in_off', 'Keys do not sign in here: SPANDREL_KEY_SIGN_IN is off. Programs may use them.');
  }
  return await commitAudited(deps, call, async () => {
    const caller = await refreshCaller(deps.store, call);
    const origin = originOf(caller);
    return proposeSession(deps, { actor, nowMs, owner: ownerOf(caller), origin, endsAtMs: endOf(caller, nowMs) });
  });
}

type Beginning = {
  readonly actor: Actor;
  readonly nowMs: number;
  readonly owner: SessionOwner;
  readonly origin: Pick<SessionRecord, 'keyHash' | 'userId' | 'apiKeyId' | 'projectId'>;
  readonly endsAtMs: number;
};

/** A new session, which may end an old one of its owner. */
export async function proposeSession(
  { store, random, pepper, retentionNowMs }: SessionMeans,
  { actor, nowMs, owner, origin, endsAtMs }: Beginning,
) {
  const { organizationId } = actor;
  const secret = mintSecretPart(random);
  const id = newId('session', random);
  const session: SessionRecord = {
    organizationId,
    id,
    secretHash: hashSecret(pepper, secret),
    ...origin,
    userAgent: shownUserAgent(actor),
    ip: actor.ip,
    createdAtMs: nowMs,
    lastSeenAtMs: nowMs,
    expiresAtMs: endsAtMs,
  };
  const held = await store.sessions(organizationId, { owner, nowMs, after: null, limit: HELD_READ_MAX });
  const surplus = held.slice(SESSIONS_PER_OWNER_MAX - 1).map((each) => ({ id: each.id }));
  const endedSessions = [...surplus, { untilMs: retentionNowMs() }];
  return {
    result: { session, secret },
    change: { sessions: [session], endedSessions },
    audited: { action: 'session.create', targetId: id, status: 201 },
  } satisfies AuditedProposal<NewSession>;
}

/** Two processes at once may exceed the limit by a few; the next session ends those. */
const HELD_READ_MAX = SESSIONS_PER_OWNER_MAX + 100;

function originOf(caller: SignedIn): Beginning['origin'] {
  if (caller.kind === 'project_key') {
    return { keyHash: caller.keyHash, userId: null, apiKeyId: null, projectId: caller.project.id };
  }
  const { id, userId } = caller.key;
  return { keyHash: caller.keyHash, userId, apiKeyId: id, projectId: null };
}

function endOf(caller: SignedIn, nowMs: number): number {
  const latestMs = nowMs + SESSION_AGE_MAX_MS;
  return caller.kind === 'api_key' ? Math.min(latestMs, caller.key.expiresAtMs ?? latestMs) : latestMs;
}

/** The sessions that the caller may list and end. */
function reachOf(caller: SignedIn): SessionOwner | 'all' {
  return isAdministrator(caller, caller.organization.id) ? 'all' : ownerOf(caller);
}

function ownerOf(caller: SignedIn): SessionOwner {
  if (caller.kind === 'project_key') return { projectId: caller.project.id };
  const { id, userId } = caller.key;
  if (userId !== null) return { userId };
  if (id === null) throw new Error('the caller is neither a person nor a key');
  return { apiKeyId: id };
}

function reaches(owner: SessionOwner | 'all', session: SessionRecord): boolean {
  if (owner === 'all') return true;
  if ('userId' in owner) return session.userId === owner.userId;
  return 'apiKeyId' in owner ? session.apiKeyId === owner.apiKeyId : session.projectId === owner.projectId;
}
