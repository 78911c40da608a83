/** Where the permissions of a budget are required. */

import { Fault, validationFault } from '../fault.ts';
import { isPossibleId } from '../ids.ts';
import { may, type Principal, projectScope, type Scope } from '../keys/permissions.ts';
import { type OrganizationDirectory, readDirectory } from '../management/directory.ts';
import type { ManagementStore } from '../management/management.ts';
import { insufficientPermissions, type ManagementCall, requirePermission } from '../management/management-call.ts';
import { teamScope } from '../organization/teams.ts';
import type { BudgetScope } from './budget.ts';
import type { DraftScope } from './budget-draft.ts';

export const VIEW = 'gatewayBudgets:view';
export const MANAGE = 'gatewayBudgets:manage';

/** The scopes of an organization, and the projects of the virtual keys that budgets name. */
export type Places = OrganizationDirectory & { readonly projectOfKey: (virtualKeyId: string) => string | null };

type Named = { readonly kind: BudgetScope['kind']; readonly id: string };

/** Where the permissions of these scopes are required. */
export async function readPlaces(
  store: ManagementStore,
  organizationId: string,
  scopes: readonly Named[],
): Promise<Places> {
  const keyIds = scopes.flatMap(({ kind, id }) => (KINDS_OF_KEYS.includes(kind) && isPossibleId(id) ? [id] : []));
  const [directory, keys] = await Promise.all([
    readDirectory(store, organizationId),
    Promise.all([...new Set(keyIds)].map((id) => store.virtualKey(organizationId, id))),
  ]);
  const projects = new Map(keys.flatMap((key) => (key === null ? [] : [[key.id, key.traceProjectId]])));
  return { ...directory, projectOfKey: (id) => projects.get(id) ?? null };
}

const KINDS_OF_KEYS: readonly BudgetScope['kind'][] = ['virtual_key', 'attributed_user'];

/**
 * The scope that an operation asks at: of a virtual key its project. What is not known, or archived, belongs to the
 * organization alone.
 */
export function placeOf(scope: BudgetScope, places: Places, organizationId: string): Scope {
  const organization: Scope = { type: 'ORGANIZATION', organizationId };
  if (scope.kind === 'team') return places.locate('TEAM', scope.id) ?? organization;
  const projectId = projectIdOf(scope, places);
  return projectId === null ? organization : (places.locate('PROJECT', projectId) ?? organization);
}

function projectIdOf(scope: BudgetScope, { projectOfKey }: Places): string | null {
  const kind = scope.kind === 'attributed_user' ? scope.of : scope.kind;
  if (kind === 'project') return scope.id;
  return kind === 'virtual_key' ? projectOfKey(scope.id) : null;
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
export function requireScope(call: ManagementCall, { kind, id }: DraftScope, places: Places): BudgetScope {
  const organizationId = call.caller.organization.id;
  const scope = toScope({ kind, id: id ?? organizationId }, places);
  requirePermission(call, MANAGE, placeOf(scope, places, organizationId));
  if (kind === 'organization' && scope.id !== organizationId) {
    const message = 'scope.id must be the id of the organization';
    throw validationFault('json', [{ field: 'scope.id', type: 'custom', message }]);
  }
  if (kind === 'team' && places.locate('TEAM', scope.id) === null) throw new Fault('team_not_found', 'Team not found.');
  if (kind === 'project' && places.locate('PROJECT', scope.id) === null) {
    throw new Fault('project_not_found', 'Project not found.');
  }
  return scope;
}

function toScope({ kind, id }: Named, { locate }: Places): BudgetScope {
  if (kind !== 'attributed_user') return { kind, id };
  return { kind, id, of: locate('PROJECT', id) === null ? 'virtual_key' : 'project' };
}
