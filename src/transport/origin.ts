/** Where a request comes from: the address it is told of and counted for, and what it holds while it is served. */

import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { Http2ServerRequest, Http2Stream } from 'node:http2';
import { type AddressRange, isInRange, parseAddress } from '../domain/public-address.ts';
import type { Quotas, RequestQuota } from '../rpc/quotas.ts';

export type Origin = {
  /** Null once the connection is gone. */
  readonly remoteAddress: string | null;
  /** What the address counts as: itself, or the /64 of an IPv6 one. */
  readonly network: string | null;
  readonly quota: RequestQuota;
};

/** What a request of HTTP/1.1, or one of HTTP/2 in the same clothes, says of where it comes from. */
export function arrivalOf(request: IncomingMessage | Http2ServerRequest, hasBody: boolean): Arrival {
  const { headers } = request;
  return { socket: 'stream' in request ? socketOf(request.stream) : request.socket, headers, hasBody };
}

/** The socket below a stream of HTTP/2; undefined once its connection is gone. */
export function socketOf({ session }: Http2Stream): Socket | undefined {
  return session?.destroyed ? undefined : session?.socket;
}

type Socket = { readonly remoteAddress?: string | undefined };

export type Arrival = {
  readonly socket: Socket | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly hasBody: boolean;
};

export type OriginOf = (arrival: Arrival) => Origin;

export type OriginDeps = {
  readonly quotas: Quotas;
  /** Whose X-Forwarded-For is believed. */
  readonly trustedProxies: readonly AddressRange[];
};

const MAPPED = '::ffff:';
/** Whoever has one IPv6 address has all of its /64: the first four groups. */
const IPV6_NETWORK_GROUPS = 4;

export function createOriginOf({ quotas, trustedProxies }: OriginDeps): OriginOf {
  const addressOf = createAddressOf(trustedProxies);
  return (arrival) => {
    const { hasBody } = arrival;
    const remoteAddress = addressOf(arrival);
    const network = remoteAddress === null ? null : networkOf(remoteAddress);
    const quota = quotas.open({ address: network, hasBody });
    return { remoteAddress, network, quota };
  };
}

/** The address of the client, behind whatever trusted proxies there are; null once its connection is gone. */
export function createAddressOf(trustedProxies: readonly AddressRange[]): (arrival: Arrival) => string | null {
  return ({ socket, headers }) => {
    const peer = plainAddress(socket?.remoteAddress);
    const isProxied = peer !== null && trustedProxies.length > 0;
    return isProxied ? clientBehind(trustedProxies, peer, headers) : peer;
  };
}

/** Whom a connection is held against: a proxy brings many callers, so nothing is held against it. */
export function createCallerOf(trustedProxies: readonly AddressRange[]): (socket: Socket) => string | null {
  return (socket) => {
    const peer = plainAddress(socket.remoteAddress);
    return peer === null || isTrusted(trustedProxies, peer) ? null : networkOf(peer);
  };
}

/** What counts as one caller: an IPv4 address, or the /64 of an IPv6 one. */
export function networkOf(address: string): string {
  if (!address.includes(':')) return address;
  // A zone, as in fe80::1%eth0, is no part of the address.
  const parsed = parseAddress(address.split('%', 1)[0] ?? '');
  if (parsed?.family !== 6) return address;
  const groups = parsed.groups.slice(0, IPV6_NETWORK_GROUPS);
  return `${groups.map((group) => group.toString(16)).join(':')}::/64`;
}

/** An IPv4 address that reached an IPv6 socket is told as what it is. */
function plainAddress(address: string | undefined): string | null {
  if (address === undefined) return null;
  return address.startsWith(MAPPED) && address.includes('.') ? address.slice(MAPPED.length) : address;
}

/** Each proxy appends whom it heard from, so the last address that no trusted proxy has is the client's. */
function clientBehind(trusted: readonly AddressRange[], peer: string, headers: IncomingHttpHeaders): string {
  const forwarded = headers['x-forwarded-for'];
  const hops = (typeof forwarded === 'string' ? forwarded : (forwarded ?? []).join(',')).split(',');
  let client = peer;
  while (hops.length > 0 && isTrusted(trusted, client)) {
    const hop = plainAddress(hops.pop()?.trim()) ?? '';
    // What is no address says nothing, and what stands before it cannot be believed either.
    if (!parseAddress(hop)) break;
    client = hop;
  }
  return client;
}

function isTrusted(trusted: readonly AddressRange[], text: string): boolean {
  const address = parseAddress(text);
  return address !== null && trusted.some((range) => isInRange(address, range));
}
