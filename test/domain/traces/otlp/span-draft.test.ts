import { describe, expect, it } from 'vitest';
import type { MetricsDraft, SpanDraft } from '../../../../src/domain/traces/collector/collector-draft.ts';
import type { LosslessJson } from '../../../../src/json/lossless-json.ts';
import { draftOf, START_MS, START_NANO } from './spans.ts';

type Reader = (draft: SpanDraft) => unknown;
type Row = readonly [
  target: string,
  read: Reader,
  sources: readonly (readonly [key: string, value: LosslessJson, expected?: unknown])[],
];

const metric =
  (name: keyof MetricsDraft): Reader =>
  ({ metrics }) =>
    (metrics as MetricsDraft | undefined)?.[name];
const inMetrics = (member: string, value: LosslessJson) =>
  ['langwatch.metrics', JSON.stringify({ type: 'json', value: { [member]: value } }), value] as const;
const counts = (keys: readonly string[], first: number) =>
  keys.map((key, index) => [key, first + index, first + index] as const);
const input: Reader = (draft) => draft.input;
const output: Reader = (draft) => draft.output;
const json = (side: string, value: LosslessJson) => ({ type: 'json', value, path: side });
const text = (side: string, value: string) => ({ type: 'text', value, path: side });
const chat = (side: string, value: LosslessJson) => ({ type: 'chat_messages', value, path: side });
const ASKED = [{ role: 'user', content: 'Hi?' }];
const CALLS = [{ type: 'function', function: { name: 'x' } }];

/** In the specification's order: the leftmost source wins. */
const ROWS: readonly Row[] = [
  [
    'model',
    (draft) => draft.model,
    [
      ...['gen_ai.response.model', 'gen_ai.request.model', 'llm.model_name', 'ai.response.model', 'ai.model.id'].map(
        (key) => [key, `of ${key}`, `of ${key}`] as const,
      ),
      ['embedding.model_name', 'e', 'e'],
      ['ai.model', { provider: 'openai', id: 'gpt-5' }, 'openai/gpt-5'],
    ],
  ],
  [
    'vendor',
    (draft) => draft.vendor,
    [
      ...['gen_ai.provider.name', 'gen_ai.system', 'llm.provider', 'llm.system'].map(
        (key) => [key, `of ${key}`, `of ${key}`] as const,
      ),
      ['ai.model.provider', 'google.vertex.chat', 'google'],
    ],
  ],
  [
    'prompt_tokens',
    metric('promptTokens'),
    [
      inMetrics('promptTokens', 1),
      ...counts(['gen_ai.usage.input_tokens', 'gen_ai.usage.prompt_tokens', 'llm.token_count.prompt'], 2),
      ...counts(['ai.usage.promptTokens', 'ai.usage.inputTokens'], 5),
    ],
  ],
  [
    'completion_tokens',
    metric('completionTokens'),
    [
      inMetrics('completion_tokens', 1),
      ...counts(['gen_ai.usage.output_tokens', 'gen_ai.usage.completion_tokens', 'llm.token_count.completion'], 2),
      ...counts(['ai.usage.completionTokens', 'ai.usage.outputTokens'], 5),
    ],
  ],
  [
    'reasoning_tokens',
    metric('reasoningTokens'),
    [
      inMetrics('reasoningTokens', 1),
      ...counts(['gen_ai.usage.reasoning.output_tokens', 'gen_ai.usage.reasoning_tokens'], 2),
      ...counts(['llm.token_count.completion_details.reasoning', 'ai.usage.reasoningTokens'], 4),
    ],
  ],
  [
    'cache_read_input_tokens',
    metric('cacheReadInputTokens'),
    [
      inMetrics('cacheReadInputTokens', 1),
      ...counts(['gen_ai.usage.cache_read.input_tokens', 'gen_ai.usage.cached_input_tokens'], 2),
      ...counts(['gen_ai.usage.cached_tokens', 'llm.token_count.prompt_details.cache_read'], 4),
      ...counts(['ai.usage.cachedInputTokens', 'ai.usage.inputTokenDetails.cacheReadTokens'], 6),
    ],
  ],
  [
    'cache_creation_input_tokens',
    metric('cacheCreationInputTokens'),
    [
      inMetrics('cacheCreationInputTokens', 1),
      ...counts(['gen_ai.usage.cache_creation.input_tokens', 'llm.token_count.prompt_details.cache_write'], 2),
      ...counts(['ai.usage.inputTokenDetails.cacheWriteTokens'], 4),
    ],
  ],
  [
    'cost',
    metric('cost'),
    [inMetrics('cost', 0.5), ...counts(['langwatch.span.cost', 'gen_ai.usage.cost', 'llm.cost.total'], 1)],
  ],
  [
    'tokens_estimated',
    metric('tokensEstimated'),
    [inMetrics('tokensEstimated', true), ['langwatch.tokens.estimated', false, false]],
  ],
  [
    'input',
    input,
    [
      [
        'langwatch.input',
        '{"type":"chat_messages","value":[]}',
        { type: 'chat_messages', value: [], path: 'input.value' },
      ],
      ['gen_ai.input.messages', JSON.stringify(ASKED), chat('input', ASKED)],
      ['gen_ai.prompt', 'Hi?', text('input', 'Hi?')],
      ['gen_ai.prompt.0.content', 'Hi?', json('input', [{ content: 'Hi?' }])],
      ['llm.input_messages.0.message.role', 'user', chat('input', [{ role: 'user' }])],
      ['traceloop.entity.input', '{"a":1}', json('input', { a: 1 })],
      ['input.value', '{"broken', text('input', '{"broken')],
      ['input', 'b', text('input', 'b')],
      ['ai.prompt.messages', JSON.stringify(ASKED), chat('input', ASKED)],
      ['ai.prompt', '{"prompt":"Hi?"}', json('input', { prompt: 'Hi?' })],
      ['gen_ai.tool.call.arguments', '[1]', json('input', [1])],
      ['ai.toolCall.args', '42', text('input', '42')],
    ],
  ],
  [
    'output',
    output,
    [
      ['langwatch.output', 'Hello.', text('output', 'Hello.')],
      ['gen_ai.output.messages', JSON.stringify(ASKED), chat('output', ASKED)],
      ['gen_ai.completion', 'Hello.', text('output', 'Hello.')],
      ['gen_ai.completion.0.role', 'assistant', chat('output', [{ role: 'assistant' }])],
      ['llm.output_messages.0.message.content', 'a', json('output', [{ content: 'a' }])],
      ['traceloop.entity.output', false, json('output', false)],
      ['output.value', 0, json('output', 0)],
      ['output', 'b', text('output', 'b')],
      ['ai.response.text', 'e', chat('output', [{ role: 'assistant', content: 'e', tool_calls: CALLS }])],
      ['ai.response.object', '{"dish":"soup"}', json('output', { dish: 'soup' })],
      [
        'ai.response.toolCalls',
        '[{"toolName":"x"}]',
        chat('output', [{ role: 'assistant', content: null, tool_calls: CALLS }]),
      ],
      ['ai.response', 'c', text('output', 'c')],
      ['gen_ai.tool.call.result', { a: 1 }, json('output', { a: 1 })],
      ['ai.toolCall.result', 'd', text('output', 'd')],
    ],
  ],
];

