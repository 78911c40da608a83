import { type DescMethodUnary, getOption } from '@bufbuild/protobuf';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BudgetService } from '../../../gen/spandrel/v1/budgets_pb.js';
import { EndpointService } from '../../../gen/spandrel/v1/endpoints_pb.js';
import { ApiKeyService } from '../../../gen/spandrel/v1/keys_pb.js';
import { ModelProviderService } from '../../../gen/spandrel/v1/model_providers_pb.js';
import { policy } from '../../../gen/spandrel/v1/options_pb.js';
import {
  MemberService,
  ProjectService,
  RoleBindingService,
  TeamService,
} from '../../../gen/spandrel/v1/organization_pb.js';
import { VirtualKeyService } from '../../../gen/spandrel/v1/virtual_keys_pb.js';
import type { JsonValue } from '../../../src/domain/fault.ts';
import type { Binding, Role, ScopeType } from '../../../src/domain/keys/permissions.ts';
import { startApp, type TestApp } from '../../support/app.ts';
import { addKey, hex, llmTrace } from '../../support/fixtures.ts';
import { type Body, callRest } from '../../support/surfaces.ts';
import { until } from '../../support/temp.ts';
import { ask, SURFACES } from '../access/question.ts';
import { nameOf, readRoutedMethods } from '../access/services.ts';
import { BUDGET, makeBudget } from '../budgets/budgets-client.ts';
import { type Receiver, startReceiver } from '../endpoints/endpoints-client.ts';
import { act, bearer } from '../organization/organization-client.ts';
import { addVirtualKey, OPENAI } from '../virtual-keys/gateway-client.ts';

let app: TestApp;
let receiver: Receiver;
const clock = { aheadMs: 0 };
beforeAll(async () => {
  receiver = await startReceiver();
  app = await startApp({
    environment: { SPANDREL_WEBHOOK_ALLOW: '127.0.0.1' },
    clock: () => Date.now() + clock.aheadMs,
  });
});
afterAll(async () => {
  await app.close();
  await receiver.close();
});

type Grant = Omit<Binding, 'scopeId'> & { readonly scopeId?: string };
const at = (role: Role, scopeType: ScopeType = 'ORGANIZATION', scopeId?: string): Grant => ({
  role,
  scopeType,
  permissions: [],
  ...(scopeId === undefined ? {} : { scopeId }),
});
const custom = (...permissions: readonly string[]): Grant => ({ ...at('CUSTOM'), permissions });
const ADMIN = at('ADMIN');
const MANAGE = custom('organization:manage');
const unique = (word: string) => `${word} ${hex(12)}`;

/** A request; each case makes a new one. */
type Prepared = {
  readonly body?: { readonly [name: string]: JsonValue };
  readonly parameters?: { readonly [name: string]: string };
  readonly rights?: readonly Grant[];
  readonly less?: readonly Grant[];
};

type Case = {
  readonly name: string;
  readonly method: DescMethodUnary;
  readonly prepare: () => Prepared | Promise<Prepared>;
  /** The initial grants of the calling key, unless `prepare` sets them. */
  readonly rights?: readonly Grant[];
  /** Its grants when the request is repeated. */
  readonly less?: readonly Grant[];
  readonly code: string;
};

async function makeTeam(): Promise<string> {
  return (await act(app, 'POST', '/api/teams', { name: unique('team') })).id;
}
async function makeProject(body: object = {}): Promise<string> {
  return (await act(app, 'POST', '/api/projects', { name: unique('project'), ...body })).id;
}
async function makeMember(role = 'VIEWER'): Promise<string> {
  const email = `${hex(16)}@example.com`;
  return (await act(app, 'POST', '/api/organization/members', { email, name: 'M', role })).userId;
}
async function makeDisabledKey(): Promise<string> {
  const { id } = (await addVirtualKey(app)).virtual_key;
  await act(app, 'POST', `/api/gateway/v1/virtual-keys/${id}/disable`, {});
  return id;
}
async function makeEndpoint(body: object = {}): Promise<string> {
  const endpoint = { url: receiver.url, enabled_events: ['gateway.virtual_key.*'], ...body };
  return (await act(app, 'POST', '/api/webhooks/v1/endpoints', endpoint)).data.id;
}

