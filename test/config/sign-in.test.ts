import { expect, it } from 'vitest';
import { ConfigError, readConfig } from '../../src/config/config.ts';

type Settings = { readonly [name: string]: string | undefined };

function problemsOf(environment: Settings): readonly string[] {
  try {
    readConfig(environment);
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
}

const WORKING: Settings = {
  SPANDREL_PUBLIC_URL: 'https://spandrel.example.com/base/',
  SPANDREL_OIDC_ISSUER: 'https://issuer.example.com/realms/ours',
  SPANDREL_OIDC_CLIENT_ID: 'spandrel',
  SPANDREL_OIDC_CLIENT_SECRET: 'a-secret',
};

it('keys sign in, and no issuer, unless the settings say so', () => {
  expect(readConfig({}).signIn).toEqual({ byKey: true, oidc: null });
  expect(readConfig({ ...WORKING, SPANDREL_KEY_SIGN_IN: 'off' }).signIn).toEqual({
    byKey: false,
    oidc: {
      issuer: 'https://issuer.example.com/realms/ours',
      clientId: 'spandrel',
      clientSecret: 'a-secret',
      scopes: 'openid email profile',
      allowedDomains: [],
      trustsEmail: false,
      roleClaim: null,
      roleMap: new Map(),
      defaultRole: 'EXTERNAL',
    },
  });
});

it('domains and roles are lists', () => {
  const { oidc } = readConfig({
    ...WORKING,
    SPANDREL_OIDC_ALLOWED_DOMAINS: 'Example.com, example.org,',
    SPANDREL_OIDC_TRUST_EMAIL: 'true',
    SPANDREL_OIDC_ROLE_CLAIM: 'https://example.com/groups',
    SPANDREL_OIDC_ROLE_MAP: 'cn=admins=ADMIN, all staff=VIEWER',
    SPANDREL_OIDC_DEFAULT_ROLE: 'MEMBER',
  }).signIn;
  expect(oidc).toMatchObject({
    allowedDomains: ['example.com', 'example.org'],
    trustsEmail: true,
    roleClaim: 'https://example.com/groups',
    defaultRole: 'MEMBER',
  });
  expect([...(oidc?.roleMap ?? [])]).toEqual([
    ['cn=admins', 'ADMIN'],
    ['all staff', 'VIEWER'],
  ]);
});

it.each<readonly [string, Settings, RegExp]>([
  ['off without an issuer', { SPANDREL_KEY_SIGN_IN: 'off' }, /^SPANDREL_KEY_SIGN_IN .* nobody could sign in$/],
  ['neither on nor off', { SPANDREL_KEY_SIGN_IN: 'no' }, /^SPANDREL_KEY_SIGN_IN must be one of on, off$/],
  ['a client without an issuer', { SPANDREL_OIDC_CLIENT_ID: 'a' }, /^SPANDREL_OIDC_CLIENT_ID does nothing without/],
  ['trust without an issuer', { SPANDREL_OIDC_TRUST_EMAIL: 'true' }, /^SPANDREL_OIDC_TRUST_EMAIL does nothing without/],
  ['no public URL', { ...WORKING, SPANDREL_PUBLIC_URL: undefined }, /needs SPANDREL_PUBLIC_URL/],
  ['no console', { ...WORKING, SPANDREL_CONSOLE: 'off' }, /needs the console/],
  ['no client', { ...WORKING, SPANDREL_OIDC_CLIENT_ID: undefined }, /^SPANDREL_OIDC_CLIENT_ID must be set with/],
  ['no secret', { ...WORKING, SPANDREL_OIDC_CLIENT_SECRET: '' }, /^SPANDREL_OIDC_CLIENT_SECRET must be set with/],
  ['an issuer without TLS', { ...WORKING, SPANDREL_OIDC_ISSUER: 'http://issuer.example.com' }, /must be an https URL/],
  ['an issuer that is not a URL', { ...WORKING, SPANDREL_OIDC_ISSUER: 'issuer' }, /must be an https URL/],
  [
    'a document instead of the issuer',
    { ...WORKING, SPANDREL_OIDC_ISSUER: 'https://a.example/.well-known/openid-configuration' },
    /must be an https URL .* and is not its \/\.well-known\/ document/,
  ],
  ['an issuer with a query', { ...WORKING, SPANDREL_OIDC_ISSUER: 'https://a.example?b=c' }, /must be an https URL/],
  [
    'an issuer with a password',
    { ...WORKING, SPANDREL_OIDC_ISSUER: 'https://a:hid@b.example' },
    /must be an https URL/,
  ],
  ['scopes without openid', { ...WORKING, SPANDREL_OIDC_SCOPES: 'email' }, /with openid among them$/],
  ['scopes with commas', { ...WORKING, SPANDREL_OIDC_SCOPES: 'openid,  email' }, /with openid among them$/],
  ['an address as a domain', { ...WORKING, SPANDREL_OIDC_ALLOWED_DOMAINS: 'a@b.example' }, /must be domains/],
  ['all domains', { ...WORKING, SPANDREL_OIDC_ALLOWED_DOMAINS: '*' }, /must be domains/],
  ['trust in every domain', { ...WORKING, SPANDREL_OIDC_TRUST_EMAIL: 'true' }, /needs SPANDREL_OIDC_ALLOWED_DOMAINS/],
  [
    'trust that is neither true nor false',
    { ...WORKING, SPANDREL_OIDC_TRUST_EMAIL: 'on' },
    /must be one of true, false$/,
  ],
  ['a claim without a map', { ...WORKING, SPANDREL_OIDC_ROLE_CLAIM: 'groups' }, /must be set together$/],
  ['a map without a claim', { ...WORKING, SPANDREL_OIDC_ROLE_MAP: 'a=ADMIN' }, /must be set together$/],
  ['a role that there is not', { ...WORKING, SPANDREL_OIDC_DEFAULT_ROLE: 'admin' }, /must be one of ADMIN, MEMBER/],
  [
    'an unknown role in the map',
    { ...WORKING, SPANDREL_OIDC_ROLE_CLAIM: 'groups', SPANDREL_OIDC_ROLE_MAP: 'a=ADMIN,b=OWNER' },
    /must be entries such as admins=ADMIN/,
  ],
  [
    'a value twice',
    { ...WORKING, SPANDREL_OIDC_ROLE_CLAIM: 'groups', SPANDREL_OIDC_ROLE_MAP: 'a=ADMIN,a=VIEWER' },
    /must name each value once$/,
  ],
])('%s stops the start with one line, without a value', (_, settings, line) => {
  const problems = problemsOf(settings);
  expect(problems).toHaveLength(1);
  expect(problems[0]).toMatch(line);
  expect(problems[0]).not.toMatch(/a-secret|hid@/);
});
