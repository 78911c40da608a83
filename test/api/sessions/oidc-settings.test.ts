import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import { afterEach, expect, it } from 'vitest';
import { startApp, type TestApp } from '../../support/app.ts';
import { CLIENT, openBrowser, startIssuer } from '../../support/issuer.ts';
import { findFreePort } from '../../support/port.ts';
import { until } from '../../support/temp.ts';
import { act } from '../organization/organization-client.ts';
import { personOf, signIn } from './oidc-client.ts';
import { begin, consoleHeaders, send } from './session-client.ts';

const ends: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

async function startWith(issuer: string, environment: { [name: string]: string } = {}) {
  const port = await findFreePort();
  const publicUrl = `http://127.0.0.1:${port}`;
  const app = await startApp({
    environment: {
      SPANDREL_PORT: String(port),
      SPANDREL_PUBLIC_URL: publicUrl,
      SPANDREL_OIDC_ISSUER: issuer,
      SPANDREL_OIDC_CLIENT_ID: CLIENT.id,
      SPANDREL_OIDC_CLIENT_SECRET: CLIENT.secret,
      SPANDREL_OIDC_ALLOWED_DOMAINS: 'allowed.example',
      ...environment,
    },
  });
  ends.push(app.close);
  return { app, callback: `${publicUrl}/api/auth/callback` };
}

async function serve(port: number, answer: RequestListener): Promise<Server> {
  const server = createServer(answer);
  await once(server.listen(port, '127.0.0.1'), 'listening');
  ends.push(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return server;
}

const login = ({ address }: TestApp) => openBrowser().visit(`${address}/api/auth/login`);
const AWAY = 'The issuer cannot be reached now. Try again in a moment.';

it('an issuer that is away keeps no server from starting, and signs people in once it is back', async () => {
  const port = await findFreePort();
  const { app, callback } = await startWith(`http://127.0.0.1:${port}`);
  const away = await login(app);
  expect(away.status).toBe(503);
  expect(away.headers['retry-after']).toBe('5');
  expect(away.body).toContain(AWAY);
  const headers = { authorization: `Bearer ${app.adminKey}` };
  expect((await send(app, { path: '/api/organization', headers })).status).toBe(200);
  const issuer = await startIssuer(callback, { port });
  ends.push(issuer.close);
  await until(async () => (await login(app)).status === 303);
  await signIn({ app, issuer, callback, close: async () => {} }, personOf('ada'));
  const { data } = await act(app, 'GET', '/api/organization/members');
  expect(data).toHaveLength(2);
  expect(app.logged.join('\n')).toContain('ECONNREFUSED');
});

it('what an issuer says of itself is remembered while it is away', async () => {
  const port = await findFreePort();
  const { app, callback } = await startWith(`http://127.0.0.1:${port}`);
  const issuer = await startIssuer(callback, { port });
  await until(async () => (await login(app)).status === 303);
  await issuer.close();
  expect((await login(app)).status).toBe(303);
});

it.each<readonly [string, RequestListener, RegExp]>([
  ['names itself otherwise', (_, response) => response.end('{"issuer":"https://issuer.example"}'), /issuer/],
  ['sends no end', (_, response) => void sendForever(response), /more than 1048576 bytes/],
  [
    'leads elsewhere',
    (_, response) => response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end(),
    /status|200/,
  ],
  ['sends no JSON', (_, response) => response.end('<html>'), /JSON/i],
])('an issuer that %s signs nobody in', async (_, answer, reason) => {
  const port = await findFreePort();
  await serve(port, (request, response) => {
    response.setHeader('content-type', 'application/json');
    answer(request, response);
  });
  const { app } = await startWith(`http://127.0.0.1:${port}`);
  const answered = await login(app);
  expect(answered.status).toBe(503);
  expect(answered.body).toContain(AWAY);
  expect(app.logged.filter((line) => line.includes('the issuer of sign-ins')).join('\n')).toMatch(reason);
});

function sendForever(response: Parameters<RequestListener>[1]): void {
  const chunk = `"${'a'.repeat(65_536)}",`;
  const write = () => {
    while (!response.destroyed && response.write(chunk));
    if (!response.destroyed) response.once('drain', write);
  };
  write();
}

it('keys begin no session with SPANDREL_KEY_SIGN_IN=off, and serve programs as before', async () => {
  const { app, callback } = await startWith('http://127.0.0.1:1', { SPANDREL_KEY_SIGN_IN: 'off' });
  for (const token of [app.adminKey, app.projectKey]) {
    const headers = { authorization: `Bearer ${token}` };
    const refused = await send(app, { verb: 'POST', path: '/api/auth/session', headers });
    expect(refused).toMatchObject({ status: 403, body: { code: 'key_sign_in_off' }, cookie: null });
    expect((await send(app, { path: '/api/auth/session', headers })).status).toBe(200);
  }
  const { data } = await act(app, 'GET', '/api/auth/sessions');
  expect(data).toEqual([]);
  expect(callback).toContain(app.address);
});

it('sessions that keys began do not count with SPANDREL_KEY_SIGN_IN=off', async () => {
  const on = await startApp();
  ends.push(on.close);
  const begun = [await begin(on, on.adminKey), await begin(on, on.projectKey)];
  const issuer = { SPANDREL_OIDC_ISSUER: 'http://127.0.0.1:1', SPANDREL_PUBLIC_URL: 'http://127.0.0.1:1' };
  const client = { SPANDREL_OIDC_CLIENT_ID: CLIENT.id, SPANDREL_OIDC_CLIENT_SECRET: CLIENT.secret };
  const off = await startApp({
    database: on.database,
    environment: { ...issuer, ...client, SPANDREL_KEY_SIGN_IN: 'off' },
    wrapStore: () => on.store,
  });
  try {
    for (const { cookie } of begun) {
      const read = (app: Pick<TestApp, 'address'>) =>
        send(app, { path: '/api/auth/session', headers: consoleHeaders(cookie) });
      expect((await read(on)).status).toBe(200);
      expect(await read(off)).toMatchObject({ status: 401, body: { code: 'invalid_credentials' } });
    }
  } finally {
    await off.stop();
  }
});

it('the page of the console tells how to sign in before anybody has', async () => {
  const plain = await startApp();
  ends.push(plain.close);
  const page = async ({ address }: TestApp) => (await openBrowser().visit(`${address}/-/sessions`)).body;
  expect(await page(plain)).not.toContain('<meta name="spandrel-');
  const { app } = await startWith('http://127.0.0.1:1/realm', { SPANDREL_KEY_SIGN_IN: 'off' });
  expect(await page(app)).toContain(
    '<meta name="spandrel-issuer" content="127.0.0.1:1"><meta name="spandrel-key-sign-in" content="off"></head>',
  );
  const { app: both } = await startWith('http://127.0.0.1:1/realm');
  expect(await page(both)).not.toContain('spandrel-key-sign-in');
});

it('without an issuer there is nothing to sign in through', async () => {
  const app = await startApp();
  ends.push(app.close);
  for (const path of ['/api/auth/login', '/api/auth/callback']) {
    expect((await openBrowser().visit(app.address + path)).status).toBe(404);
  }
});

it('the routes of a sign-in take no other method', async () => {
  const { app } = await startWith('http://127.0.0.1:1');
  for (const path of ['/api/auth/login', '/api/auth/callback']) {
    const answer = await fetch(app.address + path, { method: 'POST' });
    expect(answer.status).toBe(405);
    expect(answer.headers.get('allow')).toBe('GET, HEAD, OPTIONS');
  }
});
