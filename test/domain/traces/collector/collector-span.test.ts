import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { numberOfName } from '../../../../src/domain/pricing/share-rates.ts';
import { SPAN_TYPES } from '../../../../src/domain/traces/trace.ts';
import { keptSpan, NOW_MS, nest, PROJECT, send, sendSpan, spanOf, spanRefusal } from './collecting.ts';

const STARTED = 1_699_900_000_000;

function timed(timestamps: object): object {
  return { timestamps: { started_at: STARTED, finished_at: STARTED, ...timestamps } };
}

describe('a span with every field', () => {
  const params = '{"temperature":1.0,"stream":false,"stop":null,"seed":12345678901234567890,"__proto__":{"a":[]}}';
  const input =
    '{"type":"chat_messages","value":[{"role":"system","content":"Be brief."},{"role":"user","content":"Hi \ud83d\ude42"}]}';
  const output =
    '{"type":"chat_messages","value":[{"role":"assistant","content":"Hello","function_call":null,"tool_calls":[]}]}';
  const body = `{"trace_id":"trace-1","spans":[{"type":"llm","span_id":"B7AD6B7169203331","parent_id":"A7AD6B7169203331",
    "trace_id":"trace-1","name":"ask","vendor":"openai","model":"gpt-5","input":${input},"output":${output},
    "params":${params},"metrics":{"prompt_tokens":100,"completion_tokens":150,"reasoning_tokens":20,
    "cache_read_input_tokens":0,"cache_creation_input_tokens":null,"tokens_estimated":true,
    "cached_tokens_in_prompt":true,"queue_ms":3,"tags":["a"]},
    "error":{"message":"late","stacktrace":["a","b"]},"contexts":["Paris"],
    "timestamps":{"started_at":1699900000000,"first_token_at":1699900000300,"finished_at":1699900001000}}]}`;
  const { append, reasons } = send(body);
  const [span] = append.spans;

  it('is stored whole', () => {
    expect(reasons).toEqual([]);
    expect(span).toEqual({
      spanId: 'b7ad6b7169203331',
      parentId: 'a7ad6b7169203331',
      type: 'llm',
      name: 'ask',
      vendor: 'openai',
      model: 'gpt-5',
      startedAtMs: 1_699_900_000_000,
      firstTokenAtMs: 1_699_900_000_300,
      finishedAtMs: 1_699_900_001_000,
      startedNs: null,
      finishedNs: null,
      inputJson: input,
      outputJson: output,
      paramsJson: params,
      promptTokens: 100,
      callRow: numberOfName('openai/gpt-5'),
      totalInput: null,
      totalOutput: null,
      shareRates: null,
      completionTokens: 150,
      reasoningTokens: 20,
      cacheReadInputTokens: 0,
      cacheCreationInputTokens: null,
      tokensEstimated: true,
      cachedTokensInPrompt: true,
      otherMetricsJson: '{"queue_ms":3,"tags":["a"]}',
      costNanoUsd: 1_625_000,
      costSource: 'registry',
      errorJson: '{"has_error":true,"message":"late","stacktrace":["a","b"]}',
      contextsJson: `[{"document_id":"${md5('Paris')}","chunk_id":null,"content":"Paris"}]`,
      telemetryJson: null,
    });
  });

  it('says what its request was', () => {
    expect(append.requests).toEqual([
      {
        spanIndex: 0,
        gatewayRequestId: expect.stringMatching(/^req_[0-9a-f]{30}$/),
        requestType: 'chat',
        errorClass: 'error',
        httpStatus: null,
        rateVersion: expect.stringMatching(/^registry@/),
      },
    ]);
  });
});