describe.each(ROWS)('%s', (_, read, sources) => {
  it.each(sources.map(([key], index) => [key, index] as const))(
    'comes from %s unless an earlier attribute has it',
    (_, index) => {
      const behind = Object.fromEntries(sources.slice(index).map(([key, value]) => [key, value]));
      expect(read(draftOf(behind))).toEqual(sources[index]?.[2]);
    },
  );

  it('is absent where nothing says it', () => {
    expect(read(draftOf({}))).toBeUndefined();
  });
});

describe('a blank langwatch.input', () => {
  it('gives way to an attribute that says something', () => {
    expect(input(draftOf({ 'langwatch.input': '', 'input.value': 'Hi?' }))).toEqual(text('input', 'Hi?'));
  });

  it('is the input where no other says anything', () => {
    expect(input(draftOf({ 'langwatch.input': '' }))).toEqual(text('input', ''));
    expect(input(draftOf({ 'langwatch.input': 'none', 'input.value': '' }))).toEqual(text('input', ''));
  });
});

describe('a text that is JSON', () => {
  it.each(['input', 'output'] as const)('is langwatch.%s without its quotes', (side) => {
    const read = (value: string) => draftOf({ [`langwatch.${side}`]: value })[side];
    expect(read('"hello"')).toEqual(text(side, 'hello'));
    expect(read('"open')).toEqual(text(side, '"open'));
  });
});

