/** Finds members of a JSON object in its bytes, so that one can be changed while all other bytes stay. */

const TAB = 0x09;
const LF = 0x0a;
const CR = 0x0d;
const SPACE = 0x20;
const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_ARRAY = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/** Indexes of bytes; an end is the index behind. */
export type Member = {
  readonly start: number;
  readonly valueStart: number;
  readonly end: number;
  /** Whether a member of another name is before it. */
  readonly isLed: boolean;
  /** Of the comma before it; -1: none. */
  readonly commaBefore: number;
  /** Of the comma behind it; -1: none. */
  readonly commaAfter: number;
};

export type Members = {
  /** Those of the name, in order: the last one counts. */
  readonly found: readonly Member[];
  readonly isEmpty: boolean;
  /** Where the object closes. */
  readonly close: number;
};

/** Replaces the bytes from `start` to `end`. */
export type Splice = { readonly start: number; readonly end: number; readonly text: string };

/** `name` is ASCII. Of the object that begins at `from`, behind spaces; null: none does, or it has no end. Other text may pass that is not JSON. */
export function findMembers(bytes: Buffer, name: string, from = 0): Members | null {
  const open = skipSpace(bytes, from);
  if (bytes[open] !== OPEN_OBJECT) return null;
  const found: Member[] = [];
  let others = 0;
  let commaBefore = -1;
  for (let at = skipSpace(bytes, open + 1); at < bytes.length; ) {
    if (bytes[at] === CLOSE_OBJECT) return { found, isEmpty: found.length + others === 0, close: at };
    if (bytes[at] !== QUOTE) return null;
    const nameEnd = endOfText(bytes, at);
    const colon = skipSpace(bytes, nameEnd);
    if (bytes[colon] !== COLON) return null;
    const valueStart = skipSpace(bytes, colon + 1);
    const end = endOfValue(bytes, valueStart);
    const next = skipSpace(bytes, end);
    const commaAfter = bytes[next] === COMMA ? next : -1;
    if (isName(bytes, at, nameEnd, name)) {
      found.push({ start: at, valueStart, end, isLed: others > 0, commaBefore, commaAfter });
    } else others += 1;
    commaBefore = commaAfter;
    at = commaAfter < 0 ? next : skipSpace(bytes, commaAfter + 1);
    if (commaAfter < 0 && bytes[at] !== CLOSE_OBJECT) return null;
  }
  return null;
}

/** Removes all members found, each with one comma. */
export function removalsOf({ found }: Members): readonly Splice[] {
  return found.map(({ start, end, isLed, commaBefore, commaAfter }) => {
    if (isLed) return { start: commaBefore, end, text: '' };
    return { start, end: commaAfter < 0 ? end : commaAfter + 1, text: '' };
  });
}

/** `splices` do not overlap. */
export function applySplices(bytes: Buffer, splices: readonly Splice[]): Buffer {
  if (splices.length === 0) return bytes;
  const parts: Buffer[] = [];
  let at = 0;
  for (const { start, end, text } of splices.toSorted((one, other) => one.start - other.start)) {
    parts.push(bytes.subarray(at, start));
    if (text !== '') parts.push(Buffer.from(text));
    at = end;
  }
  parts.push(bytes.subarray(at));
  return Buffer.concat(parts);
}

/** Whether the string from `start` to `end`, with its quotes, is the name. */
function isName(bytes: Buffer, start: number, end: number, name: string): boolean {
  let isEscaped = false;
  for (let at = start; at < end && !isEscaped; at += 1) isEscaped = bytes[at] === BACKSLASH;
  if (!isEscaped) return end - start - 2 === name.length && bytes.toString('latin1', start + 1, end - 1) === name;
  try {
    return JSON.parse(bytes.toString('utf8', start, end)) === name;
  } catch {
    return false;
  }
}

/** Searched one by one; longer strings by the faster search of Node, which is slow to begin. */
const SHORT_BYTES = 64;

/** Behind the string that begins at `start`. */
function endOfText(bytes: Buffer, start: number): number {
  const shortEnd = start + SHORT_BYTES;
  let at = start + 1;
  for (; at < shortEnd; at += 1) {
    const byte = bytes[at];
    if (byte === QUOTE) return at + 1;
    if (byte === BACKSLASH) at += 1;
  }
  for (let quote = bytes.indexOf(QUOTE, at); quote >= 0; quote = bytes.indexOf(QUOTE, quote + 1)) {
    let slashes = 0;
    while (quote - 1 - slashes >= at && bytes[quote - 1 - slashes] === BACKSLASH) slashes += 1;
    if (slashes % 2 === 0) return quote + 1;
  }
  return bytes.length;
}

function endOfValue(bytes: Buffer, start: number): number {
  let depth = 0;
  for (let at = start; at < bytes.length; at += 1) {
    const byte = bytes[at];
    if (byte === QUOTE) {
      at = endOfText(bytes, at) - 1;
      if (depth === 0) return at + 1;
    } else if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) depth += 1;
    else if (byte === CLOSE_OBJECT || byte === CLOSE_ARRAY) {
      // Closes what is around a number or a literal.
      if (depth === 0) return at;
      depth -= 1;
      if (depth === 0) return at + 1;
    } else if (depth === 0 && (byte === COMMA || isSpace(byte))) return at;
  }
  return bytes.length;
}

function skipSpace(bytes: Buffer, from: number): number {
  let at = from;
  while (isSpace(bytes[at])) at += 1;
  return at;
}

function isSpace(byte: number | undefined): boolean {
  return byte === SPACE || byte === LF || byte === CR || byte === TAB;
}
