/** Computes what a grant will give, before it is saved. */

import { Role, type ScopeType } from '../../../gen/spandrel/v1/keys_pb.js';
import type { Permission } from '../../../gen/spandrel/v1/permissions_pb.js';

type Wanted = {
  readonly role: Role;
  /** Permissions; only the role CUSTOM has them. */
  readonly chosen: ReadonlySet<string>;
  readonly scopeType: ScopeType.ORGANIZATION | ScopeType.PROJECT;
};

export type Effect = {
  /** What the grant gives at its scope or below. */
  readonly granted: readonly string[];
  /** Chosen permissions that a grant at this scope cannot give. */
  readonly without: readonly string[];
};

export function effectOf(catalogue: readonly Permission[], { role, chosen, scopeType }: Wanted): Effect {
  if (role !== Role.CUSTOM) {
    const isGiven = ({ roles }: Permission) =>
      roles.some((each) => each.role === role && each.scopes.includes(scopeType));
    return { granted: catalogue.filter(isGiven).map(({ name }) => name), without: [] };
  }
  const byName = new Map(catalogue.map((permission) => [permission.name, permission]));
  const all = new Set([...chosen].flatMap((name) => [name, ...(byName.get(name)?.implies ?? [])]));
  const granted: string[] = [];
  const without: string[] = [];
  for (const { name, scopes } of catalogue) {
    if (all.has(name)) (scopes.includes(scopeType) ? granted : without).push(name);
  }
  return { granted, without };
}

/** Groups permissions by the part before the colon, in catalogue order. */
export function byResource(catalogue: readonly Permission[]): ReadonlyMap<string, readonly Permission[]> {
  return Map.groupBy(catalogue, ({ name }) => name.split(':')[0] ?? '');
}
