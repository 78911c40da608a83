import { once } from 'node:events';
import { connect as connectHttp2 } from 'node:http2';
import { connect as connectTcp } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../support/app.ts';
import { addKey, custom, llmTrace } from '../support/fixtures.ts';
import { type Body, callRest } from '../support/surfaces.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});
afterAll(async () => {
  await app.close();
});

const EVENTS = '/api/webhooks/v1/events?from=0&to=1';

describe('errors have the shape of their path family', () => {
  it('an unknown route and a wrong method are canonical under /api/webhooks', async () => {
    const unknown = await callRest(app.address, { path: '/api/webhooks/v1/nope' });
    expect(unknown.status).toBe(404);
    expect(Object.keys(unknown.body)).toEqual(['error']);
    expect(unknown.body.error).toMatchObject({ type: 'not_found', code: 'route_not_found' });
    const method = await callRest(app.address, { verb: 'PUT', path: '/api/webhooks/v1/events', body: {} });
    expect(method.status).toBe(405);
    expect(method.body.error).toMatchObject({ type: 'method_not_allowed', code: 'method_not_allowed' });
    expect(method.body.error.message).toBe('This path takes only GET, HEAD, OPTIONS.');
    expect(method.headers.get('allow')).toBe('GET, HEAD, OPTIONS');
  });

  it('they are flat everywhere else', async () => {
    const unknown = await callRest(app.address, { path: '/nope' });
    expect(unknown.body).toMatchObject({ error: 'Not Found', code: 'route_not_found', message: expect.any(String) });
    const method = await callRest(app.address, { verb: 'DELETE', path: '/api/collector' });
    expect(method.status).toBe(405);
    expect(method.body).toMatchObject({ error: 'Method Not Allowed', code: 'method_not_allowed' });
    expect(method.body.message).toBe('This path takes only POST, OPTIONS.');
    expect(method.headers.get('allow')).toBe('POST, OPTIONS');
  });

  it('a refused credential says how to send one', async () => {
    const answer = await callRest(app.address, { path: EVENTS });
    expect(answer.headers.get('www-authenticate')).toBe('Bearer realm="spandrel"');
    expect(answer.body.error).toMatchObject({ type: 'unauthenticated', code: 'missing_credentials' });
  });

  it('a path spelled oddly has the shape of the path it means', async () => {
    for (const path of ['/api//webhooks/v1/events', '/api/%77ebhooks/v1/events', '//api/webhooks//v1/nope']) {
      const answer = await callRest(app.address, { path });
      expect(Object.keys(answer.body), path).toEqual(['error']);
    }
    for (const path of ['/api%2Fwebhooks/v1/events', '/api/web%68ook/v1']) {
      expect((await callRest(app.address, { path })).body, path).toMatchObject({ code: 'route_not_found' });
    }
    const broken = await callRest(app.address, { path: '/api/webhooks/%zz' });
    expect(broken.body.error.code).toBe('route_not_found');
  });

  it('a missing permission names it in the case of the family', async () => {
    const token = await addKey(app, { bindings: [custom('ORGANIZATION', app.organizationId, ['organization:view'])] });
    const answer = await callRest(app.address, { path: EVENTS, headers: { authorization: `Bearer ${token}` } });
    expect(answer.status).toBe(403);
    expect(answer.body.error).toMatchObject({
      type: 'permission_denied',
      code: 'insufficient_permissions',
      meta: { required_permission: 'webhookEndpoints:view' },
    });
    expect(answer.body.error.message).toContain('webhookEndpoints:view');
  });

  it('a body that only says it is gzip is malformed and not too large', async () => {
    const headers = { 'x-auth-token': app.projectKey, 'content-encoding': 'gzip' };
    const body = JSON.stringify(llmTrace(Date.now()));
    const answer = await callRest(app.address, { verb: 'POST', path: '/api/collector', body, headers });
    expect(answer.status).toBe(400);
    expect(answer.body.code).toBe('malformed_request');
  });

  it('a malformed escape and a trailing slash are not routes', async () => {
    for (const path of ['/api/traces/%zz', '/api/webhooks/v1/events/', '/api/traces/']) {
      expect((await callRest(app.address, { path })).status, path).toBe(404);
    }
  });

  it('a request line above 8 KiB is 414 and headers above 16 KiB are 431', async () => {
    const long = await callRest(app.address, { path: `/api/traces/t?x=${'x'.repeat(9000)}` });
    expect(long.status).toBe(414);
    expect(long.body).toMatchObject({ code: 'uri_too_long' });
    expect(long.headers.get('connection')).toBe('close');
    const many = await callRest(app.address, { path: '/api/traces/t', headers: { 'x-pad': 'x'.repeat(17_000) } });
    expect(many.status).toBe(431);
    expect(many.body).toMatchObject({ code: 'headers_too_large' });
    expect(many.headers.get('connection')).toBe('close');
  });
});

