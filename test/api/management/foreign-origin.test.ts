import { once } from 'node:events';
import { request as httpRequest } from 'node:http';
import { connect as connectHttp2 } from 'node:http2';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ApiKeyService } from '../../../gen/spandrel/v1/keys_pb.js';
import { startApp, type TestApp } from '../../support/app.ts';
import { hex } from '../../support/fixtures.ts';
import { fetchChecked } from '../../support/openapi/fetch-checked.ts';
import { type Body, callRest, callRpc } from '../../support/surfaces.ts';
import { until } from '../../support/temp.ts';
import { act, bearer } from '../organization/organization-client.ts';

const PUBLIC = 'https://spandrel.example.com';
const TRUSTED = 'https://console.example.com:8443';
const EVIL = 'https://evil.example.net';
const FORM = 'application/x-www-form-urlencoded';

let app: TestApp;
beforeAll(async () => {
  app = await startApp({
    environment: { SPANDREL_PUBLIC_URL: `${PUBLIC}/base/`, SPANDREL_CORS_ORIGINS: `${TRUSTED},https://x.example.com` },
  });
});
afterAll(async () => {
  await app.close();
});

type Headers = { readonly [name: string]: string };
type Sent = { readonly verb?: string; readonly path: string; readonly headers: Headers; readonly body?: string };

const basic = (token = app.adminKey) => `Basic ${Buffer.from(`${app.projectId}:${token}`).toString('base64')}`;

/** Sends like a browser: fetch does not let a test set the origin. */
function send({ verb = 'POST', path, headers, body = '' }: Sent): Promise<{ status: number; body: Body }> {
  return new Promise((resolve, reject) => {
    const sent = { ...headers, 'content-length': Buffer.byteLength(body) };
    const request = httpRequest(app.address + path, { method: verb, headers: sent }, (response) => {
      let text = '';
      response.on('data', (chunk: Buffer) => {
        text += chunk.toString();
      });
      response.on('end', () => resolve({ status: response.statusCode ?? 0, body: JSON.parse(text) }));
    });
    request.on('error', reject);
    request.end(body);
  });
}

async function makeKey(): Promise<string> {
  return (await act(app, 'POST', '/api/api-keys', { name: hex(8), keyType: 'service' })).id;
}

/** What a page's form can do: an irrelevant body for a route without one. */
async function rotate(headers: Headers): Promise<{ status: number; body: Body }> {
  return await send({ path: `/api/api-keys/${await makeKey()}/rotate`, headers });
}

const REFUSED = { status: 403, body: { error: 'Forbidden', code: 'origin_not_allowed' } };

