/** The two words for whoever is in charge of an organization: the person behind a call, and the key it is made with. */

import type { Caller } from './caller.ts';
import type { Grants } from './permissions.ts';

/** Whoever calls with an API key, as every caller of a management operation does. */
export type KeyCaller = Extract<Caller, { kind: 'api_key' }>;

/** Whether the person behind the call is in charge, however narrow the key; a service key stands for itself. */
export function isAdministratorMember(caller: Caller, organizationId: string): boolean {
  if (caller.kind !== 'api_key') return false;
  const { key } = caller;
  return holdsAdmin(key.keyType === 'personal' ? key.ownerBindings : key.bindings, organizationId);
}

/** Whether the key itself is in charge as well, so that a narrow key of an administrator cannot widen itself. */
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
