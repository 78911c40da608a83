import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createAnswerReader } from '../../../../src/domain/gateway/dialects/answer-reader.ts';
import { type AnswerFacts, NO_PARTS, type RouteKind } from '../../../../src/domain/gateway/dialects/dialect.ts';
import { BODY_NAMES, documentedBody, documentedStream, STREAM_NAMES } from '../../../support/documented-answers.ts';
import { withoutUsage } from '../../../support/mock-provider.ts';
import { runsOf } from '../../../support/scenario.ts';

type Options = { readonly hidesUsage?: boolean; readonly captures?: boolean; readonly isJudged?: boolean };

function createSubject(name: string, { hidesUsage = false, captures = true, isJudged = false }: Options = {}) {
  const route = name.replace(/-(stream|tools|base64).*/, '').replace('-', '_') as RouteKind;
  return createAnswerReader({
    route,
    isStreamed: STREAM_NAMES.includes(name),
    hidesUsage,
    captures,
    isJudged,
    holdMemory: () => true,
  });
}

function bytesOf(name: string): Buffer {
  return STREAM_NAMES.includes(name) ? documentedStream(name) : Buffer.from(JSON.stringify(documentedBody(name)));
}

function readParts(name: string, parts: readonly Buffer[], options?: Options) {
  const reader = createSubject(name, options);
  const passed = parts.map((part) => reader.read(part));
  return { passed: Buffer.concat([...passed, reader.end()]), facts: reader.facts() };
}

function usageOf(input: number, output: number, [cacheRead, cacheCreation, reasoning] = [0, 0, 0]) {
  return {
    inputTokens: input,
    outputTokens: output,
    cacheReadInputTokens: cacheRead,
    cacheCreationInputTokens: cacheCreation,
    reasoningTokens: reasoning,
  };
}

function messageOf(content: unknown, ...calls: readonly (readonly [id: string, name: string, input: string])[]) {
  const toolCalls = calls.map(([id, name, input]) => ({ id, type: 'function', function: { name, arguments: input } }));
  return {
    type: 'chat_messages',
    value: [{ role: 'assistant', content, ...(calls.length > 0 && { tool_calls: toolCalls }) }],
  };
}

const WEATHER = ['call_a', 'get_weather', '{"city":"Köln"}'] as const;
const TIME = ['call_b', 'get_time', '{}'] as const;
const GREETING = 'Grüße aus 京都';
const thoughtThen = (text: string) => [
  { type: 'reasoning', text: 'Greets.' },
  { type: 'text', text },
];

const GPT = 'gpt-4o-mini-2024-07-18';
const GPT_5 = 'gpt-5-mini-2025-08-07';
const CLAUDE = 'claude-sonnet-4-5-20250929';

type Told = Omit<AnswerFacts, 'isCachedInInput' | 'isWhole' | 'parts' | 'serviceTier' | 'others'>;

