/** Callers and refusals as the audit log names them. */

import type { Message } from '@bufbuild/protobuf';
import type { Caller } from '../domain/caller.ts';
import type { Fault, FaultKind } from '../domain/fault.ts';
import type { Actor } from '../domain/management/audit.ts';
import type { RefusedAction } from '../domain/management/refusal-log.ts';
import { maskedHead } from '../domain/token-mask.ts';
import type { CallerKind, CallIds, Method } from './method.ts';
import { requestTargets } from './rest-shape.ts';

/** Where a call comes from. */
type Origin = {
  readonly header: (name: string) => string | undefined;
  readonly ids: CallIds;
  readonly remoteAddress: string | null;
};

/** Null for calls that need no credential. */
export function actorOf(caller: Caller, { header, ids, remoteAddress }: Origin): Actor | null {
  if (caller.kind === 'open') return null;
  return {
    organizationId: caller.organization.id,
    ...identityOf(caller),
    ip: remoteAddress,
    userAgent: header('user-agent') ?? null,
    requestId: ids.requestId,
    traceId: ids.traceId === '' ? null : ids.traceId,
  };
}

/** The kind of a caller, without its identity. */
export function callerKindOf(caller: Caller): CallerKind {
  if (caller.kind !== 'open' && caller.session !== undefined) return 'session';
  if (caller.kind !== 'api_key') return caller.kind;
  return caller.key.keyType === 'personal' ? 'personal_key' : 'service_key';
}

/** A key that is unique among all credentials; the sessions of a person share one. */
export function credentialOf({ actorKind, actorKeyId, actorUserId }: Actor): string {
  return `${actorKind} ${actorKeyId ?? actorUserId}`;
}

function identityOf(
  caller: Exclude<Caller, { kind: 'open' }>,
): Pick<Actor, 'actorKind' | 'actorUserId' | 'actorKeyId'> {
  const kind = caller.session === undefined ? null : 'session';
  // A project key has no id of its own; the id of its project identifies it.
  if (caller.kind === 'project_key') {
    return { actorKind: kind ?? 'project_key', actorUserId: null, actorKeyId: caller.project.id };
  }
  const { keyType, userId, id } = caller.key;
  const ofKey = keyType === 'personal' ? 'personal_key' : 'service_key';
  return { actorKind: kind ?? ofKey, actorUserId: userId, actorKeyId: id };
}

const STATUS: { readonly [K in FaultKind]?: number } = { permission_denied: 403, not_found: 404 };
/** The one refusal of a credential that is valid. */
const WRONG_CLASS = 'credential_class_mismatch';
const WRONG_CLASS_STATUS = 401;
/** Attackers probe for ids of keys, so the audit log also records keys that were not found. */
const NOTED_MISSES: ReadonlySet<string> = new Set(['apiKey.read', 'apiKey.update', 'apiKey.revoke', 'apiKey.rotate']);
const TARGET_CHARACTERS_MAX = 200;

/** The entry of the audit log for a refusal of an authenticated caller; null where it keeps none. `message` is null until it is read. */
export function refusedAction(method: Method, fault: Fault, message: Message | null): RefusedAction | null {
  const status = fault.code === WRONG_CLASS ? WRONG_CLASS_STATUS : STATUS[fault.kind];
  const { audit } = method.policy;
  if (audit === '' || status === undefined) return null;
  // A refused list is recorded as a refused read, which needs the same permission.
  const action = audit.replace(/\.list$/, '.read');
  if (fault.kind === 'not_found' && !NOTED_MISSES.has(action)) return null;
  return { action, targetId: message === null ? null : targetOf(method, message), status, code: fault.code };
}

/** The id in the path of the route. */
function targetOf({ desc }: Method, message: Message): string | null {
  for (const [field, target] of requestTargets(desc)) {
    if (target !== 'param') continue;
    const value = (message as unknown as Record<string, unknown>)[field.localName];
    if (typeof value !== 'string' || value === '') return null;
    return maskedHead(value, TARGET_CHARACTERS_MAX).replaceAll('\0', '\uFFFD').toWellFormed();
  }
  return null;
}
