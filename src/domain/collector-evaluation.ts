/** One collected evaluation result: validated and normalised, or refused. */

import { hash } from 'node:crypto';
import { canonicalJson } from './canonical-json.ts';
import { readError } from './collector-error.ts';
import {
  beginItem,
  isAbsent,
  type Reading,
  readBoolean,
  readFreeJson,
  readId,
  readInstant,
  readNumber,
  readObject,
  readShortText,
  readText,
  refuse,
  refuseTooWide,
} from './collector-reading.ts';
import { isObject } from './free-json.ts';
import type { LosslessJson, LosslessObject } from './lossless-json.ts';
import { hasMoreCharactersThan } from './text-limits.ts';
import type { Evaluation } from './trace.ts';
import { ID_CHARACTERS_MAX, normaliseSpanId } from './trace-ids.ts';

export type CollectedEvaluation = {
  readonly evaluation: Evaluation;
  /** Strings that were cut. */
  readonly cuts: number;
};

type SentStatus = 'processed' | 'skipped' | 'error';

const NAME_CHARACTERS_MAX = 255;
const NO_RESULT_REASON = 'either `passed`, `score` or `label` must be defined';

/** The evaluation; null when it was refused, with the reason in `reading`. */
export function readEvaluation(item: LosslessJson | undefined, reading: Reading): CollectedEvaluation | null {
  beginItem(reading);
  if (!isObject(item)) return refuse(reading, '', 'must be an object');
  if (refuseTooWide(item, reading)) return null;
  // In the order of the contract's table, because the first problem is the one that is told.
  const name = readName(item.name, reading);
  const evaluationId = readEvaluationId(item.evaluation_id, reading);
  const evaluatorId = readShortText(item.evaluator_id, 'evaluator_id', reading);
  const spanId = readId(item.span_id, 'span_id', reading);
  const type = readShortText(item.type, 'type', reading);
  const threadId = readShortText(item.evaluation_thread_id, 'evaluation_thread_id', reading);
  const isGuardrail = readBoolean(item.is_guardrail, 'is_guardrail', reading) ?? false;
  const status = readStatus(item, reading);
  const result = readResult(item, status, reading);
  const inputsJson = isAbsent(item.inputs) ? null : readFreeJson(item.inputs, 'inputs', reading);
  const costJson = readMoney(item.cost, reading);
  const errorJson = readError(item.error, 'error', reading);
  const times = readObject(item.timestamps, 'timestamps', reading);
  const startedAtMs = readInstant(times?.started_at, 'timestamps.started_at', reading) ?? reading.receivedAtMs;
  const finishedAtMs = readInstant(times?.finished_at, 'timestamps.finished_at', reading) ?? reading.receivedAtMs;
  if (reading.problem !== null || name === null) return null;
  const evaluation: Evaluation = {
    evaluationId: evaluationId ?? evaluationIdOf(item, reading.traceId),
    evaluatorId: evaluatorId ?? evaluatorIdOf(name),
    name,
    type,
    spanId: spanId === null ? null : normaliseSpanId(spanId),
    threadId,
    isGuardrail,
    status,
    passed: result.passed,
    score: result.score,
    label: result.label,
    details: result.details,
    errorJson,
    inputsJson,
    costJson,
    monitorId: null,
    insertedAtMs: reading.receivedAtMs,
    startedAtMs,
    finishedAtMs,
  };
  return { evaluation, cuts: reading.cuts };
}

function readName(value: LosslessJson | undefined, reading: Reading): string | null {
  if (isAbsent(value)) return refuse(reading, 'name', 'is required');
  const name = readText(value, 'name', reading);
  if (name === null || (name !== '' && !hasMoreCharactersThan(name, NAME_CHARACTERS_MAX))) return name;
  return refuse(reading, 'name', `must be a string of 1 to ${NAME_CHARACTERS_MAX} characters`);
}

function readEvaluationId(value: LosslessJson | undefined, reading: Reading): string | null {
  const evaluationId = readText(value, 'evaluation_id', reading);
  if (evaluationId === null) return null;
  if (evaluationId !== '' && !hasMoreCharactersThan(evaluationId, ID_CHARACTERS_MAX)) return evaluationId;
  return refuse(reading, 'evaluation_id', `must be a string of 1 to ${ID_CHARACTERS_MAX} characters`);
}

function readStatus(item: LosslessObject, reading: Reading): SentStatus {
  const { status } = item;
  if (isAbsent(status)) return isAbsent(item.error) ? 'processed' : 'error';
  if (status === 'processed' || status === 'skipped' || status === 'error') return status;
  const isText = typeof status === 'string';
  refuse(reading, 'status', isText ? 'must be one of: processed, skipped, error' : 'must be a string');
  return 'error';
}

type Result = Pick<Evaluation, 'passed' | 'score' | 'label' | 'details'>;

function readResult(item: LosslessObject, status: SentStatus, reading: Reading): Result {
  const passed = readBoolean(item.passed, 'passed', reading);
  const score = readNumber(item.score, 'score', reading);
  const label = readText(item.label, 'label', reading);
  const details = readText(item.details, 'details', reading);
  // Only an evaluation that came to a result may count as one.
  if (status !== 'processed') return { passed: null, score: null, label: null, details };
  if (passed === null && score === null && label === null) refuse(reading, '', NO_RESULT_REASON);
  return { passed, score, label, details };
}

function readMoney(value: LosslessJson | undefined, reading: Reading): string | null {
  const money = readObject(value, 'cost', reading);
  if (money === null) return null;
  if (isAbsent(money.currency)) refuse(reading, 'cost.currency', 'is required');
  else if (typeof money.currency !== 'string') refuse(reading, 'cost.currency', 'must be a string');
  if (isAbsent(money.amount)) refuse(reading, 'cost.amount', 'is required');
  else readNumber(money.amount, 'cost.amount', reading);
  return readFreeJson(money, 'cost', reading);
}

// Derived from all that was sent, so that a repeat replaces itself and two different results never meet.
function evaluationIdOf(item: LosslessObject, traceId: string): string {
  return `eval_md5_${hash('md5', canonicalJson({ trace_id: traceId, evaluation: item }), 'hex')}`;
}

function evaluatorIdOf(name: string): string {
  return `customeval_${name.toLowerCase().replace(/[^a-z0-9]+/g, '_')}`;
}
