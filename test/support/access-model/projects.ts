/** Projects and teams. */

import { requireCovered } from './ceiling.ts';
import { holdersOf, isSubset, projectScope, type ScopeChain, teamScope, union } from './power.ts';
import { liveProjects, type Project } from './state.ts';
import {
  type Allowed,
  allow,
  type Call,
  conflictWhen,
  instant,
  may,
  refuse,
  requireAdministrator,
  requirePermission,
} from './verdict.ts';

type ProjectBody = {
  readonly name?: string;
  readonly teamId?: string;
  readonly language?: string;
  readonly framework?: string;
  readonly apiKey?: string;
  readonly overlapSeconds?: number;
};

export function viewProject(project: Project) {
  const { id, name, teamId, language, framework } = project;
  return {
    id,
    name,
    teamId,
    language,
    framework,
    createdAt: instant(project.createdAtMs),
    updatedAt: instant(project.updatedAtMs),
    archivedAt: null,
  };
}

/** The requested project; refuses unless the caller sees it and has the permission. */
function requireProject(call: Call, permission: string): { readonly project: Project; readonly scope: ScopeChain } {
  const { organization, ask } = call;
  const project = organization.projects.get(ask.id ?? '');
  if (project === undefined || project.archived) refuse(404, 'project_not_found');
  const scope = projectScope(organization, project);
  if (!may(call, 'project:view', scope)) refuse(404, 'project_not_found');
  requirePermission(call, permission, scope);
  return { project, scope };
}

/** A missing team is first judged like a team without grants. */
function requireTeam(call: Call, teamId: string | undefined): string {
  const { organization } = call;
  const id = teamId ?? [...organization.teams.keys()][0] ?? '';
  requirePermission(call, 'project:create', teamScope(organization, id));
  conflictWhen(!organization.teams.has(id), call, [404, 'team_not_found']);
  return id;
}

function refuseTakenName(call: Call, wanted: { readonly name: string; readonly teamId: string; readonly id: string }) {
  const isTaken = liveProjects(call.organization).some(
    ({ id, name, teamId }) => id !== wanted.id && name === wanted.name && teamId === wanted.teamId,
  );
  conflictWhen(isTaken, call, [409, 'project_name_taken']);
}

export function judgeProjectList(call: Call): Allowed {
  const { organization, ask } = call;
  const seen = liveProjects(organization).filter((project) =>
    may(call, 'project:view', projectScope(organization, project)),
  );
  const { page = '1', limit = '50' } = ask.query ?? {};
  const first = (Number(page) - 1) * Number(limit);
  return allow(200, {
    lists: seen.slice(first, first + Number(limit)).map(viewProject),
    shows: { pagination: { page: Number(page), limit: Number(limit), total: seen.length } },
  });
}

export function judgeProjectRead(call: Call): Allowed {
  return allow(200, { shows: viewProject(requireProject(call, 'project:view').project) });
}

export function admitProjectCreation(call: Call): void {
  const { organization, ask } = call;
  const teams = [...organization.teams.keys()];
  if (!teams.some((id) => may(call, 'project:create', teamScope(organization, id)))) {
    refuse(403, 'insufficient_permissions', { requiredPermission: 'project:create' });
  }
  refuseImported(ask.body ?? {});
}

export function judgeProjectCreation(call: Call): Allowed {
  const { organization, state, ask } = call;
  const body = (ask.body ?? {}) as ProjectBody;
  const teamId = requireTeam(call, body.teamId);
  const answered = organization.projects.get(String(call.kept?.id));
  if (answered !== undefined) requireTeam(call, answered.teamId);
  if (body.apiKey !== undefined) requireAdministrator(call);
  const { name = '', language = 'other', framework = 'other' } = body;
  refuseTakenName(call, { name, teamId, id: '' });
  const made = { name, teamId, language, framework, createdAtMs: state.nowMs, updatedAtMs: state.nowMs };
  const { id: _, ...shown } = viewProject({ ...made, id: '', archived: false, secret: newSecret('') });
  return allow(201, {
    shows: shown,
    secrets: ['apiKey'],
    commit({ id, apiKey }) {
      const project = { ...made, id: String(id), archived: false, secret: newSecret(String(apiKey)) };
      organization.projects.set(project.id, project);
    },
  });
}

