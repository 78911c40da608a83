/** Parses JSON text after one scan of its bytes, which finds the depth, long numbers and escapes. */

import { isUtf8 } from 'node:buffer';
import { Fault, type JsonValue, validationFault } from '../domain/fault.ts';
import { tooManyParts } from '../domain/message-parts.ts';
import type { Steps } from '../domain/steps.ts';
import { createKeepSpelling, hasOddNumbers, keepDigits, parseExact, textOf } from './exact-json.ts';
import { parseInChunks } from './json-chunks.ts';
import { parseWithNumbers, type ToNumber } from './json-parser.ts';
import {
  type ByteRange,
  JSON_DEPTH_MAX,
  type JsonFacts,
  MEMBERS_MAX,
  NUMBER_TEXTS_MAX,
  scanInSteps,
  scanJson,
} from './json-scan.ts';
import type {} from './raw-json.ts';
import { findTooWide, TOO_WIDE, TOO_WIDE_REASON } from './wide-json.ts';

export { JSON_DEPTH_MAX, type JsonFacts, MEMBERS_MAX, NUMBER_TEXTS_MAX, scanJson } from './json-scan.ts';

export const NUMBER_TEXTS_REASON = `must not hold more than ${NUMBER_TEXTS_MAX} numbers that must be kept as text, such as integers beyond 2^53`;

export type Spelling =
  /** Integers that a double cannot hold keep their text; other spellings may change. */
  | 'values'
  /** Every number that JavaScript would spell differently keeps its text, so that integers can be checked by it. */
  | 'tokens'
  /** As `tokens`, but numbers beyond a double are left to the code that checks the items one by one. */
  | 'literals';

/**
 * Parses a document of at most 128 levels. Numbers that keep their text become JSON.rawJSON objects.
 * Throws malformed_request for invalid JSON, and except for `literals` for numbers beyond a double. Objects of more
 * than 10,000 members are never built: TOO_WIDE replaces them, but `tokens` and a wide root are refused. A document of
 * more than 20,000 numbers that keep their text is refused, and so is one of more than 400,000 arrays and objects, the
 * limit of parts of a message.
 */
export function parseJson(bytes: Buffer, facts: JsonFacts, spelling: Spelling): JsonValue {
  requireShape(bytes, facts);
  const parse = createParse(spelling);
  try {
    return requireNarrow(parse(bytes, facts), facts, spelling);
  } catch (error) {
    throw toRefusal(error);
  }
}

/** Whether a document is parsed in chunks: smaller ones fit into one turn of the event loop. */
export function isLargeJson(bytes: Uint8Array): boolean {
  return bytes.length > LARGE_BYTES;
}

/** Scans and parses a large document, with pauses. */
export function* parseLargeJson(
  bytes: Buffer,
  spelling: Spelling,
): Steps<{ readonly value: JsonValue; readonly facts: JsonFacts }> {
  const facts = yield* scanInSteps(bytes);
  requireShape(bytes, facts);
  const parse = createParse(spelling);
  try {
    const value = yield* parseInChunks(bytes, {
      wideObjects: facts.wideObjects,
      parse: (piece) => parse(piece, scanJson(piece)),
    });
    return { value: requireNarrow(value as JsonValue, facts, spelling), facts };
  } catch (error) {
    throw toRefusal(error);
  }
}

const LARGE_BYTES = 262_144;

function requireShape(bytes: Buffer, facts: JsonFacts): void {
  if (facts.depth > JSON_DEPTH_MAX) throw tooDeep();
  if (facts.hasTooManyParts) throw tooManyParts();
  if (facts.longIntegers.length > NUMBER_TEXTS_MAX) throw tooManyNumberTexts();
  if (facts.isWide) throw tooWide('');
  if (facts.isCutShort) throw unparsable();
  if (!isUtf8(bytes)) throw malformed('The request body is not valid UTF-8.', 'invalid UTF-8');
}

function requireNarrow(value: JsonValue, { hasWide }: JsonFacts, spelling: Spelling): JsonValue {
  if (hasWide && spelling === 'tokens') throw tooWide(findTooWide(value) ?? '');
  return value;
}

function toRefusal(error: unknown): Fault {
  return error instanceof Fault ? error : unparsable();
}

/** For one document or all chunks of one. It builds everything but wide objects, which TOO_WIDE replaces. */
function createParse(spelling: Spelling): (bytes: Buffer, facts: JsonFacts) => JsonValue {
  const keep = spelling === 'values' ? keepDigits : keepSomeSpellings();
  const toNumber = spelling === 'literals' ? keep : refuseOutOfRange(keep);
  return (bytes, facts) => {
    if (spelling === 'values' && !facts.hasWide) return parseExact(bytes, facts, toNumber) as JsonValue;
    const { text, placeholders } = cutOut(bytes, facts.wideObjects);
    if (!facts.hasWide && !mustBeSpelled(text, facts)) return JSON.parse(text);
    return parseWithNumbers(text, toNumber, placeholders) as JsonValue;
  };
}

/** The text with {} instead of each range, and the indexes of these {}. */
function cutOut(bytes: Buffer, ranges: readonly ByteRange[]) {
  const placeholders = new Map<number, unknown>();
  const [first] = ranges;
  if (first === undefined) return { text: textOf(bytes), placeholders };
  let text = textOf(bytes.subarray(0, first.start));
  for (const [index, { end }] of ranges.entries()) {
    placeholders.set(text.length, TOO_WIDE);
    text += `{}${bytes.toString('utf8', end, ranges[index + 1]?.start)}`;
  }
  return { text, placeholders };
}

/** Whether JSON.parse could change a value. */
function mustBeSpelled(text: string, { longIntegers, hasEscapes, hasEscapedNames }: JsonFacts): boolean {
  return hasEscapes || hasEscapedNames || longIntegers.length > 0 || hasOddNumbers(text);
}

function keepSomeSpellings(): ToNumber {
  let made = 0;
  return createKeepSpelling(() => {
    made += 1;
    if (made > NUMBER_TEXTS_MAX) throw tooManyNumberTexts();
  });
}

function refuseOutOfRange(toNumber: ToNumber): ToNumber {
  return (source) => {
    if (Number.isFinite(Number(source))) return toNumber(source);
    throw malformed('The request body holds a number that is too large.', 'number out of range');
  };
}

export function tooManyNumberTexts(): Fault {
  const message = `(root) ${NUMBER_TEXTS_REASON}`;
  return validationFault('json', [{ field: '(root)', type: 'too_big', message, expected: NUMBER_TEXTS_MAX }]);
}

export function tooDeep(): Fault {
  return malformed(`The request body is nested deeper than ${JSON_DEPTH_MAX} levels.`, 'nested too deep');
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

/** The refusal of a body that is not a JSON document. */
export function malformed(message: string, detail: string): Fault {
  return new Fault('malformed_request', message, { meta: { target: 'json', detail } });
}
