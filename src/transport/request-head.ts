/** Finds the target and the headers of an HTTP/1.1 request that cannot be parsed. */

import type { RequestHead } from './server-options.ts';

/** A request line begins with a method and a target, which is a path or an absolute URL. */
const REQUEST_LINE = /^[A-Z]+ +((?:\/|[a-z]+:)[^\s]*)/gm;
/** The headers that the response to a refused request depends on. */
const HEADERS: ReadonlySet<string> = new Set(['x-request-id', 'traceparent', 'origin']);
/** How much of a head is looked at. */
const HEAD_MAX_CHARACTERS = 16_384;

/** How much of the first bytes of a connection is kept: the first path segments decide which error format is used. */
const FIRST_TEXT_MAX_BYTES = 256;

/** The text that `findHead` needs of the first bytes of a connection. */
export function readFirstText(seen: Buffer): string {
  return seen.toString('latin1', 0, FIRST_TEXT_MAX_BYTES);
}

/** The head of the last request that begins in the first `parsedBytes` of the text; null when there is none. */
export function findHead(text: string, parsedBytes = text.length): RequestHead | null {
  const line = [...text.slice(0, parsedBytes).matchAll(REQUEST_LINE)].at(-1);
  if (line === undefined) return null;
  return { target: line[1] ?? null, headers: readHeaders(text.slice(line.index, line.index + HEAD_MAX_CHARACTERS)) };
}

/** Without regular expressions, which take long for long runs of blanks. */
function readHeaders(text: string): RequestHead['headers'] {
  const headers: { [name: string]: string } = {};
  for (const line of text.split('\r\n').slice(1)) {
    if (line === '') break;
    const end = line.indexOf(':');
    const name = line.slice(0, Math.max(0, end)).toLowerCase();
    if (HEADERS.has(name)) headers[name] ??= line.slice(end + 1).trim();
  }
  return headers;
}