describe('required fields', () => {
  it.each([
    ['spans[0].span_id: is required', { span_id: undefined }],
    ['spans[0].span_id: is required', { span_id: null, id: null }],
    ['spans[0].span_id: must be a string of 1 to 200 characters', { span_id: 5 }],
    ['spans[0].span_id: must be a string of 1 to 200 characters', { span_id: '' }],
    ['spans[0].span_id: must be a string of 1 to 200 characters', { span_id: 'a\u0000' }],
    ['spans[0].type: is required', { type: undefined }],
    ['spans[0].type: is required', { type: null }],
    ['spans[0].type: must be a string', { type: 5 }],
    [`spans[0].type: must be one of: ${SPAN_TYPES.join(', ')}`, { type: 'LLM' }],
    [`spans[0].type: must be one of: ${SPAN_TYPES.join(', ')}`, { type: 'toString' }],
    ['spans[0].timestamps.started_at: is required', { timestamps: undefined }],
    ['spans[0].timestamps: must be an object', { timestamps: 'now' }],
    ['spans[0].timestamps.finished_at: is required', timed({ finished_at: null })],
    ['spans[0].timestamps.started_at: must be a number', timed({ started_at: '1699900000000' })],
  ])('refuse %s', (reason, fields) => {
    expect(spanRefusal(fields)).toBe(reason);
  });

  it('use `id` for a missing span_id', () => {
    expect(sendSpan({ span_id: undefined, id: 'ABCDEFABCDEFABCD' }).spanId).toBe('abcdefabcdefabcd');
    expect(sendSpan({ span_id: 'kept', id: 'other' }).spanId).toBe('kept');
  });

  it('name only the first problem', () => {
    expect(spanRefusal({ type: 'x', model: 5, params: 'x' })).toMatch(/^spans\[0]\.type: [^;]*$/);
  });
});

describe('timestamps', () => {
  it('are milliseconds; values that seem to be seconds are reported as sent', () => {
    expect(sendSpan(timed({ started_at: STARTED })).startedAtMs).toBe(STARTED);
    expect(spanRefusal(timed({ started_at: 1_699_900_000 }))).toBe(
      'spans[0].timestamps.started_at: must be milliseconds since the epoch; 1699900000 looks like seconds, multiply by 1000',
    );
    expect(spanRefusal(timed({ finished_at: -5.5 }))).toContain('; -5.5 looks like seconds');
  });

  it('say so where they seem to be microseconds, nanoseconds or a date', () => {
    const reason = (started_at: unknown) => spanRefusal(timed({ started_at }));
    const path = 'spans[0].timestamps.started_at: ';
    const future = `${path}is more than 24 hours in the future`;
    expect(reason(STARTED * 1000)).toBe(`${future}; ${STARTED * 1000} looks like microseconds, divide by 1000`);
    expect(reason(STARTED * 1e6)).toBe(`${future}; ${STARTED * 1e6} looks like nanoseconds, divide by 1000000`);
    expect(reason(1e300)).toBe(future);
    expect(reason('2026-11-26T10:00:00Z')).toBe(
      `${path}must be a number, the milliseconds since the epoch, not a text`,
    );
    expect(reason('soon')).toBe(`${path}must be a number`);
  });

  it('are rounded half up', () => {
    expect(sendSpan(timed({ started_at: 1_699_900_000_000.5 })).startedAtMs).toBe(1_699_900_000_001);
    expect(sendSpan(timed({ started_at: 1_699_900_000_000.4 })).startedAtMs).toBe(1_699_900_000_000);
  });

  it.each(['started_at', 'finished_at', 'first_token_at'])('lie between 2000 and tomorrow: %s', (field) => {
    expect(spanRefusal(timed({ [field]: 100_000_000_000 }))).toBe(`spans[0].timestamps.${field}: is before 2000-01-01`);
    expect(spanRefusal(timed({ [field]: 946_684_799_999 }))).toContain('is before 2000-01-01');
    expect(sendSpan(timed({ [field]: 946_684_800_000 }))).toBeDefined();
    expect(spanRefusal(timed({ [field]: NOW_MS + 86_400_001 }))).toBe(
      `spans[0].timestamps.${field}: is more than 24 hours in the future`,
    );
    expect(sendSpan(timed({ [field]: NOW_MS + 86_400_000 }))).toBeDefined();
  });

  it('drop only a first token at 0, which is reported', () => {
    const { append, rejectedSpans, reasons } = send({ trace_id: 't', spans: [spanOf(timed({ first_token_at: 0 }))] });
    expect(append.spans).toMatchObject([{ firstTokenAtMs: null, startedAtMs: STARTED }]);
    expect({ rejectedSpans, reasons }).toEqual({
      rejectedSpans: 0,
      reasons: ['spans[0].timestamps.first_token_at: 0 is not an instant and was left out'],
    });
  });

  it('are read from numbers that kept their digits', () => {
    const body = `{"trace_id":"t","spans":[{"span_id":"s","type":"span","params":{"n":12345678901234567890},
      "timestamps":{"started_at":1699900000000.0,"finished_at":16999000000005e-1}}]}`;
    const [span] = send(body).append.spans;
    expect([span?.startedAtMs, span?.finishedAtMs]).toEqual([1_699_900_000_000, 1_699_900_000_001]);
  });

  it('are stored in the order they were sent, however they run', () => {
    const span = sendSpan(timed({ finished_at: STARTED - 10, first_token_at: STARTED - 20 }));
    expect([span.finishedAtMs, span.firstTokenAtMs]).toEqual([STARTED - 10, STARTED - 20]);
  });
});

