/** The texts of one message: strings unchanged, and JSON texts, which are scanned before parsing only where necessary. */

import type { Fault } from '../../domain/fault.ts';
import type { Steps } from '../../domain/steps.ts';
import {
  type DraftFacts,
  isUnreadable,
  type Sent,
  type Unreadable,
  unreadable,
} from '../../domain/traces/collector/collector-draft.ts';
import { isObject } from '../../json/free-json.ts';
import { NUMBER_TEXTS_MAX } from '../../json/json-text.ts';
import { createJsonTexts, parsePlain } from '../../json/json-texts.ts';
import type { LosslessJson, LosslessObject } from '../../json/lossless-json.ts';
import { TOO_WIDE, TOO_WIDE_REASON } from '../../json/wide-json.ts';

export type MessageTexts = {
  /** What the scans of the texts found. */
  readonly facts: DraftFacts;
  /** Parses a large JSON text in steps, before it is read. */
  prepare(text: string | undefined): Steps<void>;
  text(text: string | undefined): string | undefined;
  /** A string field without explicit presence; empty counts as absent. */
  nonEmpty(text: string): string | undefined;
  /** Text that is not JSON makes only its own item unreadable. */
  json(text: string, path: string): LosslessJson | Unreadable;
  object(text: string | undefined, path: string): Sent<LosslessObject>;
};

const BYTES_PER_CHARACTER_MAX = 3;

/** `tooManyNumbers` creates the refusal of a request with too many numbers that must be kept as text. */
export function createMessageTexts(tooManyNumbers: () => Fault): MessageTexts {
  const facts = { depth: 0, hasEscapes: false, bytes: 0, hasWide: false };
  const large = createJsonTexts();
  let longIntegers = 0;

  function readOdd(text: string, path: string): LosslessJson | Unreadable {
    const { facts: found, value: readValue } = large.read(text);
    facts.depth = Math.max(facts.depth, found.depth);
    facts.hasEscapes ||= found.hasEscapes;
    facts.hasWide ||= found.hasWide;
    longIntegers += found.longIntegers.length;
    if (longIntegers > NUMBER_TEXTS_MAX) throw tooManyNumbers();
    if (found.isWide) return TOO_WIDE;
    const value = readValue();
    return value === undefined ? unreadable(path, 'must be valid JSON') : value;
  }

  const texts: MessageTexts = {
    facts,
    *prepare(text) {
      if (text !== undefined) yield* large.prepare(text);
    },
    text(text) {
      if (text === undefined) return undefined;
      facts.bytes = Math.max(facts.bytes, text.length * BYTES_PER_CHARACTER_MAX);
      // Protobuf strings may contain U+0000, which JSON can only escape.
      if (text.includes('\0')) facts.hasEscapes = true;
      return text;
    },
    nonEmpty: (text) => (text === '' ? undefined : texts.text(text)),
    json(text, path) {
      facts.bytes = Math.max(facts.bytes, text.length * BYTES_PER_CHARACTER_MAX);
      const plain = parsePlain(text);
      if (plain === null) return readOdd(text, path);
      facts.depth = Math.max(facts.depth, plain.depth);
      return plain.value;
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
