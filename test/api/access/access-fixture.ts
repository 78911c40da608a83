/** The organization of the access matrix, with all its callers. */

import { randomBytes } from 'node:crypto';
import { newId } from '../../../src/domain/ids.ts';
import { startApp, type TestApp } from '../../support/app.ts';
import { hex, llmTrace } from '../../support/fixtures.ts';
import { type Body, callRest } from '../../support/surfaces.ts';
import { addForeign, type Foreign } from './foreign.ts';

export type MemberName = 'adm' | 'mgr' | 'mem' | 'vie' | 'dem';
type Grant = { readonly role: string; readonly scopeType: string; readonly scopeId: string };

/** A key to mint: its owner, null for a service key, and the rest of the body. */
export type KeyWish = {
  readonly owner: MemberName | null;
  readonly body: { readonly [name: string]: object | string };
};

/** The scopes of grants. `project` is P1, or a new project in its place. */
export type ScopeIds = { readonly organization: string; readonly project: string };

export const atOrganization = (role: string, { organization }: ScopeIds): Grant => ({
  role,
  scopeType: 'ORGANIZATION',
  scopeId: organization,
});
export const atProject = (role: string, { project }: ScopeIds): Grant => ({
  role,
  scopeType: 'PROJECT',
  scopeId: project,
});
const restricted = (scopeIds: ScopeIds, permission: string) => ({
  bindings: [atOrganization('CUSTOM', scopeIds)],
  permissionMode: 'restricted',
  permissions: [permission],
});

/** The callers with API keys, and their keys. */
export const CALLERS = {
  PA: (at) => ({ owner: 'adm', body: { bindings: [atOrganization('ADMIN', at)] } }),
  PN: (at) => ({ owner: 'adm', body: restricted(at, 'organization:manage') }),
  PQ: (at) => ({ owner: 'adm', body: restricted(at, 'organization:view') }),
  PM: (at) => ({ owner: 'mgr', body: restricted(at, 'organization:manage') }),
  PV: (at) => ({ owner: 'mem', body: { bindings: [atOrganization('MEMBER', at)] } }),
  PR: (at) => ({ owner: 'vie', body: { bindings: [atOrganization('VIEWER', at)] } }),
  PD: (at) => ({ owner: 'dem', body: { bindings: [atOrganization('ADMIN', at)] } }),
  PP: (at) => ({ owner: 'mem', body: { bindings: [atProject('MEMBER', at)] } }),
  SA: () => ({ owner: null, body: {} }),
  SM: (at) => ({ owner: null, body: restricted(at, 'organization:manage') }),
  SV: (at) => ({ owner: null, body: restricted(at, 'organization:view') }),
  SP: (at) => ({ owner: null, body: { projectIds: [at.project] } }),
} satisfies { readonly [name: string]: (scopeIds: ScopeIds) => KeyWish };

export type KeyCaller = keyof typeof CALLERS;
/** PROJ uses the project key of P1. */
export type CallerName = KeyCaller | 'PROJ';

export const KEY_CALLERS = Object.keys(CALLERS) as readonly KeyCaller[];

export type Minted = { readonly id: string; readonly token: string };

