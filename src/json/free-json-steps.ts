/** Reads stored free JSON that may be as large as a request. */

import type { Steps } from '../domain/steps.ts';
import { parseFreeJson } from './free-json.ts';
import { parseInChunks } from './json-chunks.ts';
import type { LosslessJson } from './lossless-json.ts';

/** A shorter text is parsed within one turn of the event loop. */
export const LARGE_CHARACTERS = 131_072;

/** As parseFreeJson, with pauses in large texts. */
export function* parseFreeJsonInSteps(text: string): Steps<LosslessJson> {
  if (text.length <= LARGE_CHARACTERS) return parseFreeJson(text);
  const value = yield* parseInChunks(Buffer.from(text), {
    wideObjects: [],
    parse: (chunk) => parseFreeJson(chunk.toString()),
  });
  yield;
  return value as LosslessJson;
}
