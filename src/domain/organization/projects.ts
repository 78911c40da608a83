/** Projects: lists, creates, changes and archives them. project-keys.ts has their keys. */

import { Fault } from '../fault.ts';
import { isPossibleId, newId } from '../ids.ts';
import { may, projectScope, teamScope } from '../keys/permissions.ts';
import { readDirectory } from '../management/directory.ts';
import { refreshRights } from '../management/fresh-caller.ts';
import { type Page, type PageRequest, slicePage } from '../management/listing.ts';
import type { ManagementStore, ProjectRecord } from '../management/management.ts';
import {
  administratorRequired,
  type IdempotentCall,
  insufficientPermissions,
  type ManagementCall,
  requirePermission,
} from '../management/management-call.ts';
import { commitAudited, commitIdempotently } from '../management/optimistic-commit.ts';
import { slugify } from '../slug.ts';
import { isAdministrator } from './administrators.ts';
import { holdersOf, requireCovered } from './member-grants.ts';
import { NEW_PROJECT } from './new-organization.ts';
import {
  importedKeyProblems,
  issueProjectKey,
  type KeyRotation,
  type ProjectKeyDeps,
  projectKeyTaken,
  type RotatedKey,
  rotateProjectKey,
} from './project-keys.ts';
import { requireRoom, type SizeLimits } from './size-limits.ts';

type ProjectDraft = {
  readonly name: string;
  /** Null: the oldest team. */
  readonly teamId: string | null;
  /** Null: unnamed. */
  readonly language: string | null;
  readonly framework: string | null;
  /** A key of an older installation to import; null: mint a new one. */
  readonly apiKey: string | null;
};

/** Undefined: not sent. */
type ProjectChanges = Partial<Record<(typeof CHANGEABLE)[number], string>>;

/** A project with its whole key, which is shown only once. */
export type NewProject = { readonly project: ProjectRecord; readonly apiKey: string };

type ArchivedProject = { readonly id: string; readonly name: string; readonly archivedAtMs: number };

const CHANGEABLE = ['name', 'language', 'framework', 'teamId'] as const;
const UNNAMED = 'other';

export type Projects = ReturnType<typeof createProjects>;

type ProjectDeps = ProjectKeyDeps & { readonly limits: SizeLimits };

export function createProjects(deps: ProjectDeps) {
  const { store } = deps;
  const find = (call: ManagementCall, id: string, permission: string) => findProject(store, { call, id, permission });
  return {
    /** Problems of a text as an imported key, independent of caller and project. */
    keyProblems: (apiKey: string) => importedKeyProblems(apiKey, deps.keyPrefixes),
    /** Throws insufficient_permissions unless the caller may create projects in some team. */
    async admitCreation(call: ManagementCall): Promise<void> {
      const teams = await store.teams(call.caller.organization.id);
      const mayAnywhere = teams.some((team) => may(call.caller.principal, 'project:create', teamScope(team)));
      if (!mayAnywhere) throw insufficientPermissions('project:create');
    },
    /** Throws project_not_found for a hidden project, and insufficient_permissions. */
    async admit(call: ManagementCall, id: string, permission: string): Promise<void> {
      await find(call, id, permission);
    },
    /** Projects where the caller has project:view, oldest first. */
    async list({ caller }: ManagementCall, request: PageRequest): Promise<Page<ProjectRecord>> {
      const projects = await store.projects(caller.organization.id);
      return slicePage(
        projects.filter((project) => may(caller.principal, 'project:view', projectScope(project))),
        request,
      );
    },
    /**
     * Throws insufficient_permissions, team_not_found, administrator_required, project_name_taken, project_key_taken,
     * project_limit_reached.
     */
    create: (call: IdempotentCall<NewProject>, draft: ProjectDraft) => createProject(deps, call, draft),
    get: (call: ManagementCall, id: string) => find(call, id, 'project:view'),
    /** Also throws team_not_found, role_binding_scope_violation and project_name_taken. */
    update: (call: ManagementCall, id: string, changes: ProjectChanges) => updateProject(deps, { call, id, changes }),
    archive: (call: ManagementCall, id: string) => archiveProject(deps, call, id),
    /** Also throws administrator_required, api_key_scope_violation and project_key_taken. */
    rotateKey: (call: IdempotentCall<RotatedKey>, rotation: KeyRotation) =>
      rotateProjectKey(deps, call, {
        ...rotation,
        findProject: (fresh) => find(fresh, rotation.id, 'project:manage'),
      }),
  };
}

type Search = { readonly call: ManagementCall; readonly id: string; readonly permission: string };

async function findProject(store: ManagementStore, { call, id, permission }: Search): Promise<ProjectRecord> {
  const { caller } = call;
  const project = isPossibleId(id) ? await store.project(caller.organization.id, id) : null;
  const seen = project !== null && project.archivedAtMs === null ? project : null;
  if (seen === null || !may(caller.principal, 'project:view', projectScope(seen))) {
    throw new Fault('project_not_found', 'Project not found.');
  }
  requirePermission(call, permission, projectScope(seen));
  return seen;
}

