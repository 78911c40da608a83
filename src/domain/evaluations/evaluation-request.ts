/** A request to run an evaluator: which one, on what data, and the trace to which the result belongs. */

import { jsonTypeOf, type LosslessJson, type LosslessObject, readMember } from '../../json/lossless-json.ts';
import type { Reason } from '../fault.ts';
import { lengthReason, typeReason } from '../reasons.ts';
import { hasMoreCharactersThan } from '../text-limits.ts';
import { type DraftFacts, isUnreadable, type Sent, type Unreadable } from '../traces/collector/collector-draft.ts';
import { SHORT_TEXT_CHARACTERS_MAX } from '../traces/collector/collector-reading.ts';
import { ID_CHARACTERS_MAX, isValidId } from '../traces/trace-ids.ts';

/** `type`: a catalogue id. `saved`: the id or slug of a saved evaluator. `any`: either, or a monitor. */
export type EvaluatorName = { readonly kind: 'type' | 'saved' | 'any'; readonly text: string };

/** As sent; null: not sent. */
export type EvaluationRequest = {
  readonly evaluator: EvaluatorName;
  readonly data: Sent<LosslessObject>;
  readonly settings: Sent<LosslessObject>;
  readonly traceId: string | null;
  readonly spanId: string | null;
  readonly evaluationId: string | null;
  readonly evaluatorId: string | null;
  readonly name: string | null;
  readonly asGuardrail: boolean;
  readonly onError: OnError | null;
  /** Stores neither what was judged nor what the evaluator says of it, which may quote it. */
  readonly withoutTexts?: boolean;
  /** Facts about the texts in data and settings. */
  readonly facts: DraftFacts;
};

/** The verdict of a guardrail when its evaluator fails. */
export type OnError = 'pass' | 'block';

const NAME_CHARACTERS_MAX = 255;

/** Every problem that does not depend on the evaluator. */
export function requestProblems(request: EvaluationRequest): readonly Reason[] {
  const found: Reason[] = [];
  validateObject(request.data, 'data', found);
  validateObject(request.settings, 'settings', found);
  for (const member of ['trace_id', 'span_id']) validateText(request.data, member, found);
  validateId(traceIdOf(request), 'trace_id', found);
  validateId(spanIdOf(request), 'span_id', found);
  validateLength(request.evaluationId, { field: 'evaluation_id', min: 1, max: ID_CHARACTERS_MAX }, found);
  validateLength(request.evaluatorId, { field: 'evaluator_id', min: 0, max: SHORT_TEXT_CHARACTERS_MAX }, found);
  validateLength(request.name, { field: 'name', min: 1, max: NAME_CHARACTERS_MAX }, found);
  return found;
}

/** The object that was sent, or an empty one. Only for requests without problems. */
export function objectOf(sent: Sent<LosslessObject>): LosslessObject {
  return sent === undefined || isUnreadable(sent) ? {} : sent;
}

/** The trace to which the result belongs; null: none. */
export function traceIdOf({ traceId, data }: EvaluationRequest): string | null {
  return traceId ?? textIn(data, 'trace_id');
}

/** The evaluated span; null: none. */
export function spanIdOf({ spanId, data }: EvaluationRequest): string | null {
  return spanId ?? textIn(data, 'span_id');
}

/** An id that is no text would store the result nowhere. */
function validateText(data: Sent<LosslessObject>, member: string, found: Reason[]): void {
  const value: LosslessJson = readMember(objectOf(data), member);
  if (value !== null && typeof value !== 'string')
    found.push(typeReason(`data.${member}`, 'string', jsonTypeOf(value)));
}

function textIn(data: Sent<LosslessObject>, member: string): string | null {
  const value: LosslessJson = readMember(objectOf(data), member);
  return typeof value === 'string' ? value : null;
}

function validateObject(sent: Sent<LosslessObject>, field: string, found: Reason[]): void {
  if (isUnreadable(sent)) found.push(unreadableReason(sent, field));
}

function unreadableReason({ reason }: Unreadable, field: string): Reason {
  return reason === 'must be an object'
    ? typeReason(field, 'object', 'another type')
    : { field, type: 'invalid_format', message: `${field} ${reason}` };
}

function validateId(id: string | null, field: string, found: Reason[]): void {
  if (id === null || isValidId(id)) return;
  const expected = `1 to ${ID_CHARACTERS_MAX} characters, none of them a control character`;
  found.push(lengthReason(field, expected));
}

type Length = { readonly field: string; readonly min: number; readonly max: number };

function validateLength(text: string | null, { field, min, max }: Length, found: Reason[]): void {
  if (text === null || (text.length >= min && !hasMoreCharactersThan(text, max))) return;
  found.push(lengthReason(field, `${min} to ${max} characters`));
}
