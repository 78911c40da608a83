import { afterAll, beforeAll, expect, it } from 'vitest';
import { startApp, type TestApp } from '../../support/app.ts';
import { CLIENT, openBrowser } from '../../support/issuer.ts';
import { act } from '../organization/organization-client.ts';
import { ask, goToIssuer, type OidcApp, personOf, signIn, startOidcApp } from './oidc-client.ts';

let oidc: OidcApp;
let other: TestApp;
beforeAll(async () => {
  oidc = await startOidcApp();
  const { database } = oidc.app;
  other = await startApp({
    database: { ...database, remove: async () => {} },
    environment: {
      SPANDREL_PUBLIC_URL: oidc.app.address,
      SPANDREL_OIDC_ISSUER: oidc.issuer.url,
      SPANDREL_OIDC_CLIENT_ID: CLIENT.id,
      SPANDREL_OIDC_CLIENT_SECRET: CLIENT.secret,
    },
  });
});
afterAll(async () => {
  await other.close();
  await oidc.close();
});

it('a sign-in may come back to another process, but once', async () => {
  const { browser, address } = await goToIssuer(oidc, personOf('ada'));
  const elsewhere = address.replace(oidc.app.address, other.address);
  const sealed = browser.cookie(oidc.app.address, 'spandrel_sign_in') ?? '';
  const came = openBrowser();
  came.setCookie(other.address, 'spandrel_sign_in', sealed);
  expect((await came.visit(elsewhere)).status).toBe(403);
  const { browser: next, address: back } = await goToIssuer(oidc, personOf('grace'));
  const cookie = next.cookie(oidc.app.address, 'spandrel_sign_in') ?? '';
  expect((await next.visit(back)).status).toBe(303);
  came.setCookie(other.address, 'spandrel_sign_in', cookie);
  const again = await came.visit(back.replace(oidc.app.address, other.address));
  expect(again.status).toBe(400);
});

it('what changes of a member holds for the next request of their session on every process', async () => {
  const { cookie } = await signIn(oidc, personOf('linus'));
  const sessions = (app: TestApp) => ask(app, cookie, '/api/auth/sessions');
  const reach = (app: TestApp) => ask(app, cookie, '/api/auth/session');
  expect((await sessions(other)).status).toBe(200);
  const { userId } = (await reach(other)).body.session;
  for (const role of ['ADMIN', 'VIEWER', 'EXTERNAL']) {
    await act(oidc.app, 'PATCH', `/api/organization/members/${userId}`, { role });
    for (const app of [other, oidc.app]) {
      const { effectivePermissions } = (await reach(app)).body;
      expect(effectivePermissions.includes('organization:manage')).toBe(role === 'ADMIN');
      expect(effectivePermissions.includes('traces:view')).toBe(role !== 'EXTERNAL');
    }
  }
  await act({ ...other, adminKey: oidc.app.adminKey }, 'DELETE', `/api/organization/members/${userId}`);
  for (const app of [oidc.app, other]) expect((await sessions(app)).status).toBe(401);
});
