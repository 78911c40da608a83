import OpenAI from 'openai';
import { describe, expect, it } from 'vitest';
import { assembleAnswer, createAssembler } from '../../../src/domain/gateway/assembled-answer.ts';
import { type AnswerForm, streamAnswer } from '../../../src/domain/gateway/cached-stream.ts';
import { CHAT_ANSWERS, MESSAGES, RESPONSE } from './cached-answers.ts';

function streamOf(form: AnswerForm, answer: object, includesUsage = true): string {
  return String(streamAnswer(form, Buffer.from(JSON.stringify(answer)), { includesUsage }));
}

type Sent = { readonly [member: string]: unknown };

function eventsOf(stream: string): readonly Sent[] {
  const datas = stream.match(/^data: .*$/gm) ?? [];
  return datas.map((line) => line.slice(6)).flatMap((data) => (data === '[DONE]' ? [] : [JSON.parse(data)]));
}

function assemble(form: AnswerForm, stream: string): unknown {
  const answer = assembleAnswer(form, Buffer.from(stream));
  return answer === null ? null : JSON.parse(answer.toString());
}

/** The client of OpenAI in front of a stream. */
function clientOf(stream: string): OpenAI {
  const headers = { 'content-type': 'text/event-stream' };
  return new OpenAI({ apiKey: 'none', fetch: async () => new Response(stream, { headers }) });
}

const ASKED = { model: 'gpt-5', stream_options: { include_usage: true } };

describe('a cached answer of chat as a stream', () => {
  it.each(Object.entries(CHAT_ANSWERS))('%s: the client of OpenAI reads the very answer', async (_, answer) => {
    const client = clientOf(streamOf('chat', answer));
    const read = await client.chat.completions.stream({ ...ASKED, messages: [] }).finalChatCompletion();
    const messages = read.choices.map(({ message: { parsed: _, tool_calls: calls, ...message } }) => ({
      ...message,
      ...(calls === undefined
        ? {}
        : {
            tool_calls: calls.map(({ function: { parsed_arguments: __, ...called }, ...call }) => ({
              ...call,
              function: called,
            })),
          }),
    }));
    expect(messages).toEqual(answer.choices.map(({ message }) => message));
    expect(read.choices.map(({ finish_reason }) => finish_reason)).toEqual(
      answer.choices.map(({ finish_reason }) => finish_reason),
    );
    expect(read).toMatchObject({ id: answer.id, created: answer.created, model: answer.model, usage: answer.usage });
  });

  it('has its usage in a chunk of its own when that was asked for, and nowhere else', () => {
    const asked = streamOf('chat', CHAT_ANSWERS.text);
    expect(asked.endsWith('data: [DONE]\n\n')).toBe(true);
    const chunks = eventsOf(asked);
    expect(chunks.at(-1)).toMatchObject({
      object: 'chat.completion.chunk',
      choices: [],
      usage: CHAT_ANSWERS.text.usage,
    });
    expect(chunks.slice(0, -1).every(({ usage }) => usage === null)).toBe(true);
    const bare = eventsOf(streamOf('chat', CHAT_ANSWERS.text, false));
    expect(bare).toHaveLength(chunks.length - 1);
    expect(bare.some((chunk) => 'usage' in chunk)).toBe(false);
  });
});

describe('a cached response as a stream', () => {
  it('is read by the client of OpenAI as the very response, event by event', async () => {
    const stream = clientOf(streamOf('responses', RESPONSE)).responses.stream({ model: 'gpt-5', input: 'x' });
    let texts = '';
    stream.on('response.output_text.delta', ({ delta }) => {
      texts += delta;
    });
    const { output, output_parsed: _, output_text, ...read } = await stream.finalResponse();
    const { output: sent, ...rest } = RESPONSE;
    expect(read).toEqual(rest);
    expect(JSON.parse(JSON.stringify(output, (name, value) => (/^parsed/.test(name) ? undefined : value)))).toEqual(
      sent,
    );
    expect([texts, output_text]).toEqual(['In a peaceful grove …', 'In a peaceful grove …']);
  });

  it('numbers its events, and each item begins empty and ends whole', () => {
    const events = eventsOf(streamOf('responses', RESPONSE));
    expect(events.map(({ sequence_number }) => sequence_number)).toEqual(events.map((_, index) => index));
    expect(events.filter(({ type }) => type === 'response.output_item.done').map(({ item }) => item)).toEqual(
      RESPONSE.output,
    );
    const added = events.filter(({ type }) => type === 'response.output_item.added').map(({ item }) => item);
    expect(added).toMatchObject([
      { summary: [] },
      { content: [], status: 'in_progress' },
      { arguments: '' },
      { input: '' },
      { id: 'ws_1', status: 'in_progress' },
    ]);
    const deltas = events.filter(({ type }) => /delta$/.test(String(type))).map(({ delta }) => delta);
    expect(deltas).toEqual(['Thinking.', 'In a peaceful grove …', 'Not that.', '{"a":1}', 'ls']);
    expect(events.slice(0, 2).map(({ type, response }) => [type, response])).toEqual(
      ['response.created', 'response.in_progress'].map((type) => [
        type,
        { ...RESPONSE, status: 'in_progress', output: [], usage: null },
      ]),
    );
    const incomplete = { ...RESPONSE, status: 'incomplete' };
    expect(eventsOf(streamOf('responses', incomplete)).at(-1)).toMatchObject({
      type: 'response.incomplete',
      response: incomplete,
    });
  });
});

