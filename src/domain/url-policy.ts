/** Where webhooks may be sent. Saving, testing and every attempt ask here, so they cannot disagree. */

import { isMetadataAddress, isPublicAddress, parseAddress } from './public-address.ts';
import { type AllowEntry, opensAddress, opensHost, opensPort } from './url-allow-list.ts';

/** Why a destination is refused. The message is for whoever wrote the url. */
export type UrlRefusal = {
  readonly reason: 'unparsable' | 'scheme' | 'host' | 'port' | 'credentials';
  readonly message: string;
};

export type UrlTarget = {
  readonly secure: boolean;
  /** As it is resolved and checked: lower case, no brackets, no dot at the end. */
  readonly host: string;
  /** The host is an address, which nobody has to look up. */
  readonly isLiteral: boolean;
  readonly port: number;
  /** Value of the Host header: the host as written, with a port other than that of the scheme. */
  readonly authority: string;
  /** Path and query. */
  readonly path: string;
  /** Holds as long as no listed network is shown to contain every address of the host. */
  readonly unlessListed: UrlRefusal | null;
};

export type UrlJudgement =
  | ({ readonly kind: 'refused' } & UrlRefusal)
  | { readonly kind: 'ok'; readonly target: UrlTarget };

export type UrlPolicy = {
  /** Everything that can be said before the host is looked up. */
  readonly judgeUrl: (text: string) => UrlJudgement;
  /** What is wrong with a target whose host has these addresses, all of them; null: nothing. */
  readonly judgeAddresses: (target: UrlTarget, addresses: readonly string[]) => UrlRefusal | null;
  /** Whether a connection to any of these addresses, which must be all the host has, may be opened. */
  readonly mayReach: (target: UrlTarget, addresses: readonly string[]) => boolean;
};

/** Answers every address of a host; rejects when there is none, or not in time. */
export type ResolveHost = (host: string, timeoutMs: number) => Promise<readonly string[]>;

const SAVE_RESOLVE_TIMEOUT_MS = 2_000;
const PORTS = [443, 8443];
/** White space, control characters and backslashes are what parsers disagree about. */
const DISPUTED = /[\s\u0000-\u001f\u007f-\u009f\\]/;
const METADATA_NAMES = ['metadata', 'metadata.google.internal'];
const PRIVATE_DOMAINS = ['internal', 'local', 'localhost', 'home.arpa', 'invalid', 'onion'];

const UNPARSABLE: UrlRefusal = {
  reason: 'unparsable',
  message: 'The url is not a complete URL such as https://example.com/hook; it has no spaces and no backslashes.',
};
const SCHEME: UrlRefusal = {
  reason: 'scheme',
  message: 'The url must begin with https://; http:// is for destinations that SPANDREL_WEBHOOK_ALLOW names.',
};
const HOST: UrlRefusal = {
  reason: 'host',
  message:
    'The host of the url is not allowed: it must be reachable from the whole internet, unless SPANDREL_WEBHOOK_ALLOW names it.',
};
const PORT: UrlRefusal = {
  reason: 'port',
  message: 'The port of the url must be 443 or 8443, unless SPANDREL_WEBHOOK_ALLOW names the destination.',
};
const CREDENTIALS: UrlRefusal = {
  reason: 'credentials',
  message: 'The url must not contain credentials (a user name or a password).',
};

const UNRESOLVED =
  'The host name of the url does not resolve, so no network of SPANDREL_WEBHOOK_ALLOW is known to hold it.';

export function createUrlPolicy(entries: readonly AllowEntry[]): UrlPolicy {
  const judgeAddresses: UrlPolicy['judgeAddresses'] = (target, addresses) => {
    const isListed = isListedByName(entries, target) || areListed(entries, target, addresses);
    if (!isListed && target.unlessListed) return target.unlessListed;
    return addresses.every((text) => mayDial(text, isListed)) ? null : HOST;
  };
  return {
    judgeUrl: (text) => judgeUrl(entries, text),
    judgeAddresses,
    mayReach: (target, addresses) => addresses.length > 0 && judgeAddresses(target, addresses) === null,
  };
}

/**
 * Decides about a url that is about to be stored; null: it may be. A host that cannot be looked up now does no harm,
 * and is looked up again at every attempt.
 */
export async function vetUrl(policy: UrlPolicy, resolve: ResolveHost, text: string): Promise<UrlRefusal | null> {
  const judgement = policy.judgeUrl(text);
  if (judgement.kind === 'refused') return { reason: judgement.reason, message: judgement.message };
  const { target } = judgement;
  if (target.isLiteral) return null;
  const addresses = await resolve(target.host, SAVE_RESOLVE_TIMEOUT_MS).catch((): readonly string[] => []);
  const refusal = policy.judgeAddresses(target, addresses);
  return refusal !== null && addresses.length === 0 ? sayUnresolved(refusal) : refusal;
}

/** What is wrong with the url may be right as soon as its host has an address that the list opens. */
function sayUnresolved({ reason, message }: UrlRefusal): UrlRefusal {
  return { reason, message: `${UNRESOLVED} ${message}` };
}

function judgeUrl(entries: readonly AllowEntry[], text: string): UrlJudgement {
  if (DISPUTED.test(text) || !URL.canParse(text)) return { kind: 'refused', ...UNPARSABLE };
  const url = new URL(text);
  const isHttp = url.protocol === 'http:' || url.protocol === 'https:';
  if (!isHttp) return { kind: 'refused', ...SCHEME };
  const target = readTarget(url);
  const isListed = isListedByName(entries, target) || (target.isLiteral && areListed(entries, target, [target.host]));
  const problems = findProblems(url, target, isListed);
  const first = problems[0];
  if (!first) return { kind: 'ok', target };
  // Its addresses may turn out to be listed, which lifts the problems that a list can lift.
  const mayBeListed =
    !target.isLiteral && entries.some((entry) => entry.kind === 'range' && opensPort(entry, target.port));
  if (mayBeListed && findProblems(url, target, true).length === 0) {
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

/** In the order in which they are told. */
function findProblems(url: URL, target: UrlTarget, isListed: boolean): UrlRefusal[] {
  const problems: UrlRefusal[] = [];
  if (!isListed && !target.secure) problems.push(SCHEME);
  if (!isAllowedHost(target, isListed)) problems.push(HOST);
  if (!isListed && !PORTS.includes(target.port)) problems.push(PORT);
  if (url.username !== '' || url.password !== '') problems.push(CREDENTIALS);
  return problems;
}

function isAllowedHost({ host, isLiteral }: UrlTarget, isListed: boolean): boolean {
  if (isLiteral) return mayDial(host, isListed);
  const labels = host.split('.');
  if (labels.includes('') || METADATA_NAMES.includes(host)) return false;
  return isListed || !PRIVATE_DOMAINS.some((domain) => host === domain || host.endsWith(`.${domain}`));
}

function mayDial(text: string, isListed: boolean): boolean {
  const address = parseAddress(text);
  if (!address || isMetadataAddress(address)) return false;
  return isListed || isPublicAddress(address);
}

function isListedByName(entries: readonly AllowEntry[], { host, port, isLiteral }: UrlTarget): boolean {
  return !isLiteral && entries.some((entry) => opensHost(entry, host, port));
}

/** No address at all is not listed: there is nothing that could be in a network. */
function areListed(entries: readonly AllowEntry[], { port }: UrlTarget, addresses: readonly string[]): boolean {
  if (entries.length === 0 || addresses.length === 0) return false;
  return addresses.every((text) => {
    const address = parseAddress(text);
    return address !== null && entries.some((entry) => opensAddress(entry, address, port));
  });
}
