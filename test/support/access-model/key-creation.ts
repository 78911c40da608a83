/** Creating API keys. */

import { liveGrants, refuseOwner, requireCovered, requireEndsInTime } from './ceiling.ts';
import { administers, creationProblems, type Draft, draftOf, invalid, toGrants } from './key-draft.ts';
import { viewKey } from './key-view.ts';
import { grantsOfMember, holdersOf } from './power.ts';
import { activeMember, type Grant, type Key, type KeyContent } from './state.ts';
import { type Allowed, allow, type Call, requireAdministrator } from './verdict.ts';

export function admitKeyCreation({ ask, state }: Call): void {
  const problems = creationProblems(draftOf(ask), state.nowMs);
  if (problems.length > 0) invalid(...problems);
}

export function judgeKeyCreation(call: Call): Allowed {
  const { state, organization, key } = call;
  const draft = draftOf(call.ask);
  const userId = ownerOf(call, draft);
  const content = contentOf(call, draft, userId);
  const expiresAtMs = expiryOf(call, draft);
  // A replay returns this key's token, even if the same body would now create other grants.
  const granted = organization.keys.get(String(call.kept?.id));
  requireEndsInTime(call, expiresAtMs);
  if (granted !== undefined) requireEndsInTime(call, granted.expiresAtMs);
  const owner = userId === null ? [] : [grantsOfMember(organization, userId)];
  const ceiling = { code: 'api_key_scope_violation', holders: [...holdersOf(organization, key), ...owner] } as const;
  // A copied key names no scopes, so none can be hidden; scopes that no longer exist are ignored.
  const isNamed = userId === null || (draft.bindings ?? []).length > 0;
  requireCovered(call, isNamed ? content.grants : liveGrants(organization, content.grants), { ...ceiling, isNamed });
  requireCovered(call, liveGrants(organization, granted?.grants ?? []), ceiling);
  const made: Omit<Key, 'id' | 'secret'> = {
    ...content,
    keyType: userId === null ? 'service' : 'personal',
    name: draft.name ?? '',
    description: draft.description || null,
    userId,
    createdByUserId: key.userId,
    createdAtMs: state.nowMs,
    updatedAtMs: state.nowMs,
    expiresAtMs,
    revokedAtMs: null,
  };
  const { id: _, ...shown } = viewKey(call, withToken(made, '', ''));
  return allow(201, {
    shows: { apiKey: shown },
    secrets: ['secret', 'token'],
    facts: [`${made.keyType} key made${userId !== key.userId && userId !== null ? ' for another member' : ''}`],
    commit(body) {
      const { id, token } = body as { readonly id: string; readonly token: string };
      organization.keys.set(id, withToken(made, id, token));
    },
  });
}

function withToken(made: Omit<Key, 'id' | 'secret'>, id: string, token: string): Key {
  return { ...made, id, secret: { current: token, previous: null, previousUntilMs: 0 } };
}

/** Null: service key. */
function ownerOf(call: Call, { keyType, assignedToUserId }: Draft): string | null {
  const { organization, key } = call;
  const isService = keyType === 'service';
  const named = assignedToUserId ?? null;
  if (!isService && named === null && key.userId === null) {
    requireAdministrator(call);
    invalid('assignedToUserId');
  }
  const userId = isService ? null : (named ?? key.userId);
  if (isService || userId !== key.userId) requireAdministrator(call);
  if (userId !== null && activeMember(organization, userId) === null) refuseOwner();
  return userId;
}

function contentOf(call: Call, draft: Draft, userId: string | null): KeyContent {
  const { organization, key } = call;
  const { bindings = [], permissions = [], permissionMode = 'all', projectIds } = draft;
  if (userId === null) {
    const isForEverything = projectIds === undefined && bindings.length === 0;
    const wished = isForEverything ? [] : [...bindings, ...administers(projectIds ?? [])];
    const grants = isForEverything ? [atOrganization(call, 'ADMIN')] : toGrants(wished, permissions);
    return { permissionMode, grants };
  }
  if (bindings.length > 0) return { permissionMode, grants: toGrants(bindings, permissions) };
  if (call.kept !== null) return { permissionMode, grants: [] };
  if (userId === key.userId) {
    const isRestricted = key.permissionMode === 'restricted';
    if (draft.permissionMode !== undefined && isRestricted) invalid('bindings');
    return {
      permissionMode: isRestricted ? 'restricted' : (draft.permissionMode ?? key.permissionMode),
      grants: key.grants,
    };
  }
  const role = organization.members.get(userId)?.role ?? 'EXTERNAL';
  if (role === 'EXTERNAL') invalid('bindings');
  return { permissionMode, grants: [atOrganization(call, role)] };
}

function atOrganization({ organization }: Call, role: 'ADMIN' | 'MEMBER' | 'VIEWER'): Grant {
  return { role, scopeType: 'ORGANIZATION', scopeId: organization.id, permissions: [] };
}

/** By default that of the calling key. */
function expiryOf({ key }: Call, { expiresAt }: Draft): number | null {
  if (expiresAt === undefined) return key.expiresAtMs;
  return expiresAt === null ? null : Date.parse(expiresAt);
}
