/** A server whose people sign in through an issuer, and their sign-ins. */

import type { TestApp, TestAppOptions } from '../../support/app.ts';
import { startApp } from '../../support/app.ts';
import {
  type Browser,
  CLIENT,
  type IssuedClaims,
  type IssuerOptions,
  openBrowser,
  startIssuer,
  type TestIssuer,
} from '../../support/issuer.ts';
import { findFreePort } from '../../support/port.ts';
import type { Body } from '../../support/surfaces.ts';
import { consoleHeaders, type Headers, type Received, send } from './session-client.ts';

export type OidcApp = {
  readonly app: TestApp;
  readonly issuer: TestIssuer;
  readonly callback: string;
  close(): Promise<void>;
};

export const ALLOWED_DOMAIN = 'allowed.example';

export async function startOidcApp(
  environment: TestAppOptions['environment'] = {},
  { issuer: issuerOptions, ...options }: Omit<TestAppOptions, 'environment'> & { readonly issuer?: IssuerOptions } = {},
): Promise<OidcApp> {
  const port = await findFreePort();
  const publicUrl = `http://127.0.0.1:${port}`;
  const callback = `${publicUrl}/api/auth/callback`;
  const issuer = await startIssuer(callback, issuerOptions);
  const app = await startApp({
    ...options,
    environment: {
      SPANDREL_PORT: String(port),
      SPANDREL_PUBLIC_URL: publicUrl,
      SPANDREL_OIDC_ISSUER: issuer.url,
      SPANDREL_OIDC_CLIENT_ID: CLIENT.id,
      SPANDREL_OIDC_CLIENT_SECRET: CLIENT.secret,
      SPANDREL_OIDC_ALLOWED_DOMAINS: ALLOWED_DOMAIN,
      ...environment,
    },
  });
  return {
    app,
    issuer,
    callback,
    async close() {
      await app.close();
      await issuer.close();
    },
  };
}

/** A person of the allowed domain, whose address the issuer has verified. */
export function personOf(sub: string, claims: Omit<IssuedClaims, 'sub'> = {}): IssuedClaims {
  return { sub, email: `${sub}@${ALLOWED_DOMAIN}`, email_verified: true, name: `Person ${sub}`, ...claims };
}

/** Goes to the issuer and returns the address that it sends the browser back to. */
export async function goToIssuer({ app, issuer, callback }: OidcApp, person: IssuedClaims, browser = openBrowser()) {
  issuer.person = person;
  return { browser, address: await browser.follow(`${app.address}/api/auth/login`, callback) };
}

export type SignedIn = { readonly browser: Browser; readonly cookie: string };

/** Signs a person in. Throws where they are refused. */
export async function signIn(oidc: OidcApp, person: IssuedClaims): Promise<SignedIn> {
  const { browser, address } = await goToIssuer(oidc, person);
  const answer = await browser.visit(address);
  const secret = browser.cookie(oidc.app.address, 'spandrel_session');
  if (answer.status !== 303 || secret === null) throw new Error(`not signed in: ${answer.status} ${answer.body}`);
  return { browser, cookie: `spandrel_session=${secret}` };
}

/** Asks the api as the console does. */
export function ask(
  app: TestApp,
  cookie: string,
  ...[path, verb = 'GET', body = null, more = {}]: [path: string, verb?: string, body?: Body, more?: Headers]
): Promise<Received> {
  const headers = consoleHeaders(cookie, { 'content-type': 'application/json', ...more });
  return send(app, { verb, path, headers, body: body === null ? '' : JSON.stringify(body) });
}