/** Refuses to import a project key in the format of an API key. */
function refuseImported({ apiKey }: ProjectBody): void {
  if (apiKey !== undefined && /^sk-lw-[0-9A-Za-z]{16}_[0-9A-Za-z]{48}$/.test(apiKey)) {
    refuse(422, 'validation_error', { fields: ['apiKey'] });
  }
}

function newSecret(token: string) {
  return { current: token, previous: null, previousUntilMs: 0 };
}

export function judgeProjectUpdate(call: Call): Allowed {
  const { organization, state, ask } = call;
  const { project, scope } = requireProject(call, 'project:update');
  const { apiKey: _, overlapSeconds: _s, ...body } = (ask.body ?? {}) as ProjectBody;
  const next = { ...project, ...body };
  const moves = next.teamId !== project.teamId;
  if (moves) {
    requireTeam(call, next.teamId);
    requireNoGain(call, { teamId: next.teamId, from: scope, to: projectScope(organization, next) });
  }
  refuseTakenName(call, next);
  const differs = (['name', 'teamId', 'language', 'framework'] as const).some(
    (field) => next[field] !== project[field],
  );
  const updatedAtMs = differs ? state.nowMs : project.updatedAtMs;
  return allow(200, {
    shows: viewProject({ ...next, updatedAtMs }),
    facts: moves ? ['a project moved'] : [],
    commit: () => void Object.assign(project, body, { updatedAtMs }),
  });
}

/** Key and owner must already hold at the old place whatever grants at the new team give either of them. */
function requireNoGain({ organization, key }: Call, { teamId, from, to }: Move): void {
  const holders = holdersOf(organization, key);
  const gained = holders.flat().filter(({ scopeType, scopeId }) => scopeType === 'TEAM' && scopeId === teamId);
  const isHeld = holders.every((holder) => isSubset(union(gained, to), union(holder, from)));
  if (!isHeld) refuse(403, 'role_binding_scope_violation');
}

type Move = { readonly teamId: string; readonly from: ScopeChain; readonly to: ScopeChain };

export function judgeProjectArchive(call: Call): Allowed {
  const { project } = requireProject(call, 'project:delete');
  return allow(200, {
    shows: { id: project.id, name: project.name, archivedAt: instant(call.state.nowMs) },
    commit() {
      project.archived = true;
    },
  });
}

export function admitKeyRotation(call: Call): void {
  requireProject(call, 'project:manage');
  refuseImported(call.ask.body ?? {});
}

export function judgeProjectKeyRotation(call: Call): Allowed {
  const { state, ask } = call;
  const { project } = requireProject(call, 'project:manage');
  const body = (ask.body ?? {}) as ProjectBody;
  if (body.apiKey !== undefined) requireAdministrator(call);
  requireCovered(call, [{ role: 'ADMIN', scopeType: 'PROJECT', scopeId: project.id, permissions: [] }], {
    code: 'api_key_scope_violation',
  });
  const overlapMs = (body.overlapSeconds ?? 0) * 1000;
  return allow(200, {
    shows: { overlapEndsAt: overlapMs === 0 ? null : instant(state.nowMs + overlapMs) },
    secrets: ['apiKey'],
    commit({ apiKey }) {
      const { secret } = project;
      Object.assign(secret, {
        current: String(apiKey),
        previous: secret.current,
        previousUntilMs: overlapMs === 0 ? 0 : state.nowMs + overlapMs,
      });
      project.updatedAtMs = state.nowMs;
    },
  });
}

export function judgeTeamList(call: Call): Allowed {
  const { organization } = call;
  const seen = [...organization.teams.values()].filter(({ id }) => may(call, 'team:view', teamScope(organization, id)));
  return allow(200, { lists: seen.map(({ id, name }) => ({ id, name, organizationId: organization.id })) });
}

export function judgeTeamCreation(call: Call): Allowed {
  const { organization, ask } = call;
  const name = String(ask.body?.name);
  const isTaken = [...organization.teams.values()].some((team) => team.name === name);
  conflictWhen(isTaken, call, [409, 'team_name_taken']);
  return allow(201, {
    shows: { name, organizationId: organization.id },
    commit: ({ id }) => void organization.teams.set(String(id), { id: String(id), name }),
  });
}
