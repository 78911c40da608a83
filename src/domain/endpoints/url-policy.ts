/** The policy for webhook URLs. Saving, testing and every attempt use it, so they cannot disagree. */

import { isMetadataAddress, isPublicAddress, parseAddress } from '../public-address.ts';
import { type AllowEntry, allowsAddress, allowsHost, allowsPort } from './url-allow-list.ts';

/** Why a destination is refused. The message is for the user who sent the URL. */
export type UrlRefusal = {
  readonly reason: 'unparsable' | 'scheme' | 'host' | 'port' | 'credentials';
  readonly message: string;
};

export type UrlTarget = {
  readonly secure: boolean;
  /** As it is resolved and checked: lower case, without brackets and trailing dot. */
  readonly host: string;
  /** Whether the host is an address, which needs no lookup. */
  readonly isLiteral: boolean;
  readonly port: number;
  /** The Host header: the host as written, with a port other than the scheme's default. */
  readonly authority: string;
  /** Path and query. */
  readonly path: string;
  /** The refusal that applies unless a listed network contains every address of the host. */
  readonly unlessListed: UrlRefusal | null;
};

type UrlCheck = ({ readonly kind: 'refused' } & UrlRefusal) | { readonly kind: 'ok'; readonly target: UrlTarget };

export type UrlPolicy = {
  /** All checks that need no lookup of the host. */
  readonly checkUrl: (text: string) => UrlCheck;
  /** The refusal of a target whose host has these addresses, all of them; null: allowed. */
  readonly checkAddresses: (target: UrlTarget, addresses: readonly string[]) => UrlRefusal | null;
  /** What the message about a host begins with that has no address, and that no name on the list allows. */
  readonly unresolved: string;
  /** Whether connections are allowed. `addresses` MUST be all addresses of the host. */
  readonly mayReach: (target: UrlTarget, addresses: readonly string[]) => boolean;
};

/** Resolves to all addresses of a host; rejects when there is none, or none in time. */
export type ResolveHost = (host: string, timeoutMs: number) => Promise<readonly string[]>;

const SAVE_RESOLVE_TIMEOUT_MS = 2_000;
const PORTS = [443, 8443];
/** Parsers disagree about white space, control characters and backslashes. */
const AMBIGUOUS = /[\s\u0000-\u001f\u007f-\u009f\\]/;
const METADATA_NAMES = ['metadata', 'metadata.google.internal'];
const PRIVATE_DOMAINS = ['internal', 'local', 'localhost', 'home.arpa', 'invalid', 'onion'];

type Reason = UrlRefusal['reason'];

const UNPARSABLE = refuse(
  'unparsable',
  'The url is not a complete URL such as https://example.com/hook; it has no spaces and no backslashes.',
);
const CREDENTIALS = refuse('credentials', 'The url must not contain credentials (a user name or a password).');

/** `setting`: the list of private destinations. */
function refusalsOf(setting: string) {
  return {
    scheme: refuse('scheme', `The url must begin with https://; http:// is for destinations that ${setting} names.`),
    host: refuse(
      'host',
      `The host of the url is not allowed: it must be reachable from the whole internet, unless ${setting} names it.`,
    ),
    port: refuse('port', `The port of the url must be 443 or 8443, unless ${setting} names the destination.`),
    unresolved: `The host name of the url does not resolve, so no network of ${setting} is known to hold it.`,
  };
}

function refuse(reason: Reason, message: string): UrlRefusal {
  return { reason, message };
}

/** The destinations of webhooks, and those of a gateway, have a list and a setting each. */
export function createUrlPolicy(entries: readonly AllowEntry[], setting = 'SPANDREL_WEBHOOK_ALLOW'): UrlPolicy {
  const refusals = refusalsOf(setting);
  const checkAddresses: UrlPolicy['checkAddresses'] = (target, addresses) => {
    const isListed = isListedByName(entries, target) || areListed(entries, target, addresses);
    if (!isListed && target.unlessListed) return target.unlessListed;
    return addresses.every((text) => isAllowedAddress(text, isListed)) ? null : refusals.host;
  };
  return {
    checkUrl: (text) => checkUrl({ entries, refusals }, text),
    checkAddresses,
    unresolved: refusals.unresolved,
    mayReach: (target, addresses) => addresses.length > 0 && checkAddresses(target, addresses) === null,
  };
}

/**
 * Checks a URL before it is stored; null: allowed. A host that cannot be resolved now is accepted, because every
 * attempt checks again.
 */