describe('credentials that a browser remembers', () => {
  it.each([FORM, 'text/plain', 'multipart/form-data; boundary=x', ''])(
    'do not store a trace for a form of a foreign page, though the collector reads JSON of any type: "%s"',
    async (type) => {
      const headers = { authorization: basic(app.projectKey), ...(type === '' ? {} : { 'content-type': type }) };
      const body = JSON.stringify({ trace_id: hex(32), metadata: { user_id: 'u' } });
      const path = '/api/collector';
      for (const origin of [EVIL, 'null']) {
        expect(await send({ path, headers: { ...headers, origin }, body })).toMatchObject(REFUSED);
      }
      expect((await send({ path, headers, body })).status).toBe(200);
    },
  );

  it.each(['', FORM, `${FORM}; charset=utf-8`, 'multipart/form-data; boundary=x', 'Text/Plain'])(
    'do not serve a form of another origin, sent as "%s"',
    async (type) => {
      const typed: Headers = type === '' ? {} : { 'content-type': type };
      for (const origin of [EVIL, 'null', 'https://spandrel.example.com.evil.net', `${PUBLIC}:444`, 'http:', '']) {
        expect(await rotate({ ...typed, authorization: basic(), origin }), origin).toMatchObject(REFUSED);
      }
      expect((await rotate({ ...typed, authorization: basic() })).status).toBe(200);
    },
  );

  it('serve pages of our own', async () => {
    for (const origin of [PUBLIC, TRUSTED, app.address, app.address.replace('http:', 'https:')]) {
      expect((await rotate({ authorization: basic(), origin })).status, origin).toBe(200);
    }
    const host = 'proxied.example.org';
    expect((await rotate({ authorization: basic(), origin: `https://${host}`, host })).status).toBe(200);
    expect((await rotate({ authorization: basic(), origin: `https://${host}`, host: `${host}:443` })).status).toBe(200);
    expect(await rotate({ authorization: basic(), origin: `https://${host}:8443`, host })).toMatchObject(REFUSED);
  });

  it('serve requests that no form can make', async () => {
    const [authorization, origin] = [basic(), EVIL];
    for (const header of ['x-project-id', 'idempotency-key', 'x-requested-with']) {
      expect((await rotate({ authorization, origin, [header]: `value-${hex(8)}` })).status, header).toBe(200);
    }
    expect((await rotate({ authorization, origin, 'x-auth-token': app.adminKey })).status).toBe(200);
    expect((await rotate({ authorization, origin, 'content-type': 'application/json' })).status).toBe(200);
    // Headers of proxies do not prove a script.
    const added = { 'x-request-id': 'r', 'x-forwarded-for': '192.0.2.1', traceparent: `00-${hex(32)}-${hex(16)}-01` };
    expect(await rotate({ authorization, origin, ...added })).toMatchObject(REFUSED);
  });

  it('read everything, from every origin', async () => {
    for (const verb of ['GET', 'HEAD']) {
      const headers = { authorization: basic(), origin: EVIL };
      const { status } = await fetchChecked(app.address, '/api/teams', { method: verb, headers });
      expect(status).toBe(200);
    }
  });

  it('change nothing with other verbs, and nothing of a project, from another origin', async () => {
    const headers = { authorization: basic(), origin: EVIL };
    expect(await send({ verb: 'DELETE', path: `/api/api-keys/${await makeKey()}`, headers })).toMatchObject(REFUSED);
    const collect = { path: '/api/collector', headers: { ...headers, 'content-type': 'text/plain' }, body: '{}' };
    expect(await send(collect)).toMatchObject({ status: 403, body: { code: 'origin_not_allowed' } });
    const project = { ...collect.headers, authorization: basic(app.projectKey) };
    expect(await send({ ...collect, headers: project })).toMatchObject({ body: { code: 'origin_not_allowed' } });
  });

  it('that are wrong are still only wrong', async () => {
    const wrong = await rotate({ authorization: basic('nope'), origin: EVIL });
    expect(wrong).toMatchObject({ status: 401, body: { code: 'invalid_credentials' } });
  });

  it('are distinguished from requests of programs', async () => {
    expect((await rotate({ authorization: `Bearer ${app.adminKey}`, origin: EVIL })).status).toBe(200);
  });

  it('do not serve a form over HTTP/2 either', async () => {
    const session = connectHttp2(app.address);
    const ask = async (origin: string) => {
      const path = `/api/api-keys/${await makeKey()}/rotate`;
      const stream = session.request({ ':method': 'POST', ':path': path, authorization: basic(), origin });
      stream.end();
      const [answered] = await once(stream, 'response');
      stream.resume();
      return answered[':status'];
    };
    expect([await ask(EVIL), await ask(app.address)]).toEqual([403, 200]);
    session.close();
  });
});

describe('rpcs cannot be called by a form', () => {
  const path = '/spandrel.v1.ApiKeyService/RotateApiKey';

  it('over Connect, whose content types no form can send', async () => {
    const headers = { authorization: basic(), origin: EVIL };
    const body = JSON.stringify({ id: await makeKey() });
    for (const type of ['text/plain', FORM]) {
      const response = await fetch(app.address + path, {
        method: 'POST',
        headers: { ...headers, 'content-type': type },
        body,
      });
      expect(response.status).toBe(415);
    }
    const typed = await fetch(app.address + path, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body,
    });
    expect(typed.status).toBe(200);
  });

  it('over gRPC, likewise', async () => {
    const answer = await callRpc(app.address, {
      method: ApiKeyService.method.rotateApiKey,
      request: { id: await makeKey() },
      headers: { authorization: basic(), origin: EVIL },
    });
    expect(answer.ok).toBe(true);
  });
});

it('the audit log records the attempt', async () => {
  await rotate({ authorization: basic(), origin: EVIL, 'user-agent': 'a victim' });
  let found: readonly Body[] = [];
  await until(async () => {
    const query = '/api/audit-log?action=apiKey.rotate&outcome=refused';
    found = (await callRest(app.address, { path: query, headers: bearer(app.adminKey) })).body.data;
    return found.length > 0;
  });
  expect(found).toContainEqual(expect.objectContaining({ code: 'origin_not_allowed', status: 403 }));
});
