/**
 * Inputs and outputs nearly all begin with the same words. Those are kept as one control character, which compact
 * JSON text never begins with.
 */

const OPENING = '{"type":"';
const MIDDLE = '","value":';

// Marks are forever: a mark is never given a second meaning, new types get new marks.
const MARKS: ReadonlyMap<string, string> = new Map([
  ['chat_messages', '\u0001'],
  ['text', '\u0002'],
  ['json', '\u0003'],
  ['list', '\u0004'],
  ['raw', '\u0005'],
]);
const TYPES: ReadonlyMap<string, string> = new Map([...MARKS].map(([type, mark]) => [mark, type]));

/** The stored form of the compact JSON text of {"type","value"}; other texts stay as they are. */
export function packTyped(json: string | null): string | null {
  if (json === null || !json.startsWith(OPENING)) return json;
  const typeEnd = json.indexOf('"', OPENING.length);
  const mark = MARKS.get(json.slice(OPENING.length, typeEnd));
  if (mark === undefined || !json.startsWith(MIDDLE, typeEnd)) return json;
  return mark + json.slice(typeEnd + MIDDLE.length, -1);
}

export function unpackTyped(stored: string | null): string | null {
  if (stored === null) return null;
  const type = TYPES.get(stored.charAt(0));
  return type === undefined ? stored : `${OPENING}${type}${MIDDLE}${stored.slice(1)}}`;
}
