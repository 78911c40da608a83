import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TOOLS } from '../../src/transport/mcp/tools.ts';
import { startApp, type TestApp } from '../support/app.ts';
import { callRest } from '../support/surfaces.ts';

const TRACES = 120;
const LONG = `${'é'.repeat(20_000)}${'😀"'.repeat(5_000)}the end`;
const NOW_MS = Date.now();
const RANGE = { from: NOW_MS - 86_400_000, to: new Date(NOW_MS + 86_400_000).toISOString() };

let app: TestApp;
const clients: Client[] = [];
beforeAll(async () => {
  app = await startApp();
  for (let index = 0; index < TRACES; index += 1) await collect(`trace-${index}`, `Question ${index}`, 'An answer.');
  await collect('trace-long', 'A long question', LONG);
  const dataset = (slug: string) => ({ name: slug, columnTypes: [{ name: 'input', type: 'string' }] });
  const prompt = {
    handle: 'team/greeting',
    scope: 'PROJECT',
    model: 'gpt-5',
    commitMessage: 'first',
    prompt: 'Greet {{name}}.',
  };
  await send('/api/prompts', prompt);
  for (const slug of ['first', 'second', 'third']) await send('/api/dataset', dataset(slug));
});
afterAll(async () => {
  for (const client of clients) await client.close();
  await app.close();
});

async function collect(traceId: string, input: string, output: string): Promise<void> {
  const span = {
    ...{ span_id: `${traceId}-span`, type: 'llm', name: 'chat', model: 'gpt-5' },
    ...{ input: { type: 'text', value: input }, output: { type: 'text', value: output } },
    timestamps: { started_at: NOW_MS - 1_000, finished_at: NOW_MS },
  };
  await send('/api/collector', {
    trace_id: traceId,
    spans: [span],
    metadata: { user_id: 'ann', thread_id: `thread-${traceId.length % 3}` },
  });
}

async function send(path: string, body: object): Promise<void> {
  const headers = { 'x-auth-token': app.projectKey };
  const { status, text } = await callRest(app.address, { verb: 'POST', path, body, headers });
  expect(status, text).toBeLessThan(300);
}

async function connect(token: string, headers: { readonly [name: string]: string } = {}): Promise<Client> {
  const client = new Client({ name: 'test', version: '1.0.0' });
  const requestInit = { headers: { authorization: `Bearer ${token}`, ...headers } };
  await client.connect(new StreamableHTTPClientTransport(new URL('/mcp', app.address), { requestInit }) as never);
  clients.push(client);
  return client;
}

type Answer = { readonly isError: boolean; readonly text: string; readonly json: Record<string, never> };

async function call(client: Client, name: string, args: object = {}): Promise<Answer> {
  const { content, isError } = await client.callTool({ name, arguments: { ...args } });
  const [{ text }] = content as [{ text: string }];
  expect(Buffer.byteLength(text)).toBeLessThanOrEqual(25_000);
  return { text, isError: isError === true, json: isError === true ? {} : JSON.parse(text) };
}

/** Follows next_cursor to the end. */
async function walk(client: Client, name: string, args: object): Promise<readonly Record<string, never>[]> {
  const pages: Record<string, never>[] = [];
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const { json, isError, text } = await call(client, name, { ...args, ...(cursor === undefined ? {} : { cursor }) });
    expect(isError, text).toBe(false);
    pages.push(json);
    cursor = json.next_cursor;
  }
  return pages;
}

const raw = (init: RequestInit) => fetch(`${app.address}/mcp`, init);
const codeOf = async (answer: Response) => ((await answer.json()) as { readonly code?: string }).code;
const PROTOCOL = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
const LIST = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' });

