import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { TraceService } from '../../gen/spandrel/v1/traces_pb.js';
import { startApp, type TestApp } from '../support/app.ts';
import { fetchChecked } from '../support/openapi/fetch-checked.ts';
import { callRest, callRpc } from '../support/surfaces.ts';

let app: TestApp;

const GET_TRACE = '/spandrel.v1.TraceService/GetTrace';

/** The log entries on refused requests so far. */
function loggedLines(message = 'request refused'): Record<string, unknown>[] {
  const lines = app.logged.filter((line) => line.startsWith(`${message} {`));
  return lines.map((line) => JSON.parse(line.slice(message.length)));
}

async function figures(name: string): Promise<string[]> {
  const text = await (await fetchChecked(app.address, '/metrics')).text();
  return text.split('\n').filter((line) => line.startsWith(name));
}

const callConnect = (headers: Record<string, string>, body = '{"traceId": "t1"}', path = GET_TRACE) =>
  fetch(app.address + path, { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body });
const callGrpc = (headers: Record<string, string>) =>
  callRpc(app.address, { method: TraceService.method.getTrace, request: { traceId: 't1' }, headers });

describe('how requests end', () => {
  beforeEach(async () => {
    app = await startApp();
  });
  afterEach(() => app.close());

  describe('a refused request is one line', () => {
    const common = { address: '127.0.0.1', ms: expect.any(Number), requestId: expect.stringMatching(/^req_/) };

    it('over REST, with the template of its route', async () => {
      await callRest(app.address, { path: '/api/traces/t1?x=1' });
      await callRest(app.address, { path: '/api/traces/t1', headers: { 'x-auth-token': app.projectKey } });
      const about = { transport: 'rest', method: 'GET', route: '/api/traces/{trace_id}', ...common };
      expect(loggedLines()).toEqual([
        { ...about, status: 401, code: 'missing_credentials', caller: 'none' },
        { ...about, status: 404, code: 'trace_not_found', caller: 'project_key' },
      ]);
    });

    it('over gRPC and Connect, with the status that REST would have', async () => {
      const good = { 'x-auth-token': app.projectKey };
      await callGrpc({});
      await callGrpc(good);
      await callConnect({});
      await callConnect(good);
      await callConnect(good, '{"traceId": 1}');
      const about = { method: 'POST', route: GET_TRACE, ...common };
      expect(loggedLines()).toEqual([
        { ...about, transport: 'grpc', status: 401, code: 'missing_credentials', caller: 'none' },
        { ...about, transport: 'grpc', status: 404, code: 'trace_not_found', caller: 'project_key' },
        { ...about, transport: 'connect', status: 401, code: 'missing_credentials', caller: 'none' },
        { ...about, transport: 'connect', status: 404, code: 'trace_not_found', caller: 'project_key' },
        { ...about, transport: 'connect', status: 400, code: 'malformed_request', caller: 'project_key' },
      ]);
    });

    it('with its path when there is no route, with tokens in the path masked', async () => {
      await callRest(app.address, {
        verb: 'POST',
        path: `/api/nothing/${app.projectKey}?key=${app.projectKey}`,
        body: {},
      });
      await callRest(app.address, { verb: 'DELETE', path: '/api/collector' });
      await callConnect({}, '{}', '/spandrel.v1.TraceService/Nothing');
      expect(loggedLines().map(({ path, status, code }) => [path, status, code])).toEqual([
        ['/api/nothing/sk-lw-...', 404, 'route_not_found'],
        ['/api/collector', 405, 'method_not_allowed'],
        ['/spandrel.v1.TraceService/Nothing', 404, 'route_not_found'],
      ]);
    });

    it('also when it ends before anything is known of it', async () => {
      for (const request of ['NONSENSE\r\n\r\n', `GET /${'x'.repeat(30_000)} HTTP/1.1\r\n\r\n`]) {
        const socket = connect(app.port, '127.0.0.1');
        socket.on('error', () => {}).resume();
        socket.write(request);
        await once(socket, 'close');
      }
      expect(loggedLines().map(({ status, code, address }) => [status, code, address])).toEqual([
        [400, 'malformed_request', '127.0.0.1'],
        [414, 'uri_too_long', '127.0.0.1'],
      ]);
    });

    it('for ten of them in a second; the others are counted in one', async () => {
      const startedAtMs = performance.now();
      await Promise.all(Array.from({ length: 30 }, () => callRest(app.address, { path: '/api/nothing' })));
      const seconds = (performance.now() - startedAtMs) / 1_000;
      const counted = () =>
        loggedLines('more requests were refused').reduce((sum, { count }) => sum + Number(count), 0);
      await vi.waitFor(() => expect(loggedLines().length + counted()).toBe(30), 10_000);
      // A busy machine spreads the requests over several seconds.
      expect(loggedLines().length).toBeLessThanOrEqual(10 * (Math.floor(seconds) + 2));
    });
  });

  it('a request that succeeds is logged at level debug only', async () => {
    const good = { 'x-auth-token': app.projectKey };
    const span = { span_id: 's1', type: 'llm', timestamps: { started_at: Date.now(), finished_at: Date.now() } };
    const collected = { verb: 'POST', path: '/api/collector', body: { trace_id: 't1', spans: [span] }, headers: good };
    expect((await callRest(app.address, collected)).status).toBe(200);
    expect((await callGrpc(good)).ok).toBe(true);
    expect((await callConnect(good)).status).toBe(200);
    await fetch(`${app.address}/healthz`);
    expect(loggedLines()).toEqual([]);
    expect(
      loggedLines('request').map(({ transport, route, status, caller }) => [transport, route, status, caller]),
    ).toEqual([
      ['rest', '/api/collector', 200, 'project_key'],
      ['grpc', GET_TRACE, 200, 'project_key'],
      ['connect', GET_TRACE, 200, 'project_key'],
      ['rest', '/healthz', 200, 'none'],
    ]);
  });

  it('a health page that says no is not a refused request', async () => {
    await app.close();
    const ready = () => Promise.reject(new Error('away'));
    app = await startApp({ wrapStore: (store) => ({ ...store, ready }) });
    expect((await callRest(app.address, { path: '/readyz' })).status).toBe(503);
    expect(loggedLines()).toEqual([]);
    expect(loggedLines('request')).toMatchObject([{ route: '/readyz', status: 503 }]);
  });

  it('requests are counted by route and status, and refused credentials by reason', async () => {
    const bad = { 'x-auth-token': 'sk-lw-nothing' };
    for (const id of ['a', 'b']) await callRest(app.address, { path: `/api/traces/${id}`, headers: bad });
    await callRest(app.address, { path: '/api/organization', headers: { 'x-auth-token': app.projectKey } });
    for (const path of ['/secret-one', '/secret-two']) await callRest(app.address, { path });
    await callGrpc({});
    await callConnect({});
    expect(await figures('spandrel_calls_total')).toEqual(
      expect.arrayContaining([
        'spandrel_calls_total{transport="rest",route="/api/traces/{trace_id}",status="401"} 2',
        'spandrel_calls_total{transport="rest",route="none",status="404"} 2',
        `spandrel_calls_total{transport="grpc",route="${GET_TRACE}",status="401"} 1`,
        `spandrel_calls_total{transport="connect",route="${GET_TRACE}",status="401"} 1`,
      ]),
    );
    expect(await figures('spandrel_credentials_refused_total')).toEqual([
      'spandrel_credentials_refused_total{reason="missing_credentials"} 2',
      'spandrel_credentials_refused_total{reason="invalid_credentials"} 2',
      'spandrel_credentials_refused_total{reason="credential_class_mismatch"} 1',
      'spandrel_credentials_refused_total{reason="project_scope_required"} 0',
      'spandrel_credentials_refused_total{reason="unknown_project"} 0',
    ]);
    expect((await figures('')).join()).not.toContain('secret-');
  });
});

