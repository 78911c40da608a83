import type { DescMethodUnary } from '@bufbuild/protobuf';
import { FieldMaskSchema } from '@bufbuild/protobuf/wkt';
import { createClient } from '@connectrpc/connect';
import { createConnectTransport } from '@connectrpc/connect-node';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BudgetService } from '../../../gen/spandrel/v1/budgets_pb.js';
import { EndpointService } from '../../../gen/spandrel/v1/endpoints_pb.js';
import { EvaluatorService } from '../../../gen/spandrel/v1/evaluators_pb.js';
import { ApiKeyService, PermissionMode } from '../../../gen/spandrel/v1/keys_pb.js';
import { ModelProviderService } from '../../../gen/spandrel/v1/model_providers_pb.js';
import { MonitorService } from '../../../gen/spandrel/v1/monitors_pb.js';
import {
  MemberRole,
  MemberService,
  OrganizationService,
  ProjectService,
} from '../../../gen/spandrel/v1/organization_pb.js';
import { TraceService } from '../../../gen/spandrel/v1/traces_pb.js';
import { TriggerService } from '../../../gen/spandrel/v1/triggers_pb.js';
import { VirtualKeyService } from '../../../gen/spandrel/v1/virtual_keys_pb.js';
import { resourceField } from '../../../src/rpc/rest-shape.ts';
import { startApp, type TestApp } from '../../support/app.ts';
import { hex } from '../../support/fixtures.ts';
import { type Body, callRest, callRpc, type RpcAnswer } from '../../support/surfaces.ts';
import { nameOf, readRoutedMethods } from '../access/services.ts';
import { makeBudget } from '../budgets/budgets-client.ts';
import { QUEUE_URL, ROLE } from '../endpoints/endpoints-client.ts';
import { act, bearer } from '../organization/organization-client.ts';
import { addProvider, addVirtualKey } from '../virtual-keys/gateway-client.ts';
import { peopleCases } from './people-masks.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startApp({ environment: { SPANDREL_WEBHOOK_ALLOW: '127.0.0.1' } });
});
afterAll(async () => {
  await app.close();
});

type Message = { readonly [field: string]: unknown };
type Case = {
  readonly method: DescMethodUnary;
  /** Sets exactly the fields of `paths`, and the id of the resource. */
  readonly request: () => Message | Promise<Message>;
  readonly paths: readonly string[];
  /** A path that the mask omits, and its REST name. */
  readonly omits: readonly [path: string, name: string];
};

const { updateApiKey } = ApiKeyService.method;
const { updateEndpoint } = EndpointService.method;
const CREDENTIALS = { case: 'assumeRole', value: { roleArn: ROLE } };
const QUEUE = { case: 'sqs', value: { queueUrl: QUEUE_URL, credentials: CREDENTIALS } };

async function add(path: string, body: object): Promise<string> {
  const headers = { 'x-auth-token': app.projectKey };
  return (await callRest(app.address, { verb: 'POST', path, headers, body: { name: hex(16), ...body } })).body.id;
}
const CONFIG = { evaluatorType: 'langevals/exact_match', settings: {} };
const addEvaluator = () => add('/api/evaluators', { config: CONFIG });
const addMonitor = async () => add('/api/monitors', { evaluatorId: await addEvaluator() });

