import { afterAll, beforeAll, expect, it } from 'vitest';
import { PromptService } from '../../../gen/spandrel/v1/prompts_pb.js';
import { type GatewayFixture, MODEL, startGateway } from '../../gateway/gateway-fixture.ts';
import { startApp } from '../../support/app.ts';
import { type Body, callRest, expectEverywhere, type SurfaceCase } from '../../support/surfaces.ts';
import { createPrompt, inPath } from './prompts-client.ts';

const { tryPrompt } = PromptService.method;

let gateway: GatewayFixture;
let prompt: Body;
beforeAll(async () => {
  gateway = await startGateway();
  prompt = await createPrompt(gateway.app, {
    model: MODEL,
    temperature: 0.2,
    maxTokens: 64,
    prompt: 'You greet {{ name | upcase }}.',
    messages: [{ role: 'user', content: '{{input}}{% if loud %}!{% endif %}' }],
  });
});
afterAll(async () => {
  await gateway.close();
});

const VARIABLES = { name: 'Ada', input: 'Say hello', loud: true };

type Asked = {
  readonly id?: string;
  readonly virtualKeyId?: string;
  readonly variables?: unknown;
  readonly draft?: object;
};

/** The same request for both protocols. */
function trial({ id = prompt.id, virtualKeyId = gateway.keyId, variables = VARIABLES, draft }: Asked = {}) {
  const named = { virtualKeyId, ...(draft && { draft }) };
  return {
    name: id,
    headers: { 'x-auth-token': gateway.app.projectKey },
    rest: { verb: 'POST', path: `/api/prompts${inPath(id)}/try`, body: { ...named, variables } },
    rpc: { method: tryPrompt, request: { id, ...named, variablesJson: JSON.stringify(variables) } },
  };
}

const everywhere = (each: SurfaceCase<typeof tryPrompt>) => expectEverywhere(gateway.app.address, each);

const lastSent = () => JSON.parse(String(gateway.mock.requests.at(-1)?.body));

function traceOf(id: string): Promise<Body> {
  return gateway.traceOf({ ...NOTHING, headers: new Headers({ 'x-langwatch-trace-id': id }) });
}

const NOTHING = { status: 200, text: '', body: undefined };

it('a version is rendered, answered through the gateway, and kept as a trace that names it', async () => {
  let traceId = '';
  await everywhere({
    ...trial({ id: `${prompt.handle}:1` }),
    status: 200,
    check: (tried) => {
      traceId = tried.traceId;
      expect(tried).toMatchObject({
        output: expect.stringMatching(/./),
        error: null,
        model: MODEL,
        provider: 'openai',
      });
      expect(tried.inputTokens).toBeGreaterThan(0);
      expect(tried.outputTokens).toBeGreaterThan(0);
      expect(tried.cost).toBeGreaterThan(0);
    },
  });
  expect(lastSent()).toEqual({
    model: MODEL,
    messages: [
      { role: 'system', content: 'You greet ADA.' },
      { role: 'user', content: 'Say hello!' },
    ],
    max_tokens: 64,
    temperature: 0.2,
  });
  const trace = await traceOf(traceId);
  expect(trace.metadata).toMatchObject({
    labels: ['prompt-try'],
    prompt_ids: expect.arrayContaining([prompt.id, prompt.versionId, prompt.handle]),
    virtual_key_id: gateway.keyId,
  });
  expect(JSON.stringify(trace.spans)).toContain('"langwatch.prompt.version.number":1');
});

it('a try counts for the member who makes it', async () => {
  const { adminKey, projectId, userId } = gateway.app;
  let traceId = '';
  await everywhere({
    ...trial(),
    headers: { 'x-auth-token': adminKey, 'x-project-id': projectId },
    status: 200,
    check: (tried) => {
      traceId = tried.traceId;
    },
  });
  expect((await traceOf(traceId)).metadata.user_id).toBe(userId);
});

it('unsaved content is tried in place of what is stored, and not as the version; Claude is asked in its own dialect', async () => {
  const draft = { model: 'anthropic/claude-sonnet-4-5', prompt: 'Be short, {{name}}.' };
  let traceId = '';
  const check = (tried: Body) => {
    traceId = tried.traceId;
    expect(tried).toMatchObject({ error: null, provider: 'anthropic' });
  };
  await everywhere({ ...trial({ draft }), status: 200, check });
  expect(lastSent()).toMatchObject({
    model: 'claude-sonnet-4-5',
    system: 'Be short, Ada.',
    messages: [{ role: 'user', content: 'Say hello!' }],
    max_tokens: 64,
  });
  const { prompt_ids: named } = (await traceOf(traceId)).metadata;
  expect(named).toEqual(expect.arrayContaining([prompt.id, prompt.handle]));
  expect(named).not.toContain(prompt.versionId);
});

