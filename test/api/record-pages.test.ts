import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../support/app.ts';
import { llmTrace } from '../support/fixtures.ts';
import { callRest } from '../support/surfaces.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startApp({ environment: { SPANDREL_CONSOLE: 'off' } });
});
afterAll(async () => {
  await app.close();
});

async function open(path: string, method = 'GET') {
  const response = await fetch(app.address + path, { method });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

describe('the page that platformUrl leads to without a console', () => {
  it('says how to read the trace that an answer links to, and its command works', async () => {
    const headers = { 'x-auth-token': app.projectKey };
    const sent = { ...llmTrace(Date.now()), trace_id: "it's a <trace>/1" };
    const stored = await callRest(app.address, { verb: 'POST', path: '/api/collector', body: sent, headers });
    expect(stored.status).toBe(200);
    const path = `/api/traces/${encodeURIComponent(sent.trace_id)}`;
    const { platformUrl } = (await callRest(app.address, { path, headers })).body;
    expect(platformUrl.startsWith(`${app.address}/`)).toBe(true);
    const page = await open(platformUrl.slice(app.address.length));
    expect(page.status).toBe(200);
    const [, url = ''] = /curl -s &#39;|curl -s '([^']+)'/.exec(page.text) ?? [];
    expect((await callRest(app.address, { path: url.slice(app.address.length), headers })).body).toMatchObject({
      trace_id: sent.trace_id,
    });
  });

  it('says the same of an evaluator', async () => {
    const page = await open('/shop-abc123/evaluators/evaluator_1');
    expect(page.status).toBe(200);
    expect(page.text).toContain(`${app.address}/api/evaluators/evaluator_1`);
  });

  it('is the same whether or not the record and the project exist', async () => {
    const headers = { 'x-auth-token': app.projectKey };
    const sent = { ...llmTrace(Date.now()), trace_id: 'seen' };
    await callRest(app.address, { verb: 'POST', path: '/api/collector', body: sent, headers });
    const { platformUrl } = (await callRest(app.address, { path: '/api/traces/seen', headers })).body;
    const known = await open(platformUrl.slice(app.address.length));
    const unknown = await open('/no-such-project/traces/none');
    expect(unknown.status).toBe(known.status);
    expect(unknown.text).toBe(known.text.replaceAll('/seen', '/none'));
  });

  it('cannot be framed, runs no script and is not cached', async () => {
    const { headers, text } = await open('/shop/traces/t1');
    expect(headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(headers.get('content-security-policy')).toMatch(/^default-src 'none';.*frame-ancestors 'none'/);
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('cache-control')).toBe('no-store');
    expect(headers.get('referrer-policy')).toBe('no-referrer');
    expect(headers.get('set-cookie')).toBeNull();
    expect(text).not.toMatch(/<(script|style|link|img|form|iframe)/i);
  });

  it('repeats nothing that HTML or a shell would read as its own', async () => {
    const hostile = `'"><script>alert(1)</script>&$(id)\`id\`\u0000`;
    const id = encodeURIComponent(hostile).replaceAll("'", '%27');
    const { status, text } = await open(`/${id}/traces/${id}`);
    expect(status).toBe(200);
    expect(text).not.toContain('<script');
    expect(text.match(/'[^']*\/api\/traces\/([^']*)'/)?.[1]).toMatch(/^[A-Za-z0-9%._~!*()-]+$/);
    expect(text).toBe((await open(`/other/traces/${id}`)).text);
  });

  it('accepts only GET and HEAD, for any slug', async () => {
    for (const slug of ['shop', '%3Cb%3E', 'a%2Fb', '%E2%82%AC', '..%2F..']) {
      for (const kind of ['traces', 'evaluators', 'monitors']) {
        const path = `/${slug}/${kind}/x`;
        const head = await open(path, 'HEAD');
        expect([head.status, head.text], path).toEqual([200, '']);
        for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
          const refused = await open(path, method);
          expect([refused.status, refused.headers.get('allow')], path).toEqual([405, 'GET, HEAD, OPTIONS']);
          expect(JSON.parse(refused.text)).toMatchObject({ code: 'method_not_allowed' });
        }
      }
    }
  });

  it('is at no other path', async () => {
    const others = [
      '/shop/traces',
      '/shop/traces/',
      '/shop/traces/t1/spans',
      '/shop/traces/t1/',
      '/shop/trace/t1',
      '/shop/Traces/t1',
      '/traces/t1',
      '/shop/keys/k1',
      '/shop/traces/%zz',
      '/%zz/traces/t1',
    ];
    for (const path of others) {
      const answer = await callRest(app.address, { path });
      expect([answer.status, answer.body.code], path).toEqual([404, 'route_not_found']);
    }
  });

  it('never takes a path of the API', async () => {
    for (const path of ['/api/traces/t1', '/api/evaluators/e1', '/%61pi/traces/t1', '//api//traces/t1']) {
      const answer = await callRest(app.address, { path });
      expect([answer.status, answer.body.code], path).toEqual([401, 'missing_credentials']);
    }
    const answer = await callRest(app.address, { verb: 'POST', path: '/api/traces/t1', body: {} });
    expect(answer.status).toBe(405);
  });
});
