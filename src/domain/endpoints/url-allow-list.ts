/** The internal destinations that the operator allows for webhooks. */

import { type Address, type AddressRange, isInRange, parseAddress, parseRangeOrAddress } from '../public-address.ts';

/** One allowed destination; a null port allows all ports. */
export type AllowEntry = { readonly port: number | null } & (
  | { readonly kind: 'host'; readonly host: string }
  | { readonly kind: 'range'; readonly range: AddressRange }
);

type AllowListReading =
  | { readonly kind: 'entries'; readonly entries: readonly AllowEntry[] }
  | { readonly kind: 'problem'; readonly problem: string };

const PORT_MAX = 65_535;
const PORT = /^[1-9][0-9]{0,4}$/;
const HOST = /^[a-z0-9_-]+(\.[a-z0-9_-]+)*$/;
const BRACKETED = /^\[([^\]]*)\](?::(.*))?$/;

/**
 * Parses `host[:port]`, `ip[:port]` and `cidr[:port]`, separated by commas; IPv6 with a port is in brackets. The
 * problem names the wrong entry and completes a sentence that begins with the name of the setting.
 */
export function parseAllowList(text: string): AllowListReading {
  if (text.trim() === '') return { kind: 'entries', entries: [] };
  const entries: AllowEntry[] = [];
  for (const [index, item] of text.split(',').entries()) {
    const entry = parseEntry(item.trim());
    if (!entry) return { kind: 'problem', problem: describeProblem(index + 1, item.trim()) };
    entries.push(entry);
  }
  return { kind: 'entries', entries };
}

export function allowsHost(entry: AllowEntry, host: string, port: number): boolean {
  return entry.kind === 'host' && entry.host === host && allowsPort(entry, port);
}

export function allowsAddress(entry: AllowEntry, address: Address, port: number): boolean {
  return entry.kind === 'range' && allowsPort(entry, port) && isInRange(address, entry.range);
}

export function allowsPort({ port: opened }: AllowEntry, port: number): boolean {
  return opened === null || opened === port;
}

function parseEntry(item: string): AllowEntry | null {
  const parts = splitPort(item);
  if (!parts) return null;
  const { name, port } = parts;
  const range = parseRangeOrAddress(name);
  if (range) return { kind: 'range', range, port };
  const host = parseHost(name);
  return host === null ? null : { kind: 'host', host, port };
}

function splitPort(item: string): { name: string; port: number | null } | null {
  const bracketed = BRACKETED.exec(item);
  const isBareIpv6 = !bracketed && item.split(':').length > 2;
  const [name = '', portText] = bracketed?.slice(1) ?? (isBareIpv6 ? [item] : item.split(':'));
  // Only IPv6 addresses have brackets.
  if (bracketed && !name.includes(':')) return null;
  if (portText === undefined) return { name, port: null };
  const port = Number(portText);
  return PORT.test(portText) && port <= PORT_MAX ? { name, port } : null;
}

/** Normalizes a name as URLs do. Null for a text that a URL would read as an address. */
function parseHost(name: string): string | null {
  if (!/^[^\s/@?#:\\%]+$/.test(name)) return null;
  const url = `https://${name}/`;
  if (!URL.canParse(url)) return null;
  const host = new URL(url).hostname.replace(/\.$/, '');
  return HOST.test(host) && !parseAddress(host) ? host : null;
}

function describeProblem(position: number, item: string): string {
  const shown = item === '' ? 'is empty' : `(${item.slice(0, 100)}) is not one`;
  return `must be host, host:port, an address or a network such as 10.0.0.0/8, separated by commas; entry ${position} ${shown}`;
}
