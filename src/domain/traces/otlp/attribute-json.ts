/** Parses JSON that stands as text in attributes, because most SDKs write only texts and numbers. */

import { isObject, nestsDeeperThan } from '../../../json/free-json.ts';
import { LARGE_CHARACTERS } from '../../../json/free-json-steps.ts';
import { NUMBER_TEXTS_MAX } from '../../../json/json-text.ts';
import { createJsonTexts, parsePlain } from '../../../json/json-texts.ts';
import type { LosslessJson, LosslessObject } from '../../../json/lossless-json.ts';
import type { Steps } from '../../steps.ts';
import { type DraftFacts, type Sent, unreadable } from '../collector/collector-draft.ts';
import { isBlank } from '../collector/collector-json.ts';
import type { Attributes, OtlpSpan } from './span.ts';

export type AttributeJson = ReturnType<typeof createAttributeJson>;

const DEPTH_MAX = 64;
/** Chat messages may nest deeper than what they are made of: the arguments of a call move into a member of their message. */
const MESSAGE_LEVELS = 3;
const CONTAINER = /^\s*[{[]/;

/** For one request: its texts together may not hold more long integers than one document. */
export function createAttributeJson({ bytes, depth }: Pick<DraftFacts, 'bytes' | 'depth'>) {
  // Each text may come from JSON within JSON; a check for U+0000 is cheap.
  const facts = { bytes, depth, hasEscapes: true, hasWide: false };
  const texts = createJsonTexts();
  let longIntegers = 0;
  /** Several fields in a row read members of one text. */
  let latest: { readonly text: string; readonly value: LosslessJson } | undefined;

  function parse(text: string): LosslessJson {
    if (text !== latest?.text) latest = { text, value: parseAnew(text) };
    return latest.value;
  }

  function parseAnew(text: string): LosslessJson {
    const plain = parsePlain(text);
    if (plain !== null && plain.depth + MESSAGE_LEVELS <= DEPTH_MAX) {
      facts.depth = Math.max(facts.depth, plain.depth + MESSAGE_LEVELS);
      return plain.value;
    }
    const { facts: found, value: readValue } = texts.read(text);
    longIntegers += found.longIntegers.length;
    if (found.depth > DEPTH_MAX || found.hasWide || longIntegers > NUMBER_TEXTS_MAX) return text;
    const value = readValue();
    if (value === undefined) return text;
    facts.depth = Math.max(facts.depth, found.depth + MESSAGE_LEVELS);
    return value;
  }

  function* prepareEach(attributes: Attributes): Steps<void> {
    for (const value of attributes.values()) {
      if (typeof value === 'string' && CONTAINER.test(value)) yield* texts.prepare(value);
    }
  }

  /** The value, or the parsed array or object of a text. Text that cannot be parsed stays text. */
  function parsed(value: LosslessJson | undefined): LosslessJson | undefined {
    return typeof value === 'string' && CONTAINER.test(value) ? parse(value) : value;
  }

  return {
    /** Facts about all values read so far. */
    facts,
    /** Parses large texts of a span in steps, before they are read. */
    *prepare({ resource, attributes, events }: OtlpSpan): Steps<void> {
      if (bytes <= LARGE_CHARACTERS) return;
      yield* prepareEach(resource);
      yield* prepareEach(attributes);
      for (const event of events) yield* prepareEach(event.attributes);
    },
    parsed,
    /** Whether messages can be made of a value; they would nest too deep otherwise. */
    fitsMessages: (value: LosslessJson): boolean =>
      facts.depth <= DEPTH_MAX || !nestsDeeperThan(value, DEPTH_MAX - MESSAGE_LEVELS),
    /** An object, or the text of one, bare or as {"type":"json","value":{...}}. */
    object(value: LosslessJson | undefined): LosslessObject | undefined {
      const read = parsed(value);
      if (!isObject(read)) return undefined;
      return read.type === 'json' && isObject(read.value) ? read.value : read;
    },
  };
}

type ObjectAttribute = { readonly key: string; readonly field: string; readonly json: AttributeJson };

/** The object in an attribute, for a field of a draft. Blank text counts as not sent. */
export function objectIn(attributes: Attributes, { key, field, json }: ObjectAttribute): Sent<LosslessObject> {
  const value = attributes.get(key);
  if (isBlank(value)) return undefined;
  return json.object(value) ?? unreadable(field, `${key} must be an object`);
}