/** What each documented answer tells. */
const TOLD: { readonly [name: string]: Told } = {
  'chat-stream': {
    ...{ usage: usageOf(19, 7, [4, 0, 0]), model: GPT, error: null, isComplete: true, hasOutput: true },
    ...{ outputBytes: 23, output: messageOf(`${GREETING} 🍵`) as never },
  },
  'chat-stream-azure': {
    ...{ usage: usageOf(15, 78, [0, 0, 64]), model: GPT, error: null, isComplete: true, hasOutput: true },
    ...{ outputBytes: 4, output: messageOf('Yes.') as never },
  },
  'chat-stream-error': {
    ...{ usage: null, model: GPT, isComplete: false, hasOutput: true, outputBytes: 4 },
    error: { type: 'server_error', message: 'The server had an error while processing your request.' },
    output: messageOf('Half') as never,
  },
  'chat-stream-reasoning': {
    ...{ usage: usageOf(18, 21, [16, 0, 12]), model: 'deepseek-reasoner', error: null, isComplete: true },
    ...{ hasOutput: true, outputBytes: 13 },
    output: messageOf([
      { type: 'reasoning', text: 'Two and two.' },
      { type: 'text', text: '4' },
    ]) as never,
  },
  'chat-stream-tools': {
    ...{ usage: usageOf(82, 31), model: GPT, error: null, isComplete: true, hasOutput: true, outputBytes: 18 },
    output: messageOf(null, WEATHER, TIME) as never,
  },
  chat: {
    ...{ usage: usageOf(19, 7, [4, 0, 0]), model: GPT, error: null, isComplete: true, hasOutput: true },
    ...{ outputBytes: 18, output: messageOf(GREETING) as never },
  },
  'chat-tools': {
    ...{ usage: usageOf(82, 31), model: GPT, error: null, isComplete: true, hasOutput: true, outputBytes: 18 },
    output: messageOf(null, WEATHER, TIME) as never,
  },
  'responses-stream': {
    ...{ usage: usageOf(37, 24, [16, 0, 8]), model: GPT_5, error: null, isComplete: true, hasOutput: true },
    ...{ outputBytes: 25, output: messageOf(thoughtThen(GREETING)) as never },
  },
  'responses-stream-tools': {
    ...{ usage: usageOf(82, 31), model: GPT_5, error: null, isComplete: true, hasOutput: true, outputBytes: 16 },
    output: messageOf(null, WEATHER) as never,
  },
  'responses-stream-incomplete': {
    ...{ usage: usageOf(37, 2), model: GPT_5, error: null, isComplete: true, hasOutput: true, outputBytes: 7 },
    output: messageOf('Grüße') as never,
  },
  'responses-stream-failed': {
    ...{ usage: null, model: GPT_5, isComplete: true, hasOutput: false, outputBytes: 0, output: null },
    error: { type: 'server_error', message: 'The model failed to generate a response.' },
  },
  'responses-stream-error': {
    ...{ usage: null, model: GPT_5, isComplete: false, hasOutput: false, outputBytes: 0, output: null },
    error: { type: 'insufficient_quota', message: 'You exceeded your current quota.' },
  },
  responses: {
    ...{ usage: usageOf(37, 24, [16, 0, 8]), model: GPT_5, error: null, isComplete: true, hasOutput: true },
    ...{ outputBytes: 41, output: messageOf(thoughtThen(GREETING), WEATHER) as never },
  },
  'messages-stream': {
    ...{ usage: usageOf(25, 23, [1024, 64, 5]), model: CLAUDE, error: null, isComplete: true, hasOutput: true },
    ...{ outputBytes: 30, output: messageOf(thoughtThen(`${GREETING} 🍵`)) as never },
  },
  'messages-stream-tools': {
    // The last delta wins for each count that it has.
    ...{ usage: usageOf(380, 65), model: CLAUDE, error: null, isComplete: true, hasOutput: true, outputBytes: 17 },
    output: messageOf(null, ['toolu_01', 'get_weather', '{"city": "Köln"}']) as never,
  },
  'messages-stream-error': {
    ...{ usage: usageOf(25, 1), model: CLAUDE, isComplete: false, hasOutput: true, outputBytes: 4 },
    ...{ error: { type: 'overloaded_error', message: 'Overloaded' }, output: messageOf('Half') as never },
  },
  messages: {
    ...{ usage: usageOf(25, 23, [1024, 64, 5]), model: CLAUDE, error: null, isComplete: true, hasOutput: true },
    ...{ outputBytes: 41, output: messageOf(thoughtThen(GREETING), ['toolu_01', 'get_weather', WEATHER[2]]) as never },
  },
  embeddings: {
    ...{ usage: usageOf(8, 0), model: 'text-embedding-3-small', error: null, isComplete: true, hasOutput: true },
    ...{ outputBytes: 0, output: { type: 'json', value: { embeddings: 2, dimensions: 3 } } },
  },
  'embeddings-base64': {
    ...{ usage: usageOf(5, 0), model: 'text-embedding-3-small', error: null, isComplete: true, hasOutput: true },
    ...{ outputBytes: 0, output: { type: 'json', value: { embeddings: 1, dimensions: 3 } } },
  },
  'count-tokens': {
    ...{ usage: null, model: null, error: null, isComplete: true, hasOutput: false, outputBytes: 0, output: null },
  },
};

const NAMES = Object.keys(TOLD);
const WRITTEN = ['messages', 'messages-stream'];
const toldBy = (name: string): AnswerFacts => ({
  ...(TOLD[name] as AnswerFacts),
  isWhole: true,
  isCachedInInput: !/^(messages|count)/.test(name),
  parts: { ...NO_PARTS, cacheWrite5mTokens: WRITTEN.includes(name) ? 64 : 0 },
  serviceTier: /^chat(?!-stream-reasoning)/.test(name) ? 'default' : name.startsWith('messages') ? 'standard' : null,
  others: [],
});