describe('whether the prompt counts cached tokens', () => {
  it.each([
    [{ 'spandrel.cached_tokens_in_prompt': false, 'llm.token_count.prompt': 5 }, false],
    [{ 'llm.token_count.prompt': 5 }, true],
    [{ 'ai.usage.inputTokens': 5 }, true],
    [{ 'gen_ai.usage.input_tokens': 5, 'ai.usage.inputTokens': 5 }, undefined],
    [{ 'ai.operationId': 'x', 'gen_ai.usage.input_tokens': 5, 'ai.usage.inputTokens': 5 }, true],
    [{ 'gen_ai.usage.output_tokens': 5 }, undefined],
  ])('%j: %j', (attributes, expected) => {
    expect(metric('cachedTokensInPrompt')(draftOf(attributes))).toBe(expected);
  });
});

describe('usage of the ai package', () => {
  const usage = { 'ai.usage.inputTokens': 5, 'ai.usage.outputTokens': 7, 'ai.model.id': 'gpt-5' };
  it.each(['ai.generateText', 'ai.streamText', 'ai.generateObject', 'ai.streamObject'])(
    'is of an agent and of its call around %s, so that shares count it once',
    (name) => {
      const outer = draftOf({ ...usage, 'ai.operationId': name });
      expect([outer.model, outer.type]).toEqual(['gpt-5', 'agent']);
      expect(outer.metrics).toMatchObject({ promptTokens: 5, completionTokens: 7 });
      const inner = draftOf({ ...usage, 'ai.operationId': `${name}.doGenerate` });
      expect(inner.metrics).toMatchObject({ promptTokens: 5, completionTokens: 7 });
    },
  );
});

describe('values', () => {
  it('that are of another type than their field are left out by name', () => {
    expect(draftOf({ 'gen_ai.request.model': 5 }).model).toMatchObject({ path: 'model', reason: 'must be a string' });
    expect(metric('promptTokens')(draftOf({ 'gen_ai.usage.input_tokens': 'many' }))).toMatchObject({
      path: 'metrics.prompt_tokens',
      reason: 'must be a number',
    });
  });

  it('name a model in JSON as they do in an object', () => {
    expect(draftOf({ 'ai.model': '{"provider":"openai","id":"gpt-5"}' }).model).toBe('openai/gpt-5');
    expect(draftOf({ 'ai.model': '{"id":"gpt-5"}' }).model).toBe('gpt-5');
    expect(draftOf({ 'ai.model': '{"name":"gpt-5"}' }).model).toBe('{"name":"gpt-5"}');
  });

  it('of langwatch.metrics without a field of their own are kept', () => {
    const { metrics } = draftOf({ 'langwatch.metrics': '{"promptTokens":1,"retries":2}' });
    expect(metrics).toMatchObject({ promptTokens: 1, others: { retries: 2 } });
  });

  it.each([
    [{ 'llm.token_count.prompt_details.audio': 5 }, { input_audio_tokens: 5 }],
    [{ 'llm.token_count.completion_details.audio': 5 }, { output_audio_tokens: 5 }],
    [{ 'llm.token_count.total': 5, 'llm.token_count.completion_details.reasoning': 2 }, { total_tokens: 5 }],
    [{ 'gen_ai.openai.request.service_tier': 'flex' }, { service_tier: 'flex' }],
    [
      { 'gen_ai.openai.request.service_tier': 'flex', 'gen_ai.openai.response.service_tier': 'default' },
      { service_tier: 'default' },
    ],
    [
      { 'langwatch.metrics': '{"serviceTier":"batch","inputAudioTokens":5}' },
      { service_tier: 'batch', input_audio_tokens: 5 },
    ],
    [{ 'langwatch.metrics': '{"totalTokens":6}', 'llm.token_count.total': 5 }, { total_tokens: 6 }],
  ])('of usage with prices of its own are further metrics: %j', (attributes, others) => {
    expect(draftOf(attributes).metrics).toMatchObject({ others });
  });

  it('with indexes make arrays in the order of any numbers', () => {
    const { input: made } = draftOf({
      'llm.input_messages.900000000.message.role': 'user',
      'llm.input_messages.900000000.message.contents.0.message_content.type': 'text',
      'llm.input_messages.900000000.message.contents.0.message_content.text': 'Hi?',
      'llm.input_messages.2.message.role': 'assistant',
      'llm.input_messages.2.message.tool_calls.0.tool_call.id': 'call-1',
      'llm.input_messages.2.message.tool_calls.0.tool_call.function.name': 'look',
      'llm.input_messages.2.message.__proto__.x': 'data',
      'llm.input_messages.x.message.role': 'nobody',
    });
    expect(JSON.parse(JSON.stringify(made))).toEqual({
      type: 'chat_messages',
      value: [
        JSON.parse(
          '{"role":"assistant","tool_calls":[{"id":"call-1","function":{"name":"look"}}],"__proto__":{"x":"data"}}',
        ),
        { role: 'user', content: [{ type: 'text', text: 'Hi?' }] },
      ],
      path: 'input',
    });
  });

  it('a key of a thousand segments costs no more than others', () => {
    const key = `gen_ai.prompt.0.${'a.'.repeat(2000)}b`;
    expect(JSON.stringify(draftOf({ [key]: 1 }).input).length).toBeLessThan(2 * key.length);
  });

  it('the parts of messages are their content', () => {
    const messages = [{ role: 'user', parts: [{ type: 'text', content: 'Hi?' }] }];
    expect(draftOf({ 'gen_ai.input.messages': JSON.stringify(messages) }).input).toEqual(
      chat('input', [{ role: 'user', content: [{ type: 'text', content: 'Hi?' }] }]),
    );
  });

  it('JSON keeps every digit and loses no unpaired surrogate to the store', () => {
    const { input: made } = draftOf({ 'input.value': '{"big":12345678901234567890,"odd":"\\ud800"}' });
    expect(JSON.stringify(made)).toBe(
      '{"type":"json","value":{"big":12345678901234567890,"odd":"\ufffd"},"path":"input"}',
    );
  });

  it('JSON that nests too deep or has too many members stays text', () => {
    for (const value of [
      `${'['.repeat(65)}${']'.repeat(65)}`,
      JSON.stringify(Object.fromEntries(Array.from({ length: 10_001 }, (_, n) => [n, n]))),
    ]) {
      expect(draftOf({ 'input.value': value }).input).toEqual(text('input', value));
    }
  });
});

