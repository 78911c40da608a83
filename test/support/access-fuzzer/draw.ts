/** Draws a caller and a request. */

import { works } from '../access-model/key-view.ts';
import { common, holdersOf, holdsAdmin, mayDo, organizationScope } from '../access-model/power.ts';
import { liveProjects, type Organization, type State } from '../access-model/state.ts';
import type { Ask } from '../access-model/verdict.ts';
import { llmTrace } from '../fixtures.ts';
import type { Chance } from './chance.ts';
import { drawKeyChange, drawKeyId, drawNewKey } from './key-bodies.ts';
import {
  type Drawing,
  drawMemberId,
  drawPermissions,
  drawProjectId,
  drawScope,
  drawTeamId,
  maybeForeign,
} from './scopes.ts';

type Wish = Omit<Ask, 'rpc' | 'token'>;

const WEIGHTS = {
  CreateApiKey: 17,
  UpdateApiKey: 14,
  RotateApiKey: 7,
  RevokeApiKey: 3,
  GetApiKey: 6,
  ListApiKeys: 5,
  CreateProject: 4,
  UpdateProject: 12,
  ArchiveProject: 1.5,
  RotateProjectKey: 4,
  ListProjects: 3,
  GetProject: 3,
  CreateTeam: 1.5,
  ListTeams: 2,
  CreateMember: 3,
  UpdateMember: 7,
  RemoveMember: 2,
  ListMembers: 1.5,
  CreateRoleBinding: 9,
  DeleteRoleBinding: 4,
  ListRoleBindings: 3,
  GetOrganization: 2,
  UpdateOrganization: 1,
  ListAuditLog: 3,
  CollectTrace: 3,
  GetTrace: 2,
  GetEvaluator: 3,
  CreateEvaluator: 1.5,
  ListEndpoints: 1,
  ListEvents: 1,
} as const;

type Rpc = keyof typeof WEIGHTS;

/** Rpcs that honour idempotency keys; answers that hold tokens weigh more. */
const ONCE = {
  CreateApiKey: 50,
  RotateApiKey: 15,
  CreateProject: 8,
  RotateProjectKey: 12,
  CreateTeam: 3,
  CreateMember: 5,
  CreateRoleBinding: 7,
} as const;

/** Draws a request with an idempotency key. */
export function drawOnce(drawing: Drawing): Omit<Ask, 'token'> {
  const rpc = drawing.chance.weigh(ONCE);
  return { rpc, ...WISHES[rpc](drawing), once: `once-${drawing.turn}-of-many` };
}

/** Tokens from earlier answers, for reuse. */
export type Past = { readonly tokens: readonly string[] };

export function drawAsk(chance: Chance, state: State, { turn, past }: { turn: number; past: Past }): Ask {
  const organization = chance.happens(0.8)
    ? (state.organizations[0] as Organization)
    : chance.pick(state.organizations);
  const rpc = chance.weigh<Rpc>(WEIGHTS);
  const { token, key } = drawCaller(chance, { state, organization, rpc, past });
  const wish = WISHES[rpc]({ chance, state, organization, key, turn });
  return { rpc, ...drawTokens(chance, { state, organization, rpc, past }, token), ...wish };
}

const FOREIGN_TOKEN = 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJwcm94eSJ9.c2lnbmF0dXJl';

/** Sometimes adds a second credential, in X-Auth-Token or Authorization. */
function drawTokens(chance: Chance, choosing: Choosing, token: string | null): Pick<Ask, 'token' | 'authToken'> {
  if (token === null || !chance.happens(0.1)) return { token };
  const another = chance.happens(0.4) ? FOREIGN_TOKEN : drawCaller(chance, choosing).token;
  if (another === null) return { token };
  return chance.happens(0.5) ? { token, authToken: another } : { token: another, authToken: token };
}

type Choosing = {
  readonly state: State;
  readonly organization: Organization;
  readonly rpc: Rpc;
  readonly past: Past;
};

