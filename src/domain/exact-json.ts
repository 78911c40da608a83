/** JSON text -> values by JSON.parse, and yet with every digit of integers that a double cannot hold. */

import { parseSpelled, type ToNumber } from './json-parser.ts';
import type { JsonFacts } from './json-scan.ts';
import type {} from './raw-json.ts';

/**
 * The n-th integer beyond 2^53 is parsed as n times this, which is no longer than its digits. No other number of a
 * document that is parsed so is as large: what could be has 16 digits or an exponent of three.
 */
const MARK = 1e300;
const MARK_EXPONENT = 'e300';

/** `bytes` are valid UTF-8 and hold no object that is too wide. Throws SyntaxError, and what `toNumber` throws. */
export function parseExact(bytes: Buffer, facts: JsonFacts, toNumber: ToNumber): unknown {
  // JSON.parse may take an escaped name for one it has seen before (nodejs/node issue 63785).
  if (facts.isPartial || facts.hasLargeFloats || facts.hasEscapedNames) return parseSpelled(textOf(bytes), toNumber);
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

/** Without a byte-order mark. */
export function textOf(bytes: Buffer): string {
  const start = bytes.length >= 3 && bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0;
  return bytes.toString('utf8', start);
}

/** An integer that a double does not hold keeps its text, and so does what is beyond any double. */
export function keepDigits(source: string): unknown {
  const value = Number(source);
  if (Number.isSafeInteger(value) || String(value) === source) return value;
  return Number.isFinite(value) && FLOAT.test(source) ? value : JSON.rawJSON(source);
}

const FLOAT = /[.eE]/;

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
    // Assigned, a member named __proto__ would be the prototype.
    if (restored !== object[name]) Object.defineProperty(object, name, { value: restored });
  }
  return value;
}
