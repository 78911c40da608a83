/** JSON texts inside a request: large ones are parsed beforehand, in steps; the others when they are read. */

import { Fault, type JsonValue } from '../domain/fault.ts';
import type { Steps } from '../domain/steps.ts';
import { makeWellFormed } from './free-json.ts';
import { LARGE_CHARACTERS } from './free-json-steps.ts';
import { scanInSteps } from './json-scan.ts';
import { type JsonFacts, parseJson, parseLargeJson, scanJson } from './json-text.ts';
import type { LosslessJson } from './lossless-json.ts';

/** `value` is undefined for text that parseJson refuses. Unpaired surrogates become U+FFFD. */
type ReadText = { readonly facts: JsonFacts; readonly value: () => LosslessJson | undefined };

export function createJsonTexts() {
  const large = new Map<string, ReadText>();
  return {
    *prepare(text: string): Steps<void> {
      if (text.length > LARGE_CHARACTERS && !large.has(text)) large.set(text, yield* readInSteps(Buffer.from(text)));
    },
    read: (text: string): ReadText => large.get(text) ?? readAtOnce(Buffer.from(text)),
  };
}

function* readInSteps(bytes: Buffer): Steps<ReadText> {
  const facts = yield* scanInSteps(bytes);
  try {
    const { value } = yield* parseLargeJson(bytes, 'values');
    const wellFormed = toWellFormed(value, facts);
    return { facts, value: () => wellFormed };
  } catch (error) {
    if (error instanceof Fault) return { facts, value: () => undefined };
    throw error;
  }
}

export function readAtOnce(bytes: Buffer): ReadText {
  const facts = scanJson(bytes);
  return {
    facts,
    value() {
      try {
        return toWellFormed(parseJson(bytes, facts, 'values'), facts);
      } catch (error) {
        if (error instanceof Fault) return undefined;
        throw error;
      }
    },
  };
}

function toWellFormed(value: JsonValue, { hasEscapes }: JsonFacts): LosslessJson {
  return hasEscapes ? makeWellFormed(value as LosslessJson) : (value as LosslessJson);
}

/** Text with long integers, escapes or large exponents must be scanned: such numbers may exceed a double. */
const ODD = /[0-9]{16}|\\|[eE]\+?[0-9]{3}/;
/** A shorter text cannot hold an object of too many members. */
const PLAIN_CHARACTERS_MAX = 16_384;
const PLAIN_DEPTH_MAX = 64;
const OPEN_ARRAY = 0x5b;
const OPEN_OBJECT = 0x7b;

/** Parses a text that surely needs no scan; null for all others, and for text that is not JSON. It nests at most `depth` levels. */
export function parsePlain(text: string): { readonly value: LosslessJson; readonly depth: number } | null {
  if (text.length > PLAIN_CHARACTERS_MAX || ODD.test(text)) return null;
  const depth = countOpenings(text);
  if (depth > PLAIN_DEPTH_MAX) return null;
  try {
    return { value: JSON.parse(text), depth };
  } catch {
    return null;
  }
}

/** An upper bound of the nesting: the number of opening brackets, also inside strings. */
function countOpenings(text: string): number {
  let count = 0;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (code === OPEN_ARRAY || code === OPEN_OBJECT) count += 1;
  }
  return count;
}