function drawCaller(chance: Chance, { state, organization, rpc, past }: Choosing) {
  const kind = chance.weigh({ able: 65, any: 24, past: 4, project: 5, none: 2 });
  if (kind === 'none') return { token: null, key: null };
  if (kind === 'past' && past.tokens.length > 0) return { token: chance.pick(past.tokens), key: null };
  const projects = liveProjects(organization).filter(({ secret }) => secret.current !== null);
  const isInProject = ['CollectTrace', 'GetTrace', 'GetEvaluator', 'CreateEvaluator'].includes(rpc);
  if ((kind === 'project' || (isInProject && chance.happens(0.2))) && projects.length > 0) {
    return { token: chance.pick(projects).secret.current, key: null };
  }
  const living = [...organization.keys.values()].filter((key) => works(organization, key, state.nowMs));
  const able = living.filter((key) =>
    mayDo(organization, key, ['organization:manage', organizationScope(organization)]),
  );
  const narrow = able.filter((key) => !holdsAdmin(key.grants, organization));
  const crowd = kind === 'any' ? living : chance.happens(0.45) && narrow.length > 0 ? narrow : able;
  if (crowd.length === 0) return { token: null, key: null };
  const key = chance.pick(crowd);
  return { token: key.secret.current, key };
}

const WISHES: Readonly<Record<Rpc, (drawing: Drawing) => Wish>> = {
  CreateApiKey: (drawing) => ({ body: drawNewKey(drawing) }),
  UpdateApiKey: (drawing) => {
    const id = drawKeyId(drawing);
    return { id, body: drawKeyChange(drawing, drawing.organization.keys.get(id)) };
  },
  RotateApiKey: (drawing) => ({ id: drawKeyId(drawing), body: drawOverlap(drawing) }),
  RevokeApiKey: (drawing) => ({ id: drawKeyId(drawing) }),
  GetApiKey: (drawing) => ({ id: drawKeyId(drawing) }),
  ListApiKeys: ({ chance }) => ({
    query: {
      ...(chance.happens(0.6) ? { scope: chance.pick(['own', 'organization', 'organization']) } : {}),
      ...(chance.happens(0.4) ? { includeRevoked: chance.pick(['true', 'false']) } : {}),
      ...(chance.happens(0.2) ? { limit: chance.pick(['1', '5', '200']) } : {}),
    },
  }),
  CreateProject: (drawing) => {
    const { chance, turn } = drawing;
    const teamId = chance.happens(0.8) ? { teamId: drawTeamId(drawing) } : {};
    const name = chance.happens(0.75) ? `project ${turn}` : 'the same project';
    return { body: { name, ...teamId, ...drawImport(drawing) } };
  },
  UpdateProject: (drawing) => {
    const { chance, turn } = drawing;
    const teamId = chance.happens(0.75) ? { teamId: drawTeamId(drawing) } : {};
    const name = chance.happens(0.4) ? { name: `moved ${turn}` } : {};
    return { id: drawProjectId(drawing), body: { ...teamId, ...name } };
  },
  ArchiveProject: (drawing) => ({ id: drawProjectId(drawing) }),
  RotateProjectKey: (drawing) => ({
    id: drawProjectId(drawing),
    body: { ...drawOverlap(drawing), ...drawImport(drawing) },
  }),
  ListProjects: ({ chance }) => ({
    query: chance.happens(0.3) ? { limit: '2', page: chance.pick(['1', '2', '9']) } : {},
  }),
  GetProject: (drawing) => ({ id: drawProjectId(drawing) }),
  CreateTeam: ({ chance, turn }) => ({ body: { name: chance.happens(0.6) ? `team ${turn}` : 'second' } }),
  ListTeams: () => ({}),
  CreateMember: ({ chance, turn }) => ({
    body: {
      email: chance.happens(0.75) ? `Member-${turn}@localhost` : 'VIE@localhost',
      name: `member ${turn}`,
      ...(chance.happens(0.9) ? { role: chance.weigh({ ADMIN: 15, MEMBER: 25, VIEWER: 30, EXTERNAL: 30 }) } : {}),
    },
  }),
  UpdateMember: (drawing) => {
    const { chance, turn } = drawing;
    const wish = chance.weigh({ role: 60, disabled: 25, name: 15 });
    const role = chance.weigh({ ADMIN: 20, MEMBER: 35, VIEWER: 25, EXTERNAL: 20 });
    const body = { role: { role }, disabled: { disabled: chance.happens(0.5) }, name: { name: `called ${turn}` } }[
      wish
    ];
    return { id: drawMemberId(drawing), body };
  },
  RemoveMember: (drawing) => ({ id: drawMemberId(drawing) }),
  ListMembers: () => ({}),
  CreateRoleBinding: (drawing) => {
    const { chance } = drawing;
    const scope = drawScope(drawing);
    const builtIn = chance.weigh({ MEMBER: 40, VIEWER: 40, ADMIN: 20 });
    const isCustom = chance.happens(scope.scopeType === 'ORGANIZATION' ? 0.95 : 0.5);
    const held = isCustom
      ? { role: 'CUSTOM', permissions: [...drawPermissions(drawing, scope)] }
      : { role: builtIn, permissions: [] };
    return { body: { userId: drawMemberId(drawing), ...scope, ...held } };
  },
  DeleteRoleBinding: (drawing) => ({
    id: maybeForeign(drawing, ({ roleBindings, roleIds }) => [
      ...[...roleBindings].map(({ id }) => id),
      ...roleIds.keys(),
    ]),
  }),
  ListRoleBindings: (drawing) => {
    const { chance } = drawing;
    const scope = drawScope(drawing);
    const wish = chance.weigh({ all: 50, user: 25, scope: 25 });
    return { query: { all: {}, user: { userId: drawMemberId(drawing) }, scope: { ...scope } }[wish] };
  },
  GetOrganization: () => ({}),
  UpdateOrganization: ({ chance, turn }) => ({ body: chance.happens(0.8) ? { name: `organization ${turn}` } : {} }),
  ListAuditLog: () => ({ query: { limit: '200' } }),
  CollectTrace: (drawing) => {
    const { chance, state } = drawing;
    return { ...drawNamedProject(drawing), body: llmTrace(state.nowMs, chance.digits(32), chance.digits(16)) };
  },
  GetTrace: (drawing) => drawContent(drawing, (id) => /^[0-9a-f]{32}$/.test(id)),
  GetEvaluator: (drawing) => drawContent(drawing, (id) => id.startsWith('evaluator_')),
  CreateEvaluator: (drawing) => ({
    ...drawNamedProject(drawing),
    body: { name: `evaluator ${drawing.turn}`, config: { evaluatorType: 'langevals/exact_match', settings: {} } },
  }),
  ListEndpoints: () => ({}),
  ListEvents: () => ({ query: { from: '0', to: '1' } }),
};

