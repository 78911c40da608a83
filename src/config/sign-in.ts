/** The settings of signing in: with keys, and with OpenID Connect. */

import type { MemberRole } from '../domain/organization/member-grants.ts';
import type { ClaimRules } from '../domain/sessions/claim-rules.ts';
import { type ConfigReader, readChoice } from './reader.ts';

/** What is known of the issuer, and who may sign in through it. */
export type OidcConfig = ClaimRules & {
  /** As its tokens name it. */
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** Separated by spaces; `openid` is one of them. */
  readonly scopes: string;
};

const NAMES = ['CLIENT_ID', 'CLIENT_SECRET', 'SCOPES', 'ALLOWED_DOMAINS', 'ROLE_CLAIM', 'ROLE_MAP', 'DEFAULT_ROLE'];
const PREFIX = 'SPANDREL_OIDC_';
const ISSUER = `${PREFIX}ISSUER`;
const ROLES: readonly MemberRole[] = ['ADMIN', 'MEMBER', 'VIEWER', 'EXTERNAL'];
const LOOPBACK = /^(localhost|127\.0\.0\.1|\[::1\])$/;
const DOMAIN = /^(?=.{1,253}$)[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)+$/;
const SCOPE = /^[\x21\x23-\x5B\x5D-\x7E]+( [\x21\x23-\x5B\x5D-\x7E]+)*$/;

/** `publicUrl` is where the issuer sends people back to; null: not set. */
export function readSignIn(reader: ConfigReader, publicUrl: string | null) {
  const oidc = readOidc(reader);
  /** Whether a key begins a session. */
  const byKey = readChoice(reader, 'SPANDREL_KEY_SIGN_IN', ['on', 'off']) !== 'off';
  if (!byKey && oidc === null) {
    reader.refuse(`SPANDREL_KEY_SIGN_IN must not be off without ${ISSUER}, because nobody could sign in`);
  }
  if (oidc !== null && reader.text('SPANDREL_CONSOLE') === 'off') {
    reader.refuse(`${ISSUER} needs the console: SPANDREL_CONSOLE must not be off`);
  }
  if (oidc !== null && publicUrl === null) {
    reader.refuse(`${ISSUER} needs SPANDREL_PUBLIC_URL, where the issuer sends people back to`);
  }
  return { byKey, oidc };
}

function readOidc(reader: ConfigReader): OidcConfig | null {
  const isTrusting = readChoice(reader, `${PREFIX}TRUST_EMAIL`, ['true', 'false']) === 'true';
  const issuer = reader.text(ISSUER);
  if (issuer === null) {
    const set = [...NAMES, ...(isTrusting ? ['TRUST_EMAIL'] : [])].filter(
      (name) => reader.text(PREFIX + name) !== null,
    );
    for (const name of set) reader.refuse(`${PREFIX}${name} does nothing without ${ISSUER}`);
    return null;
  }
  if (!isIssuer(issuer)) {
    reader.refuse(
      `${ISSUER} must be an https URL without query, or an http URL of this machine for trials, and is not its /.well-known/ document`,
    );
  }
  const domains = readDomains(reader);
  if (isTrusting && domains.length === 0) {
    reader.refuse(
      `${PREFIX}TRUST_EMAIL=true needs ${PREFIX}ALLOWED_DOMAINS: it believes e-mail addresses of those alone`,
    );
  }
  return {
    issuer,
    clientId: readNeeded(reader, 'CLIENT_ID'),
    clientSecret: readNeeded(reader, 'CLIENT_SECRET'),
    scopes: readScopes(reader),
    allowedDomains: domains,
    trustsEmail: isTrusting,
    ...readRoles(reader),
  };
}

/** Tokens are read from it, so nobody on the way may change them. */
function isIssuer(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, hostname, pathname, search, hash, username, password } = new URL(text);
  if (search !== '' || hash !== '' || username !== '' || password !== '') return false;
  // Nothing would compare how the document names its issuer.
  if (pathname.includes('/.well-known/')) return false;
  return protocol === 'https:' || (protocol === 'http:' && LOOPBACK.test(hostname));
}

function readNeeded(reader: ConfigReader, name: 'CLIENT_ID' | 'CLIENT_SECRET'): string {
  const text = reader.text(PREFIX + name);
  if (text === null) reader.refuse(`${PREFIX}${name} must be set with ${ISSUER}`);
  return text ?? '';
}

function readScopes(reader: ConfigReader): string {
  const text = reader.text(`${PREFIX}SCOPES`) ?? 'openid email profile';
  if (!SCOPE.test(text) || !text.split(' ').includes('openid')) {
    reader.refuse(`${PREFIX}SCOPES must be scopes separated by single spaces, with openid among them`);
  }
  return text;
}

function readDomains(reader: ConfigReader): readonly string[] {
  const domains = listOf(reader.text(`${PREFIX}ALLOWED_DOMAINS`)).map((domain) => domain.toLowerCase());
  if (!domains.every((domain) => DOMAIN.test(domain))) {
    reader.refuse(`${PREFIX}ALLOWED_DOMAINS must be domains such as example.com, separated by commas`);
  }
  return domains;
}

function readRoles(reader: ConfigReader): Pick<OidcConfig, 'roleClaim' | 'roleMap' | 'defaultRole'> {
  const roleClaim = reader.text(`${PREFIX}ROLE_CLAIM`);
  const roleMap = readRoleMap(reader);
  if ((roleClaim === null) !== (roleMap.size === 0)) {
    reader.refuse(`${PREFIX}ROLE_CLAIM and ${PREFIX}ROLE_MAP must be set together`);
  }
  const named = readChoice(reader, `${PREFIX}DEFAULT_ROLE`, ROLES);
  return { roleClaim, roleMap, defaultRole: roleOf(named) ?? 'EXTERNAL' };
}

/** A value may hold a = too: the last one divides it from its role. */
function readRoleMap(reader: ConfigReader): ReadonlyMap<string, MemberRole> {
  const roles = new Map<string, MemberRole>();
  for (const entry of listOf(reader.text(`${PREFIX}ROLE_MAP`))) {
    const [, value = '', name = ''] = /^(.+)=([A-Z]+)$/.exec(entry) ?? [];
    const role = roleOf(name);
    if (role === null) {
      reader.refuse(
        `${PREFIX}ROLE_MAP must be entries such as admins=ADMIN, separated by commas; roles are ${ROLES.join(', ')}`,
      );
      break;
    }
    if (roles.has(value.trim())) reader.refuse(`${PREFIX}ROLE_MAP must name each value once`);
    roles.set(value.trim(), role);
  }
  return roles;
}

function roleOf(name: string): MemberRole | null {
  return ROLES.find((role) => role === name) ?? null;
}

function listOf(text: string | null): readonly string[] {
  return (text ?? '').split(',').flatMap((item) => item.trim() || []);
}