export type Fixture = {
  readonly app: TestApp;
  readonly scopeIds: ScopeIds;
  readonly teams: { readonly T1: string; readonly T2: string };
  readonly projects: { readonly P1: string; readonly P2: string };
  readonly members: { readonly [name in MemberName]: string };
  readonly tokens: { readonly [name in CallerName]: string };
  readonly callerIds: { readonly [name in KeyCaller]: string };
  /** Another key of each member, which is no caller. */
  readonly targets: { readonly [name in MemberName]: string };
  /** A service key that is no caller; it holds ADMIN at the organization. */
  readonly svc: string;
  readonly evaluators: { readonly P1: string; readonly P2: string };
  readonly traceId: string;
  readonly eventId: string;
  readonly foreign: Foreign;
  /** The ids that a word in the tables means for this owner. */
  ids(word: string, owner: MemberName | null): readonly string[];
  /** The word for an id. */
  nameOf(id: string): string;
  /** Sends a request as the first administrator; throws on failure. */
  act(verb: string, path: string, body?: object): Promise<Body>;
  addKey(wish: KeyWish): Promise<Minted>;
  /** Adds an equal key; `project` replaces P1. */
  addCaller(name: KeyCaller, project?: string): Promise<Minted>;
  addMember(role: string): Promise<string>;
  /** Another project in T1. */
  addProject(): Promise<string>;
  /** Another evaluator in P1. */
  addEvaluator(): Promise<string>;
  addDataset(): Promise<string>;
  /** Another trace in P1. */
  addTrace(): Promise<string>;
};

/** A unique name. */
export const freshName = (what: string): string => `${what} ${hex(16)}`;

/** A closed port, which fails at once. */
export const NOBODY_URL = 'http://127.0.0.1:1/';

export async function createFixture(): Promise<Fixture> {
  const app = await startApp({
    environment: { SPANDREL_WEBHOOK_ALLOW: '127.0.0.1:1', SPANDREL_GATEWAY_ALLOW: '127.0.0.1:1' },
  });
  const act = createAct(app);
  const scopeIds = { organization: app.organizationId, project: app.projectId };
  const makers = createMakers(act);
  const { addMember } = makers;
  const members = {
    adm: app.userId,
    mgr: await addMember('MEMBER'),
    mem: await addMember('MEMBER'),
    vie: await addMember('VIEWER'),
    dem: await addMember('ADMIN'),
  };
  const addKey = (wish: KeyWish) => makers.addKey(wish, members);
  const scope = { scopeType: 'ORGANIZATION', scopeId: app.organizationId };
  await act('POST', '/api/role-bindings', {
    userId: members.mgr,
    role: 'CUSTOM',
    permissions: ['organization:manage'],
    ...scope,
  });
  const callers = await addEach(KEY_CALLERS, (name) => addKey(CALLERS[name](scopeIds)));
  await act('PATCH', `/api/organization/members/${members.dem}`, { role: 'MEMBER' });
  const targets = await addEach(Object.keys(members) as MemberName[], (owner) =>
    addKey({ owner, body: { bindings: [atOrganization('VIEWER', scopeIds)] } }),
  );
  const svc = await addKey({ owner: null, body: {} });
  const contents = await addContents(app, act);
  const owners = new Map<string, MemberName | null>([
    [svc.id, null],
    [/_?([0-9A-Za-z]{16})_/.exec(app.adminKey)?.[1] ?? '', 'adm'],
    ...KEY_CALLERS.map((name) => [callers[name].id, CALLERS[name](scopeIds).owner] as const),
    ...(Object.keys(members) as MemberName[]).map((name) => [targets[name].id, name] as const),
  ]);
  const names = new Map<string, string>([
    ...Object.entries({ svc: svc.id, ...contents.teams, ...contents.projects }),
    ...Object.entries(members),
    ...Object.entries(callers).map(([name, { id }]) => [name, id] as const),
    ...Object.entries(targets).map(([name, { id }]) => [`key of ${name}`, id] as const),
  ]);
  const words = new Map([...names].map(([name, id]) => [id, name]));
  const select = (want: (owner: MemberName | null) => boolean) =>
    [...owners].filter(([, owner]) => want(owner)).map(([id]) => id);
  return {
    app,
    scopeIds,
    ...contents,
    members,
    tokens: { ...pick(callers, 'token'), PROJ: app.projectKey },
    callerIds: pick(callers, 'id'),
    targets: pick(targets, 'id'),
    svc: svc.id,
    foreign: await addForeign(app),
    ids(word, owner) {
      if (word === 'none') return [];
      if (word === 'all') return select(() => true);
      if (word === 'own') return select((each) => each === owner && each !== null);
      if (word === 'service') return select((each) => each === null);
      const id = names.get(word);
      if (id === undefined) throw new Error(`nothing is called ${word}`);
      return [id];
    },
    nameOf: (id) => words.get(id) ?? id,
    act,
    addKey,
    addCaller: (name, project = scopeIds.project) => addKey(CALLERS[name]({ ...scopeIds, project })),
    addMember,
    addProject: makers.addProject,
  };
}

