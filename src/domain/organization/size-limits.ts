/** How many teams, projects, members and role bindings an organization may have: their lists are read as a whole. */

import { Fault } from '../fault.ts';

const NAMES = {
  team: 'teams',
  project: 'projects',
  member: 'members',
  role_binding: 'role bindings',
} as const;

export type Limited = keyof typeof NAMES;
export type SizeLimits = Readonly<Record<Limited, number>>;

/** Throws team_limit_reached, project_limit_reached, member_limit_reached or role_binding_limit_reached. */
export function requireRoom(limits: SizeLimits, limited: Limited, count: number): void {
  if (count < limits[limited]) return;
  throw new Fault(`${limited}_limit_reached`, `The organization already has ${count} ${NAMES[limited]}.`);
}