/** Creates a dead letter by status 410. */
async function makeDeadLetter(): Promise<{ readonly id: string; readonly dispatch_id: string }> {
  receiver.answer = { status: 410, body: '' };
  const id = await makeEndpoint({ enabled_events: ['gateway.request.*'] });
  const headers = { 'x-auth-token': app.projectKey };
  await callRest(app.address, { verb: 'POST', path: '/api/collector', body: llmTrace(Date.now()), headers });
  const letters = async () => (await act(app, 'GET', `/api/webhooks/v1/endpoints/${id}/dead-letters`)).data;
  let found: readonly Body[] = [];
  await until(async () => {
    found = await letters();
    return found.length > 0;
  });
  await act(app, 'PATCH', `/api/webhooks/v1/endpoints/${id}`, { url: 'http://127.0.0.1:1/', status: 'active' });
  return { id, dispatch_id: found[0].dispatch_id };
}

const CASES: readonly Case[] = [
  {
    name: 'a team, without the permission',
    method: TeamService.method.createTeam,
    prepare: () => ({ body: { name: unique('team') } }),
    less: [MANAGE],
    code: 'insufficient_permissions',
  },
  {
    name: 'a project, with the permission in another team only',
    method: ProjectService.method.createProject,
    async prepare() {
      const [teamId, other] = [await makeTeam(), await makeTeam()];
      return { body: { name: unique('project'), teamId }, less: [at('ADMIN', 'TEAM', other)] };
    },
    code: 'insufficient_permissions',
  },
  {
    name: 'a project with a key of its own, not as an administrator',
    method: ProjectService.method.createProject,
    prepare: () => ({ body: { name: unique('project'), apiKey: `imported-${hex(32)}` } }),
    less: [custom('project:manage')],
    code: 'administrator_required',
  },
  {
    name: 'a new project key, without everything that it can do',
    method: ProjectService.method.rotateProjectKey,
    prepare: async () => ({ parameters: { id: await makeProject() }, body: {} }),
    less: [custom('project:manage')],
    code: 'api_key_scope_violation',
  },
  {
    name: 'a project key that is brought along, not as an administrator',
    method: ProjectService.method.rotateProjectKey,
    async prepare() {
      const id = await makeProject();
      return {
        parameters: { id },
        body: { apiKey: `imported-${hex(32)}` },
        less: [at('ADMIN', 'PROJECT', id)],
      };
    },
    code: 'administrator_required',
  },
  {
    name: 'a member, without what the role grants',
    method: MemberService.method.createMember,
    prepare: () => ({ body: { email: `${hex(16)}@example.com`, name: 'M', role: 'VIEWER' } }),
    less: [MANAGE],
    code: 'role_binding_scope_violation',
  },
  {
    name: 'an administrator, not as one',
    method: MemberService.method.createMember,
    prepare: () => ({ body: { email: `${hex(16)}@example.com`, name: 'M', role: 'ADMIN' } }),
    less: [MANAGE],
    code: 'administrator_required',
  },
  {
    name: 'a role binding, without what it grants',
    method: RoleBindingService.method.createRoleBinding,
    async prepare() {
      const [userId, scopeId] = [await makeMember(), await makeProject()];
      return { body: { userId, role: 'MEMBER', scopeType: 'PROJECT', scopeId } };
    },
    less: [MANAGE],
    code: 'role_binding_scope_violation',
  },
  {
    name: 'a service key with everything, not as an administrator',
    method: ApiKeyService.method.createApiKey,
    prepare: () => ({ body: { name: 'everything', keyType: 'service' } }),
    less: [MANAGE],
    code: 'administrator_required',
  },
  {
    name: "another member's key, not as an administrator",
    method: ApiKeyService.method.createApiKey,
    prepare: async () => ({ body: { name: 'for another', assignedToUserId: await makeMember() } }),
    less: [MANAGE],
    code: 'administrator_required',
  },
  {
    name: 'a new token of a wider key',
    method: ApiKeyService.method.rotateApiKey,
    async prepare() {
      const wide = await act(app, 'POST', '/api/api-keys', { name: 'wide', keyType: 'service' });
      return { parameters: { id: wide.id }, body: { overlapSeconds: 60 } };
    },
    less: [MANAGE],
    code: 'api_key_scope_violation',
  },
  {
    name: 'a model provider, without the permission',
    method: ModelProviderService.method.createModelProvider,
    prepare: () => ({ body: { ...OPENAI, name: unique('provider') } }),
    less: [custom('gatewayProviders:view')],
    code: 'insufficient_permissions',
  },
  // Before there is any endpoint, which would get the events of these keys.
  {
    name: 'a virtual key, without the permission',
    method: VirtualKeyService.method.createVirtualKey,
    prepare: () => ({ body: { name: 'key', trace_project_id: app.projectId } }),
    less: [custom('virtualKeys:view')],
    code: 'insufficient_permissions',
  },
  {
    name: 'a virtual key, with the permission in another project only',
    method: VirtualKeyService.method.createVirtualKey,
    async prepare() {
      const less = [at('ADMIN', 'PROJECT', await makeProject())];
      return { body: { name: 'key', trace_project_id: app.projectId }, less };
    },
    code: 'api_key_scope_violation',
  },
  {
    name: 'a virtual key with a budget, without the permission to manage budgets',
    method: VirtualKeyService.method.createVirtualKey,
    prepare: () => ({
      body: { name: 'key', trace_project_id: app.projectId, budget: { window: 'day', limit_usd: '1' } },
    }),
    less: [custom('virtualKeys:create', 'virtualKeys:view')],
    code: 'insufficient_permissions',
  },
  {
    name: 'a new secret of a virtual key, without the permission',
    method: VirtualKeyService.method.rotateVirtualKey,
    prepare: async () => ({ parameters: { id: (await addVirtualKey(app)).virtual_key.id }, body: {} }),
    less: [custom('virtualKeys:view')],
    code: 'insufficient_permissions',
  },
  {
    name: 'a virtual key that is disabled, without the permission',
    method: VirtualKeyService.method.disableVirtualKey,
    prepare: async () => ({ parameters: { id: (await addVirtualKey(app)).virtual_key.id }, body: { reason: 'told' } }),
    less: [custom('virtualKeys:view')],
    code: 'insufficient_permissions',
  },
  {
    name: 'a virtual key that is enabled, without the permission',
    method: VirtualKeyService.method.enableVirtualKey,
    prepare: async () => ({ parameters: { id: await makeDisabledKey() }, body: { reason: 'told' } }),
    less: [custom('virtualKeys:view')],
    code: 'insufficient_permissions',
  },
  {
    name: 'a virtual key that is revoked, without the permission',
    method: VirtualKeyService.method.revokeVirtualKey,
    prepare: async () => ({ parameters: { id: (await addVirtualKey(app)).virtual_key.id }, body: { reason: 'told' } }),
    less: [custom('virtualKeys:view')],
    code: 'insufficient_permissions',
  },
  {
    name: 'a budget, without the permission',
    method: BudgetService.method.createBudget,
    prepare: () => ({ body: BUDGET }),
    less: [custom('gatewayBudgets:view')],
    code: 'insufficient_permissions',
  },
  {
    name: 'the reset of a budget, without the permission',
    method: BudgetService.method.resetBudget,
    prepare: async () => ({ parameters: { id: (await makeBudget(app)).id }, body: {} }),
    less: [custom('gatewayBudgets:view')],
    code: 'insufficient_permissions',
  },
  {
    name: 'an endpoint, without the permission',
    method: EndpointService.method.createEndpoint,
    prepare: () => ({ body: { url: receiver.url, enabled_events: ['gateway.virtual_key.*'] } }),
    less: [MANAGE],
    code: 'insufficient_permissions',
  },
  {
    name: 'a new secret of an endpoint, without the permission',
    method: EndpointService.method.rollEndpointSecret,
    prepare: async () => ({ parameters: { id: await makeEndpoint() }, body: {} }),
    less: [custom('webhookEndpoints:view')],
    code: 'insufficient_permissions',
  },
  {
    name: 'a delivery that is sent again, without the permission',
    method: EndpointService.method.redeliverDelivery,
    prepare: async () => ({ parameters: await makeDeadLetter() }),
    less: [custom('webhookEndpoints:view')],
    code: 'insufficient_permissions',
  },
  {
    name: 'a replay of events, without the permission',
    method: EndpointService.method.replayEvents,
    prepare: async () => ({ parameters: { id: await makeEndpoint() }, body: { from: 0, to: 1 } }),
    less: [custom('webhookEndpoints:view')],
    code: 'insufficient_permissions',
  },
];