function createProject(deps: ProjectDeps, call: IdempotentCall<NewProject>, draft: ProjectDraft) {
  const { store, random } = deps;
  const { nowMs } = call;
  const organizationId = call.caller.organization.id;
  return commitIdempotently(deps, call, {
    onProjectKeyTaken: projectKeyTaken,
    async checkCaller() {
      const fresh = await refreshRights(store, call);
      const teamId = await pickTeam(store, fresh, draft.teamId);
      const made = await findAnswered(store, call);
      // The stored answer contains the key of a project that may have moved to another team since.
      if (made !== null) await pickTeam(store, fresh, made.teamId);
      if (draft.apiKey !== null && !isAdministrator(fresh.caller, organizationId)) throw administratorRequired();
      return teamId;
    },
    async attempt(teamId) {
      const count = await refuseTakenName(store, { organizationId, teamId, name: draft.name, exceptId: null });
      requireRoom(deps.limits, 'project', count);
      const id = newId('project', random);
      const { token, ...key } = issueProjectKey(deps, draft.apiKey);
      const project: ProjectRecord = {
        id,
        organizationId,
        teamId,
        name: draft.name,
        slug: slugify(draft.name, id),
        language: draft.language ?? UNNAMED,
        framework: draft.framework ?? UNNAMED,
        ...key,
        ...NEW_PROJECT,
        createdAtMs: nowMs,
        updatedAtMs: nowMs,
      };
      const result = { project, apiKey: token };
      const audited = { action: 'project.create', targetId: id, status: 201 };
      return { result, change: { projects: [project] }, audited };
    },
  });
}

/** The project in a stored answer that is sent again. */
async function findAnswered(store: ManagementStore, { caller, replay }: ManagementCall): Promise<ProjectRecord | null> {
  const id = replay?.answeredId ?? null;
  return id === null ? null : await store.project(caller.organization.id, id);
}

type Update = { readonly call: ManagementCall; readonly id: string; readonly changes: ProjectChanges };

function updateProject(deps: ProjectKeyDeps, { call, id, changes }: Update): Promise<ProjectRecord> {
  const { store } = deps;
  return commitAudited(deps, call, async () => {
    const fresh = await refreshRights(store, call);
    const current = await findProject(store, { call: fresh, id, permission: 'project:update' });
    const fields = CHANGEABLE.filter((field) => changes[field] !== undefined && changes[field] !== current[field]);
    if (fields.length === 0) return { result: current, change: null };
    const project = { ...current, ...changes, updatedAtMs: call.nowMs };
    if (fields.includes('teamId')) {
      await pickTeam(store, fresh, project.teamId);
      await requireNoGain(store, fresh, project);
    }
    if (fields.includes('teamId') || fields.includes('name')) {
      await refuseTakenName(store, { ...project, exceptId: id });
    }
    const audited = { action: 'project.update', targetId: id, fields };
    return { result: project, change: { projects: [project] }, audited };
  });
}

function archiveProject(deps: ProjectKeyDeps, call: ManagementCall, id: string): Promise<ArchivedProject> {
  const { store } = deps;
  const { nowMs } = call;
  return commitAudited(deps, call, async () => {
    const fresh = await refreshRights(store, call);
    const current = await findProject(store, { call: fresh, id, permission: 'project:delete' });
    const project = { ...current, archivedAtMs: nowMs, updatedAtMs: nowMs };
    const audited = { action: 'project.archive', targetId: id };
    const change = { projects: [project], endedSessions: [{ projectId: id }] };
    return { result: { id, name: current.name, archivedAtMs: nowMs }, change, audited };
  });
}

/** The team for a project. Throws team_not_found only for callers who may create projects everywhere. */
async function pickTeam(store: ManagementStore, call: ManagementCall, teamId: string | null): Promise<string> {
  const organizationId = call.caller.organization.id;
  const teams = await store.teams(organizationId);
  const team = teamId === null ? teams[0] : teams.find(({ id }) => id === teamId);
  // No binding can name an empty id, so for an unknown team only bindings at the organization apply.
  requirePermission(call, 'project:create', teamScope(team ?? { organizationId, id: '' }));
  if (team === undefined) throw new Fault('team_not_found', 'Team not found.');
  return team.id;
}

/**
 * Moving a project must not give the caller more rights in it: the caller must already have, at the project, all that
 * their grants at the new team give.
 */
async function requireNoGain(store: ManagementStore, call: ManagementCall, moved: ProjectRecord): Promise<void> {
  const gained = holdersOf(call)
    .flat()
    .filter(({ scopeType, scopeId }) => scopeType === 'TEAM' && scopeId === moved.teamId)
    .map(({ role, permissions }) => ({ role, permissions, scopeType: 'PROJECT' as const, scopeId: moved.id }));
  const directory = await readDirectory(store, moved.organizationId);
  requireCovered(call, gained, { directory, code: 'role_binding_scope_violation' });
}

type WantedName = Pick<ProjectRecord, 'organizationId' | 'teamId' | 'name'> & { readonly exceptId: string | null };

/** Returns how many projects the organization has. */
async function refuseTakenName(store: ManagementStore, wanted: WantedName): Promise<number> {
  const projects = await store.projects(wanted.organizationId);
  const taken = projects.some(
    ({ id, teamId, name }) => id !== wanted.exceptId && teamId === wanted.teamId && name === wanted.name,
  );
  if (taken) throw new Fault('project_name_taken', 'The team already has a project with this name.');
  return projects.length;
}
