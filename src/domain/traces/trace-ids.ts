/** Ids of traces and spans: validation, stored form, and the forms that a look-up tries. */

import { hasMoreCharactersThan } from '../text-limits.ts';

export const ID_CHARACTERS_MAX = 200;

const CONTROL_CHARACTERS = /[\u0000-\u001f\u007f-\u009f]/;
const HEX = /^[0-9a-fA-F]+$/;
const TRACE_ID_DIGITS = 32;
const SPAN_ID_DIGITS = 16;
const PREFIX_DIGITS_MIN = 8;

/** Whether a trace or span may have this id: 1 to 200 characters, none of them a control character. */
export function isValidId(value: string): boolean {
  return value !== '' && !hasMoreCharactersThan(value, ID_CHARACTERS_MAX) && !CONTROL_CHARACTERS.test(value);
}

/** Whether an id is short enough for a stored trace to have it. */
export function hasIdLength(value: string): boolean {
  return !hasMoreCharactersThan(value, ID_CHARACTERS_MAX);
}

/** Lower-cases 32 hex digits, because W3C ids compare that way; leaves any other id as sent. */
export function normaliseTraceId(value: string): string {
  return value.length === TRACE_ID_DIGITS && HEX.test(value) ? value.toLowerCase() : value;
}

/** Lower-cases 16 hex digits; leaves any other id as sent. */
export function normaliseSpanId(value: string): string {
  return value.length === SPAN_ID_DIGITS && HEX.test(value) ? value.toLowerCase() : value;
}

/** Forms of an id that a look-up tries in this order. Null: the id has no such form. */
type LookupForms = { readonly exact: string; readonly padded: string | null; readonly prefix: string | null };

/** `padded` is the id with the leading zeros that some tools drop, `prefix` the beginning of a longer id. */
export function lookupForms(id: string): LookupForms {
  const exact = normaliseTraceId(id);
  if (id.length >= TRACE_ID_DIGITS || !HEX.test(id)) return { exact, padded: null, prefix: null };
  const digits = id.toLowerCase();
  return {
    exact,
    padded: digits.padStart(TRACE_ID_DIGITS, '0'),
    prefix: digits.length >= PREFIX_DIGITS_MIN ? digits : null,
  };
}
