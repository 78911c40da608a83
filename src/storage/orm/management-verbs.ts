/** Every management verb by name, and what it means to those who remember; loads nothing of what serves them. */

import type { Management } from './management.ts';

/** `grave`: authentication must see it. `aside`: a write that decides about no request. */
type Kind = 'read' | 'grave' | 'aside';

export const MANAGEMENT_VERBS: Readonly<Record<keyof Management, Kind>> = {
  insertApiKey: 'grave',
  updateProjectSettings: 'grave',
  commit: 'grave',
  insertEvaluator: 'aside',
  replaceEvaluator: 'aside',
  removeEvaluator: 'aside',
  noteRefusal: 'aside',
  noteUse: 'aside',
  claim: 'aside',
  release: 'aside',
  findEvaluator: 'read',
  listEvaluators: 'read',
  version: 'read',
  organization: 'read',
  teams: 'read',
  projects: 'read',
  project: 'read',
  members: 'read',
  member: 'read',
  roleBindings: 'read',
  apiKey: 'read',
  apiKeys: 'read',
  apiKeysOf: 'read',
  audit: 'read',
  findAdministrators: 'read',
  countEndpoints: 'read',
  replay: 'read',
  countUnfinishedReplays: 'read',
};

/** Without the object mapper, but authentication must see them as well. */
const GRAVE_BESIDE: ReadonlySet<string> = new Set(['bootstrap', 'addOrganization']);

/** False also for other verbs that have nothing to do with management. */
export function isGrave(verb: string): boolean {
  if (GRAVE_BESIDE.has(verb)) return true;
  return Object.hasOwn(MANAGEMENT_VERBS, verb) && MANAGEMENT_VERBS[verb as keyof Management] === 'grave';
}

export type CallManagement = <V extends keyof Management>(
  verb: V,
  ...args: Parameters<Management[V]>
) => ReturnType<Management[V]>;

/** All verbs, each through `call`. */
export function spreadManagement(call: CallManagement): Management {
  const verbs = Object.keys(MANAGEMENT_VERBS) as (keyof Management)[];
  return Object.fromEntries(
    verbs.map((verb) => [verb, (...args: Parameters<Management[typeof verb]>) => call(verb, ...args)]),
  ) as Management;
}
