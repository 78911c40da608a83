/** Keeps the answers of tools short enough for the context of a model. */

import type { JsonValue } from '../../domain/fault.ts';
import type {} from '../../json/raw-json.ts';
import type { JsonObject } from '../rest/json-object.ts';

/** Bytes of the longest answer of a tool. */
export const ANSWER_MAX_BYTES = 25_000;

/**
 * The answer as text; null where it is too long, even with texts of at most `textMax` characters. It stops as soon as it is,
 * because answers of routes may be a thousand times as long.
 */
export function textWithin(answer: JsonObject, textMax: number | null): string | null {
  const writing = { text: '', leftBytes: ANSWER_MAX_BYTES, textMax };
  return write(textMax === null ? answer : marked(answer, textMax), writing) ? writing.text : null;
}

/** The bytes of an answer, at most `max`. */
export function bytesWithin(answer: JsonObject, max: number): number {
  const writing = { text: '', leftBytes: max, textMax: null };
  return write(answer, writing) ? max - writing.leftBytes : max;
}

function marked(answer: JsonObject, textMax: number): JsonObject {
  const shortened = `texts longer than ${textMax} characters are cut; get_span reads the fields of a span whole`;
  return { ...answer, shortened };
}

type Writing = { text: string; leftBytes: number; readonly textMax: number | null };

/** Whether the whole value fits. */
function write(value: JsonValue, writing: Writing): boolean {
  if (typeof value === 'string') return writeText(value, writing);
  if (typeof value !== 'object' || value === null || JSON.isRawJSON(value)) return add(JSON.stringify(value), writing);
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index += 1) {
      if (!add(index === 0 ? '[' : ',', writing) || !write(value[index] ?? null, writing)) return false;
    }
    return add(value.length === 0 ? '[]' : ']', writing);
  }
  return writeMembers(value, writing);
}

function writeMembers(members: JsonObject, writing: Writing): boolean {
  let before = '{';
  for (const [name, member] of Object.entries(members)) {
    if (!add(before, writing) || !add(`${JSON.stringify(name)}:`, writing)) return false;
    // Cursors go on being whole.
    const isCursor = name === 'next_cursor' && typeof member === 'string';
    if (!(isCursor ? add(JSON.stringify(member), writing) : write(member ?? null, writing))) return false;
    before = ',';
  }
  return add(before === '{' ? '{}' : '}', writing);
}

function writeText(value: string, writing: Writing): boolean {
  const text = writing.textMax === null ? value : cut(value, writing.textMax);
  // A character has one byte at least.
  return text.length <= writing.leftBytes && add(JSON.stringify(text), writing);
}

function add(json: string, writing: Writing): boolean {
  // Most pieces are a single character of syntax.
  writing.leftBytes -= json.length === 1 ? 1 : Buffer.byteLength(json);
  writing.text += json;
  return writing.leftBytes >= 0;
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
