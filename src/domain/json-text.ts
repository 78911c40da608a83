/** JSON text -> values, judged by its bytes first: depth, long numbers and escapes are found in one pass. */

import { isUtf8 } from 'node:buffer';
import { Fault, type JsonValue } from './fault.ts';
import { parseSpelled, type ToNumber } from './json-parser.ts';
import type {} from './raw-json.ts';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const LONG_DIGITS = 16;
const JSON_DEPTH_MAX = 128;
/** A fraction, an exponent, or a zero with a sign; some texts have it as well. */
const ODD_NUMBER = /[0-9][.eE]|-0/;
const KEPT_MAX = 1_000;

/** What one pass over the bytes of a document found. */
export type JsonFacts = {
  /** Deepest nesting of arrays and objects. */
  readonly depth: number;
  /** A number a double may not hold: a run of 16 digits, or an exponent of three. */
  readonly hasHardNumbers: boolean;
  /** Any \u escape: only they can carry U+0000 or a lone surrogate. */
  readonly hasEscapes: boolean;
  readonly bytes: number;
};

/** Looks at the structure without building anything, so that a hostile document costs nothing but its bytes. */
export function scanJson(bytes: Uint8Array): JsonFacts {
  let depth = 0;
  let deepest = 0;
  let digits = 0;
  let hasHardNumbers = false;
  let hasEscapes = false;
  const end = bytes.length;
  for (let index = 0; index < end; index++) {
    const byte = bytes[index] as number;
    if (byte === QUOTE) {
      for (index++; index < end; index++) {
        const inside = bytes[index] as number;
        if (inside === QUOTE) break;
        if (inside === BACKSLASH) {
          index++;
          if (bytes[index] === 0x75) hasEscapes = true;
        }
      }
      digits = 0;
    } else if (byte >= 0x30 && byte <= 0x39) {
      digits++;
      if (digits === LONG_DIGITS) hasHardNumbers = true;
    } else {
      if (byte === 0x7b || byte === 0x5b) {
        depth++;
        if (depth > deepest) deepest = depth;
      } else if (byte === 0x7d || byte === 0x5d) {
        depth--;
      } else if ((byte === 0x65 || byte === 0x45) && digits > 0 && hasLongExponent(bytes, index + 1)) {
        hasHardNumbers = true;
      }
      digits = 0;
    }
  }
  return { depth: deepest, hasHardNumbers, hasEscapes, bytes: end };
}

/** With fewer than three digits an exponent keeps any number of up to 15 digits within a double. */
function hasLongExponent(bytes: Uint8Array, start: number): boolean {
  const sign = bytes[start];
  const first = sign === 0x2b || sign === 0x2d ? start + 1 : start;
  return isDigit(bytes[first]) && isDigit(bytes[first + 1]) && isDigit(bytes[first + 2]);
}

function isDigit(byte: number | undefined): boolean {
  return byte !== undefined && byte >= 0x30 && byte <= 0x39;
}

/** Text as UTF-8 without a byte-order mark; malformed_request when it is none. */
export function decodeUtf8(bytes: Buffer): string {
  const start = bytes.length >= 3 && bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0;
  if (!isUtf8(bytes)) throw malformed('The request body is not valid UTF-8.', 'invalid UTF-8');
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
 * Throws malformed_request for anything that is no JSON, and mostly for numbers beyond a double.
 */
export function parseJson(bytes: Buffer, facts: JsonFacts, spelling: Spelling): JsonValue {
  if (facts.depth > JSON_DEPTH_MAX) throw tooDeep();
  const text = decodeUtf8(bytes);
  try {
    if (!mustBeSpelled(text, facts, spelling)) return JSON.parse(text);
    return parseSpelled(text, spelling === 'literals' ? keepSpelling() : refuseBoundless(keepSpelling())) as JsonValue;
  } catch (error) {
    if (error instanceof Fault) throw error;
    throw malformed('The request body is not valid JSON.', 'unparsable JSON');
  }
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

/** The refusal of a body that is no JSON document. */
export function malformed(message: string, detail: string): Fault {
  return new Fault('malformed_request', message, { meta: { target: 'json', detail } });
}