describe('optional fields', () => {
  it('are absent when null, and unlisted ones are ignored', () => {
    const nothing = { parent_id: null, name: null, vendor: null, model: null, input: null, output: null, params: null };
    const span = sendSpan({ ...nothing, metrics: null, error: null, contexts: null, trace_id: null, whatever: [1] });
    expect(span).toMatchObject({ parentId: null, name: null, inputJson: null, paramsJson: null, errorJson: null });
    expect(span).toMatchObject({ otherMetricsJson: null, contextsJson: null, costNanoUsd: null, costSource: null });
  });

  it('treat an empty parent as none', () => {
    expect(sendSpan({ parent_id: '' }).parentId).toBeNull();
  });

  it('cut a name at 1,024 characters and drop a model of more than 512', () => {
    expect(sendSpan({ name: '🙂'.repeat(1025) }).name).toBe('🙂'.repeat(1024));
    expect(sendSpan({ model: '🙂'.repeat(512) }).model).toBe('🙂'.repeat(512));
    const { span, reasons } = keptSpan({ model: 'x'.repeat(513) });
    expect(span?.model).toBeNull();
    expect(reasons).toEqual(['spans[0].model: must be a string of at most 512 characters']);
  });

  it('replace U+0000 outside free JSON only', () => {
    const span = sendSpan({ name: 'a\u0000b', error: 'c\u0000d', params: { p: 'e\u0000f' } });
    expect(span.name).toBe('a\ufffdb');
    expect(span.errorJson).toContain('"c\ufffdd"');
    expect(span.paramsJson).toBe('{"p":"e\\u0000f"}');
  });

  it.each([
    ['trace_id: differs from the trace id of the request', { trace_id: 'other' }],
    ['trace_id: must be a string', { trace_id: 7 }],
    ['timestamps.first_token_at: must be a number', timed({ first_token_at: 'soon' })],
    ['params: nested deeper than 64 levels', { params: { a: nest(64) } }],
    ['params: has a member name longer than 4096 bytes', { params: { ['k'.repeat(4097)]: 1 } }],
    ['contexts[0].content: nested deeper than 64 levels', { contexts: [{ content: nest(65) }] }],
  ])('refuse %s', (reason, fields) => {
    expect(spanRefusal(fields)).toBe(`spans[0].${reason}`);
  });

  it.each([
    ['parent_id: must be a string of 1 to 200 characters', { parent_id: 7 }, 'parentId'],
    ['parent_id: must be a string of 1 to 200 characters', { parent_id: 'x'.repeat(201) }, 'parentId'],
    ['name: must be a string', { name: {} }, 'name'],
    ['vendor: must be a string', { vendor: [] }, 'vendor'],
    ['model: must be a string', { model: 5 }, 'model'],
    ['params: must be an object', { params: [] }, 'paramsJson'],
    ['outputs: must be an array', { outputs: {} }, 'outputJson'],
    ['metrics: must be an object', { metrics: [] }, 'promptTokens'],
    ['error: must be an object or a string', { error: 5 }, 'errorJson'],
    ['contexts: must be an array', { contexts: {} }, 'contextsJson'],
    ['contexts[1]: must be a string or an object', { contexts: ['a', 5] }, 'contextsJson'],
    ['contexts[0].content: is required', { contexts: [{}] }, 'contextsJson'],
    [
      'contexts[0].chunk_id: must be a string or a number',
      { contexts: [{ content: 'x', chunk_id: [] }] },
      'contextsJson',
    ],
  ] as const)('never cost the span: %s', (reason, fields, member) => {
    const { span, rejectedSpans, reasons, dropped } = keptSpan({ ...fields, input: 'kept' });
    expect([span?.[member], span?.inputJson, rejectedSpans]).toEqual([null, '{"type":"text","value":"kept"}', 0]);
    expect(reasons).toEqual([`spans[0].${reason}`]);
    expect(dropped).toEqual([reason.slice(0, reason.indexOf(':'))]);
  });

  it('lose only the part of an error that is wrong', () => {
    const kept = (error: object) => keptSpan({ error }).span?.errorJson;
    expect(kept({ message: 5, stacktrace: ['a'] })).toBe(
      '{"has_error":true,"message":"Unknown error","stacktrace":["a"]}',
    );
    expect(kept({ message: 'boom', stacktrace: [1] })).toBe('{"has_error":true,"message":"boom","stacktrace":[]}');
  });

  it('name every field that was left out', () => {
    const { reasons } = keptSpan({ vendor: 1, model: 2, metrics: { prompt_tokens: -1, cost: 'much' } });
    expect(reasons).toEqual([
      'spans[0].vendor: must be a string',
      'spans[0].model: must be a string',
      'spans[0].metrics.prompt_tokens: must be a number from 0 to 1000000000000',
      'spans[0].metrics.cost: must be a number',
    ]);
  });

  it.each(['', 'none', 'NULL', 'Unknown', 'undefined'])('the word %j says nothing and is not reported', (word) => {
    const { span, reasons } = keptSpan({
      ...{ model: word, vendor: word, name: word, params: word, outputs: word, contexts: word, error: word },
      metrics: { prompt_tokens: word, tokens_estimated: word, cached_tokens_in_prompt: word, mine: word },
    });
    expect(reasons).toEqual([]);
    expect(span).toMatchObject({
      ...{ model: null, vendor: null, name: null, paramsJson: null, outputJson: null, contextsJson: null },
      ...{ errorJson: null, promptTokens: null, tokensEstimated: false, cachedTokensInPrompt: null },
      otherMetricsJson: JSON.stringify({ mine: word }),
    });
    expect(sendSpan({ metrics: word }).otherMetricsJson).toBeNull();
  });

  it('refuse lists whose items are stored far larger than they were sent, all spans of a request together', () => {
    const reason = 'must have at most 100000 items, with those of the other spans of the request';
    const texts = (count: number) => new Array<string>(count).fill('');
    expect(spanRefusal({ contexts: texts(100_001) })).toBe(`spans[0].contexts: ${reason}`);
    expect(spanRefusal({ outputs: texts(100_001) })).toBe(`spans[0].outputs: ${reason}`);
    expect(spanRefusal({ input: { type: 'list', value: texts(100_001) } })).toBe(`spans[0].input.value: ${reason}`);
    const typed = texts(100_001).map((value) => ({ type: 'text', value }));
    expect(sendSpan({ input: { type: 'list', value: typed } })).toBeDefined();
    expect(sendSpan({ contexts: texts(100_000) })).toBeDefined();
    const spans = [60_000, 60_000, 40_000].map((count, index) =>
      spanOf({ span_id: `s${index}`, contexts: texts(count) }),
    );
    const { append, reasons } = send({ trace_id: 't', spans });
    expect(append.spans.map(({ spanId }) => spanId)).toEqual(['s0', 's2']);
    expect(reasons).toEqual([`spans[1].contexts: ${reason}`]);
  });

  it('accept 64 levels and a name of 4,096 bytes', () => {
    expect(sendSpan({ params: { a: nest(63) } }).paramsJson).toHaveLength(6 + 126);
    expect(sendSpan({ params: { ['k'.repeat(4096)]: 1 } })).toBeDefined();
  });

  it('take the output from `outputs` only when there is no output', () => {
    expect(sendSpan({ output: 'a', outputs: ['b'] }).outputJson).toBe('{"type":"text","value":"a"}');
    expect(sendSpan({ output: null, outputs: ['b'] }).outputJson).toBe('{"type":"text","value":"b"}');
    expect(sendSpan({ outputs: [] }).outputJson).toBeNull();
  });
});

