/** Whether a caller is an administrator: the member behind the call, and the key itself. */

import type { Caller } from '../caller.ts';
import type { Grants } from '../keys/permissions.ts';

/** A caller with an API key, as all callers of management operations are. */
export type KeyCaller = Extract<Caller, { kind: 'api_key' }>;

/**
 * Whether the member behind the call is an administrator, however narrow the key; a service key counts as its own
 * member.
 */
export function isAdministratorMember(caller: Caller, organizationId: string): boolean {
  if (caller.kind !== 'api_key') return false;
  const { key } = caller;
  return holdsAdmin(key.keyType === 'personal' ? key.ownerBindings : key.bindings, organizationId);
}

/** Whether the key is an administrator's too, so that a narrow key of an administrator cannot widen itself. */
export function isAdministrator(caller: Caller, organizationId: string): boolean {
  return (
    caller.kind === 'api_key' &&
    isAdministratorMember(caller, organizationId) &&
    holdsAdmin(caller.key.bindings, organizationId)
  );
}

/** Whether one of the grants is ADMIN at the organization. */
export function holdsAdmin(grants: Grants, organizationId: string): boolean {
  return grants.some(
    ({ role, scopeType, scopeId }) => role === 'ADMIN' && scopeType === 'ORGANIZATION' && scopeId === organizationId,
  );
}
