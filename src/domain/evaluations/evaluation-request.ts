/** What somebody asks an evaluator to judge, and where the result belongs. */

import { type DraftFacts, isUnreadable, type Sent, type Unreadable } from '../collector-draft.ts';
import { SHORT_TEXT_CHARACTERS_MAX } from '../collector-reading.ts';
import type { Reason } from '../fault.ts';
import { type LosslessJson, type LosslessObject, readMember } from '../lossless-json.ts';
import { lengthReason, typeReason } from '../reasons.ts';
import { hasMoreCharactersThan } from '../text-limits.ts';
import { ID_CHARACTERS_MAX, isValidId } from '../trace-ids.ts';

/** How the evaluator is named: a type of the catalogue, a saved one, or whatever has that name. */
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
  /** What is known of the texts in data and settings. */
  readonly facts: DraftFacts;
};

/** What a guardrail answers when its evaluator fails. */
export type OnError = 'pass' | 'block';

const NAME_CHARACTERS_MAX = 255;

/** Every problem that can be told without knowing the evaluator. */
export function requestProblems(request: EvaluationRequest): readonly Reason[] {
  const found: Reason[] = [];
  judgeObject(request.data, 'data', found);
  judgeObject(request.settings, 'settings', found);
  judgeId(traceIdOf(request), 'trace_id', found);
  judgeId(spanIdOf(request), 'span_id', found);
  judgeLength(request.evaluationId, { field: 'evaluation_id', min: 1, max: ID_CHARACTERS_MAX }, found);
  judgeLength(request.evaluatorId, { field: 'evaluator_id', min: 0, max: SHORT_TEXT_CHARACTERS_MAX }, found);
  judgeLength(request.name, { field: 'name', min: 1, max: NAME_CHARACTERS_MAX }, found);
  return found;
}

/** The object that was sent; empty without one. Only for requests without problems. */
export function objectOf(sent: Sent<LosslessObject>): LosslessObject {
  return sent === undefined || isUnreadable(sent) ? {} : sent;
}

/** The trace that the result belongs on; null: none. */
export function traceIdOf({ traceId, data }: EvaluationRequest): string | null {
  return traceId ?? textIn(data, 'trace_id');
}

/** The span that was judged; null: none. */
export function spanIdOf({ spanId, data }: EvaluationRequest): string | null {
  return spanId ?? textIn(data, 'span_id');
}

/** What is no text there is data like any other. */
function textIn(data: Sent<LosslessObject>, member: string): string | null {
  const value: LosslessJson = readMember(objectOf(data), member);
  return typeof value === 'string' ? value : null;
}

function judgeObject(sent: Sent<LosslessObject>, field: string, found: Reason[]): void {
  if (isUnreadable(sent)) found.push(unreadableReason(sent, field));
}

function unreadableReason({ reason }: Unreadable, field: string): Reason {
  return reason === 'must be an object'
    ? typeReason(field, 'object', 'another type')
    : { field, type: 'invalid_format', message: `${field} ${reason}` };
}

function judgeId(id: string | null, field: string, found: Reason[]): void {
  if (id === null || isValidId(id)) return;
  const expected = `1 to ${ID_CHARACTERS_MAX} characters, none of them a control character`;
  found.push(lengthReason(field, expected));
}

type Length = { readonly field: string; readonly min: number; readonly max: number };

function judgeLength(text: string | null, { field, min, max }: Length, found: Reason[]): void {
  if (text === null || (text.length >= min && !hasMoreCharactersThan(text, max))) return;
  found.push(lengthReason(field, `${min} to ${max} characters`));
}