describe('a client of the Model Context Protocol', () => {
  it('lists every tool, and calls each', async () => {
    const client = await connect(app.projectKey);
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(TOOLS.map(({ name }) => name));
    const called = new Set<string>();
    const ok = async (name: string, args: object, holds: RegExp) => {
      called.add(name);
      const { text, isError } = await call(client, name, args);
      expect(isError, text).toBe(false);
      expect(text).toMatch(holds);
    };
    await ok('search_traces', { query: 'question 7' }, /trace-7/);
    await ok(
      'search_traces',
      { filters: { 'metadata.user_id': ['ann'] }, limit: 3, format: 'json' },
      /"next_cursor":"/,
    );
    await ok('get_trace', { trace_id: 'trace-3' }, /Question 3/);
    await ok('get_span', { trace_id: 'trace-3', span_id: 'trace-3-span' }, /Question 3/);
    await ok('list_threads', { limit: 1, sort_by: 'total_cost' }, /thread-0[\s\S]*"next_cursor":"/);
    await ok('analytics', { ...RANGE, group_by: 'model' }, /gpt-5/);
    await ok(
      'run_evaluator',
      { evaluator: 'langevals/exact_match', data: { output: 'a', expected_output: 'a' } },
      /"passed":true/,
    );
    await ok('list_datasets', {}, /"third"/);
    await ok('get_prompt', { prompt: 'team/greeting:1' }, /Greet \{\{name\}\}/);
    const admin = await connect(app.adminKey, { 'x-project-id': app.projectId });
    called.add('spend');
    const spent = await call(admin, 'spend', { ...RANGE, group_by: 'model' });
    expect(spent.isError, spent.text).toBe(false);
    expect(called).toEqual(new Set(TOOLS.map(({ name }) => name)));
  });

  it('follows cursors through all that was found, each page within its bytes', async () => {
    const client = await connect(app.projectKey);
    const pages = await walk(client, 'search_traces', { limit: 100 });
    expect(pages.length).toBeGreaterThan(1);
    const found = pages.flatMap(({ traces }) => traces as unknown as readonly { readonly trace_id: string }[]);
    expect(found.map(({ trace_id }) => trace_id).sort()).toEqual(
      [...Array.from({ length: TRACES }, (_, index) => `trace-${index}`), 'trace-long'].sort(),
    );
    const datasets = await walk(client, 'list_datasets', { limit: 2 });
    expect(datasets.map((page) => (page.datasets as unknown as readonly unknown[]).length)).toEqual([2, 1]);
  });

  it('reads a long text in slices, which are whole together', async () => {
    const client = await connect(app.projectKey);
    const span = { trace_id: 'trace-long', span_id: 'trace-long-span' };
    const { json, text } = await call(client, 'get_span', span);
    expect(text).toMatch(/33007 more characters\]/);
    expect(json).toHaveProperty('shortened');
    const slices = await walk(client, 'get_span', { ...span, field: 'output' });
    expect(slices.length).toBeGreaterThan(1);
    const whole = slices.map((slice) => slice.text).join('');
    expect([whole.length, JSON.parse(whole).value]).toEqual([
      JSON.stringify({ type: 'text', value: LONG }).length,
      LONG,
    ]);
  });

  it('reads each span that get_trace lists by its id, however many and large those before it are', async () => {
    const spanId = (index: number) => `00000000000000a${index}`;
    for (let index = 0; index < 10; index += 1) {
      const span = {
        ...{ span_id: spanId(index), type: 'llm', name: 'chat' },
        ...{
          input: { type: 'text', value: `${index}${'x'.repeat(999_999)}` },
          params: { list: Array(2_000).fill([1]) },
        },
        timestamps: { started_at: NOW_MS - 5_000 + index, finished_at: NOW_MS },
      };
      await send('/api/collector', { trace_id: 'trace-wide', spans: [span] });
    }
    const client = await connect(app.projectKey);
    const pages = await walk(client, 'get_trace', { trace_id: 'trace-wide' });
    const listed = pages.flatMap(({ spans }) => spans as unknown as readonly { readonly span_id: string }[]);
    expect(listed.map(({ span_id }) => span_id)).toEqual(Array.from({ length: 10 }, (_, index) => spanId(index)));
    for (const id of [spanId(9), spanId(9).toUpperCase()]) {
      const span = { trace_id: 'trace-wide', span_id: id };
      expect((await call(client, 'get_span', span)).json.span_id).toBe(spanId(9));
      const { json } = await call(client, 'get_span', { ...span, field: 'input' });
      expect(json.text).toMatch(/^\{"type":"text","value":"9x/);
    }
    const slices = await walk(client, 'get_span', { trace_id: 'trace-wide', span_id: spanId(3), field: 'params' });
    expect(slices.map(({ text }) => text).join('')).toBe(JSON.stringify({ list: Array(2_000).fill([1]) }));
  });

  it.each([
    ['search_traces', { nonsense: 1 }, /validation_error: The tool takes no nonsense; it takes query/],
    ['search_traces', { limit: 101 }, /limit must be a whole number from 1 to 100/],
    ['search_traces', { filters: { 'no.such': ['x'] } }, /^validation_error: /],
    ['search_traces', { cursor: 'forged' }, /^\w+: /],
    ['get_trace', {}, /The tool needs trace_id/],
    ['get_trace', { trace_id: '../api-keys' }, /^trace_not_found: /],
    ['get_trace', { trace_id: 5 }, /An id must be a text/],
    ['get_span', { trace_id: 'trace-3', span_id: 'other' }, /^trace_not_found: /],
    ['get_span', { trace_id: 'trace-3', span_id: 'trace-3-span', field: 'secret' }, /must be one of input/],
    ['analytics', { from: 'never', to: RANGE.to }, /^validation_error: /],
    ['run_evaluator', { evaluator: 'none', data: { output: 'a' } }, /^evaluator_not_found: /],
    ['list_datasets', { cursor: '-1' }, /cursor must be the next_cursor/],
  ])('is told what is wrong with a call of %s %j', async (name, args, reason) => {
    const { isError, text } = await call(await connect(app.projectKey), name, args);
    expect([isError, text]).toEqual([true, expect.stringMatching(reason)]);
  });

  it('may do with a tool what its key may do, and nothing else', async () => {
    const key = await callRest(app.address, {
      ...{ verb: 'POST', path: '/api/api-keys', headers: { authorization: `Bearer ${app.adminKey}` } },
      body: {
        ...{ name: 'Reads datasets', keyType: 'service', permissionMode: 'restricted' },
        ...{ permissions: ['datasets:view'] },
        bindings: [{ role: 'CUSTOM', scopeType: 'PROJECT', scopeId: app.projectId }],
      },
    });
    expect(key.status, key.text).toBe(201);
    const client = await connect(key.body.token, { 'x-project-id': app.projectId });
    expect((await call(client, 'list_datasets')).isError).toBe(false);
    for (const [name, args] of [
      ['search_traces', {}],
      ['get_trace', { trace_id: 'trace-3' }],
      ['list_threads', {}],
      ['get_prompt', { prompt: 'team/greeting' }],
      ['analytics', RANGE],
      ['spend', RANGE],
      ['run_evaluator', { evaluator: 'langevals/exact_match', data: { output: 'a', expected_output: 'a' } }],
    ] as const) {
      const { isError, text } = await call(client, name, args);
      expect([name, isError, text]).toEqual([
        name,
        true,
        expect.stringMatching(/^(permission_denied|\w*permission\w*|forbidden)/),
      ]);
    }
  });
});

describe('/mcp', () => {
  it('is for callers with a key: neither nobody nor the session of a browser is one', async () => {
    expect((await raw({ method: 'POST', headers: PROTOCOL, body: LIST })).status).toBe(401);
    const signedIn = await fetch(`${app.address}/api/auth/session`, {
      method: 'POST',
      headers: { authorization: `Bearer ${app.adminKey}` },
    });
    const cookie = signedIn.headers.get('set-cookie')?.split(';')[0] ?? '';
    expect(cookie).toMatch(/^spandrel_session=/);
    const headers = { ...PROTOCOL, cookie, 'x-project-id': app.projectId, origin: app.address };
    expect((await raw({ method: 'POST', headers, body: LIST })).status).toBe(401);
  });

  it('judges the credential before the body', async () => {
    const headers = { ...PROTOCOL, 'content-type': 'text/plain' };
    const nobody = await raw({ method: 'POST', headers, body: LIST });
    expect([nobody.status, await codeOf(nobody)]).toEqual([401, 'missing_credentials']);
    const known = await raw({ method: 'POST', headers: { ...headers, 'x-auth-token': app.projectKey }, body: LIST });
    expect([known.status, await codeOf(known)]).toEqual([400, 'malformed_request']);
  });

  it('needs a project: the key of an organization has to name one', async () => {
    const about = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'test', version: '1.0.0' } };
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params: about });
    const initialize = async (more: object) => {
      const headers = { ...PROTOCOL, authorization: `Bearer ${app.adminKey}`, ...more };
      const answer = await raw({ method: 'POST', headers, body });
      return [answer.status, await codeOf(answer)];
    };
    expect(await initialize({})).toEqual([401, 'project_scope_required']);
    expect(await initialize({ 'x-project-id': 'project_none' })).toEqual([401, 'unknown_project']);
    expect(await initialize({ 'x-project-id': app.projectId })).toEqual([200, undefined]);
  });

  it.each(['GET', 'DELETE', 'PUT'])('has no sessions and no streams (%s)', async (method) => {
    const answer = await raw({ method, headers: { 'x-auth-token': app.projectKey } });
    expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'POST']);
  });

  it.each([
    ['no JSON', '{', 400],
    ['a batch', `[${LIST},${LIST}]`, 400],
    ['no message', '{"hello":1}', 400],
    [
      'a message that is too large',
      JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'x', params: { x: 'x'.repeat(1_100_000) } }),
      413,
    ],
  ])('refuses %s', async (_, body, status) => {
    const answer = await raw({ method: 'POST', headers: { ...PROTOCOL, 'x-auth-token': app.projectKey }, body });
    expect(answer.status, await answer.text()).toBe(status);
  });

  it('counts requests by tool, and logs those that are refused', async () => {
    await call(await connect(app.projectKey), 'list_datasets');
    await raw({ method: 'POST', headers: PROTOCOL, body: LIST });
    const metrics = await (await fetch(`${app.address}/metrics`)).text();
    expect(metrics).toMatch(/spandrel_calls_total\{[^}]*route="\/mcp list_datasets"[^}]*\} \d/);
    expect(app.logged.some((line) => line.includes('"route":"/mcp"') && line.includes('401'))).toBe(true);
  });
});