describe('what is not served says so, and what is', () => {
  beforeAll(async () => {
    app = await startApp();
  });
  afterAll(() => app.close());

  it.each([
    ['/v1/metrics/v2', /OTLP is served at POST \/api\/otel\/v1\/traces/],
    ['/api/otel', /OTLP is served at POST \/api\/otel\/v1\/traces/],
    ['/v1/trace', /OTLP is served at POST/],
    ['/otlp/v1/traces', /OTLP is served at POST/],
    ['/api/public/otel/v2/traces', /OTLP is served at POST/],
    ['/collector/v1/traces', /OTLP is served at POST/],
    ['/v1/tracers', /^There is no such route; /],
    ['/api/evaluations/batch/none', /POST \/api\/evaluations\/.*POST \/api\/collector/],
    ['/api/evaluations/v3/capitals/run', /^Experiments run where the application is/],
    ['/api/experiment/list', /^Experiments begin at POST/],
    ['/api/traces', /POST \/api\/traces\/search/],
    ['/api/trace/', /POST \/api\/traces\/search/],
    ['/api/otelier', /^There is no such route; \/docs shows all of them\.$/],
    ['/api/traces/one/two', /^There is no such route; /],
  ])('%s', async (path, message) => {
    const { status, body } = await callRest(app.address, { verb: 'POST', path, body: {} });
    expect([status, body.code]).toEqual([404, 'route_not_found']);
    expect(body.message).toMatch(message);
  });

  it('the root, to which exporters post that know nothing but the address', async () => {
    const answer = await fetch(`${app.address}/`, { method: 'POST', body: '{}' });
    expect(answer.status).toBe(405);
    const { message } = (await answer.json()) as { message: string };
    expect(message).toMatch(/^This path takes only GET, HEAD, OPTIONS\. OTLP is served at POST .*\/v1\/traces\.$/);
  });
});
