/** Limits on strings, counted in characters (Unicode code points) or in UTF-8 bytes. */

const UTF8_BYTES_PER_UNIT_MAX = 3;

/** Whether the text has more than `max` characters. */
export function hasMoreCharactersThan(text: string, max: number): boolean {
  return text.length > max && indexAfterCharacters(text, max) < text.length;
}

/** The first `max` characters. */
export function cutToCharacters(text: string, max: number): string {
  return text.length <= max ? text : text.slice(0, indexAfterCharacters(text, max));
}

/** Whether the length alone proves that the text fits `bytesMax`, without encoding it. */
export function surelyFitsBytes(text: string, bytesMax: number): boolean {
  return text.length * UTF8_BYTES_PER_UNIT_MAX <= bytesMax;
}

/**
 * Whether a look at some places of a JSON text proves that each of its strings and names fits `bytesMax`, without a walk
 * through its values. May be false where each does.
 */
export function surelyFitsEachString(json: string, bytesMax: number): boolean {
  if (surelyFitsBytes(json, bytesMax) || !json.includes('"')) return true;
  const unitsMax = Math.floor(bytesMax / UTF8_BYTES_PER_UNIT_MAX);
  // An escape may hide a quote.
  if (unitsMax === 0 || json.includes('\\')) return false;
  // A string of more units covers one of these places, so its quotes are not near it.
  for (let place = unitsMax; place < json.length; place += unitsMax) {
    const before = json.slice(place - unitsMax, place).lastIndexOf('"');
    const after = json.slice(place, place + unitsMax).indexOf('"');
    if (before < 0 || after < 0 || unitsMax - before - 1 + after > unitsMax) return false;
  }
  return true;
}

/** Whether the text takes more than `bytesMax` bytes. */
export function hasMoreBytesThan(text: string, bytesMax: number): boolean {
  return !surelyFitsBytes(text, bytesMax) && Buffer.byteLength(text) > bytesMax;
}

/** The text itself when it fits `bytesMax`; else its beginning, cut between characters, and a truncation mark. */
export function truncateToBytes(text: string, bytesMax: number): string {
  if (!hasMoreBytesThan(text, bytesMax)) return text;
  return `${cutToBytes(text, bytesMax)}…[truncated: ${Buffer.byteLength(text)} bytes]`;
}

/** The text itself when it fits `bytesMax`; else its beginning, cut between characters. */
export function cutToBytes(text: string, bytesMax: number): string {
  if (!hasMoreBytesThan(text, bytesMax)) return text;
  const bytes = Buffer.from(text);
  let end = bytesMax;
  while (end > 0 && isContinuation(bytes[end] ?? 0)) end -= 1;
  return bytes.toString('utf8', 0, end);
}

function isContinuation(byte: number): boolean {
  return (byte & 0xc0) === 0x80;
}

function indexAfterCharacters(text: string, count: number): number {
  let index = 0;
  for (let counted = 0; counted < count && index < text.length; counted += 1) {
    index += (text.codePointAt(index) ?? 0) > 0xffff ? 2 : 1;
  }
  return index;
}