describe('a cached message as a stream', () => {
  it.each(Object.entries(MESSAGES))('%s: says the very message', (_, message) => {
    const stream = streamOf('messages', message);
    const names = [...stream.matchAll(/^event: (.*)$/gm)].map(([, name]) => name);
    const events = eventsOf(stream);
    expect(events.map(({ type }) => type)).toEqual(names);
    expect([names[0], ...names.slice(-2)]).toEqual(['message_start', 'message_delta', 'message_stop']);
    expect(events[0]).toMatchObject({
      message: { content: [], stop_reason: null, usage: { input_tokens: 10, output_tokens: 0 } },
    });
    expect(readMessage(events)).toEqual(message);
  });
});

describe('a body that is not a finished answer', () => {
  it.each([
    ['chat', '{"choices":[]}'],
    ['chat', '{"choices":[{"index":0}]}'],
    ['chat', '{"choices":[{"index":0,"message":{"content":[1]}}]}'],
    ['responses', '{"status":"queued","output":[]}'],
    ['responses', '{"status":"completed","output":[1]}'],
    ['messages', '{"content":[],"usage":{}}'],
    ['messages', '[]'],
    ['messages', 'no JSON'],
  ] as const)('has no stream: %s %s', (form, body) => {
    expect(streamAnswer(form, Buffer.from(body), { includesUsage: true })).toBeNull();
  });
});

