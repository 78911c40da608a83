/** Reads the address of a database as libpq does, where the client library does not. */

import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { checkServerIdentity, getCACertificates, type PeerCertificate } from 'node:tls';
import pg from 'pg';
import { codeOf, messageOf, StartError } from '../../errors.ts';
import { reasonOf } from './fitness.ts';

type Tls = Exclude<pg.ClientConfig['ssl'], undefined>;

const MODES = ['disable', 'allow', 'prefer', 'require', 'verify-ca', 'verify-full'] as const;
type Mode = (typeof MODES)[number];
/** Encrypts and verifies nothing; the library's own word. Also what `allow` and `prefer` come to, see settleEncryption. */
const UNVERIFIED = 'no-verify';

/** Members of the address that the library would read in its own way. */
const TLS_PARAMETERS = ['ssl', 'sslmode', 'sslrootcert', 'sslcert', 'sslkey'];
const CONNECT_TIMEOUT_MS = 10_000;

/** What connects a client of the library to the address. Throws StartError, without a part of the address. */
export function connectionOf(url: string): Pick<pg.ClientConfig, 'connectionString' | 'ssl'> {
  const { plain, parameters } = splitTls(url);
  const mode = modeOf(parameters);
  if (mode === null) return { connectionString: plain };
  return { connectionString: plain, ssl: mode === 'disable' ? false : tlsOf(mode, hostOf(plain), parameters) };
}

/**
 * The same address with `allow` and `prefer` replaced by what the server takes now. For other modes nothing is asked.
 * Throws StartError when neither way works.
 */
export async function settleEncryption(url: string): Promise<string> {
  const { parameters } = splitTls(url);
  const mode = modeOf(parameters);
  if (mode !== 'allow' && mode !== 'prefer') return url;
  const encrypted = withMode(url, UNVERIFIED);
  const open = withMode(url, 'disable');
  const [first, second] = mode === 'prefer' ? [encrypted, open] : [open, encrypted];
  try {
    return await tryConnecting(first).catch((error) => {
      if (!isAboutEncryption(error)) throw error;
      return tryConnecting(second);
    });
  } catch (error) {
    if (error instanceof StartError) throw error;
    throw new StartError(`the database cannot be used: ${reasonOf(error)}`, { cause: error });
  }
}

type TlsParameters = ReadonlyMap<string, string>;

/** Invalid addresses are left to the library, whose message names the reason. */
function splitTls(url: string): { readonly plain: string; readonly parameters: TlsParameters } {
  const [base = '', query] = split(url, '?');
  if (query === undefined) return { plain: url, parameters: new Map() };
  const parameters = new URLSearchParams(query);
  const found = new Map(TLS_PARAMETERS.flatMap((name) => [[name, parameters.get(name) ?? ''] as const]));
  for (const name of TLS_PARAMETERS) parameters.delete(name);
  const rest = parameters.toString();
  return { plain: rest === '' ? base : `${base}?${rest}`, parameters: found };
}

function split(text: string, mark: string): readonly [string, string?] {
  const at = text.indexOf(mark);
  return at === -1 ? [text] : [text.slice(0, at), text.slice(at + mark.length)];
}

function withMode(url: string, mode: string): string {
  const [base, query = ''] = split(url, '?');
  const parameters = new URLSearchParams(query);
  parameters.set('sslmode', mode);
  return `${base}?${parameters}`;
}

/** Null: nothing is said, and the library reads the variables of libpq. */
function modeOf(parameters: TlsParameters): Mode | typeof UNVERIFIED | null {
  const sslMode = parameters.get('sslmode') ?? '';
  const short = parameters.get('ssl') ?? '';
  if (sslMode === '') {
    if (short === UNVERIFIED) return UNVERIFIED;
    if (short === '') return hasFiles(parameters) ? 'verify-full' : null;
    if (/^(true|1)$/.test(short)) return 'verify-full';
    if (/^(false|0)$/.test(short)) return 'disable';
    throw new StartError('the address of the database has an unknown value of ssl; use sslmode');
  }
  const mode = [...MODES, UNVERIFIED as typeof UNVERIFIED].find((each) => each === sslMode);
  if (mode === undefined) {
    throw new StartError(`the address of the database has an unknown sslmode; it is one of ${MODES.join(', ')}`);
  }
  return mode;
}

function hasFiles(parameters: TlsParameters): boolean {
  return ['sslrootcert', 'sslcert', 'sslkey'].some((name) => parameters.get(name));
}

function tlsOf(mode: Exclude<Mode, 'disable'> | typeof UNVERIFIED, host: string, parameters: TlsParameters): Tls {
  const [root, cert, key] = ['sslrootcert', 'sslcert', 'sslkey'].map((name) => parameters.get(name) ?? '');
  const pair = { ...(cert ? { cert: readPem('sslcert', cert) } : {}), ...(key ? { key: readPem('sslkey', key) } : {}) };
  if (mode === UNVERIFIED || mode === 'allow' || mode === 'prefer') return { ...pair, rejectUnauthorized: false };
  if (mode === 'verify-ca' && (!root || root === SYSTEM)) {
    throw new StartError('sslmode=verify-ca needs the file of an authority in sslrootcert; or use sslmode=verify-full');
  }
  return { ...pair, ...(root ? { ca: authoritiesOf(root) } : {}), ...identityOf(mode, host) };
}

/** `require` verifies the server too: an encrypted connection to anybody protects nothing. */
function identityOf(mode: Mode, host: string): object {
  if (mode === 'verify-ca') return { checkServerIdentity: () => undefined };
  // The library passes no name to the check for a host that is an address, which would compare with "localhost".
  if (isIP(host) === 0) return {};
  return { checkServerIdentity: (_: string, cert: PeerCertificate) => checkServerIdentity(host, cert) };
}

const SYSTEM = 'system';

function authoritiesOf(root: string): string | string[] {
  if (root !== SYSTEM) return readPem('sslrootcert', root);
  const found = getCACertificates('system');
  if (found.length === 0)
    throw new StartError(
      'sslrootcert=system, but this system has no certificates of authorities; install them, or name a file',
    );
  return found;
}

const FILE_ADVICE = 'correct the path, or give the file to the user that runs the server';

function readPem(name: string, path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new StartError(`the file of ${name} cannot be read: ${messageOf(error)}; ${FILE_ADVICE}`, { cause: error });
  }
}

/** Empty for an address that is invalid or has no host. */
function hostOf(plain: string): string {
  const url = URL.parse(plain);
  return url?.searchParams.get('host') ?? url?.hostname.replace(/^\[(.*)\]$/, '$1') ?? '';
}

async function tryConnecting(url: string): Promise<string> {
  const client = new pg.Client({ ...connectionOf(url), connectionTimeoutMillis: CONNECT_TIMEOUT_MS });
  client.on('error', () => undefined);
  try {
    await client.connect();
    return url;
  } finally {
    await client.end();
  }
}

const NO_ENTRY = '28000';

/** Whether the server refused this way of connecting, so that the other one may work. */
function isAboutEncryption(error: unknown): boolean {
  return codeOf(error) === NO_ENTRY || messageOf(error) === 'The server does not support SSL connections';
}
