/** JSON text -> values, judged by its bytes first: depth, long numbers and escapes are found in one pass. */

import { isUtf8 } from 'node:buffer';
import { Fault, type JsonValue, validationFault } from './fault.ts';
import { parseSpelled, type ToNumber } from './json-parser.ts';
import { type ByteRange, JSON_DEPTH_MAX, type JsonFacts, MEMBERS_MAX } from './json-scan.ts';
import type {} from './raw-json.ts';
import { findTooWide, TOO_WIDE, TOO_WIDE_REASON } from './wide-json.ts';

export { type JsonFacts, MEMBERS_MAX, scanJson } from './json-scan.ts';

/** A fraction, an exponent, or a zero with a sign; some texts have it as well. */
const ODD_NUMBER = /[0-9][.eE]|-0/;
const KEPT_MAX = 1_000;

/** Text as UTF-8 without a byte-order mark; malformed_request when it is none. */
export function decodeUtf8(bytes: Buffer): string {
  const start = bytes.length >= 3 && bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0;
  if (!isUtf8(bytes)) throw noUtf8();
  return bytes.toString('utf8', start);
}

export type Spelling =
  /** Numbers a double cannot hold keep their text; other spellings may change. */
  | 'values'
  /** Every number not spelled as JavaScript would spell it keeps its text, so that integers can be judged on it. */
  | 'tokens'
  /** The same, and numbers beyond a double are left to whoever judges the items of the document one by one. */
  | 'literals';

/**
 * Parses a document of at most 128 levels. Numbers that keep their text come as JSON.rawJSON objects.
 * Throws malformed_request for anything that is no JSON, and mostly for numbers beyond a double. Objects of more than
 * 10,000 members are never built: a document that is judged as a whole is refused for them, else TOO_WIDE stands there.
 */
export function parseJson(bytes: Buffer, facts: JsonFacts, spelling: Spelling): JsonValue {
  if (facts.depth > JSON_DEPTH_MAX) throw tooDeep();
  if (facts.isWide) throw tooWide('');
  if (facts.isCutShort) throw unparsable();
  const value = parseAround(bytes, facts, spelling);
  if (facts.hasWide && spelling === 'tokens') throw tooWide(findTooWide(value) ?? '');
  return value;
}

/** Parses everything but the objects that are too wide, in whose place TOO_WIDE stands. */
function parseAround(bytes: Buffer, facts: JsonFacts, spelling: Spelling): JsonValue {
  const { text, standIns } = cutOut(bytes, facts.wideObjects);
  const toNumber = spelling === 'literals' ? keepSpelling() : refuseBoundless(keepSpelling());
  try {
    if (!facts.hasWide && !mustBeSpelled(text, facts, spelling)) return JSON.parse(text);
    return parseSpelled(text, toNumber, standIns) as JsonValue;
  } catch (error) {
    if (error instanceof Fault) throw error;
    throw unparsable();
  }
}

/** The text with {} in the place of each range, and where in the text those are. */
function cutOut(bytes: Buffer, ranges: readonly ByteRange[]) {
  const standIns = new Map<number, unknown>();
  const [first] = ranges;
  if (first === undefined) return { text: decodeUtf8(bytes), standIns };
  if (!isUtf8(bytes)) throw noUtf8();
  let text = decodeUtf8(bytes.subarray(0, first.start));
  for (const [index, { end }] of ranges.entries()) {
    standIns.set(text.length, TOO_WIDE);
    text += `{}${bytes.toString('utf8', end, ranges[index + 1]?.start)}`;
  }
  return { text, standIns };
}

/** Whether JSON.parse could lose something. */
function mustBeSpelled(text: string, { hasHardNumbers, hasEscapes }: JsonFacts, spelling: Spelling): boolean {
  return spelling === 'values' ? hasHardNumbers : hasEscapes || hasHardNumbers || ODD_NUMBER.test(text);
}

/** A number that is not spelled as JavaScript would spell it keeps its text. Equal ones are made once: each takes long. */
function keepSpelling(): ToNumber {
  const kept = new Map<string, unknown>();
  return (source) => {
    const value = Number(source);
    if (String(value) === source) return value;
    const known = kept.get(source);
    if (known !== undefined) return known;
    const raw = JSON.rawJSON(source);
    if (kept.size < KEPT_MAX) kept.set(source, raw);
    return raw;
  };
}

function refuseBoundless(toNumber: ToNumber): ToNumber {
  return (source) => {
    if (Number.isFinite(Number(source))) return toNumber(source);
    throw malformed('The request body holds a number that is too large.', 'number out of range');
  };
}

function tooDeep(): Fault {
  return malformed(`The request body is nested deeper than ${JSON_DEPTH_MAX} levels.`, 'nested too deep');
}

function noUtf8(): Fault {
  return malformed('The request body is not valid UTF-8.', 'invalid UTF-8');
}

function unparsable(): Fault {
  return malformed('The request body is not valid JSON.', 'unparsable JSON');
}

/** `name`: the member of the document that holds the object; empty for the document itself. */
export function tooWide(name: string): Fault {
  const field = name === '' ? '(root)' : name;
  const message = `${field} ${TOO_WIDE_REASON}`;
  return validationFault('json', [{ field, type: 'too_big', message, expected: MEMBERS_MAX }]);
}

/** The refusal of a body that is no JSON document. */
export function malformed(message: string, detail: string): Fault {
  return new Fault('malformed_request', message, { meta: { target: 'json', detail } });
}
