import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../../support/app.ts';
import { addKey, custom } from '../../support/fixtures.ts';
import { callRest } from '../../support/surfaces.ts';
import { addForeign } from '../access/foreign.ts';
import { anyId, INSTANT } from '../organization/organization-client.ts';
import {
  API_KEY,
  addProvider,
  freshName,
  type GatewayRequest,
  invoke,
  OPENAI,
  PROVIDERS,
  SURFACES,
} from '../virtual-keys/gateway-client.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startApp({ environment: { SPANDREL_GATEWAY_ALLOW: '127.0.0.1' } });
});
afterAll(async () => {
  await app.close();
});

const PRIVATE = { kind: 'openai_compatible', base_url: 'http://127.0.0.1:1/v1', api_key: undefined };

async function addProject(name: string): Promise<string> {
  const headers = { authorization: `Bearer ${app.adminKey}` };
  const { body } = await callRest(app.address, { verb: 'POST', path: '/api/projects', headers, body: { name } });
  return body.id;
}

describe.each(SURFACES)('a model provider over %s', (surface) => {
  it('is created with defaults, and its API key is never read', async () => {
    const name = freshName('provider');
    const created = await invoke(app, [surface, 'createModelProvider'], { body: { ...OPENAI, name } });
    const provider = {
      id: anyId('modelprovider'),
      name,
      kind: 'openai',
      base_url: 'https://api.openai.com/v1',
      key_hint: 'WXYZ',
      api_version: null,
      extra_headers: {},
      models: null,
      aliases: {},
      timeout_ms: 120_000,
      project_ids: null,
      stream_usage: true,
      enabled: true,
      created_at: INSTANT,
      updated_at: INSTANT,
    };
    expect(created).toEqual({ model_provider: provider });
    const read = await invoke(app, [surface, 'getModelProvider'], { id: created.model_provider.id });
    expect(read).toEqual(created);
    expect(JSON.stringify(read)).not.toContain(API_KEY);
  });

  it('keeps what it was given', async () => {
    const body = {
      name: freshName('azure'),
      kind: 'azure_openai',
      base_url: 'https://example.openai.azure.com/openai/',
      api_key: API_KEY,
      api_version: '2024-10-21',
      extra_headers: { 'OpenAI-Organization': 'org-1' },
      models: ['gpt-5*', 'o4-mini'],
      aliases: { fast: 'gpt-5-mini' },
      timeout_ms: 1_000,
      project_ids: [app.projectId],
      stream_usage: false,
      enabled: false,
    };
    const { model_provider: provider } = await invoke(app, [surface, 'createModelProvider'], { body });
    const { api_key: _, ...shown } = body;
    expect(provider).toMatchObject({ ...shown, base_url: 'https://example.openai.azure.com/openai' });
  });

  it.each<readonly [string, object, readonly string[]]>([
    ['no name and no kind', { api_key: API_KEY }, ['name', 'kind']],
    ['a blank name', { ...OPENAI, name: ' ' }, ['name']],
    ['no key where one is needed', { name: 'a', kind: 'anthropic' }, ['api_key']],
    ['no URL where none is known', { name: 'a', kind: 'openai_compatible' }, ['base_url']],
    ['a key that no header can hold', { ...OPENAI, api_key: 'two words' }, ['api_key']],
    ['a version of another kind', { ...OPENAI, api_version: '2024' }, ['api_version']],
    ['a credential as a header', { ...OPENAI, extra_headers: { Authorization: 'x' } }, ['extra_headers']],
    ['a header that is not a text', { ...OPENAI, extra_headers: { 'x-a': 1 } }, ['extra_headers']],
    ['a header of two lines', { ...OPENAI, extra_headers: { 'x-a': 'a\r\nb: c' } }, ['extra_headers']],
    ['an alias of nothing', { ...OPENAI, aliases: { fast: '' } }, ['aliases']],
    ['aliases as a list', { ...OPENAI, aliases: [] }, ['aliases']],
    ['no models at all', { ...OPENAI, models: [] }, ['models']],
    ['no projects at all', { ...OPENAI, project_ids: [] }, ['project_ids']],
    ['a timeout of no time', { ...OPENAI, timeout_ms: 999 }, ['timeout_ms']],
    ['a URL with a query', { ...OPENAI, base_url: 'https://example.com/v1?a=b' }, ['base_url']],
    ['a private address', { ...OPENAI, base_url: 'https://10.0.0.1/v1' }, ['base_url']],
    ['a metadata service', { ...OPENAI, base_url: 'https://169.254.169.254/v1' }, ['base_url']],
    ['a URL without TLS', { ...OPENAI, base_url: 'http://example.com/v1' }, ['base_url']],
  ])('is refused with %s', async (_, body, fields) => {
    const error = await invoke(app, [surface, 'createModelProvider'], { body }, '400 validation_error');
    expect(error.meta.fields ?? JSON.parse(error.meta)).toEqual(fields);
  });

  it('is refused with a key of this server as a header', async () => {
    const body = { ...OPENAI, extra_headers: { 'x-forward': `Bearer ${app.adminKey}` } };
    const error = await invoke(app, [surface, 'createModelProvider'], { body }, '400 validation_error');
    expect(JSON.stringify(error)).not.toContain(app.adminKey);
  });

  it('has a name of its own, which a deletion frees', async () => {
    const { id, name } = await addProvider(app);
    const body = { ...OPENAI, name };
    await invoke(app, [surface, 'createModelProvider'], { body }, '409 model_provider_name_taken');
    const other = await addProvider(app);
    const rename = { id: other.id, body: { name } };
    await invoke(app, [surface, 'updateModelProvider'], rename, '409 model_provider_name_taken');
    await invoke(app, [surface, 'deleteModelProvider'], { id });
    await invoke(app, [surface, 'getModelProvider'], { id }, '404 model_provider_not_found');
    await invoke(app, [surface, 'updateModelProvider'], rename);
  });

  it('changes only what is sent, and null makes a list everything again', async () => {
    const before = await addProvider(app, { models: ['gpt-5*'], project_ids: [app.projectId], aliases: { a: 'b' } });
    const change = (body: object) => invoke(app, [surface, 'updateModelProvider'], { id: before.id, body });
    const { model_provider: renamed } = await change({ name: freshName('renamed'), enabled: false });
    expect(renamed).toEqual({ ...before, name: renamed.name, enabled: false, updated_at: INSTANT });
    const { model_provider: widened } = await change({ models: null, project_ids: null, aliases: {} });
    expect(widened).toMatchObject({ models: null, project_ids: null, aliases: {}, enabled: false, key_hint: 'WXYZ' });
    const { model_provider: rekeyed } = await change({ api_key: 'sk-another-key-9876' });
    expect(rekeyed.key_hint).toBe('9876');
  });

  it.each<readonly [string, object, readonly string[]]>([
    ['another kind', { kind: 'anthropic' }, ['kind']],
    ['no key', { api_key: null }, ['api_key']],
    ['no name', { name: null }, ['name']],
    ['another origin without the key', { base_url: 'https://example.com/v1' }, ['api_key']],
  ])('cannot change to %s', async (_, body, fields) => {
    const { id } = await addProvider(app);
    const error = await invoke(app, [surface, 'updateModelProvider'], { id, body }, '400 validation_error');
    expect(error.meta.fields ?? JSON.parse(error.meta)).toEqual(fields);
  });

  it('moves to another origin together with its key', async () => {
    const { id } = await addProvider(app);
    const body = { base_url: 'https://example.com/v1', api_key: API_KEY };
    const moved = await invoke(app, [surface, 'updateModelProvider'], { id, body });
    expect(moved.model_provider.base_url).toBe('https://example.com/v1');
    const back = await invoke(app, [surface, 'updateModelProvider'], {
      id,
      body: { base_url: null, api_key: API_KEY },
    });
    expect(back.model_provider.base_url).toBe('https://api.openai.com/v1');
  });

  it('may be at a private address that the operator allows', async () => {
    const { model_provider: provider } = await invoke(app, [surface, 'createModelProvider'], {
      body: { ...PRIVATE, name: freshName('local') },
    });
    expect(provider).toMatchObject({ base_url: 'http://127.0.0.1:1/v1', key_hint: null });
  });

  it('is managed only where the caller manages all of its projects', async () => {
    const [one, two] = [await addProject(freshName('one')), await addProject(freshName('two'))];
    const token = await addKey(app, { bindings: [custom('PROJECT', one, ['gatewayProviders:manage'])] });
    const ask = (operation: Parameters<typeof invoke>[1][1], request: GatewayRequest, wanted: string | null = null) =>
      invoke(app, [surface, operation], { token, ...request }, wanted);
    const body = { ...OPENAI, name: freshName('scoped') };
    await ask('createModelProvider', { body }, '403 insufficient_permissions');
    await ask('createModelProvider', { body: { ...body, project_ids: [one, two] } }, '403 insufficient_permissions');
    await ask('createModelProvider', { body: { ...body, project_ids: ['nowhere'] } }, '403 insufficient_permissions');
    const { model_provider: own } = await ask('createModelProvider', { body: { ...body, project_ids: [one] } });
    const shared = await addProvider(app, { project_ids: [one, two] });
    const whole = await addProvider(app);
    for (const { id } of [shared, whole]) {
      await ask('getModelProvider', { id }, '404 model_provider_not_found');
      await ask('updateModelProvider', { id, body: { enabled: false } }, '404 model_provider_not_found');
      await ask('deleteModelProvider', { id }, '404 model_provider_not_found');
      await ask('testModelProvider', { id }, '404 model_provider_not_found');
    }
    await ask('updateModelProvider', { id: own.id, body: { project_ids: null } }, '403 insufficient_permissions');
    const { data } = await ask('listModelProviders', {});
    expect(data.map(({ id }: { id: string }) => id)).toEqual([own.id]);
    const seer = await addKey(app, { bindings: [custom('PROJECT', one, ['gatewayProviders:view'])] });
    await ask('getModelProvider', { id: own.id, token: seer });
    await ask('deleteModelProvider', { id: own.id, token: seer }, '403 insufficient_permissions');
    await ask('createModelProvider', { token: seer, body }, '403 insufficient_permissions');
  });

  it('is tested with its stored key, at most ten times a minute', async () => {
    const server = createServer(({ headers }, response) => {
      const isKnown = headers.authorization === `Bearer ${API_KEY}`;
      response.writeHead(isKnown ? 200 : 401).end(JSON.stringify({ data: [{ id: 'llama' }], sent: headers }));
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const base_url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
    const { id } = await addProvider(app, { ...PRIVATE, base_url, api_key: API_KEY });
    const test = (wanted: string | null = null) => invoke(app, [surface, 'testModelProvider'], { id }, wanted);
    const latency_ms = expect.any(Number);
    expect(await test()).toEqual({ ok: true, error: null, http_status: 200, latency_ms, models: ['llama'] });
    const api_key = 'sk-a-wrong-key-1234';
    await invoke(app, [surface, 'updateModelProvider'], { id, body: { api_key } });
    const refused = await test();
    expect(refused).toMatchObject({ ok: false, http_status: 401, models: [] });
    expect(JSON.stringify(refused)).not.toContain(api_key);
    for (let round = 2; round < 10; round++) await test();
    await test('429 rate_limited');
    server.close();
  });

  it('names only projects that exist', async () => {
    const body = { ...OPENAI, name: freshName('lost'), project_ids: ['project_unknown'] };
    await invoke(app, [surface, 'createModelProvider'], { body }, '404 project_not_found');
  });
});

describe.each(SURFACES)('over %s archiving a project', (surface) => {
  it('leaves its provider to who manages the other projects, and one of its own to the organization', async () => {
    const [live, gone] = [await addProject(freshName('live')), await addProject(freshName('gone'))];
    const held = ['gatewayProviders:manage'];
    const token = await addKey(app, { bindings: [live, gone].map((id) => custom('PROJECT', id, held)) });
    const stranger = await addKey(app, { bindings: [custom('PROJECT', app.projectId, held)] });
    const shared = await addProvider(app, { project_ids: [live, gone] });
    const own = await addProvider(app, { project_ids: [gone] });
    const path = `/api/projects/${gone}`;
    const headers = { authorization: `Bearer ${app.adminKey}` };
    expect((await callRest(app.address, { verb: 'DELETE', path, headers })).status).toBe(200);
    const ask = (operation: Parameters<typeof invoke>[1][1], request: GatewayRequest, wanted: string | null = null) =>
      invoke(app, [surface, operation], { token, ...request }, wanted);
    await ask('getModelProvider', { id: shared.id });
    await ask('updateModelProvider', { id: shared.id, body: { project_ids: [live] } });
    expect((await ask('listModelProviders', {})).data.map(({ id }: { id: string }) => id)).toEqual([shared.id]);
    await ask('getModelProvider', { id: own.id }, '404 model_provider_not_found');
    await ask('getModelProvider', { id: shared.id, token: stranger }, '404 model_provider_not_found');
    await ask('getModelProvider', { id: own.id, token: app.adminKey });
  });
});

it('providers are listed page by page, oldest first, each once', async () => {
  const fresh = await startApp();
  try {
    const ids: string[] = [];
    for (let index = 0; index < 5; index++) ids.push((await addProvider(fresh)).id);
    for (const surface of SURFACES) {
      const walked: string[] = [];
      for (let cursor: string | null = ''; cursor !== null; ) {
        const query: Record<string, string> = { limit: '2', ...(cursor === '' ? {} : { cursor }) };
        const page = await invoke(fresh, [surface, 'listModelProviders'], { query });
        walked.push(...page.data.map(({ id }: { id: string }) => id));
        cursor = page.next_cursor;
      }
      expect(walked).toEqual(ids);
      await invoke(fresh, [surface, 'listModelProviders'], { query: { cursor: 'nonsense' } }, '400 invalid_cursor');
    }
  } finally {
    await fresh.close();
  }
});

it('a repeated creation answers the first provider', async () => {
  const headers = { authorization: `Bearer ${app.adminKey}`, 'idempotency-key': 'a provider once' };
  const call = () =>
    callRest(app.address, { verb: 'POST', path: PROVIDERS, headers, body: { ...OPENAI, name: 'repeated' } });
  const [first, second] = [await call(), await call()];
  expect([first.status, second.status]).toEqual([201, 201]);
  expect(second.body).toEqual(first.body);
});

it('a member that the contract does not have is refused with the nearest name', async () => {
  const { error } = (
    await callRest(app.address, {
      verb: 'POST',
      path: PROVIDERS,
      headers: { authorization: `Bearer ${app.adminKey}` },
      body: { ...OPENAI, projects_ids: [] },
    })
  ).body;
  expect(error).toMatchObject({ code: 'validation_error', meta: { fields: ['projects_ids'] } });
  expect(error.message).toContain('project_ids');
});

it('providers of another organization do not exist', async () => {
  const foreign = await addForeign(app);
  const { id } = await addProvider(app);
  for (const surface of SURFACES) {
    const ask = (operation: Parameters<typeof invoke>[1][1], request: GatewayRequest, wanted: string | null = null) =>
      invoke(app, [surface, operation], { token: foreign.token, ...request }, wanted);
    expect((await ask('listModelProviders', {})).data).toEqual([]);
    await ask('getModelProvider', { id }, '404 model_provider_not_found');
    await ask('updateModelProvider', { id, body: { enabled: false } }, '404 model_provider_not_found');
    await ask('testModelProvider', { id }, '404 model_provider_not_found');
    await ask('deleteModelProvider', { id }, '404 model_provider_not_found');
    const body = { ...OPENAI, project_ids: [app.projectId] };
    await ask('createModelProvider', { body }, '404 project_not_found');
  }
});
