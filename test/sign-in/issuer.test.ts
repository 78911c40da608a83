import { afterEach, expect, it, vi } from 'vitest';
import { createIssuer } from '../../src/sign-in/issuer.ts';

afterEach(() => {
  vi.unstubAllGlobals();
});

const CALLBACK = 'https://spandrel.invalid/api/auth/callback';
const CHECKS = { state: 'state', nonce: 'nonce', verifier: 'v'.repeat(43) };

/** An issuer that answers by path, and why it was not believed. */
function subject(url: string, answers: { readonly [path: string]: () => Response }) {
  vi.stubGlobal('fetch', async (asked: string) => {
    const { pathname } = new URL(asked);
    const [, answer] = Object.entries(answers).find(([path]) => pathname.endsWith(path)) ?? [];
    if (answer === undefined) throw new Error(`${asked} is not expected`);
    return answer();
  });
  const reasons: string[] = [];
  const issuer = createIssuer({
    settings: { issuer: url, clientId: 'client', clientSecret: 'secret', scopes: 'openid', roleClaim: null },
    monotonicMs: () => 0,
    onFailure: (reason) => reasons.push(reason),
  });
  return { issuer, reasons };
}

const described = (issuer: string) => () =>
  Response.json({
    issuer,
    authorization_endpoint: `${new URL(issuer).origin}/authorize`,
    token_endpoint: `${new URL(issuer).origin}/token`,
    jwks_uri: `${new URL(issuer).origin}/keys`,
  });

it('an issuer that stands for every tenant MUST NOT be used: tokens of all of them would count', async () => {
  const { issuer, reasons } = subject('https://login.microsoftonline.com/common/v2.0', {
    '/.well-known/openid-configuration': described('https://login.microsoftonline.com/{tenantid}/v2.0'),
  });
  await expect(issuer.signInUrl(CHECKS, CALLBACK)).rejects.toMatchObject({ code: 'unavailable' });
  expect(reasons).toEqual([expect.stringContaining('name one, such as that of your tenant')]);
});

it('one of its tenants may be named by a domain', async () => {
  const { issuer, reasons } = subject('https://login.microsoftonline.com/contoso.example/v2.0', {
    '/.well-known/openid-configuration': described('https://login.microsoftonline.com/6f1c/v2.0'),
  });
  expect((await issuer.signInUrl(CHECKS, CALLBACK)).href).toContain('login.microsoftonline.com/authorize');
  expect(reasons).toEqual([]);
});

it.each([
  ['text', () => new Response('<html>', { status: 503, headers: { 'content-type': 'text/html' } })],
  ['JSON', () => Response.json({}, { status: 503 })],
])('an issuer that fails with %s is away, and the person did nothing wrong', async (_, answer) => {
  const { issuer } = subject('https://issuer.invalid', {
    '/.well-known/openid-configuration': described('https://issuer.invalid'),
    '/token': answer,
  });
  const cameBack = new URL(`${CALLBACK}?code=code&state=state&iss=https://issuer.invalid`);
  await expect(issuer.readClaims(CHECKS, cameBack)).rejects.toMatchObject({ code: 'unavailable' });
});
