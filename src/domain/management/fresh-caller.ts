/**
 * Reads the caller's rights again at commit time. A request may take long after its credential was verified; rights
 * revoked meanwhile must not survive in a key that it mints.
 */

import type { Project, SignedIn } from '../caller.ts';
import { Fault } from '../fault.ts';
import { may, principalOf, projectScope } from '../keys/permissions.ts';
import type { KeyCaller } from '../organization/administrators.ts';
import type { ApiKeyRecord, ManagementStore, MemberRecord, ProjectRecord, RoleBindingRecord } from './management.ts';
import { type ManagementCall, permissionDenied, requirePermission } from './management-call.ts';

/** The calling key as it is now, or what stands for one in the session of a person. */
type CallingRecord = Pick<ApiKeyRecord, 'permissionMode' | 'bindings' | 'expiresAtMs'>;
export type FreshCall = ManagementCall & { readonly callingKey: CallingRecord };
type KeyCall = Pick<ManagementCall, 'caller' | 'nowMs'>;

/**
 * Throws invalid_credentials when the calling key is no longer valid, and insufficient_permissions at the organization.
 */
export async function refreshCall(
  store: ManagementStore,
  call: ManagementCall,
  permission: string,
): Promise<FreshCall> {
  const fresh = await refreshRights(store, call);
  requirePermission(fresh, permission, { type: 'ORGANIZATION', organizationId: call.caller.organization.id });
  return fresh;
}

/**
 * Throws invalid_credentials when the calling key is no longer valid. The caller of this function checks permissions.
 */
export async function refreshRights<Call extends KeyCall>(
  store: ManagementStore,
  call: Call,
): Promise<Call & { readonly callingKey: CallingRecord }> {
  const { key, organization } = call.caller;
  const { userId } = key;
  const [stored, member, ownerBindings] = await Promise.all([
    key.id === null ? null : store.apiKey(organization.id, key.id),
    userId === null ? null : store.member(organization.id, userId),
    userId === null ? [] : store.roleBindings(organization.id, userId),
  ]);
  const callingKey = key.id === null ? keyOfPerson(member, ownerBindings) : aliveKey(stored, member, call);
  if (callingKey === null) throw notValid();
  await requireSession(store, call.caller);
  const { bindings } = callingKey;
  const principal = principalOf({ keyType: key.keyType, bindings }, ownerBindings);
  const caller = { ...call.caller, principal, key: { ...key, bindings, ownerBindings } };
  return { ...call, caller, callingKey };
}

/** A person who signed in without a key acts as with one that has all their role bindings and never expires. */
function keyOfPerson(member: MemberRecord | null, held: readonly RoleBindingRecord[]): CallingRecord | null {
  if (member === null || member.disabledAtMs !== null) return null;
  // Keys copy them.
  const bindings = held.map(({ organizationId: _, userId: __, createdAtMs: ___, ...binding }) => binding);
  const permissionMode = bindings.some(({ role }) => role === 'CUSTOM') ? 'restricted' : 'all';
  return { permissionMode, bindings, expiresAtMs: null };
}

/** As `refreshRights`, for a caller with a key of any kind. */
export async function refreshCaller(
  store: ManagementStore,
  { caller, nowMs }: { readonly caller: SignedIn; readonly nowMs: number },
): Promise<SignedIn> {
  if (caller.kind === 'api_key') return (await refreshRights(store, { caller, nowMs })).caller;
  const project = await store.project(caller.organization.id, caller.project.id);
  if (project === null || project.archivedAtMs !== null || !acceptsProjectKey(project, caller, nowMs)) throw notValid();
  await requireSession(store, caller);
  return caller;
}

/** A call on a project route. */
export type ProjectCall = { readonly caller: SignedIn; readonly project: Project; readonly nowMs: number };

/** Throws invalid_credentials, unknown_project or api_key_permission_denied for what ended since the call began. */
export async function requireStillMay(store: ManagementStore, call: ProjectCall, permission: string): Promise<void> {
  const { id, organizationId } = call.project;
  const [{ principal }, project] = await Promise.all([refreshCaller(store, call), store.project(organizationId, id)]);
  if (project === null || project.archivedAtMs !== null) throw new Fault('unknown_project', 'The project is archived.');
  if (!may(principal, permission, projectScope(project))) throw permissionDenied(permission, call.caller, id);
}

async function requireSession(store: ManagementStore, { organization, session }: SignedIn): Promise<void> {
  if (session !== undefined && (await store.session(organization.id, session.id)) === null) throw notValid();
}

function notValid(): Fault {
  return new Fault('invalid_credentials', 'The credential is not valid.');
}

function acceptsProjectKey(project: ProjectRecord, { keyHash }: SignedIn, nowMs: number): boolean {
  if (project.keyHash.equals(keyHash)) return true;
  const { previousKeyHash, previousKeyUntilMs } = project;
  return previousKeyUntilMs !== null && nowMs < previousKeyUntilMs && previousKeyHash?.equals(keyHash) === true;
}

function aliveKey(key: ApiKeyRecord | null, owner: MemberRecord | null, call: KeyCall): ApiKeyRecord | null {
  return key !== null && isAlive(key, owner, call) ? key : null;
}

function isAlive(key: ApiKeyRecord, owner: MemberRecord | null, { caller, nowMs }: KeyCall): boolean {
  const ended = key.revokedAtMs !== null || (key.expiresAtMs !== null && key.expiresAtMs <= nowMs);
  return !ended && isNobodyOrActive(key.userId, owner) && stillAccepts(key, caller, nowMs);
}

/** Whether a key may work that is of nobody, or of this member; null: the member was removed. */
export function isNobodyOrActive(userId: string | null, member: MemberRecord | null): boolean {
  return userId === null || (member !== null && member.disabledAtMs === null);
}

/** Whether the secret that was verified is still valid. */
function stillAccepts(key: ApiKeyRecord, { keyHash }: KeyCaller, nowMs: number): boolean {
  if (key.secretHash.equals(keyHash)) return true;
  const { previousSecretHash, previousSecretUntilMs } = key;
  const overlaps = previousSecretUntilMs !== null && nowMs < previousSecretUntilMs;
  return overlaps && previousSecretHash?.equals(keyHash) === true;
}