describe('metrics', () => {
  it.each([
    ['metrics.mine: nested deeper than 64 levels', { mine: nest(65) }],
    ['metrics: has a member name longer than 4096 bytes', { ['k'.repeat(4097)]: 1 }],
  ])('refuse %s', (reason, metrics) => {
    expect(spanRefusal({ metrics })).toBe(`spans[0].${reason}`);
  });

  it.each([
    ['metrics.prompt_tokens: must be a number from 0 to 1000000000000', { prompt_tokens: -1 }],
    ['metrics.completion_tokens: must be a number from 0 to 1000000000000', { completion_tokens: 1e12 + 1 }],
    ['metrics.reasoning_tokens: must be a number', { reasoning_tokens: 'five' }],
    ['metrics.reasoning_tokens: must be a number', { reasoning_tokens: '1e999' }],
    ['metrics.cost: must be a number from 0 to 9007199', { cost: 9_007_200 }],
    ['metrics.tokens_estimated: must be a boolean', { tokens_estimated: 1 }],
    ['metrics.cached_tokens_in_prompt: must be a boolean', { cached_tokens_in_prompt: 'yes' }],
  ])('never cost the span or each other: %s', (reason, metrics) => {
    const { span, rejectedSpans, reasons } = keptSpan({ metrics: { ...metrics, cache_read_input_tokens: 7 } });
    expect([span?.cacheReadInputTokens, rejectedSpans, reasons]).toEqual([7, 0, [`spans[0].${reason}`]]);
  });

  it('are numbers also as text, and words for nothing are nothing', () => {
    const counts = { prompt_tokens: '1000', completion_tokens: ' 2.5e1 ', reasoning_tokens: '+3' };
    const span = sendSpan({ metrics: { ...counts, cost: '0.25', cache_read_input_tokens: 'None' } });
    expect(span).toMatchObject({ promptTokens: 1000, completionTokens: 25, reasoningTokens: 3 });
    expect(span).toMatchObject({ costNanoUsd: 250_000_000, cacheReadInputTokens: null });
    for (const text of ['0x10', '1_000', '1,000', 'Infinity', '1 2', '-', '.', `${'1'.repeat(1_000_000)}x`]) {
      expect(keptSpan({ metrics: { prompt_tokens: text } }).reasons).toEqual([
        'spans[0].metrics.prompt_tokens: must be a number',
      ]);
    }
  });

  it('round counts half up and never print a negative zero', () => {
    const text =
      '{"trace_id":"t","spans":[{"span_id":"s","type":"span","metrics":{"prompt_tokens":1.5,"completion_tokens":-0.0},';
    const [span] = send(`${text}"timestamps":{"started_at":${STARTED},"finished_at":${STARTED}}}]}`).append.spans;
    expect(span?.promptTokens).toBe(2);
    expect(Object.is(span?.completionTokens, 0)).toBe(true);
  });

  it('keep every other member as sent, but never where the cost came from', () => {
    const sent = JSON.parse('{"cost":0.25,"cost_source":"registry","__proto__":1,"x":{"y":[]},"z":null}');
    const span = sendSpan({ metrics: sent });
    expect(span.otherMetricsJson).toBe('{"__proto__":1,"x":{"y":[]},"z":null}');
    expect([span.costNanoUsd, span.costSource]).toEqual([250_000_000, 'explicit']);
  });

  const priced = (fields: object) => sendSpan({ type: 'llm', ...fields }).costNanoUsd;

  it('with prices of their own are kept among the others, rounded, and priced', () => {
    const metrics = { prompt_tokens: 1034, completion_tokens: 534, output_audio_tokens: 500 };
    const span = sendSpan({ model: 'gpt-audio-mini', metrics: { ...metrics, input_audio_tokens: 999.5 } });
    expect(span.otherMetricsJson).toBe('{"output_audio_tokens":500,"input_audio_tokens":1000}');
    expect(span.costNanoUsd).toBe(20_102_000);
    const asText = sendSpan({ model: 'gpt-audio-mini', metrics: { ...metrics, input_audio_tokens: '1000' } });
    expect(asText).toMatchObject({ otherMetricsJson: span.otherMetricsJson, costNanoUsd: span.costNanoUsd });
  });

  it('tell how long caches live, how reasoning was counted and how many requests there were', () => {
    const written = { prompt_tokens: 100, completion_tokens: 0, cache_creation_input_tokens: 10_000 };
    const cache_creation = { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 10_000, other: [1] };
    const span = sendSpan({ model: 'claude-sonnet-4-5', metrics: { ...written, cache_creation } });
    expect(span).toMatchObject({
      otherMetricsJson: JSON.stringify({ cache_creation }),
      costNanoUsd: 60_300_000,
    });
    const reasoned = { prompt_tokens: 100, completion_tokens: 500, reasoning_tokens: 300, total_tokens: 900 };
    expect(priced({ model: 'gemini-2.5-flash', metrics: reasoned })).toBe(2_030_000);
    expect(priced({ model: 'sonar', metrics: { prompt_tokens: 1000, requests: 2 } })).toBe(25_000_000);
  });

  it.each([
    { metrics: { service_tier: 'flex' }, nanoUsd: 625_000 },
    { metrics: { service_tier: 'FAST' }, nanoUsd: 2_500_000 },
    { metrics: {}, params: { service_tier: 'batch' }, nanoUsd: 625_000 },
    { metrics: {}, params: { service_tier: 7 }, nanoUsd: 1_250_000 },
    // What was served outranks what was asked for.
    { metrics: { service_tier: 'default' }, params: { service_tier: 'priority' }, nanoUsd: 1_250_000 },
    { metrics: { service_tier: null }, params: { service_tier: 'priority' }, nanoUsd: 2_500_000 },
    { metrics: { service_tier: 'unheard of' }, nanoUsd: 1_250_000 },
  ])('and parameters name the service tier: $metrics $params', ({ metrics, params, nanoUsd }) => {
    expect(priced({ model: 'gpt-5', params, metrics: { prompt_tokens: 1000, ...metrics } })).toBe(nanoUsd);
  });

  it.each([
    ['input_audio_tokens', 'many', 'must be a number from 0 to 1000000000000'],
    ['output_audio_tokens', -1, 'must be a number from 0 to 1000000000000'],
    ['total_tokens', [], 'must be a number from 0 to 1000000000000'],
    ['requests', ' ', 'must be a number from 0 to 1000000000000'],
    ['cache_creation', 5, 'must be an object'],
    ['service_tier', true, 'must be a string of at most 512 characters'],
    ['service_tier', 'x'.repeat(513), 'must be a string of at most 512 characters'],
  ])('with prices of their own leave a wrong %s out and keep the span', (name, value, reason) => {
    const { append, reasons } = send({
      trace_id: 't',
      spans: [spanOf({ model: 'gpt-4o', metrics: { prompt_tokens: 1000, [name]: value, mine: 1 } })],
    });
    expect(append.spans[0]).toMatchObject({ otherMetricsJson: '{"mine":1}', costNanoUsd: 2_500_000 });
    expect(reasons).toEqual([`spans[0].metrics.${name}: ${reason}`]);
  });

  it.each(['', 'None'])('with prices of their own are absent where they are %j', (word) => {
    const names = ['input_audio_tokens', 'total_tokens', 'requests', 'cache_creation', 'service_tier'];
    const metrics = { prompt_tokens: 1000, ...Object.fromEntries(names.map((name) => [name, word])), mine: 1 };
    expect(sendSpan({ metrics })).toMatchObject({ otherMetricsJson: '{"mine":1}' });
    const written = { ephemeral_5m_input_tokens: word, ephemeral_1h_input_tokens: 2 };
    expect(sendSpan({ metrics: { cache_creation: written } })).toMatchObject({
      otherMetricsJson: '{"cache_creation":{"ephemeral_5m_input_tokens":null,"ephemeral_1h_input_tokens":2}}',
    });
  });

  it('take the cost of a guardrail from its result', () => {
    const guard = (cost: unknown) =>
      sendSpan({ type: 'guardrail', output: { type: 'guardrail_result', value: { cost } } });
    expect(guard(0.5)).toMatchObject({ costNanoUsd: 500_000_000, costSource: 'result' });
    expect(guard({ currency: 'USD', amount: 0.5 }).costNanoUsd).toBe(500_000_000);
    expect(guard({ currency: 'EUR', amount: 0.5 }).costNanoUsd).toBeNull();
    expect(guard(-1).costNanoUsd).toBeNull();
    expect(sendSpan({ output: { type: 'json', value: { cost: 1 } } }).costNanoUsd).toBeNull();
  });
});

