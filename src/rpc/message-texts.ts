/** The texts of one message: strings as they are, and JSON that is read without a closer look wherever that is safe. */

import { type DraftFacts, isUnreadable, type Sent, type Unreadable, unreadable } from '../domain/collector-draft.ts';
import { Fault } from '../domain/fault.ts';
import { isObject, makeWellFormed } from '../domain/free-json.ts';
import { NUMBER_TEXTS_MAX, parseJson, scanJson } from '../domain/json-text.ts';
import type { LosslessJson, LosslessObject } from '../domain/lossless-json.ts';
import { TOO_WIDE, TOO_WIDE_REASON } from '../domain/wide-json.ts';

export type MessageTexts = {
  /** What a look at the texts that were read found out. */
  readonly facts: DraftFacts;
  text(text: string | undefined): string | undefined;
  /** Without presence of its own, an empty text stands for none. */
  nonEmpty(text: string): string | undefined;
  /** Text that is no JSON makes its own item unreadable, and no other. */
  json(text: string, path: string): LosslessJson | Unreadable;
  object(text: string | undefined, path: string): Sent<LosslessObject>;
};

/** Integers that a double may not hold, escapes, and numbers that may be beyond a double need a closer look. */
const ODD = /[0-9]{16}|\\|[eE]\+?[0-9]{3}/;
/** In fewer characters no object can have too many members. */
const PLAIN_CHARACTERS_MAX = 16_384;
const PLAIN_DEPTH_MAX = 64;
const BYTES_PER_CHARACTER_MAX = 3;
const OPEN_ARRAY = 0x5b;
const OPEN_OBJECT = 0x7b;

/** `tooManyNumbers`: the refusal of more numbers that must be kept as text than a request may hold. */
export function createMessageTexts(tooManyNumbers: () => Fault): MessageTexts {
  const facts = { depth: 0, hasEscapes: false, bytes: 0, hasWide: false };
  let longIntegers = 0;

  function readOdd(text: string, path: string): LosslessJson | Unreadable {
    const bytes = Buffer.from(text);
    const found = scanJson(bytes);
    facts.depth = Math.max(facts.depth, found.depth);
    facts.hasEscapes ||= found.hasEscapes;
    facts.hasWide ||= found.hasWide;
    longIntegers += found.longIntegers.length;
    if (longIntegers > NUMBER_TEXTS_MAX) throw tooManyNumbers();
    if (found.isWide) return TOO_WIDE;
    try {
      const value = parseJson(bytes, found, 'values') as LosslessJson;
      return found.hasEscapes ? (makeWellFormed({ value }).value ?? null) : value;
    } catch (error) {
      if (error instanceof Fault) return unreadable(path, 'must be valid JSON');
      throw error;
    }
  }

  const texts: MessageTexts = {
    facts,
    text(text) {
      if (text === undefined) return undefined;
      facts.bytes = Math.max(facts.bytes, text.length * BYTES_PER_CHARACTER_MAX);
      // Protobuf text may hold U+0000 as it is, which JSON can only escape.
      if (text.includes('\0')) facts.hasEscapes = true;
      return text;
    },
    nonEmpty: (text) => (text === '' ? undefined : texts.text(text)),
    json(text, path) {
      facts.bytes = Math.max(facts.bytes, text.length * BYTES_PER_CHARACTER_MAX);
      if (text.length > PLAIN_CHARACTERS_MAX || ODD.test(text)) return readOdd(text, path);
      const depth = countOpenings(text);
      if (depth > PLAIN_DEPTH_MAX) return readOdd(text, path);
      facts.depth = Math.max(facts.depth, depth);
      try {
        return JSON.parse(text);
      } catch {
        return readOdd(text, path);
      }
    },
    object(text, path) {
      if (text === undefined) return undefined;
      const value = texts.json(text, path);
      if (value === null || isUnreadable(value)) return value ?? undefined;
      if (value === TOO_WIDE) return unreadable(path, TOO_WIDE_REASON);
      return isObject(value) ? value : unreadable(path, 'must be an object');
    },
  };
  return texts;
}

/** Nesting is no deeper than what opens, be it inside a string. */
function countOpenings(text: string): number {
  let count = 0;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (code === OPEN_ARRAY || code === OPEN_OBJECT) count += 1;
  }
  return count;
}
