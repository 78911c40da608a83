/** JSON that stands as text in attributes, because those of most SDKs hold nothing else than texts and numbers. */

import type { DraftFacts } from '../collector-draft.ts';
import { Fault } from '../fault.ts';
import { isObject, makeWellFormed } from '../free-json.ts';
import { NUMBER_TEXTS_MAX, parseJson, scanJson } from '../json-text.ts';
import type { LosslessJson, LosslessObject } from '../lossless-json.ts';

export type AttributeJson = {
  /** What is known of all that was read so far. */
  readonly facts: DraftFacts;
  /** The value itself, or what a text of an array or object holds. Text that cannot be parsed stays text. */
  parsed(value: LosslessJson | undefined): LosslessJson | undefined;
  /** What is an object, or the text of one, bare or as {"type":"json","value":{...}}. */
  object(value: LosslessJson | undefined): LosslessObject | undefined;
};

const DEPTH_MAX = 64;
const CONTAINER = /^\s*[{[]/;

/** For one request: together its texts may not hold more numbers that are kept as text than one document. */
export function createAttributeJson({ bytes, depth }: Pick<DraftFacts, 'bytes' | 'depth'>): AttributeJson {
  // Each text may have come out of JSON within JSON; to look for U+0000 is cheap.
  const facts = { bytes, depth, hasEscapes: true, hasWide: false };
  let longIntegers = 0;

  function parse(text: string): LosslessJson {
    const source = Buffer.from(text);
    const found = scanJson(source);
    longIntegers += found.longIntegers.length;
    if (found.depth > DEPTH_MAX || found.hasWide || longIntegers > NUMBER_TEXTS_MAX) return text;
    try {
      const value = parseJson(source, found, 'values') as LosslessJson;
      facts.depth = Math.max(facts.depth, found.depth);
      return found.hasEscapes ? (makeWellFormed({ value }).value ?? null) : value;
    } catch (error) {
      if (error instanceof Fault) return text;
      throw error;
    }
  }

  function parsed(value: LosslessJson | undefined): LosslessJson | undefined {
    return typeof value === 'string' && CONTAINER.test(value) ? parse(value) : value;
  }

  return {
    facts,
    parsed,
    object(value) {
      const read = parsed(value);
      if (!isObject(read)) return undefined;
      return read.type === 'json' && isObject(read.value) ? read.value : read;
    },
  };
}
