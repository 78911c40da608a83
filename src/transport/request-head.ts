/** Finds the target and the headers of an HTTP/1.1 request that cannot be parsed. */

import type { RequestHead } from './server-options.ts';

/** A request line begins with a method and a target, which is a path or an absolute URL. */
const REQUEST_LINE = /^[A-Z]+ +((?:\/|[a-z]+:)[^\s]*)/gm;
/** The headers that the response to a refused request depends on. */
const HEADER = /^(x-request-id|traceparent|origin):[ \t]*([^\r\n]*?)[ \t]*\r\n/gim;

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
  const [head = ''] = text.slice(line.index).split('\r\n\r\n', 1);
  const headers: { [name: string]: string } = {};
  for (const [, name = '', value = ''] of `${head}\r\n`.matchAll(HEADER)) headers[name.toLowerCase()] ??= value;
  return { target: line[1] ?? null, headers };
}