it('every documented answer of a data route is read', () => {
  const others = ['errors-anthropic', 'errors-openai', 'models-anthropic', 'models-openai'];
  expect([...NAMES, ...others].sort()).toEqual([...STREAM_NAMES, ...BODY_NAMES].sort());
});

describe.each(NAMES)('%s', (name) => {
  const bytes = bytesOf(name);

  it('tells the same however its bytes are cut, and every byte passes', () => {
    expect(readParts(name, [bytes])).toEqual({ passed: bytes, facts: toldBy(name) });
    const single = Array.from(bytes, (byte) => Buffer.of(byte));
    const reader = createSubject(name);
    expect(Buffer.concat([...single.map((part) => reader.read(part)), reader.end()]).equals(bytes)).toBe(true);
    expect(reader.facts()).toEqual(toldBy(name));
    for (let at = 1; at < bytes.length; at += 1) {
      const { passed, facts } = readParts(name, [bytes.subarray(0, at), bytes.subarray(at)]);
      if (!passed.equals(bytes)) throw new Error(`other bytes when cut at ${at}`);
      if (at % 16 === 0) expect(facts).toEqual(toldBy(name));
    }
  });

  it('has no texts beside its output, but the message of an error', () => {
    const { others, isWhole } = readParts(name, [bytes], { isJudged: true }).facts;
    const message = TOLD[name]?.error?.message;
    // Its last event has more text than its pieces.
    const expected = name === 'responses-stream-incomplete' ? [GREETING] : [];
    expect(isWhole).toBe(true);
    expect(others).toEqual(message ? expect.arrayContaining([message]) : expected);
  });

  it('keeps no output that is not captured', () => {
    expect(readParts(name, [bytes], { captures: false }).facts).toEqual({
      ...toldBy(name),
      output: null,
      isWhole: false,
    });
  });
});

describe.each(STREAM_NAMES)('%s', (name) => {
  it('tells the same with each kind of line end', () => {
    const bytes = bytesOf(name);
    for (const end of ['\r\n', '\r']) {
      const other = Buffer.from(bytes.toString().replaceAll('\n', end));
      expect(readParts(name, [other])).toEqual({ passed: other, facts: toldBy(name) });
      const single = Array.from(other, (byte) => Buffer.of(byte));
      expect(readParts(name, single)).toEqual({ passed: other, facts: toldBy(name) });
    }
  });
});

describe('a hidden usage', () => {
  const streams = NAMES.filter((name) => name.startsWith('chat-stream'));

  it.each(streams)('is removed from %s, and nothing else is', (name) => {
    const bytes = bytesOf(name);
    const hidden = withoutUsage(bytes.toString());
    expect(readParts(name, [bytes], { hidesUsage: true })).toEqual({
      passed: Buffer.from(hidden),
      facts: toldBy(name),
    });
    expect(hidden).not.toMatch(/"usage":null/);
    for (let at = 1; at < bytes.length; at += 1) {
      const { passed } = readParts(name, [bytes.subarray(0, at), bytes.subarray(at)], { hidesUsage: true });
      if (passed.toString() !== hidden) throw new Error(`other bytes when cut at ${at}`);
    }
  });

  it.each(['\n', '\r\n', '\r'])('is removed with line ends %j in any parts', (end) => {
    const text = documentedStream('chat-stream').toString();
    const bytes = Buffer.from(text.replaceAll('\n', end));
    const hidden = withoutUsage(text).replaceAll('\n', end);
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 90 }), { minLength: 1 }), (lengths) => {
        const parts: Buffer[] = [];
        for (let at = 0, turn = 0; at < bytes.length; turn += 1) {
          const length = lengths[turn % lengths.length] ?? 1;
          parts.push(bytes.subarray(at, at + length));
          at += length;
        }
        expect(readParts('chat-stream', parts, { hidesUsage: true }).passed.toString()).toBe(hidden);
      }),
      { numRuns: runsOf(500) },
    );
  });

  it.each([
    ['{"usage":null,"choices":[{}]}', '{"choices":[{}]}'],
    ['{"choices":[{}] , "usage" : null }', '{"choices":[{}]  }'],
    ['{"choices":[{"usage":null}],"usage":null}', '{"choices":[{"usage":null}]}'],
    ['{"usage":null}', '{}'],
    ['{"usage":null,"a":1,"usage":null}', '{"a":1}'],
    ['{"a":{"usage":null},"b":"\\"usage\\":null"}', '{"a":{"usage":null},"b":"\\"usage\\":null"}'],
    ['{"choices":[{}],"usage":{"prompt_tokens":1}}', '{"choices":[{}],"usage":{"prompt_tokens":1}}'],
    ['{"choices":[],"usage":null}', '{"choices":[]}'],
    ['not json "usage":null', 'not json "usage":null'],
  ])('of %s leaves %s', (sent, passed) => {
    const event = (data: string) => Buffer.from(`id: 1\ndata: ${data}\n\n`);
    expect(readParts('chat-stream', [event(sent)], { hidesUsage: true }).passed).toEqual(event(passed));
  });

  it('is removed from data of several lines', () => {
    const sent = Buffer.from('data: {"choices":[{}],\ndata:"usage":\n: between\ndata: null,\ndata: "b":1}\n\n');
    const passed = 'data: {"choices":[{}]\ndata:\n: between\ndata: ,\ndata: "b":1}\n\n';
    expect(readParts('chat-stream', [sent], { hidesUsage: true }).passed.toString()).toBe(passed);
  });

  it('is removed when the stream breaks before the empty line', () => {
    const chunk = 'data: {"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":4}}\n';
    const { passed, facts } = readParts('chat-stream', [Buffer.from(chunk)], { hidesUsage: true });
    expect(passed.toString()).toBe('');
    expect(facts.usage).toEqual(usageOf(3, 4));
    const half = Buffer.from(chunk.slice(0, 30));
    expect(readParts('chat-stream', [half], { hidesUsage: true }).passed).toEqual(half);
  });
});

