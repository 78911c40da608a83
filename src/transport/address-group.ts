/** What counts as one caller where nobody proves a credential: an IPv4 address, or the 64 bits of IPv6 that one site is given. */

import { remoteAddressOf } from './remote-address.ts';

const IPV6_GROUPS = 8;
const SITE_GROUPS = 4;
/** Of a connection that is gone already. */
const UNKNOWN = '';

/** A key that every address of the same caller has. */
export function addressGroupOf(connection: { readonly remoteAddress?: string | undefined } | undefined): string {
  const address = remoteAddressOf(connection);
  if (address === null) return UNKNOWN;
  return address.includes(':') ? `${siteOf(address)}/64` : address;
}

function siteOf(address: string): string {
  const [plain = ''] = address.split('%', 1);
  const [before = '', after] = plain.split('::');
  const head = groupsOf(before);
  const tail = groupsOf(after ?? '');
  const zeros = after === undefined ? 0 : Math.max(0, IPV6_GROUPS - head.length - tail.length);
  return [...head, ...Array<string>(zeros).fill('0'), ...tail]
    .slice(0, SITE_GROUPS)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':');
}

function groupsOf(text: string): string[] {
  return text === '' ? [] : text.split(':');
}