describe('params', () => {
  it('those of langwatch win over gen_ai.request, and that over invocation parameters', () => {
    const { params } = draftOf({
      'langwatch.params': '{"temperature":1,"own":true}',
      'gen_ai.request.temperature': 2,
      'gen_ai.request.top_p': 2,
      'gen_ai.request.stop_sequences': ['END'],
      'gen_ai.request.choice.count': 3,
      'llm.invocation_parameters': '{"temperature":3,"top_p":3,"tools":[]}',
    });
    expect(params).toEqual({ temperature: 1, own: true, top_p: 2, stop: ['END'], n: 3, tools: [] });
  });

  it.each(['temperature', 'top_p', 'top_k', 'max_tokens', 'frequency_penalty', 'presence_penalty', 'seed'])(
    '%s',
    (name) => {
      expect(draftOf({ [`gen_ai.request.${name}`]: 0 }).params).toEqual({ [name]: 0 });
    },
  );

  it.each([
    ['temperature', '0.7', 0.7],
    ['temperature', '0.30000000000000004', 0.30000000000000004],
    ['seed', '42', 42],
    ['seed', '9007199254740991', 9_007_199_254_740_991],
    ['seed', '9007199254740993', '9007199254740993'],
    ['seed', '12345678901234567890', '12345678901234567890'],
    ['temperature', '0.12345678901234567890', '0.12345678901234567890'],
    ['stop_sequences', '5', '5'],
    ['stop_sequences', 'true', 'true'],
    ['stop_sequences', '["5"]', ['5']],
    ['choice.count', '2', 2],
    ['stream', 'true', true],
  ])('%s as the text %j is %j', (name, sent, expected) => {
    expect(Object.values(draftOf({ [`gen_ai.request.${name}`]: sent }).params ?? {})).toEqual([expected]);
  });

  it('the id that a gateway gave the request', () => {
    expect(draftOf({ gateway_request_id: 'gw-1' }).params).toEqual({ gateway_request_id: 'gw-1' });
  });
});

describe('contexts', () => {
  const contexts = [{ document_id: 'd', content: 'c' }, 'bare'];
  it.each([
    ['langwatch.rag.contexts', JSON.stringify(contexts)],
    ['langwatch.rag_contexts', JSON.stringify({ type: 'json', value: contexts })],
    ['langwatch.contexts', contexts],
  ])('of %s', (key, value) => {
    const list = draftOf({ [key]: value }).contexts as { length: number; at(index: number): unknown };
    expect([list.length, list.at(0), list.at(1)]).toEqual([
      2,
      { documentId: 'd', chunkId: undefined, content: 'c' },
      'bare',
    ]);
  });

  it('of retrieved documents', () => {
    const list = draftOf({
      'retrieval.documents.0.document.id': 7,
      'retrieval.documents.0.document.content': 'c',
    }).contexts;
    expect(list).toEqual([{ documentId: '7', chunkId: undefined, content: 'c' }]);
  });
});

