import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { Evaluation } from '../../../../src/domain/traces/trace.ts';
import { NOW_MS, nest, send } from './collecting.ts';

const STARTED = 1_699_900_000_000;

function sendEvaluation(fields: object, traceId = 'trace-1'): Evaluation {
  const { append, reasons } = send({ trace_id: traceId, evaluations: [{ name: 'Toxic?', passed: true, ...fields }] });
  const [evaluation] = append.evaluations;
  if (evaluation === undefined || reasons.length > 0) throw new Error(`Not stored: ${reasons.join('; ')}`);
  return evaluation;
}

function refusal(fields: object): string | undefined {
  const evaluations = [
    { name: 'n', passed: true, ...fields },
    { name: 'good', passed: true },
  ];
  return send({ trace_id: 'trace-1', evaluations }).reasons[0];
}

describe('an evaluation', () => {
  it('is stored with every field', () => {
    const evaluation = sendEvaluation({
      ...{ evaluation_id: 'e-1', evaluator_id: 'mine', span_id: 'B7AD6B7169203331', type: 'custom', label: 'ok' },
      ...{ evaluation_thread_id: 'thread', is_guardrail: true, status: 'processed', score: 0.5, details: 'fine' },
      ...{ inputs: { a: null, b: [] }, cost: { amount: 0.1, currency: 'USD' }, error: 'partly' },
      timestamps: { started_at: STARTED, finished_at: STARTED + 0.5 },
    });
    expect(evaluation).toEqual({
      evaluationId: 'e-1',
      evaluatorId: 'mine',
      name: 'Toxic?',
      type: 'custom',
      spanId: 'b7ad6b7169203331',
      threadId: 'thread',
      isGuardrail: true,
      status: 'processed',
      passed: true,
      score: 0.5,
      label: 'ok',
      details: 'fine',
      errorJson: '{"has_error":true,"message":"partly","stacktrace":[]}',
      inputsJson: '{"a":null,"b":[]}',
      costJson: '{"amount":0.1,"currency":"USD"}',
      monitorId: null,
      insertedAtMs: NOW_MS,
      startedAtMs: STARTED,
      finishedAtMs: STARTED + 1,
    });
  });

  it('has defaults for all but its name', () => {
    expect(sendEvaluation({ span_id: null, inputs: null, cost: null, timestamps: null, error: null })).toMatchObject({
      evaluationId: expect.stringMatching(/^eval_md5_[0-9a-f]{32}$/),
      evaluatorId: 'customeval_toxic_',
      isGuardrail: false,
      status: 'processed',
      inputsJson: null,
      costJson: null,
      startedAtMs: NOW_MS,
      finishedAtMs: NOW_MS,
    });
    expect(sendEvaluation({ name: 'Ünïx  Score 2' }).evaluatorId).toBe('customeval__n_x_score_2');
  });

  it('derives its id from the trace and all sent members, in any order', () => {
    const canonical = '{"evaluation":{"name":"Toxic?","passed":true,"score":1,"x":[]},"trace_id":"trace-1"}';
    const expected = `eval_md5_${createHash('md5').update(canonical).digest('hex')}`;
    expect(sendEvaluation({ x: [], score: 1 }).evaluationId).toBe(expected);
    expect(sendEvaluation({ score: 1, x: [] }).evaluationId).toBe(expected);
    expect(sendEvaluation({ score: 2, x: [] }).evaluationId).not.toBe(expected);
    expect(sendEvaluation({ score: 1, x: [] }, 'trace-2').evaluationId).not.toBe(expected);
  });

  it('failed when an error is all it says', () => {
    const failed = sendEvaluation({ error: { message: 'boom' }, score: 1, label: 'x', details: 'why' });
    expect(failed).toMatchObject({ status: 'error', passed: null, score: null, label: null, details: 'why' });
    expect(sendEvaluation({ status: 'skipped', score: 1 })).toMatchObject({ status: 'skipped', score: null });
  });

  it.each(['', 'None', 'undefined'])('is processed where its error is %j, as are other words for nothing', (word) => {
    const processed = { status: 'processed', passed: true, errorJson: null };
    expect(sendEvaluation({ error: word })).toMatchObject(processed);
    expect(sendEvaluation({ error: word, status: word, score: word, cost: word, is_guardrail: word })).toMatchObject({
      ...processed,
      ...{ score: null, costJson: null, isGuardrail: false },
    });
    expect(sendEvaluation({ passed: word, score: 1 })).toMatchObject({ passed: null, score: 1 });
  });

  it('may say false, zero or nothing in its label', () => {
    expect(sendEvaluation({ passed: false })).toMatchObject({ passed: false });
    expect(sendEvaluation({ passed: null, score: 0 })).toMatchObject({ passed: null, score: 0 });
    expect(sendEvaluation({ passed: null, label: '' })).toMatchObject({ label: '' });
  });

  it.each([
    [': either `passed`, `score` or `label` must be defined', { passed: null }],
    [': either `passed`, `score` or `label` must be defined', { passed: null, status: 'processed', error: 'x' }],
    ['.name: is required', { name: null }],
    ['.name: must be a string', { name: 5 }],
    ['.name: must be a string of 1 to 255 characters', { name: '' }],
    ['.name: must be a string of 1 to 255 characters', { name: 'x'.repeat(256) }],
    ['.evaluation_id: must be a string of 1 to 200 characters', { evaluation_id: 'x'.repeat(201) }],
    ['.evaluation_id: must be a string', { evaluation_id: 7 }],
    ['.span_id: must be a string of 1 to 200 characters', { span_id: '' }],
    ['.is_guardrail: must be a boolean', { is_guardrail: 'yes' }],
    ['.status: must be one of: processed, skipped, error', { status: 'in_progress' }],
    ['.status: must be a string', { status: 1 }],
    ['.passed: must be a boolean', { passed: 1 }],
    ['.score: must be a number', { score: '1' }],
    ['.label: must be a string', { label: {} }],
    ['.inputs: nested deeper than 64 levels', { inputs: nest(65) }],
    ['.cost: must be an object', { cost: 1 }],
    ['.cost.currency: is required', { cost: { amount: 1 } }],
    ['.cost.amount: must be a number', { cost: { currency: 'USD', amount: '1' } }],
    ['.error: must be an object or a string', { error: [] }],
    ['.timestamps: must be an object', { timestamps: 1 }],
    [
      '.timestamps.finished_at: must be milliseconds since the epoch; 1699900000 looks like seconds, multiply by 1000',
      { timestamps: { finished_at: 1_699_900_000 } },
    ],
  ])('is refused with %s', (reason, fields) => {
    expect(refusal(fields)).toBe(`evaluations[0]${reason}`);
  });

  it('is refused when it is not an object', () => {
    const { reasons, rejectedEvaluations } = send({ trace_id: 't', evaluations: [5, { name: 'n', score: 1 }] });
    expect([reasons, rejectedEvaluations]).toEqual([['evaluations[0]: must be an object'], 1]);
  });
});
