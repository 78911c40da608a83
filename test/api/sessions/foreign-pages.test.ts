import { once } from 'node:events';
import { connect as connectHttp2 } from 'node:http2';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../../support/app.ts';
import { hex } from '../../support/fixtures.ts';
import { act } from '../organization/organization-client.ts';
import { begin, consoleHeaders, type Headers, send } from './session-client.ts';

const PUBLIC = 'https://spandrel.example.com';
const TRUSTED = 'https://console.example.com:8443';
const EVIL = 'https://evil.example.net';
const FORM = 'application/x-www-form-urlencoded';

let app: TestApp;
let cookie: string;
beforeAll(async () => {
  app = await startApp({
    environment: { SPANDREL_PUBLIC_URL: `${PUBLIC}/base/`, SPANDREL_CORS_ORIGINS: TRUSTED },
  });
  ({ cookie } = await begin(app, app.adminKey));
});
afterAll(async () => {
  await app.close();
});

/** What was created and changed with these headers. */
async function tryChanges(headers: Headers) {
  const name = hex(8);
  const sent = { 'content-type': 'application/json', ...headers };
  const body = JSON.stringify({ name });
  const create = await send(app, { verb: 'POST', path: '/api/teams', headers: sent, body });
  const rpc = await send(app, { verb: 'POST', path: '/spandrel.v1.TeamService/CreateTeam', headers: sent, body });
  const read = await send(app, { path: '/api/organization', headers });
  const teams = await act(app, 'GET', '/api/teams?limit=1000');
  const isMade = teams.data.some((team: { name: string }) => team.name === name);
  return { statuses: [create.status, rpc.status, read.status], isMade };
}

const REFUSED = { statuses: [401, 401, 401], isMade: false };

describe('a session counts', () => {
  it.each([
    ['without what only browsers send', {}],
    ['for the same site by the browser', { 'sec-fetch-site': 'same-origin' }],
    ['for the origin of SPANDREL_PUBLIC_URL', { origin: PUBLIC, 'sec-fetch-site': 'same-origin' }],
  ])('%s', async (_, headers) => {
    const { statuses, isMade } = await tryChanges(consoleHeaders(cookie, headers));
    expect(statuses[0]).toBe(201);
    expect(statuses[2]).toBe(200);
    expect(isMade).toBe(true);
  });

  it('for the origin of the requested host, whatever the scheme', async () => {
    const { host } = new URL(app.address);
    for (const origin of [`http://${host}`, `https://${host}`]) {
      expect((await tryChanges(consoleHeaders(cookie, { origin }))).isMade).toBe(true);
    }
  });

  it('over HTTP/2, where each cookie has a header of its own', async () => {
    const session = connectHttp2(app.address);
    const stream = session.request({
      ':path': '/api/organization',
      'x-spandrel-console': '1',
      cookie: ['other=a,b', cookie, 'last=1'],
    });
    const [headers] = await once(stream, 'response');
    session.close();
    expect(headers[':status']).toBe(200);
  });
});

describe('a session does not count', () => {
  it.each<readonly [string, () => Headers]>([
    ['without the header of the console', () => ({ cookie })],
    ['with another value of it', () => consoleHeaders(cookie, { 'x-spandrel-console': 'true' })],
    ['for a form', () => ({ cookie, 'content-type': FORM, origin: EVIL, 'sec-fetch-site': 'cross-site' })],
    ['for another site', () => consoleHeaders(cookie, { 'sec-fetch-site': 'cross-site' })],
    ['for a neighbouring site', () => consoleHeaders(cookie, { 'sec-fetch-site': 'same-site' })],
    ['for the address bar', () => consoleHeaders(cookie, { 'sec-fetch-site': 'none' })],
    ['for another origin', () => consoleHeaders(cookie, { origin: EVIL })],
    ['for no origin', () => consoleHeaders(cookie, { origin: 'null' })],
    ['for an origin that only CORS names', () => consoleHeaders(cookie, { origin: TRUSTED })],
    ['for another port of the host', () => consoleHeaders(cookie, { origin: 'http://127.0.0.1:1' })],
    ['beside another value of the same cookie', () => consoleHeaders(`${cookie}; spandrel_session=other`)],
    ['under another name', () => consoleHeaders(cookie.replace('spandrel_session', 'spandrel_sessions'))],
  ])('%s', async (_, headers) => {
    const { statuses, isMade } = await tryChanges(headers());
    // Connect takes no forms at all.
    expect({ statuses: statuses.map((status) => (status === 415 ? 401 : status)), isMade }).toEqual(REFUSED);
  });

  it('beside a credential in a header, even one that is refused', async () => {
    const headers = consoleHeaders(cookie, { authorization: 'Bearer sk-lw-neither-one-nor-the-other' });
    const answer = await send(app, { path: '/api/organization', headers });
    expect(answer).toMatchObject({ status: 401, body: { code: 'invalid_credentials' } });
  });

  it('in a query or a body', async () => {
    const [name = '', value = ''] = cookie.split('=');
    const headers = { 'x-spandrel-console': '1', 'content-type': 'application/json' };
    const body = JSON.stringify({ name: 'team', [name]: value });
    for (const path of [`/api/teams?${name}=${value}`, `/api/teams?cookie=${cookie}`]) {
      expect((await send(app, { verb: 'POST', path, headers, body })).status).toBe(401);
    }
  });

  it('for a page that asks for permission first: no origin is allowed credentials', async () => {
    for (const origin of [TRUSTED, EVIL]) {
      const answer = await fetch(`${app.address}/api/teams`, {
        method: 'OPTIONS',
        headers: {
          origin,
          'access-control-request-method': 'POST',
          'access-control-request-headers': 'x-spandrel-console',
        },
      });
      expect(answer.headers.get('access-control-allow-credentials')).toBeNull();
    }
  });
});