describe('errors', () => {
  it('have a message and a list of lines', () => {
    expect(sendSpan({ error: 'boom' }).errorJson).toBe('{"has_error":true,"message":"boom","stacktrace":[]}');
    expect(sendSpan({ error: {} }).errorJson).toBe('{"has_error":true,"message":"Unknown error","stacktrace":[]}');
    expect(sendSpan({ error: { message: null, stacktrace: 'a\r\nb\nc' } }).errorJson).toBe(
      '{"has_error":true,"message":"Unknown error","stacktrace":["a","b","c"]}',
    );
  });

  it.each(['', 'None', 'null', 'Unknown'])('that are %j are none, and so is such a message', (word) => {
    expect(sendSpan({ error: word }).errorJson).toBeNull();
    expect(sendSpan({ error: { message: word, stacktrace: word } }).errorJson).toBe(
      '{"has_error":true,"message":"Unknown error","stacktrace":[]}',
    );
  });

  it('keep the first 10,000 lines', () => {
    const lines = (count: number) => Array.from({ length: count }, (_, index) => `line ${index}`);
    for (const stacktrace of [lines(12_000), lines(12_000).join('\n')]) {
      const { append, reasons } = send({ trace_id: 't', spans: [spanOf({ error: { stacktrace } })] });
      const kept = JSON.parse(append.spans[0]?.errorJson ?? '').stacktrace;
      expect(kept).toEqual([...lines(10_000), '…[truncated: 12000 lines]']);
      expect(reasons).toEqual(['spans[0].error.stacktrace: has 12000 lines; the first 10000 are kept']);
    }
    const { reasons } = send({ trace_id: 't', spans: [spanOf({ error: { stacktrace: lines(10_000) } })] });
    expect(reasons).toEqual([]);
  });

  it.each([
    [{ error: 'boom' }, 'error', null],
    [{ error: { type: 'RateLimitError', name: 'x', status: 429 } }, 'RateLimitError', 429],
    [{ error: { type: '', name: 'TypeError', status_code: 500.5 }, params: { http_status: 503 } }, 'TypeError', 503],
    [{ error: { name: 'y'.repeat(300), http_status: 99 } }, 'y'.repeat(200), null],
  ])('name their class and HTTP status for the event: %j', (fields, errorClass, httpStatus) => {
    const { append } = send({ trace_id: 't', spans: [spanOf({ type: 'llm', model: 'gpt-5', ...fields })] });
    expect(append.requests[0]).toMatchObject({ errorClass, httpStatus });
  });
});