const idOf = (token: string) => token.slice('sk-lw-'.length).split('_')[0] ?? '';
const whole = (grants: readonly Grant[]) =>
  grants.map((grant) => ({ ...grant, scopeId: grant.scopeId ?? app.organizationId }));

/** Replaces a key's grants as the administrator. */
async function regrant(token: string, grants: readonly Grant[]): Promise<void> {
  const permissions = grants.flatMap((grant) => grant.permissions);
  const bindings = whole(grants).map(({ role, scopeType, scopeId }) => ({ role, scopeType, scopeId }));
  const permissionMode = permissions.length > 0 ? 'restricted' : 'all';
  await act(app, 'PATCH', `/api/api-keys/${idOf(token)}`, { bindings, permissions, permissionMode });
}

/** Repeats a request over every surface with one idempotency key. */
function repeat(method: DescMethodUnary, { parameters, body }: Prepared, token: string) {
  const key = `key-${hex(16)}`;
  const question = {
    method,
    headers: { 'idempotency-key': key },
    ...(parameters === undefined ? {} : { parameters }),
    ...(body === undefined ? {} : { body }),
  };
  const status = getOption(method, policy).successStatus;
  return async (wanted: { readonly status: number; readonly code: string | null } = { status, code: null }) => {
    const bodies: Body[] = [];
    for (const surface of SURFACES) {
      const outcome = await ask(surface, question, { address: app.address, token, wanted });
      expect({ surface, status: outcome.status, code: outcome.code }, JSON.stringify(outcome.body)).toEqual({
        surface,
        ...wanted,
      });
      bodies.push(outcome.body);
    }
    if (wanted.code === null) expect(bodies[1]).toEqual(bodies[0]);
    return bodies[0];
  };
}

