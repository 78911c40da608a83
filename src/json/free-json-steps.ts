/** Reads and writes free JSON that may be as large as a request, with pauses. */

import type { Steps } from '../domain/steps.ts';
import { isArray, isObject, parseFreeJson } from './free-json.ts';
import { parseInChunks } from './json-chunks.ts';
import type { LosslessJson, LosslessObject } from './lossless-json.ts';

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

/** Written at once. */
const CHUNK_CHARACTERS = 65_536;

const LEADING_SURROGATE = /[\ud800-\udbff]/;

/** As JSON.stringify, with pauses in large values. */
export function* writeJsonInSteps(value: LosslessJson): Steps<string> {
  if (isArray(value)) return yield* writeItems(value);
  if (isObject(value)) return yield* writeMembers(value);
  return typeof value === 'string' && value.length > CHUNK_CHARACTERS ? yield* writeLong(value) : JSON.stringify(value);
}

function* writeLong(text: string): Steps<string> {
  let written = '';
  for (let start = 0, end = 0; start < text.length; start = end) {
    end = start + CHUNK_CHARACTERS;
    // Both halves of a pair belong to one chunk.
    if (LEADING_SURROGATE.test(text.charAt(end - 1))) end += 1;
    written += JSON.stringify(text.slice(start, end)).slice(1, -1);
    yield;
  }
  return `"${written}"`;
}

function* writeItems(items: readonly LosslessJson[]): Steps<string> {
  let text = '';
  let from = 0;
  let characters = 0;
  const writeTo = (end: number) => {
    if (end > from) text += `,${JSON.stringify(items.slice(from, end)).slice(1, -1)}`;
    from = end;
    characters = 0;
  };
  for (let index = 0; index < items.length; index += 1) {
    const item = items[index] ?? null;
    const isLong = typeof item === 'string' && item.length > CHUNK_CHARACTERS;
    if (isLong || isArray(item) || isObject(item)) {
      writeTo(index);
      text += `,${yield* writeJsonInSteps(item)}`;
      from = index + 1;
    } else characters += typeof item === 'string' ? item.length : 1;
    if (characters < CHUNK_CHARACTERS) continue;
    writeTo(index + 1);
    yield;
  }
  writeTo(items.length);
  yield;
  return `[${text.slice(1)}]`;
}

function* writeMembers(value: LosslessObject): Steps<string> {
  let text = '';
  let characters = 0;
  for (const key of Object.keys(value)) {
    const member = value[key];
    // As JSON.stringify does.
    if (member === undefined) continue;
    const written = yield* writeJsonInSteps(member);
    text += `,${JSON.stringify(key)}:${written}`;
    characters += key.length + written.length;
    if (characters < CHUNK_CHARACTERS) continue;
    characters = 0;
    yield;
  }
  return `{${text.slice(1)}}`;
}
