/** Draws scopes, grants and lists of permissions, most of them close to what the caller holds. */

import { ALL_PERMISSIONS, isForOrganizations } from '../access-model/catalogue.ts';
import { common, holdersOf, scopeOf } from '../access-model/power.ts';
import { type Key, liveProjects, type Organization, type ScopeType, type State } from '../access-model/state.ts';
import type { Chance } from './chance.ts';

export type Drawing = {
  readonly chance: Chance;
  readonly state: State;
  /** The caller's. */
  readonly organization: Organization;
  /** The calling API key; null for a project key. */
  readonly key: Key | null;
  /** The number of the turn, which makes names unique. */
  readonly turn: number;
};

export type Scope = { readonly scopeType: ScopeType; readonly scopeId: string };

const UNKNOWN = 'nobody-has-this-id';

/** Permissions that the fuzzer's requests depend on. */
const REVEALING = [
  ...['organization:view', 'organization:manage', 'organization:manage', 'project:view', 'project:create'],
  ...['project:update', 'project:delete', 'project:manage', 'team:view', 'team:manage', 'traces:view'],
  ...['traces:create', 'evaluations:view', 'evaluations:manage', 'auditLog:view', 'webhookEndpoints:view'],
] as const;

export function otherOrganization({ state, organization }: Drawing): Organization {
  return state.organizations.find(({ id }) => id !== organization.id) ?? organization;
}

/** Draws an id; a few belong to another organization or to nothing. */
export function maybeForeign(drawing: Drawing, idsOf: (organization: Organization) => readonly string[]): string {
  const { chance, organization } = drawing;
  const wish = chance.weigh({ own: 90, foreign: 6, unknown: 4 });
  const ids = wish === 'unknown' ? [] : idsOf(wish === 'own' ? organization : otherOrganization(drawing));
  return ids.length === 0 ? UNKNOWN : chance.pick(ids);
}

export function drawProjectId(drawing: Drawing, archivedShare = 0.05): string {
  const wantsArchived = drawing.chance.happens(archivedShare);
  return maybeForeign(drawing, (organization) => {
    const archived = [...organization.projects.values()].filter((project) => project.archived);
    return (wantsArchived ? archived : liveProjects(organization)).map(({ id }) => id);
  });
}

export function drawTeamId(drawing: Drawing): string {
  return maybeForeign(drawing, ({ teams }) => [...teams.keys()]);
}

export function drawMemberId(drawing: Drawing): string {
  return maybeForeign(drawing, ({ members }) => [...members.keys()]);
}

export function drawScope(drawing: Drawing): Scope {
  const { chance, organization, key } = drawing;
  const named = key?.grants ?? [];
  if (named.length > 0 && chance.happens(0.3)) {
    const { scopeType, scopeId } = chance.pick(named);
    return { scopeType, scopeId };
  }
  const scopeType = chance.weigh({ ORGANIZATION: 35, TEAM: 30, PROJECT: 35 });
  if (scopeType === 'PROJECT') return { scopeType, scopeId: drawProjectId(drawing) };
  if (scopeType === 'TEAM') return { scopeType, scopeId: drawTeamId(drawing) };
  const scopeId = chance.happens(0.05) ? otherOrganization(drawing).id : organization.id;
  return { scopeType, scopeId };
}

/** Draws from the permissions of the caller there, REVEALING, or all. */
export function drawPermissions(drawing: Drawing, { scopeType, scopeId }: Scope): readonly string[] {
  const { chance, organization, key } = drawing;
  const scope = scopeOf(organization, scopeType, scopeId);
  const held = key === null || scope === null ? [] : [...common(holdersOf(organization, key), scope)];
  const revealing = held.filter((each) => (REVEALING as readonly string[]).includes(each));
  const from = chance.weigh({ held: revealing.length > 0 ? 60 : 0, revealing: 30, all: 10 });
  const choice = { held: revealing, revealing: REVEALING, all: ALL_PERMISSIONS }[from];
  const drawn = chance.pickSome(choice, 4);
  // The server refuses a list that no scope could grant before it checks anything else.
  const fitting = scopeType === 'ORGANIZATION' ? drawn : drawn.filter((each) => !isForOrganizations(each));
  return chance.happens(0.8) && fitting.length > 0 ? fitting : drawn;
}