describe('an answer put together from a stream', () => {
  const all: readonly (readonly [AnswerForm, string, object])[] = [
    ...Object.entries(CHAT_ANSWERS).map(([name, answer]) => ['chat', name, answer] as const),
    ...Object.entries(MESSAGES).map(([name, answer]) => ['messages', name, answer] as const),
    ['responses', 'all kinds of items', RESPONSE],
  ];

  it.each(all)('%s, %s: is the one that was streamed, however its bytes come', (form, _, answer) => {
    const stream = Buffer.from(streamOf(form, answer));
    for (const text of [String(stream), String(stream).replaceAll('\n', '\r\n'), `\ufeff: hi\n\n${stream}`]) {
      expect(assemble(form, text)).toEqual(answer);
    }
    const [bytewise, seven] = [createAssembler(form), createAssembler(form)];
    for (const byte of stream) bytewise.push(Buffer.of(byte));
    for (let at = 0; at < stream.length; at += 7) seven.push(stream.subarray(at, at + 7));
    expect(bytewise.end()).toEqual(seven.end());
    expect(bytewise.end()).not.toBeNull();
  });

  it('keeps the digits of numbers', () => {
    const stream = streamOf('messages', MESSAGES['thinking and tools']).replace('2.5]', '9007199254740993]');
    expect(String(assembleAnswer('messages', Buffer.from(stream)))).toContain('"days":[1,9007199254740993]');
  });

  it.each(all)('%s, %s: is none without the end of the stream', (form, _, answer) => {
    const events = streamOf(form, answer).split('\n\n');
    for (let count = 0; count < events.length - 1; count += 1) {
      const part = events.slice(0, count).join('\n\n');
      expect(assemble(form, part), part.slice(-80)).toBeNull();
    }
  });

  const delta = (changes: object) => chunk({ index: 0, delta: changes, finish_reason: null });
  const chunk = (...choices: object[]) => `data: ${JSON.stringify({ id: 'c', model: 'm', choices })}\n\n`;
  const end = `${chunk({ index: 0, delta: {}, finish_reason: 'stop' })}data: {"id":"c","choices":[],"usage":{"total_tokens":1}}\n\ndata: [DONE]\n\n`;

  it('is one for the chunks of other providers that use the members of OpenAI', () => {
    const texts = [{ role: 'assistant', reasoning_content: 'Wh' }, { reasoning_content: 'y' }, { content: 'A' }];
    const stream = texts.map(delta).join('') + delta({ content: 'B' }) + end;
    expect(assemble('chat', stream)).toMatchObject({
      choices: [{ message: { role: 'assistant', content: 'AB', reasoning_content: 'Why' }, finish_reason: 'stop' }],
      usage: { total_tokens: 1 },
    });
  });

  it.each([
    ['an error in the middle', `${delta({ content: 'A' })}data: {"error":{"message":"overloaded"}}\n\n${end}`],
    ['a member without an exact other form', delta({ content: 'A', audio: { id: 'a' } }) + end],
    ['filters of Azure', chunk({ index: 0, delta: { content: 'A' }, content_filter_results: { hate: {} } }) + end],
    ['a chunk of another model', `data: {"id":"c","model":"n","choices":[]}\n\n${delta({ content: 'A' })}${end}`],
    ['a choice that was left out', chunk({ index: 1, delta: { content: 'A' } }) + end],
    [
      'a call that changes its name',
      delta({ tool_calls: [{ index: 0, id: 'a' }] }) + delta({ tool_calls: [{ index: 0, id: 'b' }] }) + end,
    ],
    ['no usage', delta({ content: 'A' }) + end.replace('"usage"', '"used"')],
    ['no JSON', `data: {"id"\n\n${delta({ content: 'A' })}${end}`],
    [
      'more than an answer may hold',
      Array.from({ length: 9 }, () => delta({ content: 'x'.repeat(120_000) })).join('') + end,
    ],
    ['a line without an end', `data: ${'x'.repeat(3 * 1024 * 1024)}`],
  ])('is none for %s', (_, stream) => {
    expect(assemble('chat', delta({ content: '' }) + end)).not.toBeNull();
    expect(assemble('chat', stream)).toBeNull();
  });

  it.each([
    ['an error', { type: 'error', error: { type: 'overloaded_error' } }],
    ['an unknown event', { type: 'content_block_revised', index: 0 }],
    ['an unknown delta', { type: 'content_block_delta', index: 0, delta: { type: 'audio_delta', audio: 'x' } }],
    ['a delta of no block', { type: 'content_block_delta', index: 9, delta: { type: 'text_delta', text: 'x' } }],
    [
      'input that is not JSON',
      { type: 'content_block_delta', index: 0, delta: { type: 'input_json_delta', partial_json: '{' } },
    ],
    ['a second start', { type: 'message_start', message: MESSAGES.text }],
  ])('is none for a message with %s', (_, event) => {
    const events = streamOf('messages', MESSAGES.text);
    const at = events.indexOf('event: content_block_stop');
    const withEvent = (sent: object) => `${events.slice(0, at)}data: ${JSON.stringify(sent)}\n\n${events.slice(at)}`;
    expect(assemble('messages', withEvent({ type: 'ping' }))).toEqual(MESSAGES.text);
    expect(assemble('messages', withEvent(event))).toBeNull();
  });
});

/** What Anthropic's client makes of events. */
function readMessage(events: readonly Sent[]): Sent {
  let message: { content: Record<string, unknown>[]; [member: string]: unknown } = { content: [] };
  let json = '';
  for (const event of events) {
    const {
      type,
      index,
      delta,
      content_block: begun,
    } = event as Record<'type' | 'index' | 'delta' | 'content_block', never>;
    const block = message.content[index] ?? {};
    if (type === 'message_start') message = structuredClone(event.message) as typeof message;
    if (type === 'content_block_start') {
      message.content.push({ ...(begun as object) });
      json = '';
    }
    if (type === 'content_block_delta') {
      const { type: kind, citation, partial_json, ...texts } = delta as Record<string, unknown>;
      for (const [name, text] of Object.entries(texts)) block[name] = `${block[name]}${text}`;
      if (kind === 'citations_delta') block.citations = [...(block.citations as unknown[]), citation];
      if (kind === 'input_json_delta') json += partial_json;
    }
    if (type === 'content_block_stop' && json !== '') block.input = JSON.parse(json);
    if (type === 'message_delta') {
      const used = { ...(message.usage as object), ...(event.usage as object) };
      message = { ...message, ...(delta as object), usage: used };
    }
  }
  return message;
}
