import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, it } from 'vitest';
import { parseAllowList } from '../../src/domain/endpoints/url-allow-list.ts';
import { createUrlPolicy } from '../../src/domain/endpoints/url-policy.ts';
import type { ModelSource } from '../../src/domain/model-providers/model-providers.ts';
import { createListModels } from '../../src/gateway/list-models.ts';

const API_KEY = 'sk-secret-of-the-provider';
const closers: (() => void)[] = [];
afterEach(() => {
  for (const close of closers.splice(0)) close();
});

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

async function startProvider(answer: Answer): Promise<string> {
  const server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closers.push(
    () => server.closeAllConnections(),
    () => server.close(),
  );
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function createSubject({ allow = '127.0.0.1', addresses = ['127.0.0.1'], timeoutMs = 5_000 } = {}) {
  const list = parseAllowList(allow);
  if (list.kind !== 'entries') throw new Error(list.problem);
  const policy = createUrlPolicy(list.entries, 'SPANDREL_GATEWAY_ALLOW');
  return createListModels({ policy, resolve: async () => addresses, userAgent: 'test', timeoutMs });
}

function sourceAt(baseUrl: string, changes: Partial<ModelSource> = {}): ModelSource {
  return { kind: 'openai', baseUrl, apiVersion: null, extraHeaders: {}, apiKey: API_KEY, ...changes };
}

function answerWith(status: number, body: unknown, headers = {}): Answer {
  return (_request, response) => void response.writeHead(status, headers).end(JSON.stringify(body));
}

it.each<readonly [ModelSource['kind'], string | null, string, object]>([
  ['openai', null, '/v1/models', { authorization: `Bearer ${API_KEY}` }],
  ['openai_compatible', null, '/v1/models', { authorization: `Bearer ${API_KEY}` }],
  ['azure_openai', '2024-10-21', '/v1/models?api-version=2024-10-21', { 'api-key': API_KEY }],
  ['anthropic', null, '/v1/models', { 'x-api-key': API_KEY, 'anthropic-version': '2023-06-01' }],
])('asks %s in its own way', async (kind, apiVersion, url, headers) => {
  const seen: IncomingMessage[] = [];
  const base = await startProvider((request, response) => {
    seen.push(request);
    answerWith(200, { data: [{ id: 'one' }, { id: 'two' }, { id: 3 }] })(request, response);
  });
  const source = sourceAt(`${base}/v1`, { kind, apiVersion, extraHeaders: { 'x-extra': 'sent' } });
  expect(await createSubject()(source)).toEqual({ kind: 'listed', httpStatus: 200, models: ['one', 'two'] });
  expect(seen[0]).toMatchObject({ method: 'GET', url, headers: { ...headers, 'x-extra': 'sent' } });
});

it.each<readonly [string, Answer, number | null, RegExp]>([
  ['a refused key', answerWith(401, { error: `wrong key ${API_KEY}` }), 401, /does not accept the API key/],
  ['a wrong path', answerWith(404, {}), 404, /check the base_url/],
  ['a redirect', answerWith(302, {}, { location: 'http://127.0.0.1:1/' }), 302, /not followed/],
  ['a failure', answerWith(500, { error: API_KEY }), 500, /answered 500/],
  ['another answer', answerWith(200, { models: [] }), 200, /not a list of models/],
  ['a page', (_, response) => void response.end('<html>'), 200, /not a list of models/],
  ['a broken connection', (request) => request.socket.destroy(), null, /connection broke/],
  ['a broken answer', (_, response) => void response.writeHead(200, { 'content-length': '9' }).write('{'), null, /./],
  ['an endless answer', (_, response) => void response.write(Buffer.alloc(5 * 1024 * 1024, ' ')), 200, /larger than/],
])('says what failed of %s, and never the key', async (_, answer, httpStatus, error) => {
  const base = await startProvider(answer);
  const listing = await createSubject({ timeoutMs: 1_000 })(sourceAt(base));
  expect(listing).toEqual({ kind: 'failed', httpStatus, error: expect.stringMatching(error) });
  expect(JSON.stringify(listing)).not.toContain(API_KEY);
});

it('gives up in time', async () => {
  const base = await startProvider(() => undefined);
  const listing = await createSubject({ timeoutMs: 50 })(sourceAt(base));
  expect(listing).toEqual({ kind: 'failed', httpStatus: null, error: 'The provider did not answer within 50 ms.' });
});

it('connects to no address that the policy refuses', async () => {
  let connections = 0;
  const base = await startProvider((request, response) => {
    connections += 1;
    answerWith(200, { data: [] })(request, response);
  });
  const { port } = new URL(base);
  const strict = createSubject({ allow: '' });
  expect(await strict(sourceAt(base))).toMatchObject({ kind: 'failed', error: expect.stringContaining('not allowed') });
  const rebound = createSubject({ allow: '10.0.0.0/8', addresses: ['127.0.0.1'] });
  const named = sourceAt(`http://provider.example.com:${port}`);
  expect(await rebound(named)).toMatchObject({ kind: 'failed', httpStatus: null });
  const gone = createSubject({ addresses: [] });
  expect((await gone(sourceAt('https://provider.example.com'))).kind).toBe('failed');
  expect(connections).toBe(0);
});

it('goes to the address that was checked, whatever the name resolves to by then', async () => {
  const hosts: (string | undefined)[] = [];
  const base = await startProvider((request, response) => {
    hosts.push(request.headers.host);
    answerWith(200, { data: [{ id: 'pinned' }] })(request, response);
  });
  const { port } = new URL(base);
  const subject = createSubject({ allow: 'provider.example.com', addresses: ['127.0.0.1'] });
  const listing = await subject(sourceAt(`http://provider.example.com:${port}/v1`));
  expect(listing).toEqual({ kind: 'listed', httpStatus: 200, models: ['pinned'] });
  expect(hosts).toEqual([`provider.example.com:${port}`]);
});
