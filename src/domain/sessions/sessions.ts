/** Begins, lists and ends the sessions of browsers. */

import type { ApiKey } from '../caller.ts';
import type { RandomBytes } from '../clock.ts';
import type { CursorCodec } from '../cursor.ts';
import { Fault } from '../fault.ts';
import { isPossibleId, newId } from '../ids.ts';
import { shownUserAgent } from '../management/audit.ts';
import { refreshCaller } from '../management/fresh-caller.ts';
import { type CursorPageRequest, readCursorPage } from '../management/listing.ts';
import type { ManagementStore } from '../management/management.ts';
import { commitAudited } from '../management/optimistic-commit.ts';
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

type SessionDeps = {
  readonly store: ManagementStore;
  readonly random: RandomBytes;
  readonly cursors: CursorCodec;
  readonly pepper: Buffer;
};

export type Sessions = ReturnType<typeof createSessions>;

export function createSessions(deps: SessionDeps) {
  const { store, cursors } = deps;
  return {
    /** Throws invalid_credentials when the key has ended meanwhile. */
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

function begin(deps: SessionDeps, call: SessionCall): Promise<NewSession> {
  const { store, random, pepper } = deps;
  const { actor, nowMs } = call;
  return commitAudited(deps, call, async () => {
    const caller = await refreshCaller(store, call);
    const organizationId = caller.organization.id;
    const owner = ownerOf(caller);
    const secret = mintSecretPart(random);
    const id = newId('session', random);
    const session: SessionRecord = {
      organizationId,
      id,
      secretHash: hashSecret(pepper, secret),
      ...originOf(caller),
      userAgent: shownUserAgent(actor),
      ip: actor.ip,
      createdAtMs: nowMs,
      lastSeenAtMs: nowMs,
      expiresAtMs: endOf(caller, nowMs),
    };
    const held = await store.sessions(organizationId, { owner, nowMs, after: null, limit: HELD_READ_MAX });
    const endedSessions = held.slice(SESSIONS_PER_OWNER_MAX - 1).map((each) => ({ id: each.id }));
    const audited = { action: 'session.create', targetId: id, status: 201 };
    return { result: { session, secret }, change: { sessions: [session], endedSessions }, audited };
  });
}

/** Two processes at once may exceed the limit by a few; the next session ends those. */
const HELD_READ_MAX = SESSIONS_PER_OWNER_MAX + 100;

function originOf(caller: SignedIn): Pick<SessionRecord, 'keyHash' | 'userId' | 'apiKeyId' | 'projectId'> {
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
  return ownerOfKey(caller.key);
}

function ownerOfKey({ id, userId }: Pick<ApiKey, 'id' | 'userId'>): SessionOwner {
  return userId === null ? { apiKeyId: id } : { userId };
}

function reaches(owner: SessionOwner | 'all', session: SessionRecord): boolean {
  if (owner === 'all') return true;
  if ('userId' in owner) return session.userId === owner.userId;
  return 'apiKeyId' in owner ? session.apiKeyId === owner.apiKeyId : session.projectId === owner.projectId;
}
