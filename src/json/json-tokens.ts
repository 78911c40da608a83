/** Reads valid JSON that arrives in slices, and holds nothing of it but the string or number that a slice ends within. */

export type JsonTokens = {
  /** An array or object begins. */
  open(isArray: boolean): void;
  /** The innermost array or object ends. */
  close(): void;
  /** The name of the next member. */
  name(name: string): void;
  string(text: string): void;
  /** A number, `true`, `false` or `null`, as it is written. */
  scalar(text: string): void;
};

/** An escape of one UTF-16 unit has up to so many characters. */
const ESCAPE_CHARACTERS_MAX = 6;
const SCALAR_END = /[,\]}\s]/g;

/** Strings of more than `unitsMax` UTF-16 units may lack their end: a string is passed on as soon as it has so many. */
export function createTokenizer(take: JsonTokens, unitsMax: number): { add(slice: string): void } {
  const rawMax = unitsMax * ESCAPE_CHARACTERS_MAX;
  const arrays: boolean[] = [];
  let isName = false;
  /** The beginning of a string that the last slice ended within; null: it did not. */
  let raw: string | null = null;
  /** Whether that string was passed on already. */
  let isGiven = false;
  /** Whether the last slice ended with an odd number of backslashes, in a string. */
  let isEscaped = false;
  /** The same of a scalar. */
  let scalar: string | null = null;

  /** Continues a string. Returns the index after it, or after the slice. */
  function readString(slice: string, start: number): number {
    let quote = slice.indexOf('"', isEscaped ? start + 1 : start);
    while (quote >= 0 && isEscapedAt(slice, quote, start)) quote = slice.indexOf('"', quote + 1);
    const end = quote < 0 ? slice.length : quote;
    raw ??= '';
    if (!isGiven) raw += slice.slice(start, Math.min(end, start + rawMax));
    isEscaped = quote < 0 && isEscapedAt(slice, end, start);
    if (!isGiven && (quote >= 0 || raw.length >= rawMax || unitsMin(raw) >= unitsMax)) give(raw);
    if (quote < 0) return end;
    raw = null;
    isGiven = false;
    isName = false;
    return quote + 1;
  }

  /** Whether an odd number of backslashes stands before an index, of which the string may have one in the last slice. */
  function isEscapedAt(slice: string, index: number, start: number): boolean {
    let first = index;
    while (first > start && slice.charCodeAt(first - 1) === 0x5c) first -= 1;
    return ((index - first) % 2 === 1) !== (isEscaped && first === start);
  }

  function give(text: string): void {
    const value = withoutEscapes(text);
    if (isName) take.name(value);
    else take.string(value);
    isGiven = true;
    raw = '';
  }

  function readScalar(slice: string, start: number): number {
    SCALAR_END.lastIndex = start;
    const end = SCALAR_END.exec(slice)?.index ?? slice.length;
    const text = (scalar ?? '') + slice.slice(start, end);
    scalar = end < slice.length ? null : text;
    if (scalar === null) take.scalar(text);
    return end;
  }

  function readOther(slice: string, index: number): number {
    const character = slice.charAt(index);
    switch (character) {
      case '"':
        return readString(slice, index + 1);
      case '{':
      case '[':
        arrays.push(character === '[');
        isName = character === '{';
        take.open(character === '[');
        return index + 1;
      case '}':
      case ']':
        arrays.pop();
        isName = false;
        take.close();
        return index + 1;
      case ',':
        isName = arrays.at(-1) === false;
        return index + 1;
      case ':':
      case ' ':
      case '\t':
      case '\n':
      case '\r':
        return index + 1;
      default:
        return readScalar(slice, index);
    }
  }

  return {
    add(slice) {
      if (slice === '') return;
      let index = raw !== null ? readString(slice, 0) : scalar !== null ? readScalar(slice, 0) : 0;
      while (index < slice.length) index = readOther(slice, index);
    },
  };
}

/** How many units a string has at least. */
function unitsMin(raw: string): number {
  let backslashes = 0;
  for (let at = raw.indexOf('\\'); at >= 0; at = raw.indexOf('\\', at + 1)) backslashes += 1;
  return raw.length - backslashes * (ESCAPE_CHARACTERS_MAX - 1);
}

/** The text of a string without its quotes, which may be cut within its last escape. */
function withoutEscapes(raw: string): string {
  return raw.includes('\\') ? (JSON.parse(`"${raw.slice(0, wholeLength(raw))}"`) as string) : raw;
}

/** The length without an escape at the end that is cut. */
function wholeLength(raw: string): number {
  const from = Math.max(0, raw.length - ESCAPE_CHARACTERS_MAX);
  for (let index = from; index < raw.length; index += 1) {
    if (raw.charCodeAt(index) !== 0x5c) continue;
    let first = index;
    while (first > 0 && raw.charCodeAt(first - 1) === 0x5c) first -= 1;
    // A backslash that is itself escaped begins nothing.
    if ((index - first) % 2 === 1) continue;
    const length = raw.charAt(index + 1) === 'u' ? ESCAPE_CHARACTERS_MAX : 2;
    if (index + length > raw.length) return index;
  }
  return raw.length;
}