function drawOverlap({ chance }: Drawing): { readonly overlapSeconds?: number } {
  return chance.happens(0.4) ? { overlapSeconds: chance.pick([0, 30, 3600]) } : {};
}

/** Sometimes draws a key to import; a few look like API keys, which is an error. */
function drawImport({ chance, key }: Drawing): { readonly apiKey?: string } {
  const wish = chance.weigh({ none: 85, older: 12, shaped: 3 });
  if (wish === 'none') return {};
  if (wish === 'shaped' && key?.secret.current != null) return { apiKey: key.secret.current };
  return { apiKey: `older-${chance.digits(32)}` };
}

function drawNamedProject(drawing: Drawing): { readonly project?: string } {
  const { chance, organization, key } = drawing;
  if (chance.happens(0.15)) return {};
  const seen = liveProjects(organization).filter(
    ({ id, teamId }) =>
      key !== null &&
      common(holdersOf(organization, key), {
        kind: 'PROJECT',
        chain: [`ORGANIZATION ${organization.id}`, `TEAM ${teamId}`, `PROJECT ${id}`],
      }).size > 0,
  );
  return { project: seen.length > 0 && chance.happens(0.5) ? chance.pick(seen).id : drawProjectId(drawing) };
}

/** Draws the id of a trace or evaluator, mostly together with its project. */
function drawContent(drawing: Drawing, isOfKind: (id: string) => boolean): Wish {
  const { chance, organization } = drawing;
  const id = maybeForeign(drawing, ({ contents }) => [...contents.keys()].filter(isOfKind));
  const project = organization.contents.get(id);
  return project !== undefined && chance.happens(0.6) ? { id, project } : { id, ...drawNamedProject(drawing) };
}