it('a stream that breaks keeps what was told until then', () => {
  const bytes = bytesOf('messages-stream');
  const reader = createSubject('messages-stream');
  reader.read(bytes.subarray(0, bytes.indexOf(' 京都')));
  expect(reader.facts()).toMatchObject({ usage: usageOf(25, 1, [1024, 64, 0]), isComplete: false, outputBytes: 18 });
});

it('an answer that breaks before it can be read counts its bytes as output', () => {
  const reader = createSubject('chat');
  reader.read(Buffer.from('{"choices":[{"mess'));
  expect(reader.facts()).toMatchObject({ outputBytes: 18, hasOutput: true, isComplete: false, usage: null });
  reader.end();
  expect(reader.facts()).toMatchObject({ outputBytes: 18, hasOutput: true, isComplete: false, usage: null });
});

it('counts the reasoning that a provider tells beside the completion', () => {
  const usage = {
    ...{ prompt_tokens: 12, completion_tokens: 2, total_tokens: 354 },
    completion_tokens_details: { reasoning_tokens: 340 },
  };
  const { facts } = readParts('chat', [Buffer.from(JSON.stringify({ choices: [], usage }))]);
  expect(facts.usage).toEqual(usageOf(12, 342, [0, 0, 340]));
});

it('reads several choices, refusals, and contents of parts', () => {
  const choices = [
    { index: 1, message: { content: null, refusal: 'No.' } },
    {
      index: 0,
      message: {
        content: [
          { type: 'thinking', thinking: [{ type: 'text', text: 'Hm.' }] },
          { type: 'text', text: 'Yes.' },
        ],
      },
    },
  ];
  const { facts } = readParts('chat', [Buffer.from(JSON.stringify({ choices }))]);
  expect(facts.output?.value).toEqual([
    {
      role: 'assistant',
      content: [
        { type: 'reasoning', text: 'Hm.' },
        { type: 'text', text: 'Yes.' },
      ],
    },
    { role: 'assistant', content: null, refusal: 'No.' },
  ]);
});

it('shows the tools that the provider ran', () => {
  const item = { type: 'web_search_call', id: 'ws_1', status: 'completed', action: { type: 'search', query: 'tea' } };
  const calls = messageOf(null, ['ws_1', 'web_search_call', '{"type":"search","query":"tea"}']);
  const whole = JSON.stringify({ model: 'm', output: [item] });
  expect(readParts('responses', [Buffer.from(whole)]).facts.output).toEqual(calls);
  const events = [
    { type: 'response.output_item.added', output_index: 0, item: { ...item, action: undefined } },
    { type: 'response.output_item.done', output_index: 0, item },
  ];
  const stream = events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('');
  expect(readParts('responses-stream', [Buffer.from(stream)]).facts.output).toEqual(calls);
});
