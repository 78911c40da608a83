/** Where the permissions of a budget are required. */

import { Fault, validationFault } from '../fault.ts';
import { may, type Principal, projectScope, type Scope } from '../keys/permissions.ts';
import type { OrganizationDirectory } from '../management/directory.ts';
import { insufficientPermissions, type ManagementCall, requirePermission } from '../management/management-call.ts';
import { teamScope } from '../organization/teams.ts';
import type { BudgetScope } from './budget.ts';
import type { DraftScope } from './budget-draft.ts';

export const VIEW = 'gatewayBudgets:view';
export const MANAGE = 'gatewayBudgets:manage';

/** The scope that an operation asks at. What is not known, or archived, belongs to the organization alone. */
export function placeOf(
  { kind, id, ...rest }: BudgetScope,
  directory: OrganizationDirectory,
  organizationId: string,
): Scope {
  const organization: Scope = { type: 'ORGANIZATION', organizationId };
  if (kind === 'team') return directory.locate('TEAM', id) ?? organization;
  const isOfProject = kind === 'project' || ('of' in rest && rest.of === 'project');
  return isOfProject ? (directory.locate('PROJECT', id) ?? organization) : organization;
}

/** Throws insufficient_permissions unless the caller may manage budgets somewhere. */
export function requireManageSomewhere(call: ManagementCall, { teams, projects }: OrganizationDirectory): void {
  const organizationId = call.caller.organization.id;
  const places: readonly Scope[] = [
    { type: 'ORGANIZATION', organizationId },
    ...teams.map(teamScope),
    ...projects.map(projectScope),
  ];
  if (!places.some((place) => may(call.caller.principal, MANAGE, place))) throw insufficientPermissions(MANAGE);
}

export function mayView(principal: Principal, place: Scope): boolean {
  return may(principal, VIEW, place);
}

/**
 * The scope of a new budget. Throws insufficient_permissions, and for callers who may manage all budgets team_not_found
 * and project_not_found.
 */
export function requireScope(
  call: ManagementCall,
  { kind, id }: DraftScope,
  directory: OrganizationDirectory,
): BudgetScope {
  const organizationId = call.caller.organization.id;
  const scope = toScope({ kind, id: id ?? organizationId }, directory);
  requirePermission(call, MANAGE, placeOf(scope, directory, organizationId));
  if (kind === 'organization' && scope.id !== organizationId) {
    const message = 'scope.id must be the id of the organization';
    throw validationFault('json', [{ field: 'scope.id', type: 'custom', message }]);
  }
  if (kind === 'team' && directory.locate('TEAM', scope.id) === null)
    throw new Fault('team_not_found', 'Team not found.');
  if (kind === 'project' && directory.locate('PROJECT', scope.id) === null) {
    throw new Fault('project_not_found', 'Project not found.');
  }
  return scope;
}

function toScope(
  { kind, id }: { readonly kind: BudgetScope['kind']; readonly id: string },
  directory: OrganizationDirectory,
): BudgetScope {
  if (kind !== 'attributed_user') return { kind, id };
  return { kind, id, of: directory.locate('PROJECT', id) === null ? 'virtual_key' : 'project' };
}
