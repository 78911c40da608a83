/** Keeps the answers of tools short enough for the context of a model. */

import type { JsonValue } from '../../domain/fault.ts';
import type { JsonObject } from '../rest/json-object.ts';

/** Bytes of the longest answer of a tool. */
export const ANSWER_MAX_BYTES = 25_000;

/** The answer as text; null where it is too long, even with texts of at most `textMax` characters. */
export function textWithin(answer: JsonObject, textMax: number | null): string | null {
  const whole = JSON.stringify(textMax === null ? answer : marked(answer, textMax));
  return Buffer.byteLength(whole) <= ANSWER_MAX_BYTES ? whole : null;
}

function marked(answer: JsonObject, textMax: number): JsonObject {
  const shortened = `texts longer than ${textMax} characters are cut; get_span reads the fields of a span whole`;
  return { ...(shorten(answer, textMax) as JsonObject), shortened };
}

function shorten(value: JsonValue, textMax: number): JsonValue {
  if (typeof value === 'string') return cut(value, textMax);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => shorten(item, textMax));
  // Cursors go on being whole.
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, name === 'next_cursor' ? member : shorten(member, textMax)]),
  );
}

function cut(text: string, textMax: number): string {
  if (text.length <= textMax) return text;
  return `${text.slice(0, textMax).toWellFormed()}… [${text.length - textMax} more characters]`;
}

const SLICE_CHARACTERS = 16_000;
const SLICE_MAX_BYTES = 22_000;
const HIGH_SURROGATE = /[\uD800-\uDBFF]$/;

/** The longest part of a text from an offset on that fits into an answer beside its cursor; it splits no character. */
export function sliceFrom(text: string, start: number): string {
  for (let length = SLICE_CHARACTERS; ; length = Math.floor(length / 2)) {
    const slice = text.slice(start, start + length);
    const isLast = start + slice.length >= text.length;
    const whole = !isLast && HIGH_SURROGATE.test(slice) ? slice.slice(0, -1) : slice;
    if (Buffer.byteLength(JSON.stringify(whole)) <= SLICE_MAX_BYTES) return whole;
  }
}
