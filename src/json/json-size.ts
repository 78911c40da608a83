/** How many bytes values take in a JSON response: UTF-8, with JSON escapes. */

/** Longer texts are measured in chunks, so that measuring a text that is far too large stops early. */
export const CHUNK_CHARACTERS = 64 * 1024;
const ESCAPED = /["\\\u0000-\u001f\u007f\u2028\u2029]/;

/** Bytes of the text as a JSON string with its quotes. Above `maxBytes` the result is any larger number. */
export function jsonStringBytes(text: string, maxBytes = Number.POSITIVE_INFINITY): number {
  let bytes = 2;
  for (let start = 0; start < text.length && bytes <= maxBytes; start += CHUNK_CHARACTERS) {
    const part = text.length <= CHUNK_CHARACTERS ? text : text.slice(start, start + CHUNK_CHARACTERS);
    bytes += ESCAPED.test(part) ? Buffer.byteLength(JSON.stringify(part)) - 2 : Buffer.byteLength(part);
  }
  return bytes;
}

/** The bytes of all these texts as JSON strings. */
export function jsonStringsBytes(...texts: readonly (string | null)[]): number {
  let bytes = 0;
  for (const text of texts) if (text !== null) bytes += jsonStringBytes(text);
  return bytes;
}

/** The bytes of values that are stored as JSON text. */
export function jsonTextsBytes(...texts: readonly (string | null)[]): number {
  let bytes = 0;
  for (const text of texts) if (text !== null) bytes += Buffer.byteLength(text);
  return bytes;
}