type Act = Fixture['act'];

function createAct(app: TestApp): Act {
  return async (verb, path, body) => {
    const headers = { authorization: `Bearer ${app.adminKey}` };
    const answer = await callRest(app.address, { verb, path, headers, ...(body === undefined ? {} : { body }) });
    if (answer.status >= 300) throw new Error(`${verb} ${path}: ${answer.status} ${answer.text}`);
    return answer.body;
  };
}

function createMakers(act: Act) {
  return {
    async addMember(role: string): Promise<string> {
      const email = `${newId('m', randomBytes)}@localhost`;
      return (await act('POST', '/api/organization/members', { email, name: email, role })).userId;
    },
    async addProject(): Promise<string> {
      return (await act('POST', '/api/projects', { name: freshName('project') })).id;
    },
    async addKey({ owner, body }: KeyWish, members: Fixture['members']): Promise<Minted> {
      const kind = owner === null ? { keyType: 'service' } : { assignedToUserId: members[owner] };
      const { id, token } = await act('POST', '/api/api-keys', { name: freshName('key'), ...kind, ...body });
      return { id, token };
    },
  };
}

/** Adds a second project, and contents to both. */
async function addContents(app: TestApp, act: Act) {
  const [first] = (await act('GET', '/api/teams')).data;
  const team = await act('POST', '/api/teams', { name: 'T2' });
  const project = await act('POST', '/api/projects', { name: 'P2', teamId: team.id });
  const evaluator = async (token: string) => {
    const body = { name: 'Judge', config: { evaluatorType: 'langevals/exact_match', settings: {} } };
    const headers = { 'x-auth-token': token };
    return (await callRest(app.address, { verb: 'POST', path: '/api/v1/evaluators', body, headers })).body.id;
  };
  const addTrace = async () => {
    const body = llmTrace(Date.now());
    const headers = { 'x-auth-token': app.projectKey };
    await callRest(app.address, { verb: 'POST', path: '/api/collector', body, headers });
    return body.trace_id;
  };
  const traceId = await addTrace();
  const [event] = (await act('GET', '/api/webhooks/v1/events?from=0&to=9007199254740991')).data;
  return {
    teams: { T1: String(first.id), T2: String(team.id) },
    projects: { P1: app.projectId, P2: String(project.id) },
    evaluators: { P1: await evaluator(app.projectKey), P2: await evaluator(project.apiKey) },
    addEvaluator: () => evaluator(app.projectKey),
    addDataset: async () => {
      const headers = { 'x-auth-token': app.projectKey };
      const body = { name: 'Cases' };
      return String((await callRest(app.address, { verb: 'POST', path: '/api/dataset', body, headers })).body.id);
    },
    addTrace,
    traceId,
    eventId: String(event.id),
  };
}

async function addEach<N extends string>(
  names: readonly N[],
  add: (name: N) => Promise<Minted>,
): Promise<{ readonly [name in N]: Minted }> {
  const added: [N, Minted][] = [];
  for (const name of names) added.push([name, await add(name)]);
  return Object.fromEntries(added) as { readonly [name in N]: Minted };
}

function pick<N extends string, F extends keyof Minted>(all: { readonly [name in N]: Minted }, field: F) {
  const entries = Object.entries<Minted>(all).map(([name, minted]) => [name, minted[field]]);
  return Object.fromEntries(entries) as { readonly [name in N]: string };
}
