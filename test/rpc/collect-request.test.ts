import { create, type MessageInitShape } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { describe, expect, it } from 'vitest';
import {
  type CollectedSpan,
  type CollectedSpanSchema,
  CollectTraceRequestSchema,
  SpanType,
} from '../../gen/spandrel/v1/traces_pb.js';
import { Fault } from '../../src/domain/fault.ts';
import { runWithoutPauses } from '../../src/domain/steps.ts';
import { collect } from '../../src/domain/traces/collector/collector.ts';
import { reasonsOf } from '../../src/domain/traces/collector/collector-report.ts';
import { tooManyNumberTexts } from '../../src/json/json-text.ts';
import { readCollectRequest } from '../../src/rpc/traces/collect-request.ts';
import { LIMITS, NO_LOSSES, NOW_MS, PROJECT, pricing, send, sendSpan } from '../domain/traces/collector/collecting.ts';

const STARTED = 1_699_900_000_000;
type SpanInit = Exclude<MessageInitShape<typeof CollectedSpanSchema>, CollectedSpan>;

function collectMessage(init: MessageInitShape<typeof CollectTraceRequestSchema>) {
  const draft = runWithoutPauses(readCollectRequest(create(CollectTraceRequestSchema, init), tooManyNumberTexts));
  const at = { project: PROJECT, nowMs: NOW_MS, expiredBeforeMs: null };
  const collected = runWithoutPauses(collect(draft, at, { limits: LIMITS, prices: pricing, losses: NO_LOSSES }));
  return { ...collected, reasons: reasonsOf(collected) };
}

function spanInit(fields: SpanInit): SpanInit {
  const timestamps = { startedAt: timestampFromMs(STARTED), finishedAt: timestampFromMs(STARTED + 1000) };
  return { spanId: 'span-1', type: SpanType.SPAN, timestamps, ...fields };
}

function collectSpan(fields: SpanInit) {
  return collectMessage({ traceId: 'trace-1', spans: [spanInit(fields)] }).append.spans[0];
}

describe('invalid JSON text in a message', () => {
  it('costs its field of a span, or its own evaluation, and nothing else', () => {
    const spans = [
      { paramsJson: '{' },
      { input: { valueJson: 'nonsense' } },
      { output: { type: 'json', valueJson: '' } },
      { metrics: { otherJson: '{"a":1e999}' } },
      {},
    ];
    const evaluations = [{ inputsJson: '[1' }, { costJson: '{"\\u12"}' }, {}];
    const { append, reasons } = collectMessage({
      traceId: 't',
      metadataJson: 'x',
      expectedOutputJson: '\u0000',
      spans: spans.map((fields, index) => spanInit({ spanId: `s${index}`, ...fields })),
      evaluations: evaluations.map((fields, index) => ({ name: `n${index}`, score: 1, ...fields })),
    });
    expect(reasons).toEqual([
      'spans[0].params: must be valid JSON',
      'spans[1].input: must be valid JSON',
      'spans[2].output.value: must be valid JSON',
      'spans[3].metrics: must be valid JSON',
      'evaluations[0].inputs: must be valid JSON',
      'evaluations[1].cost: must be valid JSON',
      'metadata: must be valid JSON',
      'expected_output: must be valid JSON',
    ]);
    expect([append.spans.length, append.evaluations.length, append.metadataJson]).toEqual([5, 1, null]);
  });

  it('must be an object where one is needed', () => {
    const spans = [spanInit({ paramsJson: '[]' }), spanInit({ metrics: { otherJson: '5' } }), spanInit({})];
    const { reasons } = collectMessage({ traceId: 't', metadataJson: '"x"', spans });
    expect(reasons).toEqual([
      'spans[0].params: must be an object',
      'spans[1].metrics: must be an object',
      'metadata: must be an object',
    ]);
  });
});

