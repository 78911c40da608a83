/** Ids of traces and spans: what is accepted, how it is stored, and what a look-up may mean. */

import { hasMoreCharactersThan } from './text-limits.ts';

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

/** Whether an id that is looked up is short enough for any trace to have it. */
export function hasIdLength(value: string): boolean {
  return !hasMoreCharactersThan(value, ID_CHARACTERS_MAX);
}

/** 32 hex digits become lower case, because W3C ids compare that way; anything else is the sender's own. */
export function normaliseTraceId(value: string): string {
  return value.length === TRACE_ID_DIGITS && HEX.test(value) ? value.toLowerCase() : value;
}

/** 16 hex digits become lower case; anything else is the sender's own. */
export function normaliseSpanId(value: string): string {
  return value.length === SPAN_ID_DIGITS && HEX.test(value) ? value.toLowerCase() : value;
}

/** The ids a reader may have meant, to be tried in this order. Null: the value cannot be meant that way. */
export type LookupForms = { readonly exact: string; readonly padded: string | null; readonly prefix: string | null };

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
