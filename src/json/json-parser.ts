/**
 * A JSON parser that passes the text of numbers to the caller. JSON.parse does so only through a reviver that it calls
 * for every value of the document: a body of many small values would block the event loop for seconds.
 */

const QUOTE = 0x22;
const COMMA = 0x2c;
const MINUS = 0x2d;
const ZERO = 0x30;
const NINE = 0x39;
const COLON = 0x3a;
const OPEN_ARRAY = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const CONTROL_MAX = 0x1f;
/** A double holds every integer of this many digits, and its text has one spelling. */
const PLAIN_DIGITS_MAX = 15;
/** A longer slice would be a view that keeps the whole text in memory, so JSON.parse makes a copy of it. */
const COPIED_MAX_CHARACTERS = 12;
const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
const LITERALS = [
  ['true', true],
  ['false', false],
  ['null', null],
] as const;

/** Converts number text other than 1 to 15 digits. */
export type ToNumber = (source: string) => unknown;

/** The values of empty objects, by the index of the opening brace. */
type Placeholders = ReadonlyMap<number, unknown>;

const NONE: Placeholders = new Map();
const EMPTY_OBJECT_CHARACTERS = 2;

/**
 * Unpaired surrogates become U+FFFD, except in the names of members. Throws SyntaxError. It calls itself for nested
 * values: the caller must limit their levels.
 */
export function parseWithNumbers(text: string, toNumber: ToNumber, placeholders: Placeholders = NONE): unknown {
  let at = 0;

  function parseValue(): unknown {
    const code = skipSpace();
    if (code === QUOTE) return parseString().toWellFormed();
    if (code === OPEN_OBJECT) return parseObject();
    if (code === OPEN_ARRAY) return parseArray();
    if (code === MINUS || (code >= ZERO && code <= NINE)) return parseNumber(code);
    return parseLiteral();
  }

  function parseObject(): unknown {
    const placeholder = placeholders.size === 0 ? undefined : placeholders.get(at);
    if (placeholder !== undefined) {
      at += EMPTY_OBJECT_CHARACTERS;
      return placeholder;
    }
    const object: { [name: string]: unknown } = {};
    at += 1;
    if (skipSpace() === CLOSE_OBJECT) {
      at += 1;
      return object;
    }
    for (;;) {
      if (skipSpace() !== QUOTE) throw broken();
      const name = parseString();
      if (skipSpace() !== COLON) throw broken();
      at += 1;
      const value = parseValue();
      // Assigning it would set the prototype.
      if (name === '__proto__') Object.defineProperty(object, name, { value, ...PLAIN });
      else object[name] = value;
      if (endsAt(CLOSE_OBJECT)) return object;
    }
  }

  function parseArray(): unknown[] {
    const array: unknown[] = [];
    at += 1;
    if (skipSpace() === CLOSE_ARRAY) {
      at += 1;
      return array;
    }
    for (;;) {
      array.push(parseValue());
      if (endsAt(CLOSE_ARRAY)) return array;
    }
  }

  /** Reads the closing character (true) or a comma (false). */
  function endsAt(close: number): boolean {
    const code = skipSpace();
    at += 1;
    if (code === close) return true;
    if (code === COMMA) return false;
    throw broken();
  }

  function parseString(): string {
    const start = at;
    let hasEscapes = false;
    for (at += 1; ; at += 1) {
      const code = text.charCodeAt(at);
      if (code === QUOTE) break;
      if (code === BACKSLASH) {
        hasEscapes = true;
        at += 1;
      } else if (!(code > CONTROL_MAX)) throw broken();
    }
    at += 1;
    const isCopied = at - start <= COPIED_MAX_CHARACTERS;
    return hasEscapes || !isCopied ? JSON.parse(text.slice(start, at)) : text.slice(start + 1, at - 1);
  }

  function parseNumber(first: number): unknown {
    let value = 0;
    let end = at;
    for (let code = first; code >= ZERO && code <= NINE; code = text.charCodeAt(end)) {
      value = value * 10 + code - ZERO;
      end += 1;
    }
    const digits = end - at;
    const isPlain = digits > 0 && digits <= PLAIN_DIGITS_MAX && (first !== ZERO || digits === 1);
    if (isPlain && !continuesNumber(text.charCodeAt(end))) {
      at = end;
      return value;
    }
    NUMBER.lastIndex = at;
    if (!NUMBER.test(text)) throw broken();
    const source = text.slice(at, NUMBER.lastIndex);
    at = NUMBER.lastIndex;
    return toNumber(source);
  }

  function parseLiteral(): unknown {
    for (const [word, value] of LITERALS) {
      if (!text.startsWith(word, at)) continue;
      at += word.length;
      return value;
    }
    throw broken();
  }

  /** Returns the next character; NaN at the end. */
  function skipSpace(): number {
    for (;;) {
      const code = text.charCodeAt(at);
      if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return code;
      at += 1;
    }
  }

  const value = parseValue();
  skipSpace();
  if (at < text.length) throw broken();
  return value;
}

/** The attributes of a member that was assigned. */
export const PLAIN = { enumerable: true, configurable: true, writable: true } as const;

/** Starts a fraction or exponent. */
function continuesNumber(code: number): boolean {
  return code === 0x2e || code === 0x65 || code === 0x45;
}

export function broken(): SyntaxError {
  return new SyntaxError('The text is not JSON.');
}