it.each(['HTTP/1.1', 'HTTP/2'])('over %s a head that is too large gets a flat error on every path', async (version) => {
  const padded = { 'x-pad': 'x'.repeat(17_000) };
  const ask = async (path: string, headers: Record<string, string>) =>
    version === 'HTTP/2'
      ? await askOverHttp2({ ':path': path, ...headers })
      : (await callRest(app.address, { path, headers })).body;
  for (const path of [EVENTS, '/api/gateway/v1/requests', '/api/traces/t']) {
    const long = await ask(`${path}?x=${'x'.repeat(9000)}`, {});
    expect(long).toMatchObject({ error: 'URI Too Long', code: 'uri_too_long', message: expect.any(String) });
    const large = { error: 'Request Header Fields Too Large', code: 'headers_too_large' };
    expect(await ask(path, padded)).toMatchObject(large);
  }
});

async function askOverHttp2(headers: Record<string, string>): Promise<Body> {
  const session = connectHttp2(app.address);
  try {
    const stream = session.request(headers);
    await once(stream, 'response');
    let text = '';
    for await (const chunk of stream) text += chunk;
    return JSON.parse(text);
  } finally {
    session.destroy();
  }
}

describe('ids of requests and traces', () => {
  it('a usable request id is kept, another is replaced', async () => {
    const kept = await callRest(app.address, { path: EVENTS, headers: { 'x-request-id': 'my-id.1:2' } });
    expect(kept.headers.get('x-request-id')).toBe('my-id.1:2');
    const replaced = await callRest(app.address, { path: EVENTS, headers: { 'x-request-id': 'no spaces please' } });
    expect(replaced.headers.get('x-request-id')).toMatch(/^req_[0-9A-Za-z]{24}$/);
  });

  it('a trace is continued with a span of its own', async () => {
    const traceId = '0af7651916cd43dd8448eb211c80319c';
    const answer = await callRest(app.address, {
      path: EVENTS,
      headers: { traceparent: `00-${traceId}-b7ad6b7169203331-01` },
    });
    expect(answer.body.error.trace_id).toBe(traceId);
    expect(answer.body.error.span_id).not.toBe('b7ad6b7169203331');
    expect(answer.headers.get('traceparent')).toContain(traceId);
  });

  it('a refusal before any handler names its trace in a header as well', async () => {
    const text = await sendRaw(app.port, 'NOT HTTP\r\n\r\n');
    const [, traceId, spanId] = /\r\ntraceparent: 00-([0-9a-f]{32})-([0-9a-f]{16})-01\r\n/.exec(text) ?? [];
    expect(text).toMatch(/^HTTP\/1\.1 400 /);
    expect(JSON.parse(text.slice(text.indexOf('\r\n\r\n')))).toMatchObject({ trace_id: traceId, span_id: spanId });
  });

  it('with tracing off no error carries an id', async () => {
    const silent = await startApp({ environment: { SPANDREL_TRACING: 'off' } });
    try {
      const flat = await callRest(silent.address, { path: '/nope' });
      expect(Object.keys(flat.body).sort()).toEqual(['code', 'error', 'message']);
      expect(flat.headers.get('traceparent')).toBeNull();
    } finally {
      await silent.close();
    }
  });
});

