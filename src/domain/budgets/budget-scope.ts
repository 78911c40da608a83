/** Where the permissions of a budget are required. */

import { Fault, validationFault } from '../fault.ts';
import { isPossibleId } from '../ids.ts';
import { may, type Principal, type Scope } from '../keys/permissions.ts';
import { type OrganizationDirectory, readDirectory } from '../management/directory.ts';
import type { ManagementStore } from '../management/management.ts';
import { type ManagementCall, requirePermission } from '../management/management-call.ts';
import { customReason } from '../reasons.ts';
import type { BudgetScope } from './budget.ts';
import type { DraftScope } from './budget-draft.ts';

export const VIEW = 'gatewayBudgets:view';
export const MANAGE = 'gatewayBudgets:manage';

/** The scopes of an organization, and the projects of the virtual keys that budgets name. */
export type Places = OrganizationDirectory & { readonly projectOfKey: (virtualKeyId: string) => string | null };

type Named = { readonly kind: BudgetScope['kind']; readonly id: string };

/** Reads where the permissions of scopes are required; at most 500 at once. */
export async function createPlaces(store: ManagementStore, organizationId: string) {
  const directory = await readDirectory(store, organizationId);
  return async (scopes: readonly Named[]): Promise<Places> => {
    const named = scopes.filter(({ kind, id }) => KINDS_OF_KEYS.includes(kind) && isPossibleId(id));
    const ids = [...new Set(named.map(({ id }) => id))];
    const keys = ids.length === 0 ? [] : await store.virtualKeyProjects(organizationId, ids);
    const projects = new Map(keys.map(({ id, traceProjectId }) => [id, traceProjectId]));
    return { ...directory, projectOfKey: (id) => projects.get(id) ?? null };
  };
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
    throw validationFault('json', [customReason('scope.id', 'scope.id must be the id of the organization')]);
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
