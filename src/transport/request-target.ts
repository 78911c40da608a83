/** What a broken HTTP/1.1 request asks for, as far as its bytes tell. */

/** A request line begins with a method and a target, which is a path or a whole address. */
const REQUEST_LINE = /^[A-Z]+ +((?:\/|[a-z]+:)[^\s]*)/gm;

/** How much of the beginning of a connection is kept for that: more than the longest path that decides. */
const OPENING_MAX_BYTES = 256;

/** The part of a connection's first bytes that `findTarget` needs. */
export function openingOf(seen: Buffer): string {
  return seen.toString('latin1', 0, OPENING_MAX_BYTES);
}

/** The target of the last request that begins before the end of the text; null when none does. */
export function findTarget(text: string): string | null {
  return [...text.matchAll(REQUEST_LINE)].at(-1)?.[1] ?? null;
}
