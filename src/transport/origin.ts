/** Where a request comes from: its client address, and the quota it uses while it is served. */

import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { Http2ServerRequest, Http2Stream } from 'node:http2';
import { type AddressRange, isInRange, parseAddress } from '../domain/public-address.ts';
import type { Quotas, RequestQuota } from '../rpc/quotas.ts';

export type Origin = {
  /** Null once the connection is gone. */
  readonly remoteAddress: string | null;
  /** The unit of limits by address: the IPv4 address, or the /64 of an IPv6 address. */
  readonly network: string | null;
  /** Whether the client reached this server, the trusted proxy before it, or a page of the console, over TLS. */
  readonly isSecure: boolean;
  readonly quota: RequestQuota;
};

/** The arrival of an HTTP/1.1 request, or of an HTTP/2 request of the compatibility API. */
export function arrivalOf(request: IncomingMessage | Http2ServerRequest, hasBody: boolean): Arrival {
  const { headers } = request;
  return { socket: 'stream' in request ? socketOf(request.stream) : request.socket, headers, hasBody };
}

/** The socket below a stream of HTTP/2; undefined once its connection is gone. */
export function socketOf({ session }: Http2Stream): Socket | undefined {
  return session?.destroyed ? undefined : session?.socket;
}

type Socket = { readonly remoteAddress?: string | undefined; readonly encrypted?: boolean };

export type Arrival = {
  readonly socket: Socket | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly hasBody: boolean;
};

export type OriginOf = (arrival: Arrival) => Origin;

type OriginDeps = {
  readonly quotas: Quotas;
  /** Proxies whose X-Forwarded-For and X-Forwarded-Proto are trusted. */
  readonly trustedProxies: readonly AddressRange[];
  /** Of SPANDREL_PUBLIC_URL; null: not set. */
  readonly publicOrigin: string | null;
};

const MAPPED = '::ffff:';
/** Networks are assigned as /64 at least, so one client can use all addresses that share the first four groups. */
const IPV6_NETWORK_GROUPS = 4;

export function createOriginOf({ quotas, trustedProxies, publicOrigin }: OriginDeps): OriginOf {
  const addressOf = createAddressOf(trustedProxies);
  return (arrival) => {
    const { hasBody } = arrival;
    const remoteAddress = addressOf(arrival);
    const network = remoteAddress === null ? null : networkOf(remoteAddress);
    const quota = quotas.open({ address: network, hasBody });
    const isOfPublicPage = publicOrigin?.startsWith('https:') === true && arrival.headers.origin === publicOrigin;
    return { remoteAddress, network, isSecure: isOfPublicPage || isSecure(arrival, trustedProxies), quota };
  };
}

function isSecure({ socket, headers }: Arrival, trustedProxies: readonly AddressRange[]): boolean {
  if (socket?.encrypted === true) return true;
  const peer = plainAddress(socket?.remoteAddress);
  if (peer === null || !isTrusted(trustedProxies, peer)) return false;
  const [first] = String(headers['x-forwarded-proto'] ?? '').split(',');
  return first?.trim().toLowerCase() === 'https';
}

/** The address of the client, behind any trusted proxies; null once its connection is gone. */
export function createAddressOf(trustedProxies: readonly AddressRange[]): (arrival: Arrival) => string | null {
  return ({ socket, headers }) => {
    const peer = plainAddress(socket?.remoteAddress);
    const isProxied = peer !== null && trustedProxies.length > 0;
    return isProxied ? clientBehind(trustedProxies, peer, headers) : peer;
  };
}

/** The network that penalties of a connection go to; null for a trusted proxy, which many callers share. */
export function createCallerOf(trustedProxies: readonly AddressRange[]): (socket: Socket) => string | null {
  return (socket) => {
    const peer = plainAddress(socket.remoteAddress);
    return peer === null || isTrusted(trustedProxies, peer) ? null : networkOf(peer);
  };
}

/** The unit of limits by address: an IPv4 address, or the /64 of an IPv6 address. */
export function networkOf(address: string): string {
  if (!address.includes(':')) return address;
  // A zone, as in fe80::1%eth0, is not part of the address.
  const parsed = parseAddress(address.split('%', 1)[0] ?? '');
  if (parsed?.family !== 6) return address;
  const groups = parsed.groups.slice(0, IPV6_NETWORK_GROUPS);
  return `${groups.map((group) => group.toString(16)).join(':')}::/64`;
}

/** Unwraps an IPv4 address that an IPv6 socket shows as `::ffff:a.b.c.d`. */
function plainAddress(address: string | undefined): string | null {
  if (address === undefined) return null;
  return address.startsWith(MAPPED) && address.includes('.') ? address.slice(MAPPED.length) : address;
}

/** Each proxy appends the address of its peer, so the last address that is not a trusted proxy's is the client's. */
function clientBehind(trusted: readonly AddressRange[], peer: string, headers: IncomingHttpHeaders): string {
  const forwarded = headers['x-forwarded-for'];
  const hops = (typeof forwarded === 'string' ? forwarded : (forwarded ?? []).join(',')).split(',');
  let client = peer;
  while (hops.length > 0 && isTrusted(trusted, client)) {
    const hop = plainAddress(nodeAddress(hops.pop()?.trim() ?? '')) ?? '';
    // Entries before one that is not an address cannot be trusted either.
    if (!parseAddress(hop)) break;
    client = hop;
  }
  return client;
}

// A node as in RFC 7239, 6: an IPv4 address or an IPv6 address in brackets, either with or without a port.
const IPV4_NODE = /^([0-9.]+)(?::[0-9]{1,5})?$/;
const IPV6_NODE = /^\[([0-9a-fA-F:.]+)\](?::[0-9]{1,5})?$/;

/** The address of a hop. Some proxies add the port, and write the entry as RFC 7239 does: in brackets and quotes. */
function nodeAddress(entry: string): string {
  const [, quoted] = /^"(.*)"$/.exec(entry) ?? [];
  const node = quoted ?? entry;
  return (IPV4_NODE.exec(node) ?? IPV6_NODE.exec(node))?.[1] ?? node;
}

function isTrusted(trusted: readonly AddressRange[], text: string): boolean {
  const address = parseAddress(text);
  return address !== null && trusted.some((range) => isInRange(address, range));
}