describe('contexts', () => {
  it('are documents with text ids and text content', () => {
    const contexts = [{ document_id: 5, chunk_id: 'c', content: 'x' }, { content: { a: [1] } }, 'Paris'];
    expect(JSON.parse(sendSpan({ contexts }).contextsJson ?? '')).toEqual([
      { document_id: '5', chunk_id: 'c', content: 'x' },
      { document_id: null, chunk_id: null, content: '{"a":[1]}' },
      { document_id: md5('Paris'), chunk_id: null, content: 'Paris' },
    ]);
    expect(sendSpan({ contexts: [] }).contextsJson).toBeNull();
  });
});

describe('requests behind spans', () => {
  it('come from llm spans with a model only, and from none where the project wants none', () => {
    expect(send({ trace_id: 't', spans: [spanOf({ type: 'llm' })] }).append.requests).toEqual([]);
    const body = {
      trace_id: 't',
      spans: [spanOf({ type: 'tool' }), spanOf({ span_id: 'b', type: 'llm', model: 'm' })],
    };
    expect(send(body).append.requests).toMatchObject([{ spanIndex: 1, requestType: null, errorClass: null }]);
    expect(send(body, { ...PROJECT, emitRequestEvents: false }).append.requests).toEqual([]);
  });

  it('are not of the outer spans of the ai package', () => {
    const requestsOf = (name: string) =>
      send({ trace_id: 't', spans: [spanOf({ type: 'llm', model: 'm', name })] }).append.requests.length;
    expect(['ai.generateText', 'ai.streamObject chat', 'ai.generateText.doGenerate'].map(requestsOf)).toEqual([
      0, 0, 1,
    ]);
  });

  it('carry the id a gateway gave, when it is one', () => {
    const idOf = (gateway_request_id: unknown) =>
      send({ trace_id: 't', spans: [spanOf({ type: 'llm', model: 'm', params: { gateway_request_id } })] }).append
        .requests[0]?.gatewayRequestId;
    expect(idOf('gw-1:x')).toBe('gw-1:x');
    for (const unusable of ['', 'a b', 'a,b', 'é', 'x'.repeat(257), 5, null]) {
      expect(idOf(unusable)).toMatch(/^req_[0-9a-f]{30}$/);
    }
  });
});

function md5(text: string): string {
  return createHash('md5').update(text).digest('hex');
}

describe('small limits and empty metrics', () => {
  it('a limit of strings below that of keys is held in free JSON too', () => {
    const { append, reasons } = send(
      JSON.stringify({ trace_id: 't', spans: [spanOf({ params: { a: 'x'.repeat(101) } })] }),
      PROJECT,
      { stringMaxBytes: 100 },
    );
    expect(append.spans[0]?.paramsJson).toContain('…[truncated: 101 bytes]');
    expect(reasons).toEqual(['1 string(s) truncated to 100 bytes']);
  });

  it('empty metrics are still metrics', () => {
    const { append } = send(
      JSON.stringify({ trace_id: 't', spans: [spanOf({ metrics: {} }), spanOf({ span_id: 'b' })] }),
    );
    expect(append.spans.map((span) => span.otherMetricsJson)).toEqual(['{}', null]);
  });
});