it('a provider that fails and a budget that is spent are said in place of an answer', async () => {
  const limited = await gateway.addKey();
  await gateway.addBudget({ scope: { kind: 'virtual_key', id: limited.id }, limit_usd: '0.000001', reserve: 'worst' });
  await everywhere({
    ...trial({ virtualKeyId: limited.id }),
    status: 200,
    check: (tried) => {
      expect(tried).toMatchObject({ output: null, traceId: null, error: { code: 'budget_exceeded', httpStatus: 402 } });
    },
  });
  const failing = { status: 400, body: { error: { message: 'The temperature is not supported.' } } };
  gateway.mock.next(failing, failing);
  await everywhere({
    ...trial(),
    status: 200,
    check: (tried) => {
      const error = { code: 'provider_error', message: 'The temperature is not supported.', httpStatus: 400 };
      expect(tried).toMatchObject({ output: null, error, traceId: expect.stringMatching(/^[0-9a-f]{32}$/) });
    },
  });
  await gateway.manage('POST', `/api/gateway/v1/virtual-keys/${limited.id}/revoke`);
  await everywhere({
    ...trial({ virtualKeyId: limited.id }),
    status: 200,
    check: (tried) => expect(tried.error).toMatchObject({ code: 'virtual_key_revoked' }),
  });
});

it('what cannot be tried is refused before any model is asked', async () => {
  const asked = gateway.mock.requests.length;
  const broken = { draft: { prompt: '{% if x %}' } };
  const restOnly = [['not an object'], 3];
  for (const variables of restOnly) {
    const { rest, headers } = trial({ variables });
    expect((await callRest(gateway.app.address, { ...rest, headers })).status).toBe(422);
  }
  await everywhere({
    ...trial(broken),
    status: 422,
    code: 'validation_error',
    check: saysField('prompt cannot be rendered'),
  });
  await everywhere({
    ...trial({ variables: { name: 'a'.repeat(300_000) } }),
    status: 422,
    code: 'validation_error',
    check: saysField('variables'),
  });
  await everywhere({ ...trial({ id: 'nothing' }), status: 404, code: 'prompt_not_found' });
  await everywhere({ ...trial({ virtualKeyId: 'vk_nothing' }), status: 404, code: 'virtual_key_not_found' });
  const other = (await gateway.manage('POST', '/api/projects', { name: 'another' })).id;
  const { id: foreign } = await gateway.addKey({ trace_project_id: other });
  await everywhere({ ...trial({ virtualKeyId: foreign }), status: 404, code: 'virtual_key_not_found' });
  expect(gateway.mock.requests.length).toBe(asked);
});

function saysField(field: string) {
  return (error: Body) => expect(JSON.stringify(error)).toContain(field);
}

it('a server without a gateway says so', async () => {
  const app = await startApp({ environment: { SPANDREL_GATEWAY: 'off' } });
  try {
    const { id } = await createPrompt(app);
    await expectEverywhere(app.address, {
      ...trial({ id }),
      headers: { 'x-auth-token': app.projectKey },
      status: 409,
      code: 'gateway_off',
    });
  } finally {
    await app.close();
  }
});

it('a version made from an older one than the newest is refused', async () => {
  const made = await createPrompt(gateway.app);
  const change = { prompt: 'You greet.', commitMessage: 'Less' };
  const expecting = (expectedVersion: number, status: number): SurfaceCase => ({
    name: String(expectedVersion),
    headers: { 'x-auth-token': gateway.app.projectKey },
    rest: { verb: 'PUT', path: `/api/prompts/${made.id}`, body: { ...change, expectedVersion } },
    rpc: {
      method: PromptService.method.updatePrompt,
      request: { id: made.id, draft: change, expectedVersion: expectedVersion + (status === 200 ? 1 : 0) },
    },
    status,
    ...(status === 409 && { code: 'revision_mismatch' }),
  });
  await expectEverywhere(gateway.app.address, expecting(1, 200));
  await expectEverywhere(gateway.app.address, expecting(1, 409));
});