export async function checkNewUrl(policy: UrlPolicy, resolve: ResolveHost, text: string): Promise<UrlRefusal | null> {
  const check = policy.checkUrl(text);
  if (check.kind === 'refused') return { reason: check.reason, message: check.message };
  const { target } = check;
  if (target.isLiteral) return null;
  const addresses = await resolve(target.host, SAVE_RESOLVE_TIMEOUT_MS).catch((): readonly string[] => []);
  const refusal = policy.checkAddresses(target, addresses);
  return refusal !== null && addresses.length === 0 ? explainUnresolved(policy, refusal) : refusal;
}

/** The refusal may end as soon as the host has an address that the list allows. */
function explainUnresolved({ unresolved }: UrlPolicy, { reason, message }: UrlRefusal): UrlRefusal {
  return { reason, message: `${unresolved} ${message}` };
}

type Rules = { readonly entries: readonly AllowEntry[]; readonly refusals: ReturnType<typeof refusalsOf> };

function checkUrl({ entries, refusals }: Rules, text: string): UrlCheck {
  if (AMBIGUOUS.test(text) || !URL.canParse(text)) return { kind: 'refused', ...UNPARSABLE };
  const url = new URL(text);
  const isHttp = url.protocol === 'http:' || url.protocol === 'https:';
  if (!isHttp) return { kind: 'refused', ...refusals.scheme };
  const target = readTarget(url);
  const isListed = isListedByName(entries, target) || (target.isLiteral && areListed(entries, target, [target.host]));
  const problems = findProblems({ url, target, refusals }, isListed);
  const first = problems[0];
  if (!first) return { kind: 'ok', target };
  // Its addresses may be in a listed network, which lifts some refusals.
  const mayBeListed =
    !target.isLiteral && entries.some((entry) => entry.kind === 'range' && allowsPort(entry, target.port));
  if (mayBeListed && findProblems({ url, target, refusals }, true).length === 0) {
    return { kind: 'ok', target: { ...target, unlessListed: first } };
  }
  return { kind: 'refused', ...first };
}

function readTarget(url: URL): UrlTarget {
  const secure = url.protocol === 'https:';
  const host = url.hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
  return {
    secure,
    host,
    isLiteral: parseAddress(host) !== null,
    port: url.port === '' ? (secure ? 443 : 80) : Number(url.port),
    authority: url.host,
    path: url.pathname + url.search,
    unlessListed: null,
  };
}

type Checked = Pick<Rules, 'refusals'> & { readonly url: URL; readonly target: UrlTarget };

/** The first one is reported. */
function findProblems({ url, target, refusals }: Checked, isListed: boolean): UrlRefusal[] {
  const problems: UrlRefusal[] = [];
  if (!isListed && !target.secure) problems.push(refusals.scheme);
  if (!isAllowedHost(target, isListed)) problems.push(refusals.host);
  if (!isListed && !PORTS.includes(target.port)) problems.push(refusals.port);
  if (url.username !== '' || url.password !== '') problems.push(CREDENTIALS);
  return problems;
}

function isAllowedHost({ host, isLiteral }: UrlTarget, isListed: boolean): boolean {
  if (isLiteral) return isAllowedAddress(host, isListed);
  const labels = host.split('.');
  if (labels.includes('') || METADATA_NAMES.includes(host)) return false;
  return isListed || !PRIVATE_DOMAINS.some((domain) => host === domain || host.endsWith(`.${domain}`));
}

function isAllowedAddress(text: string, isListed: boolean): boolean {
  const address = parseAddress(text);
  if (!address || isMetadataAddress(address)) return false;
  return isListed || isPublicAddress(address);
}

function isListedByName(entries: readonly AllowEntry[], { host, port, isLiteral }: UrlTarget): boolean {
  return !isLiteral && entries.some((entry) => allowsHost(entry, host, port));
}

/** Without addresses nothing is listed. */
function areListed(entries: readonly AllowEntry[], { port }: UrlTarget, addresses: readonly string[]): boolean {
  if (entries.length === 0 || addresses.length === 0) return false;
  return addresses.every((text) => {
    const address = parseAddress(text);
    return address !== null && entries.some((entry) => allowsAddress(entry, address, port));
  });
}

const MAIL_PORTS = { 'smtp:': 587, 'smtps:': 465 } as const;

/** The mail server of a URL that the settings have checked. */
export function mailTargetOf(text: string): UrlTarget {
  const url = new URL(text);
  const host = url.hostname.replace(/^\[|\]$/g, '').toLowerCase();
  const scheme = url.protocol === 'smtps:' ? 'smtps:' : 'smtp:';
  return {
    secure: scheme === 'smtps:',
    host,
    isLiteral: parseAddress(host) !== null,
    port: url.port === '' ? MAIL_PORTS[scheme] : Number(url.port),
    authority: url.host,
    path: '',
    unlessListed: null,
  };
}