describe('a kept answer is given again only to a caller who could still ask for it', () => {
  it.each(CASES)('$name', async ({ method, prepare, code, ...fixed }) => {
    const prepared = await prepare();
    const rights = prepared.rights ?? fixed.rights ?? [ADMIN];
    const token = await addKey(app, { bindings: whole(rights) });
    const send = repeat(method, prepared, token);
    const first = await send();
    await regrant(token, prepared.less ?? fixed.less ?? []);
    await send({ status: 403, code });
    await regrant(token, rights);
    expect(await send()).toEqual(first);
  });

  it('covers every operation that honours an idempotency key', async () => {
    const idempotent = (await readRoutedMethods()).filter((method) => getOption(method, policy).idempotent);
    expect(new Set(CASES.map(({ method }) => nameOf(method)))).toEqual(new Set(idempotent.map(nameOf)));
  });
});

const createKey = ApiKeyService.method.createApiKey;
const own = (bindings: readonly Grant[]) => addKey(app, { bindings: whole(bindings), keyType: 'personal' });

describe('the key of a kept answer is bounded by what its caller holds now', () => {
  it('where its grants were those of the calling key at first', async () => {
    const token = await own([ADMIN]);
    const send = repeat(createKey, { body: { name: 'a copy' } }, token);
    const first = await send();
    await regrant(token, [MANAGE]);
    await send({ status: 403, code: 'api_key_scope_violation' });
    // With another idempotency key the same body creates a key as narrow as the caller.
    const { apiKey } = await repeat(createKey, { body: { name: 'a copy' } }, token)();
    expect(apiKey.permissions).toEqual(['organization:manage']);
    await regrant(token, [ADMIN]);
    expect(await send()).toEqual(first);
  });

  it('where it was given more since', async () => {
    const token = await own([MANAGE]);
    const bindings = [{ role: 'CUSTOM', scopeType: 'ORGANIZATION', scopeId: app.organizationId }];
    const body = { name: 'grows', permissionMode: 'restricted', permissions: ['organization:manage'], bindings };
    const send = repeat(createKey, { body }, token);
    const first = await send();
    await regrant(first.token, [ADMIN]);
    await send({ status: 403, code: 'api_key_scope_violation' });
    await regrant(first.token, [MANAGE]);
    expect((await send()).token).toBe(first.token);
  });

  it('where its owner may not hold it any more, or is disabled', async () => {
    const userId = await makeMember('MEMBER');
    const token = await addKey(app, { bindings: whole([ADMIN]) });
    const send = repeat(createKey, { body: { name: 'for a member', assignedToUserId: userId } }, token);
    const first = await send();
    const change = (body: object) => act(app, 'PATCH', `/api/organization/members/${userId}`, body);
    await change({ role: 'VIEWER' });
    await send({ status: 403, code: 'api_key_scope_violation' });
    await change({ role: 'EXTERNAL' });
    await send({ status: 403, code: 'api_key_scope_violation' });
    await change({ role: 'MEMBER', disabled: true });
    await send({ status: 403, code: 'api_key_scope_violation' });
    await change({ disabled: false });
    expect(await send()).toEqual(first);
  });
});

