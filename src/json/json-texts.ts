/** JSON texts inside a request: large ones are parsed beforehand, in steps; the others when they are read. */

import type { JsonValue } from '../domain/fault.ts';
import type { Steps } from '../domain/steps.ts';
import { LARGE_CHARACTERS } from './free-json-steps.ts';
import { scanInSteps } from './json-scan.ts';
import { type JsonFacts, parseJson, parseLargeJson, scanJson } from './json-text.ts';

type JsonTexts = {
  prepare(text: string): Steps<void>;
  read(text: string): ReadText;
};

/** `value` throws as parseJson does. */
type ReadText = { readonly facts: JsonFacts; readonly value: () => JsonValue };

export function createJsonTexts(): JsonTexts {
  const large = new Map<string, ReadText>();
  return {
    *prepare(text) {
      if (text.length > LARGE_CHARACTERS && !large.has(text)) large.set(text, yield* readInSteps(Buffer.from(text)));
    },
    read: (text) => large.get(text) ?? readAtOnce(Buffer.from(text)),
  };
}

function* readInSteps(bytes: Buffer): Steps<ReadText> {
  const facts = yield* scanInSteps(bytes);
  try {
    const { value } = yield* parseLargeJson(bytes, 'values');
    return { facts, value: () => value };
  } catch (error) {
    return {
      facts,
      value() {
        throw error;
      },
    };
  }
}

function readAtOnce(bytes: Buffer): ReadText {
  const facts = scanJson(bytes);
  return { facts, value: () => parseJson(bytes, facts, 'values') };
}
