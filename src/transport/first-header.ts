/** Reads a header as its first value, however often it was sent. */

import type { IncomingHttpHeaders } from 'node:http';

/**
 * Node joins the values of a repeated header with commas, and a value may contain commas; only the raw list
 * (name, value, name, value ...) shows where the first value ends.
 */
export function firstHeader(
  headers: IncomingHttpHeaders,
  raw: readonly string[],
): (name: string) => string | undefined {
  return (name) => {
    const value = headers[name];
    if (value === undefined) return undefined;
    // HTTP/2 sends one cookie per header, and Node joins them as HTTP/1 does.
    if (typeof value === 'string' && (name === 'cookie' || !value.includes(','))) return value;
    for (let at = 0; at + 1 < raw.length; at += 2) {
      if (raw[at]?.toLowerCase() === name) return raw[at + 1];
    }
    return typeof value === 'string' ? value : value[0];
  };
}
