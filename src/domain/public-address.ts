/** Parses IP addresses and finds public ones. */

/** The groups of an address, most significant first: 4 bytes, or 8 units of 16 bits. */
export type Address = { readonly family: 4 | 6; readonly groups: readonly number[] };

/** All addresses that share their first `prefixBits` bits with `base`. */
export type AddressRange = { readonly base: Address; readonly prefixBits: number };

const MAPPED_PREFIX_BITS = 96;
const BYTE = /^(0|[1-9][0-9]{0,2})$/;
const UNIT = /^[0-9a-fA-F]{1,4}$/;

/**
 * Metadata services of hosts and containers, which hand out credentials. They stay forbidden even when an allow list
 * includes them.
 */
const METADATA = [
  '169.254.169.254',
  '169.254.170.2',
  '169.254.170.23',
  '168.63.129.16',
  '100.100.100.200',
  '192.0.0.192',
  'fd00:ec2::254',
  'fd00:ec2::23',
  'fd20:ce::254',
].map(readKnownAddress);

const SIX_TO_FOUR = readKnownRange('2002::/16');
const TEREDO = readKnownRange('2001::/32');
/**
 * Byte offsets where NAT64 prefixes of 32 to 64 bits embed an IPv4 address (RFC 6052, 2.2), after byte 8 is removed.
 */
const TRANSLATED_AT = [4, 5, 6, 7, 8];

const NOT_PUBLIC_4 = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
].map(readKnownRange);

/** The only IPv6 block assigned to the internet; the ranges below carry or imitate other addresses. */
const PUBLIC_6 = readKnownRange('2000::/3');
const NOT_PUBLIC_6 = ['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20'].map(readKnownRange);

export function isPublicAddress(address: Address): boolean {
  if (address.family === 4) return !NOT_PUBLIC_4.some((range) => isInRange(address, range));
  return isInRange(address, PUBLIC_6) && !NOT_PUBLIC_6.some((range) => isInRange(address, range));
}

/** Also true for an IPv6 address that embeds a metadata address for a translator or tunnel. */
export function isMetadataAddress(address: Address): boolean {
  return [address, ...carriedBy(address)].some((each) => METADATA.some((known) => isSameAddress(known, each)));
}

/**
 * The IPv4 addresses that a router may extract from an IPv6 address. Translators choose their own prefixes, so every
 * prefix counts; an accidental match is practically impossible.
 */
function carriedBy(address: Address): Address[] {
  if (address.family === 4) return [];
  const bytes = bytesOf(address.groups);
  // Mapped, compatible, NAT64 (96-bit prefix) and ISATAP addresses embed IPv4 in the last 4 bytes.
  const carried = [bytes.slice(12)];
  const withoutZero = bytes.toSpliced(8, 1);
  for (const start of TRANSLATED_AT) carried.push(withoutZero.slice(start, start + 4));
  if (isInRange(address, SIX_TO_FOUR)) carried.push(bytes.slice(2, 6));
  // Teredo embeds the client's address with inverted bits; the server's address is covered by the NAT64 offsets.
  if (isInRange(address, TEREDO)) carried.push(bytes.slice(12).map((byte) => byte ^ 0xff));
  return carried.map((groups) => ({ family: 4, groups }));
}

export function isSameAddress(one: Address, other: Address): boolean {
  return one.family === other.family && one.groups.every((group, index) => group === other.groups[index]);
}

export function isInRange(address: Address, { base, prefixBits }: AddressRange): boolean {
  if (address.family !== base.family) return false;
  const groupBits = address.family === 4 ? 8 : 16;
  let leftBits = prefixBits;
  for (let index = 0; leftBits > 0; index += 1, leftBits -= groupBits) {
    const ignoredBits = Math.max(0, groupBits - leftBits);
    if ((address.groups[index] ?? 0) >> ignoredBits !== (base.groups[index] ?? 0) >> ignoredBits) return false;
  }
  return true;
}

/** Parses an address in its usual spelling; null for anything else. An IPv4-mapped IPv6 address becomes IPv4. */
export function parseAddress(text: string): Address | null {
  if (!text.includes(':')) return parseIpv4(text);
  const address = parseIpv6(text);
  return address && isMapped(address) ? { family: 4, groups: lastBytes(address) } : address;
}

/** Parses `address/bits`; null when invalid. Address bits after the prefix are ignored. */
function parseRange(text: string): AddressRange | null {
  const [addressText = '', bitsText = '', more] = text.split('/');
  const plain = addressText.includes(':') ? parseIpv6(addressText) : parseIpv4(addressText);
  if (!plain || more !== undefined || !BYTE.test(bitsText)) return null;
  const prefixBits = Number(bitsText);
  if (prefixBits > (plain.family === 4 ? 32 : 128)) return null;
  if (plain.family === 6 && prefixBits >= MAPPED_PREFIX_BITS && isMapped(plain)) {
    return { base: { family: 4, groups: lastBytes(plain) }, prefixBits: prefixBits - MAPPED_PREFIX_BITS };
  }
  return { base: plain, prefixBits };
}

/** Parses a range or a single address; null when invalid. */
export function parseRangeOrAddress(text: string): AddressRange | null {
  if (text.includes('/')) return parseRange(text);
  const address = parseAddress(text);
  return address && rangeOf(address);
}

/** The range of one address. */
export function rangeOf(address: Address): AddressRange {
  return { base: address, prefixBits: address.family === 4 ? 32 : 128 };
}

function parseIpv4(text: string): Address | null {
  const parts = text.split('.');
  if (parts.length !== 4 || !parts.every((part) => BYTE.test(part) && Number(part) <= 255)) return null;
  return { family: 4, groups: parts.map(Number) };
}

function parseIpv6(text: string): Address | null {
  const [head = '', tail, more] = text.split('::');
  if (more !== undefined) return null;
  const first = parseUnits(head);
  if (tail === undefined) return first?.length === 8 ? { family: 6, groups: first } : null;
  const last = parseUnits(tail);
  // An IPv4 part is allowed only at the end, and `::` stands for at least one unit.
  if (!first || !last || head.includes('.') || first.length + last.length > 7) return null;
  return { family: 6, groups: [...first, ...Array(8 - first.length - last.length).fill(0), ...last] };
}

/** The units on one side of `::`. */
function parseUnits(text: string): number[] | null {
  if (text === '') return [];
  const units: number[] = [];
  const parts = text.split(':');
  for (const [index, part] of parts.entries()) {
    if (UNIT.test(part)) {
      units.push(Number.parseInt(part, 16));
      continue;
    }
    const bytes = index === parts.length - 1 ? parseIpv4(part)?.groups : undefined;
    if (!bytes) return null;
    const [a = 0, b = 0, c = 0, d = 0] = bytes;
    units.push(a * 256 + b, c * 256 + d);
  }
  return units;
}

function isMapped({ groups }: Address): boolean {
  return groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff;
}

function lastBytes({ groups }: Address): number[] {
  return bytesOf(groups.slice(6));
}

function bytesOf(units: readonly number[]): number[] {
  return units.flatMap((unit) => [unit >> 8, unit & 0xff]);
}

function readKnownAddress(text: string): Address {
  const address = parseAddress(text);
  if (!address) throw new Error(`${text} is not an address`);
  return address;
}

function readKnownRange(text: string): AddressRange {
  const range = parseRange(text);
  if (!range) throw new Error(`${text} is not a range`);
  return range;
}