describe('headers of every answer', () => {
  it('nothing is cached or sniffed, and HEAD is GET without a body', async () => {
    const get = await callRest(app.address, { path: '/healthz' });
    expect(get.headers.get('cache-control')).toBe('no-store');
    expect(get.headers.get('x-content-type-options')).toBe('nosniff');
    expect(get.headers.get('content-type')).toBe('application/json; charset=utf-8');
    const head = await fetch(`${app.address}/healthz`, { method: 'HEAD' });
    expect(head.status).toBe(200);
    expect(await head.text()).toBe('');
  });

  it('larger answers are compressed on request', async () => {
    const body = llmTrace(Date.now());
    await callRest(app.address, {
      verb: 'POST',
      path: '/api/collector',
      body,
      headers: { 'x-auth-token': app.projectKey },
    });
    const answer = await callRest(app.address, {
      path: `/api/traces/${body.trace_id}`,
      headers: { 'x-auth-token': app.projectKey, 'accept-encoding': 'gzip' },
    });
    expect(answer.headers.get('content-encoding')).toBe('gzip');
    expect(answer.body.trace_id).toBe(body.trace_id);
  });

  it('the pages take GET and HEAD only, and say so', async () => {
    for (const path of ['/healthz', '/readyz']) {
      const post = await callRest(app.address, { verb: 'POST', path, body: {} });
      expect(post.status, path).toBe(405);
      expect(post.body).toMatchObject({ code: 'method_not_allowed' });
      expect(post.headers.get('allow')).toBe('GET, HEAD, OPTIONS');
      const options = await callRest(app.address, { verb: 'OPTIONS', path });
      expect(options.status).toBe(204);
      expect(options.headers.get('allow')).toBe('GET, HEAD, OPTIONS');
    }
  });

  it('the legacy route says where to go from here, also when it fails', async () => {
    for (const headers of [{}, { 'x-auth-token': app.projectKey }]) {
      const answer = await callRest(app.address, { path: '/api/trace/no-such-trace', headers });
      expect(answer.status).toBeGreaterThanOrEqual(401);
      expect(answer.headers.get('deprecation')).toBe('true');
      expect(answer.headers.get('link')).toBe('</api/traces/no-such-trace>; rel="successor-version"');
    }
  });

  it('alive and ready are open', async () => {
    expect((await callRest(app.address, { path: '/healthz' })).status).toBe(200);
    expect((await callRest(app.address, { path: '/readyz' })).status).toBe(200);
  });

  it('pages are found like routes: slashes count once, segments are decoded after the path is split', async () => {
    for (const path of ['//healthz', '/%68ealthz', '//docs//start.js']) {
      expect((await fetch(app.address + path)).status, path).toBe(200);
    }
    for (const path of ['/healthz/', '/docs%2Fstart.js', '/healthz%']) {
      expect((await fetch(app.address + path)).status, path).toBe(404);
    }
    const post = await callRest(app.address, { verb: 'POST', path: '//healthz', body: {} });
    expect(post).toMatchObject({ status: 405, body: { code: 'method_not_allowed' } });
  });
});

describe('browsers on other origins', () => {
  const preflight = {
    origin: 'https://app.example.com',
    'access-control-request-method': 'POST',
    'access-control-request-headers': 'x-auth-token',
  };

  it('a preflight on any path needs no credential', async () => {
    for (const path of ['/api/collector', '/spandrel.v1.TraceService/GetTrace', '/nope']) {
      const answer = await fetch(app.address + path, { method: 'OPTIONS', headers: preflight });
      expect(answer.status).toBe(204);
      expect(answer.headers.get('access-control-allow-origin')).toBe('*');
      expect(answer.headers.get('access-control-allow-headers')).toBe('x-auth-token');
      expect(answer.headers.get('access-control-max-age')).toBe('7200');
      expect(answer.headers.get('access-control-allow-credentials')).toBeNull();
      expect(answer.headers.get('cache-control')).toBe('no-store');
      expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
    }
  });

  it('a preflight says which request and trace it was', async () => {
    const traceId = '0af7651916cd43dd8448eb211c80319c';
    const headers = { ...preflight, 'x-request-id': 'mine-1', traceparent: `00-${traceId}-b7ad6b7169203331-01` };
    const answer = await fetch(`${app.address}/api/collector`, { method: 'OPTIONS', headers });
    expect(answer.headers.get('x-request-id')).toBe('mine-1');
    expect(answer.headers.get('traceparent')).toMatch(new RegExp(`^00-${traceId}-[0-9a-f]{16}-01$`));
  });

  it('errors can be read by a page, on rpc paths too', async () => {
    for (const path of [EVENTS, '/spandrel.v1.TraceService/GetTrace']) {
      const answer = await fetch(app.address + path, { headers: { origin: preflight.origin } });
      expect(answer.headers.get('access-control-allow-origin'), path).toBe('*');
      const exposed = answer.headers.get('access-control-expose-headers');
      for (const name of ['X-Request-Id', 'X-Next-Cursor', 'ETag']) expect(exposed).toContain(name);
    }
  });

  it.each([
    ['headers that are too large', `Host: x\r\nX-Large: ${'a'.repeat(30_000)}\r\n`, 431],
    ['no host', '', 400],
  ])('an error before any handler can be read by a page, and keeps the request id (%s)', async (_, headers, status) => {
    const own = `Origin: ${preflight.origin}\r\nx-request-id: mine-2\r\n`;
    const text = await sendRaw(app.port, `GET /api/traces/t HTTP/1.1\r\n${own}${headers}\r\n`);
    expect(text).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    expect(text).toContain('\r\naccess-control-allow-origin: *\r\naccess-control-expose-headers: X-Request-Id, ');
    expect(text).toContain('\r\nx-request-id: mine-2\r\n');
  });

  it('the id of an earlier request on the connection is not that of a broken one', async () => {
    const first = 'GET /healthz HTTP/1.1\r\nHost: x\r\nx-request-id: first\r\n\r\n';
    const text = await sendRaw(app.port, `${first}GET / HTTP/1.1\r\nHost x\r\n\r\n`);
    expect(text.split('HTTP/1.1 400 ')[1] ?? '').not.toContain('x-request-id: first');
  });

  it('with a list of origins a foreign one gets the answer without the headers', async () => {
    const strict = await startApp({ environment: { SPANDREL_CORS_ORIGINS: 'https://app.example.com' } });
    try {
      const own = await fetch(`${strict.address}/healthz`, { headers: { origin: 'https://app.example.com' } });
      expect(own.headers.get('access-control-allow-origin')).toBe('https://app.example.com');
      const foreign = await fetch(`${strict.address}/healthz`, { headers: { origin: 'https://evil.example.com' } });
      expect(foreign.status).toBe(200);
      expect(foreign.headers.get('access-control-allow-origin')).toBeNull();
      expect(foreign.headers.get('vary')).toBe('Origin');
      const early = (origin: string) => sendRaw(strict.port, `GET / HTTP/1.1\r\nOrigin: ${origin}\r\n\r\n`);
      expect(await early('https://app.example.com')).toContain('allow-origin: https://app.example.com\r\n');
      const refused = await early('https://evil.example.com');
      expect(refused).not.toContain('access-control');
      expect(refused).toContain('vary: Origin\r\n');
      const headers = { origin: 'https://app.example.com', 'accept-encoding': 'gzip' };
      const packed = await fetch(`${strict.address}/openapi.json`, { headers });
      expect(packed.headers.get('content-encoding')).toBe('gzip');
      expect(packed.headers.get('vary')).toBe('Origin, accept-encoding');
    } finally {
      await strict.close();
    }
  });

  it('another OPTIONS returns the methods of the path', async () => {
    const answer = await fetch(`${app.address}/api/collector`, { method: 'OPTIONS' });
    expect(answer.status).toBe(204);
    expect(answer.headers.get('allow')).toBe('POST, OPTIONS');
  });
});