const CASES: readonly Case[] = [
  {
    method: updateApiKey,
    async request() {
      const { id } = await act(app, 'POST', '/api/api-keys', { name: 'k', keyType: 'service' });
      return { id, apiKey: { name: 'renamed', permissionMode: PermissionMode.READONLY } };
    },
    paths: ['name', 'permission_mode'],
    omits: ['permission_mode', 'permissionMode'],
  },
  {
    method: OrganizationService.method.updateOrganization,
    request: () => ({ organization: { name: 'Acme' } }),
    paths: ['name'],
    omits: ['name', 'name'],
  },
  {
    method: ProjectService.method.updateProject,
    async request() {
      const { id } = await act(app, 'POST', '/api/projects', { name: hex(12) });
      return { id, project: { name: hex(12), language: 'python' } };
    },
    paths: ['name', 'language'],
    omits: ['language', 'language'],
  },
  {
    method: MemberService.method.updateMember,
    async request() {
      const email = `${hex(12)}@example.com`;
      const { userId } = await act(app, 'POST', '/api/organization/members', { email, name: 'M', role: 'MEMBER' });
      return { userId, member: { role: MemberRole.VIEWER, disabled: true } };
    },
    paths: ['role', 'disabled'],
    omits: ['disabled', 'disabled'],
  },
  {
    method: updateEndpoint,
    async request() {
      const endpoint = { url: 'http://127.0.0.1:1/', enabled_events: ['gateway.request.*'] };
      const { id } = (await act(app, 'POST', '/api/webhooks/v1/endpoints', endpoint)).data;
      return { id, endpoint: { description: 'd', maxInFlight: 1 } };
    },
    paths: ['description', 'max_in_flight'],
    omits: ['max_in_flight', 'max_in_flight'],
  },
  {
    method: TraceService.method.updateProjectSettings,
    request: () => ({ settings: { traceRetentionDays: 30, emitRequestEvents: true } }),
    paths: ['trace_retention_days', 'emit_request_events'],
    omits: ['emit_request_events', 'emitRequestEvents'],
  },
  {
    method: EvaluatorService.method.updateEvaluator,
    request: async () => ({ idOrSlug: await addEvaluator(), evaluator: { name: 'renamed', configJson: '{}' } }),
    paths: ['name', 'config_json'],
    omits: ['config_json', 'config'],
  },
  {
    method: MonitorService.method.updateMonitor,
    request: async () => ({ idOrSlug: await addMonitor(), monitor: { name: 'renamed', sample: 0.5 } }),
    paths: ['name', 'sample'],
    omits: ['sample', 'sample'],
  },
  {
    method: TriggerService.method.updateTrigger,
    async request() {
      const body = { name: hex(16), filters: { 'traces.error': ['true'] }, action: 'SEND_WEBHOOK' };
      const headers = { 'x-auth-token': app.projectKey };
      const { id } = (await callRest(app.address, { verb: 'POST', path: '/api/triggers', headers, body })).body;
      return { id, trigger: { name: 'renamed', message: 'Look' } };
    },
    paths: ['name', 'message'],
    omits: ['message', 'message'],
  },
  {
    method: ModelProviderService.method.updateModelProvider,
    request: async () => ({ id: (await addProvider(app)).id, modelProvider: { name: hex(12), enabled: false } }),
    paths: ['name', 'enabled'],
    omits: ['enabled', 'enabled'],
  },
  {
    method: BudgetService.method.updateBudget,
    request: async () => ({ id: (await makeBudget(app)).id, budget: { name: 'renamed', limitUsd: '7' } }),
    paths: ['name', 'limit_usd'],
    omits: ['limit_usd', 'limit_usd'],
  },
  {
    method: VirtualKeyService.method.updateVirtualKey,
    async request() {
      const { virtual_key: key } = await addVirtualKey(app);
      return { id: key.id, virtualKey: { name: 'renamed', config: { rateLimits: { rpm: 5n } } } };
    },
    paths: ['name', 'config.rate_limits.rpm'],
    omits: ['config.rate_limits.rpm', 'config'],
  },
  ...peopleCases(() => app),
];

function send({ method }: Pick<Case, 'method'>, request: Message, paths?: readonly string[]): Promise<RpcAnswer> {
  const headers = { ...bearer(app.adminKey), 'x-project-id': app.projectId };
  const masked = paths === undefined ? request : { ...request, updateMask: { paths: [...paths] } };
  return callRpc(app.address, { method, request: masked, headers });
}

/** The fields of a refusal; anything but a validation_error fails. */
function refusedFields(answer: RpcAnswer): Body {
  if (answer.ok) throw new Error(`succeeded: ${JSON.stringify(answer.body)}`);
  expect({ code: answer.code, status: answer.error.code }).toEqual({ code: 'validation_error', status: 3 });
  return (answer.meta as Body).fields;
}

describe.each(CASES)('$method.name', (each) => {
  const { method, request, paths, omits } = each;

  it('works with a mask that names all that is set, and without one', async () => {
    for (const mask of [paths, undefined]) {
      const answer = await send(each, await request(), mask);
      if (!answer.ok) throw answer.error;
    }
  });

  it('is refused with a mask that leaves out what is set', async () => {
    const [path, name] = omits;
    const others = paths.filter((named) => named !== path);
    const rest = others.length > 0 ? others : unsetPathOf(method);
    expect(refusedFields(await send(each, await request(), rest))).toContain(name);
  });

  it('is refused with a mask that misspells a field, or names what is not a field', async () => {
    for (const wrong of ['nmae', '', '.', 'name.first', 'update_mask', 'updateMask.paths', `${paths[0]}.x`, '*']) {
      const fields = refusedFields(await send(each, await request(), [...paths, wrong]));
      expect(
        fields.map((field: string) => field.replace('update_mask', 'updateMask')),
        wrong,
      ).toEqual([`updateMask.paths.${paths.length}`]);
    }
  });
});

/** The path of a field that is not set. */
function unsetPathOf({ input }: DescMethodUnary): readonly string[] {
  const unset = (resourceField(input)?.message ?? input).fields.find(
    ({ name }) => name !== 'name' && name !== 'update_mask',
  );
  return unset === undefined ? ['nothing'] : [unset.name];
}

it('every request with a mask is among them', async () => {
  const masked = (await readRoutedMethods()).filter(({ input }) =>
    input.fields.some(({ message }) => message?.typeName === FieldMaskSchema.typeName),
  );
  expect(new Set(CASES.map(({ method }) => nameOf(method)))).toEqual(new Set(masked.map(nameOf)));
});

