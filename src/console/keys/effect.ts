/** What a key that is about to be made will be able to do, before it is made. */

import type { ScopeType } from '../../../gen/spandrel/v1/keys_pb.js';
import type { Permission } from '../../../gen/spandrel/v1/permissions_pb.js';

export type Effect = {
  /** Chosen or implied, and granted at the place. */
  readonly granted: readonly string[];
  /** Chosen, though a grant at this place does not give it. */
  readonly without: readonly string[];
};

export function effectOf(
  catalogue: readonly Permission[],
  chosen: ReadonlySet<string>,
  place: ScopeType.ORGANIZATION | ScopeType.PROJECT,
): Effect {
  const byName = new Map(catalogue.map((permission) => [permission.name, permission]));
  const all = new Set([...chosen].flatMap((name) => [name, ...(byName.get(name)?.implies ?? [])]));
  const granted: string[] = [];
  const without: string[] = [];
  for (const { name, scopes } of catalogue) {
    if (all.has(name)) (scopes.includes(place) ? granted : without).push(name);
  }
  return { granted, without };
}

/** By what comes before the colon, in the order of the catalogue. */
export function byResource(catalogue: readonly Permission[]): ReadonlyMap<string, readonly Permission[]> {
  const rows = new Map<string, Permission[]>();
  for (const permission of catalogue) {
    const resource = permission.name.split(':')[0] ?? '';
    const row = rows.get(resource);
    if (row) row.push(permission);
    else rows.set(resource, [permission]);
  }
  return rows;
}