async function sendRaw(port: number, text: string): Promise<string> {
  const socket = connectTcp(port, '127.0.0.1');
  socket.write(text);
  return Buffer.concat(await socket.toArray()).toString();
}

describe('the headers that carry a credential', () => {
  const collect = (headers: { [name: string]: string }) =>
    callRest(app.address, { verb: 'POST', path: '/api/collector', body: llmTrace(Date.now()), headers });
  const basic = (user: string, token: string) => `Basic ${Buffer.from(`${user}:${token}`).toString('base64')}`;

  it('every position takes every kind of token', async () => {
    expect((await collect({ 'x-auth-token': app.projectKey })).status).toBe(200);
    expect((await collect({ authorization: `bearer   ${app.projectKey}  ` })).status).toBe(200);
    expect((await collect({ authorization: basic('ignored', app.projectKey) })).status).toBe(200);
    expect((await collect({ authorization: basic(app.projectId, app.adminKey) })).status).toBe(200);
    expect((await collect({ 'x-auth-token': app.adminKey, 'x-project-id': app.projectId })).status).toBe(200);
    expect((await callRest(app.address, { path: EVENTS, headers: { 'x-auth-token': app.adminKey } })).status).toBe(200);
  });

  it('with two different tokens the class of the route decides', async () => {
    const both = { authorization: `Bearer ${app.adminKey}`, 'x-auth-token': app.projectKey };
    expect((await collect(both)).status).toBe(200);
    expect((await callRest(app.address, { path: EVENTS, headers: both })).status).toBe(200);
  });

  it('an unusable first position falls through to the next', async () => {
    expect((await collect({ authorization: 'Basic !!!', 'x-auth-token': app.projectKey })).status).toBe(200);
    expect((await collect({ authorization: 'Bearer ', 'x-auth-token': app.projectKey })).status).toBe(200);
  });

  it('a key bound to one project needs no header to name it', async () => {
    const token = await addKey(app, {
      bindings: [{ role: 'ADMIN', scopeType: 'PROJECT', scopeId: app.projectId, permissions: [] }],
    });
    expect((await collect({ authorization: `Bearer ${token}` })).status).toBe(200);
  });

  it('an expired key is an invalid credential from its instant on', async () => {
    const token = await addKey(app, {
      bindings: [{ role: 'ADMIN', scopeType: 'ORGANIZATION', scopeId: app.organizationId, permissions: [] }],
      expiresAtMs: Date.now() - 1,
    });
    const answer = await callRest(app.address, { path: EVENTS, headers: { authorization: `Bearer ${token}` } });
    expect(answer.body.error.code).toBe('invalid_credentials');
  });
});
