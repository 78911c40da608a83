/** Where a connection comes from, as people write it. */

type Connection = { readonly remoteAddress?: string | undefined };

const MAPPED = '::ffff:';

/** Null once the connection is gone. An IPv4 address that reached an IPv6 socket is told as what it is. */
export function remoteAddressOf(connection: Connection | undefined): string | null {
  const address = connection?.remoteAddress;
  if (address === undefined) return null;
  return address.startsWith(MAPPED) && address.includes('.') ? address.slice(MAPPED.length) : address;
}