describe('a message', () => {
  it.each([
    ['numbers keep their digits', '{"seed":12345678901234567890,"f":0.1}'],
    ['escapes are read', '{"a":"\\u0041\\n\\"","\\u0062":"\\u0000"}'],
    ['lone surrogates are replaced', '{"a":"\\ud800","b":["\\udc00x"]}'],
    ['names have no meaning', '{"__proto__":{"x":[]},"constructor":1,"toString":null}'],
    ['the last of equal names wins', '{"a":1,"b":2,"a":3}'],
    ['spaces go', ' { "a" : [ 1 , 2 ] } '],
    ['large floats are kept', '{"a":1.5e+300,"b":-1.25e-300}'],
  ])('stores free JSON as REST does: %s', (_, json) => {
    const span = `{"span_id":"span-1","type":"span","params":${json},"timestamps":{"started_at":${STARTED},"finished_at":${STARTED}}}`;
    const [overRest] = send(`{"trace_id":"trace-1","spans":[${span}]}`).append.spans;
    expect(collectSpan({ paramsJson: json })?.paramsJson).toBe(overRest?.paramsJson);
  });

  it.each([64, 65, 129, 5000])('may nest %i levels as over REST', (levels) => {
    const json = `{"a":${'['.repeat(levels - 1)}${']'.repeat(levels - 1)}}`;
    const { reasons } = collectMessage({ traceId: 't', spans: [spanInit({ paramsJson: json }), spanInit({})] });
    const problem = levels === 65 ? 'nested deeper than 64 levels' : 'must be valid JSON';
    expect(reasons).toEqual(levels === 64 ? [] : [`spans[0].params: ${problem}`]);
  });

  it('has no U+0000 outside free JSON, and long strings are cut', () => {
    const long = 'é'.repeat(600_000);
    const { append, reasons } = collectMessage({
      traceId: 'trace-1',
      spans: [spanInit({ name: 'a\0b', error: { message: 'c\0' }, paramsJson: JSON.stringify({ long }) })],
    });
    expect(append.spans[0]).toMatchObject({ name: 'a\ufffdb', errorJson: expect.stringContaining('"c\ufffd"') });
    expect(append.spans[0]?.paramsJson).toContain('…[truncated: 1200000 bytes]');
    expect(reasons).toEqual(['1 string(s) truncated to 1048576 bytes']);
  });

  it('with a value without a type speaks for itself', () => {
    expect(collectSpan({ input: { valueJson: '"hi"' } })?.inputJson).toBe('{"type":"text","value":"hi"}');
    expect(collectSpan({ input: { valueJson: 'null' } })?.inputJson).toBeNull();
    const typed = collectSpan({ input: { type: 'json', valueJson: '{"type":"text","value":"hi"}' } });
    expect(typed?.inputJson).toBe('{"type":"json","value":{"type":"text","value":"hi"}}');
  });

  it('stores what the same JSON does', () => {
    const overRest = sendSpan({
      name: 'ask',
      parent_id: 'p',
      type: 'llm',
      model: 'gpt-5',
      vendor: 'openai',
      output: { type: 'chat_messages', value: [{ role: 'assistant', content: 'Hi' }] },
      metrics: { prompt_tokens: 1, completion_tokens: 2, cost: 0.5, tokens_estimated: true, queue_ms: 3 },
      error: { message: 'late', stacktrace: ['a'] },
      contexts: [{ document_id: 'd', content: 'text' }],
      timestamps: { started_at: STARTED, finished_at: STARTED + 1000, first_token_at: STARTED + 10 },
    });
    const overGrpc = collectSpan({
      name: 'ask',
      parentId: 'p',
      type: SpanType.LLM,
      model: 'gpt-5',
      vendor: 'openai',
      output: { type: 'chat_messages', valueJson: '[{"role":"assistant","content":"Hi"}]' },
      metrics: {
        promptTokens: 1n,
        completionTokens: 2n,
        cost: 0.5,
        tokensEstimated: true,
        otherJson: '{"queue_ms":3}',
      },
      error: { message: 'late', stacktrace: ['a'] },
      contexts: [{ documentId: 'd', content: 'text' }],
      timestamps: {
        startedAt: timestampFromMs(STARTED),
        finishedAt: timestampFromMs(STARTED + 1000),
        firstTokenAt: timestampFromMs(STARTED + 10),
      },
    });
    expect(overGrpc).toEqual(overRest);
  });

  it('derives the id of an evaluation as REST does', () => {
    const fields = { name: 'Toxic?', passed: true, score: 0.5, label: 'l', details: 'd' };
    const overRest = send({
      trace_id: 't',
      evaluations: [{ ...fields, is_guardrail: true, inputs: { a: [1] }, timestamps: { started_at: STARTED } }],
    }).append.evaluations;
    const overGrpc = collectMessage({
      traceId: 't',
      evaluations: [
        { ...fields, isGuardrail: true, inputsJson: '{"a":[1]}', timestamps: { startedAt: timestampFromMs(STARTED) } },
      ],
    }).append.evaluations;
    expect(overGrpc).toEqual(overRest);
  });

  it('may not hold more than 20,000 numbers that are kept as text', () => {
    const numbers = `{"n":[${new Array(10_001).fill('12345678901234567890').join(',')}]}`;
    const spans = [spanInit({ spanId: 'a', paramsJson: numbers }), spanInit({ spanId: 'b', paramsJson: numbers })];
    expect(() => collectMessage({ traceId: 't', spans })).toThrow(Fault);
    expect(collectMessage({ traceId: 't', spans: spans.slice(1) }).append.spans).toHaveLength(1);
  });

  it('takes a number that is none for something unreadable', () => {
    const evaluations = [
      { name: 'n', score: Number.NaN },
      { name: 'n', score: 1 },
    ];
    expect(collectMessage({ traceId: 't', evaluations }).reasons).toEqual(['evaluations[0].score: must be a number']);
  });
});

it('reads large texts in steps, as small ones', () => {
  const words = Array.from({ length: 100_000 }, (_, index) => `word ${index}`);
  const sent = { traceId: 't', metadataJson: '{"a":1}', spans: [spanInit({ paramsJson: JSON.stringify({ words }) })] };
  const reading = readCollectRequest(create(CollectTraceRequestSchema, sent), tooManyNumberTexts);
  expect([...reading].length).toBeGreaterThan(20);
  expect(collectSpan({ paramsJson: JSON.stringify({ words }) })?.paramsJson).toBe(JSON.stringify({ words }));
  const broken = { paramsJson: `${JSON.stringify(words)}x` };
  const { reasons } = collectMessage({ traceId: 't', spans: [spanInit(broken)] });
  expect(reasons).toEqual(['spans[0].params: must be valid JSON']);
});
