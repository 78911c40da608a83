/** Builds validation reasons with uniform wording. */

import { jsonTypeOf, type LosslessJson } from '../json/lossless-json.ts';
import { type Reason, validationFault } from './fault.ts';
import { nearestMatch, spellNearest, suggestName } from './nearest-match.ts';
import { maskedHead } from './token-mask.ts';

/** Of a name that is meant to be another; the names of one object are few, so they differ more than those of a catalogue. */
const MEMBER_CHANGES_MAX = 1 / 3;

/** The reason for a member that a request does not have. `known` are the paths that it can have in the same object. */
export function unknownMemberReason(field: string, known: readonly string[]): Reason {
  const before = field.slice(0, field.lastIndexOf('.') + 1);
  const parent = known.every((each) => each.startsWith(before)) ? before : '';
  const names = known.map((each) => each.slice(parent.length));
  const nearest = nearestMatch(field.slice(parent.length), names, MEMBER_CHANGES_MAX);
  const hint = nearest === null ? `; its members are ${known.join(', ')}` : spellNearest([parent + nearest]);
  return notMemberReason(field, hint);
}

/** The reason to refuse a member that only answers have, sent in place of the member that requests have. */
export function answeredMemberReason(field: string, sendable: string): Reason {
  return notMemberReason(field, spellNearest([sendable]));
}

function notMemberReason(field: string, hint: string): Reason {
  return { field, type: 'custom', message: `${field} is not a member of this request${hint}` };
}

/** The reason to refuse what an older interface has and this server has not. */
export function unavailableReason(field: string): Reason {
  return customReason(field, `${field} is not available on this server`);
}

/** Throws one validation_error with the first problem of each field; returns when there are none. */
export function refuseProblems(problems: readonly Reason[]): void {
  if (problems.length === 0) return;
  const firsts = new Map<string, Reason>();
  for (const reason of problems) if (!firsts.has(reason.field)) firsts.set(reason.field, reason);
  throw validationFault('json', [...firsts.values()]);
}

/** The reason for a value of the wrong type; `received` is "undefined" for a missing one. */
export function typeReason(field: string, expected: string, received: string): Reason {
  const message = received === 'undefined' ? `${field} is required` : `${field} must be of type ${expected}`;
  return { field, type: 'invalid_type', message, expected, received };
}

/** The `received` of a reason for a member where null means "not sent". */
export function receivedType(sent: LosslessJson): string {
  return sent === null ? 'undefined' : jsonTypeOf(sent);
}

/** Characters of a refused value that a reason repeats. */
export const RECEIVED_CHARACTERS_MAX = 100;
/** Of longer lists of choices, the message names only the nearest; `expected` has them all. */
const SPELLED_OUT_MAX = 10;

/**
 * The reason for a value outside a closed list. `received` is the value with tokens masked, cut to
 * RECEIVED_CHARACTERS_MAX.
 */
export function choiceReason(field: string, choices: readonly string[], value: string): Reason {
  return {
    field,
    type: 'invalid_enum_value',
    message:
      choices.length > SPELLED_OUT_MAX
        ? `${field} must be one of the expected values${suggestName(value, choices)}`
        : `${field} must be one of: ${choices.join(', ')}`,
    expected: [...choices],
    received: maskedHead(value, RECEIVED_CHARACTERS_MAX),
  };
}

/** The reason for a text or list of the wrong length; `expected` as in "1 to 255 characters". */
export function lengthReason(field: string, expected: string): Reason {
  return { field, type: 'invalid_length', message: `${field} must have ${expected}`, expected };
}

/** The reasons about an object as those about the request that has it as a member; their messages begin with the field. */
export function reasonsWithin(parent: string, reasons: readonly Reason[]): readonly Reason[] {
  return reasons.map((reason) => ({
    ...reason,
    field: `${parent}.${reason.field}`,
    message: `${parent}.${reason.message}`,
  }));
}

/** A reason about several fields, or about stored data. */
export function customReason(field: string, message: string): Reason {
  return { field, type: 'custom', message };
}

const YEAR_2000_SECONDS = 946_684_800;
const YEAR_2100_SECONDS = 4_102_444_800;

/** Whether epoch milliseconds are rather the seconds of an instant between 2000 and 2100. */
export function looksLikeSeconds(instantMs: number): boolean {
  return instantMs >= YEAR_2000_SECONDS && instantMs < YEAR_2100_SECONDS;
}

/** The reason to refuse seconds where milliseconds are expected. */
export function secondsReason(sent: number): string {
  return `must be milliseconds since the epoch; ${sent} looks like seconds, multiply by 1000`;
}

/** The problems of a range of valid instants; null: unbounded. */
export function rangeProblems(fromMs: number | null, toMs: number | null): readonly Reason[] {
  if (fromMs === null || toMs === null || fromMs <= toMs) return [];
  return [{ field: '(root)', type: 'custom', message: 'from must not be later than to' }];
}

/** Throws validation_error for a range of a query that is reversed. */
export function requireRange(fromMs: number, toMs: number): void {
  const problems = rangeProblems(fromMs, toMs);
  if (problems.length > 0) throw validationFault('query', problems);
}

/** Length in code points, unlike the UTF-16 units of JavaScript. */
export function countCodePoints(text: string): number {
  let count = 0;
  for (const _ of text) count += 1;
  return count;
}
