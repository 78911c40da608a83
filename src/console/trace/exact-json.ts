/**
 * Parses JSON without changing its numbers. A number that JavaScript would show differently becomes a string with a
 * prefix. The prefix is random per page load, so that no sent value can contain it.
 */

const MARK = `number ${crypto.getRandomValues(new Uint32Array(4)).join('-')} `;

/** Matches a string, to skip it, or a number. */
const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*/g;
/** Many digits, an exponent, trailing zeros or -0. A false match inside a text only costs time. */
const MAYBE_INEXACT = /(?:\d\.?){16}|\d[eE]|\.\d*0(?!\d)|-0(?!\.)/;

export function parseExactly(json: string): unknown {
  if (!MAYBE_INEXACT.test(json)) return JSON.parse(json);
  return JSON.parse(
    json.replace(TOKEN, (token) => (token.startsWith('"') || String(Number(token)) === token ? token : quote(token))),
  );
}

/** Writes a value of `parseExactly`, or a member of it, with its original numbers. */
export function writeExactly(value: unknown): string {
  return JSON.stringify(value).replaceAll(MARKED, '$1');
}

const MARKED = new RegExp(`"${MARK}([^"]*)"`, 'g');

function quote(token: string): string {
  return `"${MARK}${token}"`;
}

/** The text of a scalar, and whether it is a string, which the view quotes. */
export function readScalar(value: unknown): { readonly text: string; readonly isString: boolean } {
  if (typeof value !== 'string') return { text: String(value), isString: false };
  const isString = !value.startsWith(MARK);
  return { text: isString ? value : value.slice(MARK.length), isString };
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Null if the value is not a string. */
export function textOf(value: unknown): string | null {
  const { text, isString } = readScalar(value);
  return isString ? text : null;
}