describe('a field inside of another', () => {
  it('is named by itself or by what it is in', async () => {
    const queue = { destination_kind: 'sqs', sqs: { queue_url: QUEUE_URL, role_arn: ROLE }, enabled_events: ['*'] };
    const { id } = (await act(app, 'POST', '/api/webhooks/v1/endpoints', queue)).data;
    const request = { id, endpoint: { destination: QUEUE, description: 'd' } };
    const role = 'sqs.assume_role.role_arn';
    for (const named of [['sqs'], ['sqs.queue_url', role], ['sqs.queue_url', 'sqs.assume_role'], ['sqs', role]]) {
      const answer = await send({ method: updateEndpoint }, request, ['description', ...named]);
      if (!answer.ok) throw answer.error;
    }
    const partly = await send({ method: updateEndpoint }, request, ['description', 'sqs.queue_url']);
    expect(refusedFields(partly)).toEqual(['sqs.role_arn']);
    const without = await send({ method: updateEndpoint }, request, ['description']);
    expect(refusedFields(without)).toContain('sqs');
    const wrong = await send({ method: updateEndpoint }, request, [
      'description',
      'sqs',
      'sqs.role_arn',
      'sqs.credentials',
    ]);
    expect(refusedFields(wrong)).toEqual(['update_mask.paths.2', 'update_mask.paths.3']);
  });

  it('is not an item of a list and not a part of an instant', async () => {
    const request = { id: 'x', apiKey: { name: 'k', expiresAt: { seconds: 4_102_444_800n } } };
    const paths = ['name', 'expires_at', 'bindings.role', 'expires_at.seconds'];
    expect(refusedFields(await send({ method: updateApiKey }, request, paths))).toEqual([
      'updateMask.paths.2',
      'updateMask.paths.3',
    ]);
  });
});

it('a mask of very many paths is refused with the first problems', async () => {
  const paths = Array.from({ length: 100_000 }, () => 'no');
  const fields = refusedFields(await send({ method: updateApiKey }, { id: 'x', apiKey: { name: 'k' } }, paths));
  expect(fields[0]).toBe('updateMask.paths.0');
  expect(fields.length).toBeLessThanOrEqual(20);
});

it('a mask with a path of very many parts is refused and costs no more than its length', async () => {
  const request = { id: 'x', monitor: { name: 'n' }, updateMask: { paths: ['a.'.repeat(250_000)] } };
  const startedMs = performance.now();
  const answer = await callRpc(app.address, {
    method: MonitorService.method.updateMonitor,
    request,
    headers: bearer(app.projectKey),
  });
  expect(answer).toMatchObject({ ok: false, code: 'validation_error' });
  // All beginnings of the path together have 60 GB.
  expect(performance.now() - startedMs).toBeLessThan(10_000);
});

it('the same holds over Connect', async () => {
  const keys = createClient(ApiKeyService, createConnectTransport({ baseUrl: app.address, httpVersion: '1.1' }));
  const { id } = await act(app, 'POST', '/api/api-keys', { name: 'k', keyType: 'service' });
  const apiKey = { name: 'renamed', expiresAt: { seconds: 4_102_444_800n } };
  const update = (paths: string[]) =>
    keys.updateApiKey({ id, apiKey, updateMask: { paths } }, { headers: bearer(app.adminKey) });
  await expect(update(['name'])).rejects.toThrow(/expiresAt is set, but updateMask does not name it/);
  expect((await update(['name', 'expires_at'])).apiKey?.name).toBe('renamed');
});

it('what only answers have can be sent back, and changes nothing', async () => {
  const { id } = await act(app, 'POST', '/api/api-keys', { name: 'k', keyType: 'service' });
  const keys = createClient(ApiKeyService, createConnectTransport({ baseUrl: app.address, httpVersion: '1.1' }));
  const headers = bearer(app.adminKey);
  const { apiKey } = await keys.getApiKey({ id }, { headers });
  if (apiKey === undefined) throw new Error('no key');
  const sent = { ...apiKey, effectivePermissions: ['a\0b'], name: 'renamed' };
  const { apiKey: renamed } = await keys.updateApiKey({ id, apiKey: sent }, { headers });
  expect(renamed?.effectivePermissions).toEqual(apiKey.effectivePermissions);
});

it('over REST the declared members of the body are the mask, which no member names', async () => {
  const { id } = await act(app, 'POST', '/api/api-keys', { name: 'k', keyType: 'service' });
  const [path, headers] = [`/api/api-keys/${id}`, bearer(app.adminKey)];
  const read = (await callRest(app.address, { path, headers })).body;
  expect((await act(app, 'PATCH', path, read)).id).toBe(id);
  const { status, body } = await callRest(app.address, {
    verb: 'PATCH',
    path,
    headers,
    body: { ...read, updateMask: 'y' },
  });
  expect([status, body.fields]).toEqual([422, ['updateMask']]);
});
