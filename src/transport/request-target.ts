/** Finds the target of an HTTP/1.1 request that cannot be parsed. */

/** A request line begins with a method and a target, which is a path or an absolute URL. */
const REQUEST_LINE = /^[A-Z]+ +((?:\/|[a-z]+:)[^\s]*)/gm;

/** How much of the first bytes of a connection is kept: the first path segments decide which error format is used. */
const FIRST_TEXT_MAX_BYTES = 256;

/** The text that `findTarget` needs of the first bytes of a connection. */
export function readFirstText(seen: Buffer): string {
  return seen.toString('latin1', 0, FIRST_TEXT_MAX_BYTES);
}

/** The target of the last request line in the text; null when there is none. */
export function findTarget(text: string): string | null {
  return [...text.matchAll(REQUEST_LINE)].at(-1)?.[1] ?? null;
}