describe('what changed by the first request, or since, does not keep its answer from being given again', () => {
  it('a key that ended, one that expired, and one that is in use already', async () => {
    const token = await addKey(app, { bindings: whole([ADMIN]) });
    const { id } = await act(app, 'POST', '/api/api-keys', { name: 'to be ended', keyType: 'service' });
    const rotate = repeat(ApiKeyService.method.rotateApiKey, { parameters: { id }, body: {} }, token);
    const rotated = await rotate();
    await act(app, 'DELETE', `/api/api-keys/${id}`);
    expect(await rotate()).toEqual(rotated);
    const expiresAt = new Date(Date.now() + 60_000).toISOString();
    const mortal = await act(app, 'POST', '/api/api-keys', { name: 'mortal', keyType: 'service', expiresAt });
    const renew = repeat(ApiKeyService.method.rotateApiKey, { parameters: { id: mortal.id }, body: {} }, token);
    const renewed = await renew();
    clock.aheadMs = 61_000;
    expect(await renew()).toEqual(renewed);
    clock.aheadMs = 0;
    const parameters = { id: await makeProject() };
    const body = { apiKey: `imported-${hex(32)}` };
    await repeat(ProjectService.method.rotateProjectKey, { parameters, body }, token)();
  });

  it('an expiry that is past by now', async () => {
    const token = await addKey(app, { bindings: whole([ADMIN]) });
    const atMs = Date.now() + 60_000;
    const expiresAt = new Date(atMs).toISOString();
    const mint = repeat(createKey, { body: { name: 'brief', keyType: 'service', expiresAt } }, token);
    const minted = await mint();
    const body = { name: 'brief', trace_project_id: app.projectId, expires_at: atMs };
    const make = repeat(VirtualKeyService.method.createVirtualKey, { body }, token);
    const made = await make();
    clock.aheadMs = 61_000;
    try {
      expect(await mint()).toEqual(minted);
      expect(await make()).toEqual(made);
      const late = { body: { name: 'late', keyType: 'service', expiresAt } };
      await repeat(createKey, late, token)({ status: 422, code: 'validation_error' });
      const lateKey = repeat(VirtualKeyService.method.createVirtualKey, { body: { ...body, name: 'late' } }, token);
      await lateKey({ status: 400, code: 'validation_error' });
    } finally {
      clock.aheadMs = 0;
    }
  });

  it('a removed member, and an archived endpoint', async () => {
    const token = await addKey(app, { bindings: whole([ADMIN]) });
    const [userId, scopeId] = [await makeMember(), await makeProject()];
    const body = { userId, role: 'MEMBER', scopeType: 'PROJECT', scopeId };
    const bind = repeat(RoleBindingService.method.createRoleBinding, { body }, token);
    const bound = await bind();
    await act(app, 'DELETE', `/api/organization/members/${userId}`);
    expect(await bind()).toEqual(bound);
    const id = await makeEndpoint();
    const roll = repeat(EndpointService.method.rollEndpointSecret, { parameters: { id }, body: {} }, token);
    const rolled = await roll();
    await act(app, 'DELETE', `/api/webhooks/v1/endpoints/${id}`);
    expect(await roll()).toEqual(rolled);
  });
});

it('a project that was moved gives its first key only to who may create projects where it is', async () => {
  const [from, to] = [await makeTeam(), await makeTeam()];
  const token = await addKey(app, { bindings: whole([at('ADMIN', 'TEAM', from)]) });
  const body = { name: unique('project'), teamId: from };
  const send = repeat(ProjectService.method.createProject, { body }, token);
  const { id } = await send();
  await act(app, 'PATCH', `/api/projects/${id}`, { teamId: to });
  await send({ status: 403, code: 'insufficient_permissions' });
});

it('a refused repetition is in the audit log, and one that is answered is not', async () => {
  const token = await addKey(app, { bindings: whole([ADMIN]) });
  const send = repeat(createKey, { body: { name: 'audited', keyType: 'service' } }, token);
  await send();
  await regrant(token, [MANAGE]);
  await send({ status: 403, code: 'administrator_required' });
  const query = new URLSearchParams({ actorKeyId: idOf(token), action: 'apiKey.create' });
  let entries: readonly Body[] = [];
  await until(async () => {
    const answer = await callRest(app.address, { path: `/api/audit-log?${query}`, headers: bearer(app.adminKey) });
    entries = answer.body.data;
    return entries.some(({ outcome }) => outcome === 'refused');
  });
  expect(entries.filter(({ outcome }) => outcome === 'success')).toHaveLength(1);
  expect(entries.find(({ outcome }) => outcome === 'refused')).toMatchObject({ code: 'administrator_required' });
});