describe('instants', () => {
  it('are those of the span in whole milliseconds, rounded half up', () => {
    const { startedAt, finishedAt } = draftOf({}, { startNano: START_NANO + 499_999n, endNano: START_NANO + 500_000n });
    expect([startedAt, finishedAt]).toEqual([START_MS, START_MS + 1]);
  });

  it('keep the nanoseconds that a millisecond is too coarse for', () => {
    const { startedNs, finishedNs } = draftOf({}, { startNano: START_NANO + 499_999n, endNano: START_NANO + 500_000n });
    expect([startedNs, finishedNs]).toEqual([499_999, -500_000]);
    expect(draftOf({}, { startNano: START_NANO + 7n, endNano: 0n })).toMatchObject({ startedNs: 7, finishedNs: 7 });
    expect(draftOf({})).toMatchObject({ startedNs: undefined, finishedNs: undefined });
    const stamps = JSON.stringify({ started_at: START_MS });
    const moved = draftOf({ 'langwatch.timestamps': stamps }, { startNano: START_NANO + 7n, endNano: START_NANO + 9n });
    expect([moved.startedNs, moved.finishedNs]).toEqual([undefined, 9]);
  });

  it('an end of 0 is the start', () => {
    expect(draftOf({}, { endNano: 0n }).finishedAt).toBe(START_MS);
  });

  it.each([
    ['1796000000', 'seconds', '1000000000'],
    ['1796000000000', 'milliseconds', '1000000'],
    ['1796000000000000', 'microseconds', '1000'],
  ])('%s is refused as %s, with the field and the value as sent', (sent, unit, factor) => {
    const reason = `must be nanoseconds since the epoch; ${sent} looks like ${unit}, multiply by ${factor}`;
    const coarse = BigInt(sent);
    expect(draftOf({}, { startNano: coarse }).startedAt).toMatchObject({ path: 'startTimeUnixNano', reason });
    expect(draftOf({}, { endNano: coarse }).finishedAt).toMatchObject({ path: 'endTimeUnixNano', reason });
    const events = [{ name: 'first_token', timeNano: coarse, attributes: new Map() }];
    expect(draftOf({}, { events }).firstTokenAt).toMatchObject({ path: 'events.timeUnixNano', reason });
  });

  it('a start of 0 was not sent', () => {
    const { startedAt } = draftOf({}, { startNano: 0n });
    expect(startedAt).toMatchObject({ path: 'startTimeUnixNano', reason: 'is required' });
  });

  it('of the span stand by where attributes tell others', () => {
    const span = { startNano: START_NANO + 7n, endNano: START_NANO + 9n };
    expect(draftOf({ 'langwatch.timestamps': '{"started_at":1}' }, span).ownTimes).toEqual({
      startedAt: START_MS,
      finishedAt: START_MS,
      startedNs: 7,
      finishedNs: 9,
    });
    expect(draftOf({}, span).ownTimes).toBeUndefined();
  });

  it('langwatch.timestamps win', () => {
    const stamps = { started_at: 1, finished_at: 2, first_token_at: 3 };
    expect(draftOf({ 'langwatch.timestamps': JSON.stringify(stamps) })).toMatchObject({
      startedAt: 1,
      finishedAt: 2,
      firstTokenAt: 3,
    });
  });

  it.each([
    'first_token',
    'llm.first_token',
    'gen_ai.content.chunk',
    'llm.content.completion.chunk',
    'ai.stream.firstChunk',
    'First Token Stream Event',
  ])('the earliest event %s is the first token', (name) => {
    const events = [9n, 3n, 5n].map((ms) => ({ name, timeNano: START_NANO + ms * 1_000_000n, attributes: new Map() }));
    expect(draftOf({ 'ai.response.msToFirstChunk': 1 }, { events }).firstTokenAt).toBe(START_MS + 3);
  });

  it.each([
    ['gen_ai.server.time_to_first_token', 0.25],
    ['gen_ai.response.time_to_first_chunk', 0.25],
    ['gen_ai.client.operation.time_to_first_chunk', '0.25'],
    ['ai.response.msToFirstChunk', 250],
    ['ttft_ms', 250],
  ])('%s counts from the start', (key, delay) => {
    expect(draftOf({ [key]: delay }).firstTokenAt).toBe(START_MS + 250);
  });
});

