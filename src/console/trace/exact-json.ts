/**
 * JSON in which numbers keep the text they were sent with, where a number of JavaScript would show another. Such a number
 * becomes a string behind a mark, which nobody who sends values can know: it is another one each time the page is loaded.
 */

const MARK = `number ${crypto.getRandomValues(new Uint32Array(4)).join('-')} `;

/** A string, which is passed over, or a number. */
const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*/g;
/** Many digits, an exponent, zeros at the end, or a zero below zero; texts that look like it only cost time. */
const SUSPECT = /(?:\d\.?){16}|\d[eE]|\.\d*0(?!\d)|-0(?!\.)/;

export function parseExactly(json: string): unknown {
  if (!SUSPECT.test(json)) return JSON.parse(json);
  return JSON.parse(
    json.replace(TOKEN, (token) => (token.startsWith('"') || String(Number(token)) === token ? token : quote(token))),
  );
}

/** What `parseExactly` answered, or a part of it, as it was. */
export function writeExactly(value: unknown): string {
  return JSON.stringify(value).replaceAll(MARKED, '$1');
}

const MARKED = new RegExp(`"${MARK}([^"]*)"`, 'g');

function quote(token: string): string {
  return `"${MARK}${token}"`;
}

/** The text of a value without members; one of a string is quoted where it is shown, and one of a number is not. */
export function readScalar(value: unknown): { readonly text: string; readonly isString: boolean } {
  if (typeof value !== 'string') return { text: String(value), isString: false };
  const isString = !value.startsWith(MARK);
  return { text: isString ? value : value.slice(MARK.length), isString };
}
