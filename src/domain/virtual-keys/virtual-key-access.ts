/** Who may see and change virtual keys, and what a key may name: nothing that its creator could not reach. */

import type { EvaluatorStore } from '../evaluators/evaluator.ts';
import { Fault } from '../fault.ts';
import { isPossibleId } from '../ids.ts';
import { may, projectScope, type Scope } from '../keys/permissions.ts';
import { readDirectory } from '../management/directory.ts';
import type { ManagementStore } from '../management/management.ts';
import { insufficientPermissions, type ManagementCall, type Target } from '../management/management-call.ts';
import type { VirtualKeyConfig, VirtualKeyRecord } from './virtual-key.ts';

export const VIEW = 'virtualKeys:view';
export const CREATE = 'virtualKeys:create';

/** Throws virtual_key_not_found for unknown and hidden keys, and insufficient_permissions. */
export async function requireVirtualKey(
  store: ManagementStore,
  { call: { caller }, id }: Target,
  permission: string,
): Promise<VirtualKeyRecord> {
  const organizationId = caller.organization.id;
  const found = isPossibleId(id) ? await store.virtualKey(organizationId, id) : null;
  const scope = found && (await scopeOf(store, found));
  if (found === null || scope === null || !may(caller.principal, VIEW, scope)) {
    throw new Fault('virtual_key_not_found', 'Virtual key not found.');
  }
  if (!may(caller.principal, permission, scope)) throw insufficientPermissions(permission);
  return found;
}

/** Of an archived project only the grants at the organization count. */
async function scopeOf(store: ManagementStore, key: VirtualKeyRecord): Promise<Scope> {
  const { organizationId, traceProjectId } = key;
  const project = await store.project(organizationId, traceProjectId);
  const isLive = project !== null && project.archivedAtMs === null;
  return isLive ? projectScope(project) : { type: 'ORGANIZATION', organizationId };
}

/** The projects whose keys the caller may view. */
export async function visibleProjects(
  store: ManagementStore,
  { caller }: ManagementCall,
): Promise<readonly string[] | 'all'> {
  const organizationId = caller.organization.id;
  if (may(caller.principal, VIEW, { type: 'ORGANIZATION', organizationId })) return 'all';
  const projects = await store.projects(organizationId);
  return projects.filter((project) => may(caller.principal, VIEW, projectScope(project))).map(({ id }) => id);
}

/**
 * Returns the scope of the project. Throws api_key_scope_violation for a project that is unknown, archived, or outside of the
 * caller's grants.
 */
export async function requireMayCreateAt(
  store: ManagementStore,
  { caller }: ManagementCall,
  traceProjectId: string,
): Promise<Scope> {
  const directory = await readDirectory(store, caller.organization.id);
  const scope = directory.locate('PROJECT', traceProjectId);
  if (scope !== null && may(caller.principal, CREATE, scope)) return scope;
  throw new Fault(
    'api_key_scope_violation',
    'The project of trace_project_id is not one where the caller may create virtual keys.',
    { meta: { scopeType: 'PROJECT', scopeId: traceProjectId } },
  );
}

export type NamedByKey = Pick<VirtualKeyRecord, 'organizationId' | 'traceProjectId' | 'principalUserId'> & {
  readonly config: VirtualKeyConfig;
};

type Stores = { readonly store: ManagementStore; readonly evaluators: Pick<EvaluatorStore, 'find'> };

/**
 * Throws api_key_scope_violation for a model provider that the project does not use, member_not_found and
 * evaluator_not_found. What equals `before` was checked then, and may be gone by now.
 */
export async function requireReachable(
  { store, evaluators }: Stores,
  { caller }: ManagementCall,
  named: NamedByKey,
  before: NamedByKey | null,
): Promise<void> {
  const { organizationId, traceProjectId, principalUserId, config } = named;
  const known = new Set(before?.config.providers ?? []);
  const others = (config.providers ?? []).filter((id) => !known.has(id));
  if (others.length > 0) await requireProviders(store, { organizationId, traceProjectId }, others);
  if (principalUserId !== null && principalUserId !== before?.principalUserId) {
    const member = isPossibleId(principalUserId) ? await store.member(organizationId, principalUserId) : null;
    if (member === null || member.disabledAtMs !== null) throw new Fault('member_not_found', 'Member not found.');
  }
  const judged = new Set(guardrailsOf(before?.config ?? null));
  const project = await store.project(organizationId, traceProjectId);
  const maySee = project !== null && may(caller.principal, 'evaluations:view', projectScope(project));
  for (const id of guardrailsOf(config).filter((each) => !judged.has(each))) {
    const found = maySee && isPossibleId(id) ? await evaluators.find(traceProjectId, id) : null;
    if (found?.id !== id) {
      throw new Fault('evaluator_not_found', `The evaluator ${id} of config.guardrails is not found in the project.`);
    }
  }
}

function guardrailsOf(config: VirtualKeyConfig | null): readonly string[] {
  return config === null ? [] : [...config.guardrails.pre, ...config.guardrails.post];
}

/** One refusal for providers that are unknown, hidden or of other projects. */
async function requireProviders(
  store: ManagementStore,
  { organizationId, traceProjectId }: Pick<NamedByKey, 'organizationId' | 'traceProjectId'>,
  ids: readonly string[],
): Promise<void> {
  const all = await store.modelProviders(organizationId);
  const usable = new Set(
    all.filter(({ projectIds }) => projectIds === null || projectIds.includes(traceProjectId)).map(({ id }) => id),
  );
  const first = ids.find((id) => !usable.has(id));
  if (first === undefined) return;
  throw new Fault('api_key_scope_violation', 'config.providers names a model provider that the project does not use.', {
    meta: { providerId: first },
  });
}
