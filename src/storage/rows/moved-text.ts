/**
 * Texts of spans that lie in another database. Their column then has in their place a mark that no other stored text begins
 * with (see codes.ts), the bytes of the text, its place there, and after a line feed how its stored form begins.
 */

const MARK = '\u0006';
const SEPARATOR = '\n';
/** Of the stored form. */
const START_CHARACTERS = 64;
/** Shorter texts stay; every reference is shorter. */
export const MOVED_MIN_BYTES = 513;

/** An expression of PostgreSQL: what stands in the place of a text. Both are expressions; `place` has no line feed. */
export function referenceTo(place: string, text: string): string {
  const [mark, separator] = [MARK, SEPARATOR].map((character) => `chr(${character.charCodeAt(0)})`);
  return `${mark} || octet_length(${text}) || ' ' || ${place} || ${separator} || left(${text}, ${START_CHARACTERS})`;
}

/** Null: the text lies where it is read. */
export function placeOf(stored: string): string | null {
  if (!stored.startsWith(MARK)) return null;
  const end = stored.indexOf(SEPARATOR);
  return stored.slice(stored.indexOf(' ') + 1, end < 0 ? undefined : end);
}

/** The beginning of the stored form of a text, from the beginning of what its column has. */
export function startOfStored(stored: string): string {
  return stored.startsWith(MARK) ? stored.slice(stored.indexOf(SEPARATOR) + 1) : stored;
}

/** The properties whose columns may have references; no other text in them begins with the mark. */
export const MOVED_COLUMNS: ReadonlySet<string> = new Set(['inputJson', 'outputJson', 'contextsJson']);
/** A pattern of LIKE: the references. */
export const MOVED_PATTERN = `${MARK}%`;
