/** Parses JSON by JSON.parse, but keeps every digit of integers that a double cannot hold. */

import { parseWithNumbers, type ToNumber } from './json-parser.ts';
import type { JsonFacts } from './json-scan.ts';
import type { RawNumber } from './lossless-json.ts';
import type {} from './raw-json.ts';

/**
 * Stands in, times n, for the n-th integer beyond 2^53, whose digits are longer. No other number of the document is as
 * large: parseExact leaves documents with such numbers to parseWithNumbers.
 */
const MARK = 1e300;
const MARK_EXPONENT = 'e300';

/** `bytes` are valid UTF-8 and hold no object that is too wide. Throws SyntaxError, and errors of `toNumber`. */
export function parseExact(bytes: Buffer, facts: JsonFacts, toNumber: ToNumber): unknown {
  // JSON.parse may confuse an escaped name with an earlier one (nodejs/node issue 63785).
  if (facts.isPartial || facts.hasLargeFloats || facts.hasEscapedNames)
    return parseWithNumbers(textOf(bytes), toNumber);
  const { longIntegers } = facts;
  if (longIntegers.length === 0) return JSON.parse(textOf(bytes));
  const marked = Buffer.from(bytes);
  for (const [index, { start, end }] of longIntegers.entries()) {
    marked.fill(' ', start, end);
    marked.write(`${index + 1}${MARK_EXPONENT}`, start, 'latin1');
  }
  const restore = (mark: number) => {
    const range = longIntegers[Math.round(Math.abs(mark) / MARK) - 1];
    return toNumber(`${mark < 0 ? '-' : ''}${bytes.toString('latin1', range?.start, range?.end)}`);
  };
  return restoreIn(JSON.parse(textOf(marked)), restore);
}

export function textOf(bytes: Buffer): string {
  return bytes.toString('utf8', textStart(bytes));
}

/** Behind a byte-order mark. */
export function textStart(bytes: Buffer): number {
  return bytes.length >= 3 && bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0;
}

/** An integer that a double does not hold keeps its text, and so does a number out of range. */
export function keepDigits(source: string): unknown {
  const value = Number(source);
  if (Number.isSafeInteger(value) || String(value) === source) return value;
  return Number.isFinite(value) && FLOAT.test(source) ? value : JSON.rawJSON(source);
}

const FLOAT = /[.eE]/;

const KEPT_MAX = 1_000;

/**
 * A number that JavaScript would spell differently keeps its text. Equal ones are made once: each is slow. `beforeMaking`
 * is called for every one that is made.
 */
export function createKeepSpelling(beforeMaking: () => void = () => undefined): ToNumber {
  const kept = new Map<string, RawNumber>();
  return (source) => {
    const value = Number(source);
    if (String(value) === source) return value;
    const cached = kept.get(source);
    if (cached !== undefined) return cached;
    beforeMaking();
    const raw = JSON.rawJSON(source);
    if (kept.size < KEPT_MAX) kept.set(source, raw);
    return raw;
  };
}

/** A fraction, an exponent, or a negative zero; some strings match too. */
const ODD_NUMBER = /[0-9][.eE]|-0/;
const LONG_INTEGER = /[0-9]{16}/;

/** Whether JavaScript could spell a number of the text differently, apart from long integers. */
export function hasOddNumbers(text: string): boolean {
  return ODD_NUMBER.test(text);
}

/** Whether JSON.parse keeps every value and name of the text as it is spelled. */
export function isPlainJson(text: string): boolean {
  return !text.includes('\\') && !hasOddNumbers(text) && !LONG_INTEGER.test(text);
}

function restoreIn(value: unknown, restore: (mark: number) => unknown): unknown {
  if (typeof value === 'number') return value >= MARK || value <= -MARK ? restore(value) : value;
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index += 1) {
      const item: unknown = value[index];
      const restored = restoreIn(item, restore);
      if (restored !== item) value[index] = restored;
    }
    return value;
  }
  const object = value as { [name: string]: unknown };
  for (const name of Object.keys(object)) {
    const restored = restoreIn(object[name], restore);
    // Assigning to __proto__ would set the prototype.
    if (restored !== object[name]) Object.defineProperty(object, name, { value: restored });
  }
  return value;
}
