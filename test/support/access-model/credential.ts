/** Finds the caller of a token, and the project of a request. */

import { accepts, works } from './key-view.ts';
import { common, holdersOf, projectScope } from './power.ts';
import { type Key, liveProjects, type Organization, type Project, type State } from './state.ts';
import { type Ask, Refusal, refuse } from './verdict.ts';

export type Proven =
  | { readonly kind: 'key'; readonly organization: Organization; readonly key: Key }
  | { readonly kind: 'project'; readonly organization: Organization; readonly project: Project };

/** Takes the first token that the route accepts; if it accepts none, judges the first. */
export function proveFirst(state: State, { authToken, token }: Ask, counts: (proven: Proven) => boolean): Proven {
  const tokens = [authToken ?? null, token].filter((each) => each !== null);
  const outcomes = tokens.map((each) => tryToProve(state, each));
  const good = outcomes.find((outcome) => !(outcome instanceof Refusal) && counts(outcome));
  const decisive = good ?? outcomes[0];
  if (decisive === undefined) refuse(401, 'missing_credentials');
  if (decisive instanceof Refusal) throw decisive;
  return decisive;
}

function tryToProve(state: State, token: string): Proven | Refusal {
  try {
    return prove(state, token);
  } catch (error) {
    if (error instanceof Refusal) return error;
    throw error;
  }
}

function prove(state: State, token: string): Proven {
  for (const organization of state.organizations) {
    const key = [...organization.keys.values()].find(({ secret }) => accepts(secret, token, state.nowMs));
    if (key !== undefined && works(organization, key, state.nowMs)) return { kind: 'key', organization, key };
    const project = liveProjects(organization).find(({ secret }) => accepts(secret, token, state.nowMs));
    if (project !== undefined) return { kind: 'project', organization, project };
  }
  throw new Refusal(401, 'invalid_credentials', {}, deathsOf(state, token));
}

/** Why a key no longer works, as facts for the coverage. */
function deathsOf({ organizations, nowMs }: State, token: string): readonly string[] {
  return organizations.flatMap(({ keys }) => {
    const key = [...keys.values()].find(({ secret }) => secret.current === token);
    if (key === undefined) return [];
    if (key.revokedAtMs !== null) return ['a revoked key'];
    return key.expiresAtMs !== null && nowMs >= key.expiresAtMs ? ['an expired key'] : ['a key without an owner'];
  });
}

/** The project of a request on a project route. */
export function projectOf(proven: Proven, ask: Ask): Project {
  if (proven.kind === 'project') return proven.project;
  const { organization, key } = proven;
  const projectId = ask.project ?? onlyProject(organization, key);
  if (projectId === null) refuse(401, 'project_scope_required');
  const project = organization.projects.get(projectId);
  if (project === undefined || project.archived) refuse(401, 'unknown_project');
  // The key's own grants named this project.
  if (ask.project === undefined) return project;
  if (common(holdersOf(organization, key), projectScope(organization, project)).size === 0) {
    throw new Refusal(401, 'unknown_project', {}, ['a project without any permission']);
  }
  return project;
}

function onlyProject({ projects }: Organization, { grants }: Key): string | null {
  const named = grants.filter(({ scopeType }) => scopeType === 'PROJECT').map(({ scopeId }) => scopeId);
  const live = [...new Set(named)].filter((id) => projects.get(id)?.archived === false);
  return live.length === 1 ? (live[0] ?? null) : null;
}
