/** An issuer of OpenID Connect on loopback, whose people sign in without being asked, and a browser that goes there. */

import { createSign, generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { createServer, request as httpRequest } from 'node:http';
import Provider from 'oidc-provider';
import { findFreePort } from './port.ts';

/** Claims of the token; `sub` says who it is. */
export type IssuedClaims = { readonly sub: string; readonly [claim: string]: unknown };

export type TestIssuer = {
  readonly url: string;
  /** Who signs in next. */
  person: IssuedClaims;
  /** Changes the claims of the next tokens, which are signed again with the issuer's own key. */
  forge: ((claims: IssuedClaims) => IssuedClaims) | null;
  /** Signs them with a key that is not the issuer's. */
  hasForeignKey: boolean;
  /** Whether userinfo fails. */
  isUserinfoAway: boolean;
  close(): Promise<void>;
};

export const CLIENT = { id: 'spandrel', secret: 'a-client-secret-of-the-tests-0123456789' };
const TTL_S = 3_600;
const KEY_ID = 'key-of-the-tests';
const OWN_KEY = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;
const FOREIGN_KEY = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;

export type IssuerOptions = {
  /** A free one by default. */
  readonly port?: number;
  /** Whether the profile is read from userinfo, and is not in the token. */
  readonly isProfileApart?: boolean;
  /** How the client proves itself; the only way that the issuer takes. */
  readonly clientAuth?: 'client_secret_basic' | 'client_secret_post';
};

/** `redirectUri` is the one address that the issuer sends people back to. */
export async function startIssuer(redirectUri: string, options: IssuerOptions = {}): Promise<TestIssuer> {
  const { port = await findFreePort(), isProfileApart = false, clientAuth = 'client_secret_basic' } = options;
  const url = `http://127.0.0.1:${port}`;
  const issuer: Omit<TestIssuer, 'close'> = {
    url,
    person: { sub: 'nobody' },
    forge: null,
    hasForeignKey: false,
    isUserinfoAway: false,
  };
  const provider = new Provider(url, {
    clients: [
      {
        ...{ client_id: CLIENT.id, client_secret: CLIENT.secret, redirect_uris: [redirectUri] },
        token_endpoint_auth_method: clientAuth,
      },
    ],
    clientAuthMethods: [clientAuth],
    jwks: { keys: [{ ...OWN_KEY.export({ format: 'jwk' }), kid: KEY_ID, alg: 'RS256', use: 'sig' }] },
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name'], groups: ['groups'] },
    scopes: ['openid', 'email', 'profile', 'groups'],
    conformIdTokenClaims: isProfileApart,
    ttl: {
      AccessToken: TTL_S,
      AuthorizationCode: TTL_S,
      Grant: TTL_S,
      IdToken: TTL_S,
      Interaction: TTL_S,
      Session: TTL_S,
    },
    cookies: { keys: ['tests'] },
    features: { devInteractions: { enabled: false } },
    findAccount: (_: unknown, sub: string) => ({ accountId: sub, claims: () => ({ ...issuer.person, sub }) }),
    async loadExistingGrant({ oidc }: { oidc: { client: { clientId: string }; session: { accountId: string } } }) {
      const grant = new provider.Grant({ clientId: oidc.client.clientId, accountId: oidc.session.accountId });
      grant.addOIDCScope('openid email profile groups');
      await grant.save();
      return grant;
    },
  });
  provider.use(async (context, next) => {
    await next();
    const { body } = context;
    if (context.path !== '/token' || typeof body !== 'object' || body === null || !('id_token' in body)) return;
    const { forge } = issuer;
    if (forge === null && !issuer.hasForeignKey) return;
    const claims = readClaims(String(body.id_token));
    context.body = { ...body, id_token: signToken(forge?.(claims) ?? claims, issuer.hasForeignKey) };
  });
  const handle = provider.callback();
  const server = createServer((request, response) => {
    if (issuer.isUserinfoAway && request.url?.startsWith('/me')) response.writeHead(503).end();
    else if (request.url?.startsWith('/interaction/')) {
      void provider.interactionFinished(request, response, { login: { accountId: issuer.person.sub } });
    } else handle(request, response);
  });
  await once(server.listen(port, '127.0.0.1'), 'listening');
  return Object.assign(issuer, {
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  });
}

function readClaims(token: string): IssuedClaims {
  return JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString());
}

function signToken(claims: IssuedClaims, hasForeignKey: boolean): string {
  const parts = [{ alg: 'RS256', kid: KEY_ID, typ: 'JWT' }, claims];
  const signed = parts.map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.');
  const key = hasForeignKey ? FOREIGN_KEY : OWN_KEY;
  return `${signed}.${createSign('sha256').update(signed).sign(key, 'base64url')}`;
}

export type Visited = {
  readonly status: number;
  readonly location: string | null;
  readonly body: string;
  readonly headers: { readonly [name: string]: string | readonly string[] | undefined };
};

/** Keeps cookies by origin and name, and follows redirects only where it is told to. */
export function openBrowser() {
  const cookies = new Map<string, Map<string, string>>();
  const jarOf = (url: string) => {
    const { origin } = new URL(url);
    const jar = cookies.get(origin) ?? new Map<string, string>();
    cookies.set(origin, jar);
    return jar;
  };

  async function visit(url: string, headers: Record<string, string> = {}): Promise<Visited> {
    const jar = jarOf(url);
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ');
    const sent = httpRequest(url, { headers: { ...headers, ...(cookie === '' ? {} : { cookie }) } }).end();
    const [response] = await once(sent, 'response');
    let body = '';
    for await (const chunk of response) body += chunk;
    for (const line of response.headers['set-cookie'] ?? []) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (value === '' || /Max-Age=0/.test(line)) jar.delete(name);
      else jar.set(name, value);
    }
    const { location } = response.headers;
    const next = location === undefined ? null : new URL(location, url).href;
    return { status: response.statusCode ?? 0, location: next, body, headers: response.headers };
  }

  return {
    visit,
    cookie: (url: string, name: string) => jarOf(url).get(name) ?? null,
    setCookie: (url: string, name: string, value: string) => void jarOf(url).set(name, value),
    /** Follows redirects until one leads to an address that begins with `until`, and returns it. */
    async follow(from: string, until: string): Promise<string> {
      let url = from;
      for (let hops = 0; hops < 10; hops += 1) {
        const { location, status, body } = await visit(url);
        if (location === null) throw new Error(`${url} leads nowhere: ${status} ${body.slice(0, 500)}`);
        if (location.startsWith(until)) return location;
        url = location;
      }
      throw new Error(`${from} never leads to ${until}`);
    },
  };
}

export type Browser = ReturnType<typeof openBrowser>;
