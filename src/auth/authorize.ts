/** Checks a verified caller against the policy of an rpc. The domain decides who may see a record. */

import { Credential, type Policy } from '../../gen/spandrel/v1/options_pb.js';
import type { Caller } from '../domain/caller.ts';
import { Fault } from '../domain/fault.ts';
import { may, projectScope } from '../domain/keys/permissions.ts';
import { insufficientPermissions, permissionDenied } from '../domain/management/management-call.ts';

/** Throws when the route does not accept this class of credential, even a valid one. */
export function requireClass(policy: Policy, caller: Caller): void {
  if (policy.credential !== Credential.ORGANIZATION || caller.kind !== 'project_key' || policy.projectKeys) return;
  throw new Fault(
    'credential_class_mismatch',
    'This operation needs an organization-level API key; a project key was sent.',
    { meta: { required: 'organization_api_key', presented: 'project_api_key' } },
  );
}

/** Throws the error of the policy's credential class when the permission is missing. */
export function authorize(policy: Policy, caller: Caller): void {
  if (caller.kind === 'open' || policy.permission === '') return;
  const organizationId = caller.organization.id;
  if (policy.credential === Credential.ORGANIZATION) {
    // The policy admits project keys, which hold permissions only in their own project.
    if (caller.kind === 'project_key' && may(caller.principal, policy.permission, projectScope(caller.project))) return;
    if (may(caller.principal, policy.permission, { type: 'ORGANIZATION', organizationId })) return;
    throw insufficientPermissions(policy.permission);
  }
  requirePermission(policy.permission, caller);
}

/** Throws when the caller lacks a permission in its project. */
export function requirePermission(permission: string, caller: Caller): void {
  if (caller.kind === 'open') return;
  const { project } = caller;
  if (!project) throw new Error('a project route was reached without a project');
  if (may(caller.principal, permission, projectScope(project))) return;
  throw permissionDenied(permission, caller, project.id);
}
