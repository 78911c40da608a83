/** Updating, revoking, rotating API keys. */

import { liveGrants, requireCovered, requireEndsInTime } from './ceiling.ts';
import {
  administers,
  contradictions,
  type Draft,
  draftOf,
  invalid,
  listOf,
  toGrants,
  unknownPermissions,
} from './key-draft.ts';
import { isOfAnother, requireVisible, viewKey } from './key-view.ts';
import { grantsOfMember, holdersOf } from './power.ts';
import type { Grant, Key } from './state.ts';
import { type Allowed, allow, type Call, conflictWhen, instant, isAdministratorMember, refuse } from './verdict.ts';

const REVOKED = [409, 'api_key_already_revoked'] as const;
const CODE = 'api_key_scope_violation';
const EXPIRED = [409, 'api_key_expired'] as const;

function requireMayChange(call: Call, target: Key): void {
  if (isOfAnother(call, target) && !isAdministratorMember(call)) refuse(403, 'api_key_not_owned');
}

export function judgeKeyUpdate(call: Call): Allowed {
  const draft = draftOf(call.ask);
  const unknown = unknownPermissions(draft);
  if (unknown.length > 0) invalid(...unknown);
  const target = requireVisible(call);
  requireMayChange(call, target);
  conflictWhen(target.revokedAtMs !== null, call, REVOKED);
  const next = merge(call, target, draft);
  const facts = requireMayBecome(call, target, next);
  const changed: Key = isSame(target, next) ? target : { ...next, updatedAtMs: call.state.nowMs };
  return allow(200, {
    shows: viewKey(call, changed),
    facts,
    commit: () => void call.organization.keys.set(target.id, changed),
  });
}

/** The ceiling applies only to grants and expiries that the update changes. */
function requireMayBecome(call: Call, target: Key, next: Key): readonly string[] {
  const { organization, key } = call;
  const regrants = grantSet(target.grants) !== grantSet(next.grants);
  const moves = target.expiresAtMs !== next.expiresAtMs;
  const prolongs = target.expiresAtMs !== null && (next.expiresAtMs ?? Number.POSITIVE_INFINITY) > target.expiresAtMs;
  if (regrants || moves) requireEndsInTime(call, next.expiresAtMs);
  if (regrants) {
    const owner = target.userId === null ? [] : [grantsOfMember(organization, target.userId)];
    const holders = [...holdersOf(organization, key), ...owner];
    requireCovered(call, next.grants, { code: CODE, holders, isNamed: true });
  } else if (prolongs) {
    requireCovered(call, liveGrants(organization, next.grants), { code: CODE });
  }
  return [...(regrants ? ['grants of a key changed'] : []), ...(prolongs ? ['a key lives longer'] : [])];
}

function merge({ state }: Call, stored: Key, draft: Draft): Key {
  const { permissionMode = stored.permissionMode } = draft;
  const empties = draft.permissionMode !== undefined && permissionMode !== 'restricted';
  const permissions = draft.permissions ?? (empties ? [] : listOf(stored.grants));
  const grants = toGrants(mergeScopes(stored, draft), permissions);
  const expiresAtMs = mergeExpiry(stored, draft);
  const lateEnough = expiresAtMs === null || expiresAtMs === stored.expiresAtMs || expiresAtMs > state.nowMs;
  const isPersonal = stored.keyType === 'personal';
  const named = draft.assignedToUserId ?? null;
  const touches = ['bindings', 'permissionMode', 'permissions', 'projectIds'].some((field) => field in draft);
  const problems = [
    ...(draft.keyType !== undefined && draft.keyType !== stored.keyType ? ['keyType'] : []),
    ...(named !== null && named !== stored.userId ? ['assignedToUserId'] : []),
    ...(lateEnough ? [] : ['expiresAt']),
    ...(isPersonal && draft.projectIds !== undefined && draft.projectIds.length > 0 ? ['projectIds'] : []),
    ...(grants.length === 0 ? ['bindings', 'projectIds'].filter((field) => field in draft) : []),
    ...(touches ? contradictions({ permissionMode, bindings: grants, permissions }) : []),
  ];
  if (problems.length > 0) invalid(...problems);
  return {
    ...stored,
    name: draft.name ?? stored.name,
    description: draft.description === undefined ? stored.description : draft.description || null,
    permissionMode,
    grants,
    expiresAtMs,
  };
}

function mergeScopes(stored: Key, { bindings, projectIds }: Draft): Parameters<typeof toGrants>[0] {
  const projects = stored.keyType === 'service' ? projectIds : undefined;
  if (bindings !== undefined) return [...bindings, ...administers(projects ?? [])];
  if (projects === undefined) return stored.grants;
  const isProject = ({ role, scopeType }: Grant) => role === 'ADMIN' && scopeType === 'PROJECT';
  const kept = stored.grants.filter((grant) => !isProject(grant) || projects.includes(grant.scopeId));
  return [...kept, ...administers(projects)];
}

function mergeExpiry(stored: Key, { expiresAt }: Draft): number | null {
  if (expiresAt === undefined) return stored.expiresAtMs;
  return expiresAt === null ? null : Date.parse(expiresAt);
}

function isSame(one: Key, other: Key): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

function grantSet(grants: readonly Grant[]): string {
  return JSON.stringify(grants.map((grant) => JSON.stringify(grant)).sort());
}

export function judgeKeyRevocation(call: Call): Allowed {
  const target = requireVisible(call);
  requireMayChange(call, target);
  conflictWhen(target.revokedAtMs !== null, call, REVOKED);
  return allow(200, {
    shows: { success: true },
    commit: () => void call.organization.keys.set(target.id, revoked(target, call.state.nowMs)),
  });
}

/** Revoking a key also ends its previous secret. */
export function revoked(key: Key, nowMs: number): Key {
  return key.revokedAtMs === null ? { ...key, revokedAtMs: nowMs } : key;
}

export function judgeKeyRotation(call: Call): Allowed {
  const { organization, state, key, ask } = call;
  const target = requireVisible(call);
  if (isOfAnother(call, target)) refuse(403, 'api_key_not_owned');
  conflictWhen(target.revokedAtMs !== null, call, REVOKED);
  conflictWhen(target.expiresAtMs !== null && target.expiresAtMs <= state.nowMs, call, EXPIRED);
  if (target.id !== key.id) {
    requireEndsInTime(call, target.expiresAtMs);
    // The owner bounds a personal key anyway; the caller's owner also bounds a service key.
    const holders = target.userId === null ? holdersOf(organization, key) : [key.grants];
    requireCovered(call, liveGrants(organization, target.grants), { code: CODE, holders });
  }
  const overlapSeconds = Number(ask.body?.overlapSeconds ?? 0);
  const changed = { ...target, updatedAtMs: state.nowMs };
  return allow(200, {
    shows: { apiKey: { ...viewKey(call, changed), updatedAt: instant(state.nowMs) } },
    secrets: ['token'],
    facts: overlapSeconds > 0 ? ['rotation that overlaps'] : [],
    commit(body) {
      const previousUntilMs = overlapSeconds === 0 ? 0 : state.nowMs + overlapSeconds * 1000;
      const secret = { current: String(body.token), previous: target.secret.current, previousUntilMs };
      organization.keys.set(target.id, { ...changed, secret });
    },
  });
}