describe('the first token', () => {
  it.each(['langfuse.observation.completion_start_time', 'mastra.completion_start_time'])(
    '%s is its instant',
    (key) => {
      const text = new Date(START_MS + 250).toISOString();
      for (const value of [text, JSON.stringify(text), START_MS + 250]) {
        expect(draftOf({ [key]: value }).firstTokenAt).toBe(START_MS + 250);
      }
      expect(draftOf({ [key]: 'soon' }).firstTokenAt).toMatchObject({ path: 'timestamps.first_token_at' });
    },
  );

  it('does not come before the start', () => {
    expect(draftOf({ ttft_ms: -1 }).firstTokenAt).toMatchObject({ reason: 'must not be before the start' });
  });
});

describe('errors', () => {
  const exception = (attributes: object) => ({
    name: 'exception',
    timeNano: 0n,
    attributes: new Map(Object.entries(attributes)),
  });
  it('there is none without a status or a flag that says so', () => {
    expect(
      draftOf({ 'error.message': 'x' }, { events: [exception({ 'exception.message': 'y' })] }).error,
    ).toBeUndefined();
    expect(draftOf({ 'error.has_error': true }).error).toMatchObject({ message: 'Unknown error' });
  });

  it('the last exception says most', () => {
    const status = { code: 2, message: 'of the status' };
    const events = [
      exception({ 'exception.message': 'first' }),
      exception({ 'exception.message': 'last', 'exception.stacktrace': 'a\nb', 'exception.type': 'RangeError' }),
    ];
    const attributes = { 'exception.message': 'of the span', 'error.message': 'm', 'http.response.status_code': 429 };
    expect(draftOf(attributes, { status, events }).error).toEqual({
      message: 'last',
      stacktrace: 'a\nb',
      kind: 'RangeError',
      httpStatus: 429,
    });
    expect(draftOf(attributes, { status }).error).toMatchObject({ message: 'of the span' });
    expect(draftOf({ 'error.message': 'm' }, { status }).error).toMatchObject({ message: 'm' });
    expect(draftOf({}, { status }).error).toMatchObject({ message: 'of the status' });
  });

  it('an HTTP status sent as text is that number', () => {
    const status = { code: 2, message: '' };
    expect(draftOf({ 'http.response.status_code': '429' }, { status }).error).toMatchObject({ httpStatus: 429 });
    const odd = { 'http.response.status_code': 'none', 'http.status_code': '', status_code: ' 503 ' };
    expect(draftOf(odd, { status }).error).toMatchObject({ httpStatus: 503 });
    expect(draftOf({ status_code: 'many' }, { status }).error).toMatchObject({ httpStatus: undefined });
  });

  it('a type is the message of an error that has no other', () => {
    const status = { code: 2, message: '' };
    const events = [exception({ 'exception.type': 'TimeoutError', 'exception.message': '' })];
    const attributes = { 'error.type': 'RateLimitError', 'exception.type': 'ApiError' };
    expect(draftOf(attributes, { status, events }).error).toMatchObject({ message: 'TimeoutError' });
    expect(draftOf(attributes, { status }).error).toMatchObject({ message: 'ApiError' });
    expect(draftOf({ 'error.type': 'RateLimitError' }, { status }).error).toMatchObject({
      message: 'RateLimitError',
      kind: 'RateLimitError',
    });
    expect(draftOf({ 'error.type': '' }, { status }).error).toMatchObject({ message: 'Unknown error' });
  });
});

it('rates of the span are used, a missing one as 0', () => {
  expect(draftOf({ 'langwatch.model.inputCostPerToken': 0.001 }).rates).toEqual({
    inputUsdPerToken: 0.001,
    outputUsdPerToken: 0,
  });
  expect(draftOf({}).rates).toBeUndefined();
});

it('the original attributes are kept', () => {
  const link = { traceId: 'aa', spanId: 'bb', traceState: '', attributes: new Map([['why', 'because']]) };
  const { telemetry } = draftOf(
    { a: 0, b: false, c: '' },
    { kind: 3, links: [link], resource: new Map([['team', 'x']]) },
  );
  expect(telemetry).toEqual({
    attributes: { a: 0, b: false, c: '' },
    resource_attributes: { team: 'x' },
    scope: { name: 'tests', version: '' },
    kind: 'SPAN_KIND_CLIENT',
    status: { code: 'STATUS_CODE_UNSET', message: '' },
    events: [],
    links: [{ trace_id: 'aa', span_id: 'bb', trace_state: '', attributes: { why: 'because' } }],
  });
});
