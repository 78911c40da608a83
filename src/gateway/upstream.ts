/** Sends requests to model providers: to addresses that the policy allows, over kept connections, within limits of time. */

import type { LookupAddress } from 'node:dns';
import { isIPv6, type LookupFunction } from 'node:net';
import type { Readable } from 'node:stream';
import type { Agent } from 'undici';
import type { ResolveHost, UrlPolicy, UrlTarget } from '../domain/endpoints/url-policy.ts';

export type UpstreamRequest = {
  readonly method: 'GET' | 'POST';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer | null;
  /** Until the head of the answer. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
};

export type UpstreamAnswer =
  | {
      readonly kind: 'answered';
      readonly status: number;
      readonly headers: Readonly<Record<string, string | string[] | undefined>>;
      readonly body: Readable;
    }
  /** `refused`: the address policy does not allow it. The message is for the caller, without addresses. */
  | {
      readonly kind: 'failed';
      readonly reason: 'refused' | 'unreachable' | 'timeout' | 'cancelled';
      /** Whether the provider may have read the request. */
      readonly isSent: boolean;
      readonly message: string;
    };

type Failed = Extract<UpstreamAnswer, { kind: 'failed' }>;

type Target = { readonly origin: string; readonly path: string };

type UpstreamDeps = { readonly policy: UrlPolicy; readonly resolve: ResolveHost };

const RESOLVE_TIMEOUT_MS = 5_000;
const CONNECT_TIMEOUT_MS = 10_000;
/** Between two parts of an answer. */
const GAP_TIMEOUT_MS = 60_000;
/** Shorter than what load balancers in front of providers keep. */
const KEPT_MS = 15_000;
const HELD_BYTES = 16_384;
/** URLs whose checks are kept: each request would do the same again. */
const TARGETS_MAX = 1_000;
const HEADERS_MAX_BYTES = 32_768;
/** HTTP/2 has no higher one. */
const STATUS_MAX = 599;

export type Upstream = ReturnType<typeof createUpstream>;

export function createUpstream({ policy, resolve }: UpstreamDeps) {
  let opened: Promise<Agent> | null = null;

  function agent(): Promise<Agent> {
    opened ??= openAgent().catch((error: unknown) => {
      // Loading needs a free file descriptor; the next request may find one.
      opened = null;
      throw error;
    });
    return opened;
  }

  /** Called for the first request: many servers have no gateway, and loading the library takes part of each start. */
  async function openAgent(): Promise<Agent> {
    const { Agent: NewAgent, Pool } = await import('undici');
    return new NewAgent({
      keepAliveTimeout: KEPT_MS,
      keepAliveMaxTimeout: KEPT_MS,
      bodyTimeout: GAP_TIMEOUT_MS,
      maxHeaderSize: HEADERS_MAX_BYTES,
      factory(origin, options) {
        const check = policy.checkUrl(String(origin));
        if (check.kind === 'refused') throw new AddressRefused(check.message);
        const lookup = check.target.isLiteral ? {} : { lookup: lookUpAllowed({ policy, resolve }, check.target) };
        return new Pool(origin, { ...options, connect: { timeout: CONNECT_TIMEOUT_MS, ...lookup } });
      },
    });
  }

  const targets = new Map<string, Target | Failed>();

  function readTarget(url: string): Target | Failed {
    const check = policy.checkUrl(url);
    const isRefused = check.kind === 'refused';
    const target = isRefused ? failed('refused', `The base_url is not allowed. ${check.message}`) : splitUrl(url);
    if (targets.size >= TARGETS_MAX) targets.clear();
    targets.set(url, target);
    return target;
  }

  /** Never rejects. Redirects are answers like any other. */
  async function send({ url, timeoutMs, ...request }: UpstreamRequest): Promise<UpstreamAnswer> {
    const target = targets.get(url) ?? readTarget(url);
    if ('kind' in target) return target;
    const ending = endingWith(request.signal, timeoutMs);
    try {
      const { statusCode, headers, body } = await (await agent()).request({
        ...request,
        ...target,
        signal: ending.signal,
        // undici would count neither the connection nor interim answers, of which a provider may send any number.
        headersTimeout: 0,
        highWaterMark: HELD_BYTES,
      });
      if (statusCode <= STATUS_MAX) return { kind: 'answered', status: statusCode, headers, body };
      body.on('error', () => undefined).destroy();
      return failed('unreachable', 'The provider answered with a status that does not exist.');
    } catch (error) {
      return failureOf(error, { isCancelled: request.signal.aborted, isLate: ending.signal.aborted });
    } finally {
      ending.begun();
    }
  }

  return { send, close: async () => (await opened)?.destroy() };
}

/** Ends with `signal`, or when `begun` is not called in time. */
function endingWith(signal: AbortSignal, timeoutMs: number) {
  const controller = new AbortController();
  const abort = () => controller.abort();
  const timer = setTimeout(abort, timeoutMs).unref();
  signal.addEventListener('abort', abort, { once: true });
  if (signal.aborted) abort();
  return { signal: controller.signal, begun: () => clearTimeout(timer) };
}

function splitUrl(url: string): Target {
  const { origin, pathname, search } = new URL(url);
  return { origin, path: pathname + search };
}

class AddressRefused extends Error {}
class Unresolved extends Error {}

/** Checks all addresses of a host at every connection, which then goes to one of them. */
function lookUpAllowed({ policy, resolve }: UpstreamDeps, target: UrlTarget): LookupFunction {
  return (host, options, callback) => {
    resolve(host, RESOLVE_TIMEOUT_MS).then(
      (addresses) => {
        if (!policy.mayReach(target, addresses)) {
          callback(new AddressRefused('The host of the base_url has an address that is not allowed.'), '', 0);
          return;
        }
        const all = addresses.map((address): LookupAddress => ({ address, family: isIPv6(address) ? 6 : 4 }));
        const [first = { address: '', family: 4 }] = all;
        if (options.all) callback(null, all);
        else callback(null, first.address, first.family);
      },
      () => callback(new Unresolved('The host name of the base_url does not resolve.'), '', 0),
    );
  };
}

/** Of connections that were not made in time. */
const TIMEOUT_CODES = new Set(['UND_ERR_CONNECT_TIMEOUT', 'ETIMEDOUT']);

const REASONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'The provider refuses the connection.',
  ECONNRESET: 'The connection broke before the answer was complete.',
  UND_ERR_SOCKET: 'The connection broke before the answer was complete.',
  EHOSTUNREACH: 'The provider cannot be reached.',
  ENETUNREACH: 'The provider cannot be reached.',
  CERT_HAS_EXPIRED: 'The certificate of the provider has expired.',
  ERR_TLS_CERT_ALTNAME_INVALID: 'The certificate of the provider is for another host.',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'The certificate of the provider is not trusted.',
  SELF_SIGNED_CERT_IN_CHAIN: 'The certificate of the provider is not trusted.',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'The certificate of the provider is not trusted.',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'The certificate of the provider is not trusted.',
};

/** Messages of Node hold addresses, which callers may not see. */
function failureOf(error: unknown, { isCancelled, isLate }: { isCancelled: boolean; isLate: boolean }): Failed {
  if (isCancelled) return failed('cancelled', 'The request was cancelled.', true);
  if (error instanceof AddressRefused) return failed('refused', error.message);
  if (error instanceof Unresolved) return failed('unreachable', error.message);
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  const isConnected = !TIMEOUT_CODES.has(code);
  if (isLate || !isConnected) return failed('timeout', 'The provider did not answer in time.', isConnected);
  return failed('unreachable', REASONS[code] ?? 'The connection to the provider failed.', isConnected);
}

function failed(reason: Failed['reason'], message: string, isSent = false): Failed {
  return { kind: 'failed', reason, message, isSent };
}
