/** One collected evaluation result: validated and normalised, or refused. */

import { hash } from 'node:crypto';
import { canonicalJson } from '../../../json/canonical-json.ts';
import { isAbsent, numberOf } from '../../../json/free-json.ts';
import type { LosslessObject } from '../../../json/lossless-json.ts';
import { hasMoreCharactersThan } from '../../text-limits.ts';
import type { Evaluation } from '../trace.ts';
import { ID_CHARACTERS_MAX, normaliseSpanId } from '../trace-ids.ts';
import { type EvaluationDraft, isUnreadable, type Sent } from './collector-draft.ts';
import { readError } from './collector-error.ts';
import {
  beginItem,
  type Reading,
  readFreeJson,
  readId,
  readInstant,
  readScalar,
  readShortText,
  readText,
  refuse,
} from './collector-reading.ts';

export type CollectedEvaluation = {
  readonly evaluation: Evaluation;
  /** Number of cut strings. */
  readonly cuts: number;
};

type SentStatus = 'processed' | 'skipped' | 'error';

const NAME = { field: 'name', charactersMax: 255 };
const EVALUATION_ID = { field: 'evaluation_id', charactersMax: ID_CHARACTERS_MAX };
const NO_RESULT_REASON = 'either `passed`, `score` or `label` must be defined';

/** The evaluation; null when it was refused, with the reason in `reading`. */
export function readEvaluation(sent: Sent<EvaluationDraft>, reading: Reading): CollectedEvaluation | null {
  beginItem(reading, { toleratesFields: false });
  if (sent === undefined) return refuse(reading, '', 'is required');
  if (isUnreadable(sent)) return refuse(reading, sent.path, sent.reason);
  // In the order of the contract's table, because only the first problem is reported.
  const name =
    sent.name === undefined ? refuse(reading, 'name', 'is required') : readNonEmpty(sent.name, NAME, reading);
  const evaluationId = readNonEmpty(sent.evaluationId, EVALUATION_ID, reading);
  const evaluatorId = readShortText(sent.evaluatorId, 'evaluator_id', reading);
  const spanId = readId(sent.spanId, 'span_id', reading);
  const type = readShortText(sent.type, 'type', reading);
  const threadId = readShortText(sent.threadId, 'evaluation_thread_id', reading);
  const isGuardrail = readScalar(sent.isGuardrail, reading) ?? false;
  const status = readStatus(sent, reading);
  const result = readResult(sent, status, reading);
  const inputsJson = readFreeJson(sent.inputs, 'inputs', reading);
  const costJson = readMoney(sent.cost, reading);
  const errorJson = readError(sent.error, reading);
  const startedAtMs = readInstant(sent.startedAt, 'timestamps.started_at', reading) ?? reading.receivedAtMs;
  const finishedAtMs = readInstant(sent.finishedAt, 'timestamps.finished_at', reading) ?? reading.receivedAtMs;
  if (reading.problem !== null || name === null) return null;
  const evaluation: Evaluation = {
    evaluationId: evaluationId ?? evaluationIdOf(sent, reading.traceId),
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

function readNonEmpty(sent: Sent<string>, { field, charactersMax }: typeof NAME, reading: Reading): string | null {
  const text = readText(sent, reading);
  if (text === null || (text !== '' && !hasMoreCharactersThan(text, charactersMax))) return text;
  return refuse(reading, field, `must be a string of 1 to ${charactersMax} characters`);
}

function readStatus({ status, error }: EvaluationDraft, reading: Reading): SentStatus {
  if (status === undefined) return error === undefined ? 'processed' : 'error';
  if (status === 'processed' || status === 'skipped' || status === 'error') return status;
  const isText = typeof status === 'string';
  refuse(reading, 'status', isText ? 'must be one of: processed, skipped, error' : status.reason);
  return 'error';
}

type Result = Pick<Evaluation, 'passed' | 'score' | 'label' | 'details'>;

function readResult(sent: EvaluationDraft, status: SentStatus, reading: Reading): Result {
  const passed = readScalar(sent.passed, reading);
  const score = readScalar(sent.score, reading);
  const label = readText(sent.label, reading);
  const details = readText(sent.details, reading);
  // Only a processed evaluation has a result.
  if (status !== 'processed') return { passed: null, score: null, label: null, details };
  if (passed === null && score === null && label === null) refuse(reading, '', NO_RESULT_REASON);
  return { passed, score, label, details };
}

function readMoney(sent: Sent<LosslessObject>, reading: Reading): string | null {
  if (sent !== undefined && !isUnreadable(sent)) checkMoney(sent, reading);
  return readFreeJson(sent, 'cost', reading);
}

function checkMoney({ currency, amount }: LosslessObject, reading: Reading): void {
  if (isAbsent(currency)) refuse(reading, 'cost.currency', 'is required');
  else if (typeof currency !== 'string') refuse(reading, 'cost.currency', 'must be a string');
  if (isAbsent(amount)) refuse(reading, 'cost.amount', 'is required');
  else if (numberOf(amount) === null) refuse(reading, 'cost.amount', 'must be a number');
}

// Derived from all that was sent, so that a repeat replaces itself and different results never collide.
function evaluationIdOf({ toJson }: EvaluationDraft, traceId: string): string {
  return `eval_md5_${hash('md5', canonicalJson({ trace_id: traceId, evaluation: toJson() }), 'hex')}`;
}

function evaluatorIdOf(name: string): string {
  return `customeval_${name.toLowerCase().replace(/[^a-z0-9]+/g, '_')}`;
}
