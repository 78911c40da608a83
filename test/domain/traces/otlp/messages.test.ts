import { describe, expect, it } from 'vitest';
import type { LosslessJson } from '../../../../src/json/lossless-json.ts';
import { draftOf } from './spans.ts';

const chat = (side: 'input' | 'output', ...value: readonly LosslessJson[]) => ({
  type: 'chat_messages',
  value,
  path: side,
});
const inputOf = (attributes: Parameters<typeof draftOf>[0]) => draftOf(attributes).input;
const outputOf = (attributes: Parameters<typeof draftOf>[0]) => draftOf(attributes).output;
const USER = { role: 'user', content: 'Ferries?' };

describe('calls of tools', () => {
  const call = (more: object) => ({ id: 'c1', type: 'function', function: { name: 'ferry_times', ...more } });

  it.each([
    [{ type: 'tool_call', id: 'c1', name: 'ferry_times', arguments: { port: 'Moss' } }, { port: 'Moss' }],
    [{ type: 'tool_call', id: 'c1', name: 'ferry_times', arguments: '{"port":"Moss"}' }, '{"port":"Moss"}'],
    [{ type: 'tool_use', id: 'c1', name: 'ferry_times', input: { port: 'Moss' } }, { port: 'Moss' }],
    [{ type: 'tool-call', toolCallId: 'c1', toolName: 'ferry_times', input: { port: 'Moss' } }, { port: 'Moss' }],
    [{ type: 'tool-call', toolCallId: 'c1', toolName: 'ferry_times', args: { port: 'Moss' } }, { port: 'Moss' }],
  ])('among the parts of a message stand beside its content: %j', (part, given) => {
    const reasoning = { type: 'reasoning', content: 'A port.' };
    const messages = [{ role: 'assistant', parts: [reasoning, part], finish_reason: 'tool_call' }];
    expect(outputOf({ 'gen_ai.output.messages': JSON.stringify(messages) })).toEqual(
      chat('output', {
        role: 'assistant',
        finish_reason: 'tool_call',
        content: [reasoning],
        tool_calls: [call({ arguments: given })],
      }),
    );
  });

  it('leave no content where a message has nothing else', () => {
    const messages = [{ role: 'assistant', content: [{ type: 'tool_call', id: 'c1', name: 'ferry_times' }] }];
    expect(inputOf({ 'gen_ai.input.messages': messages })).toEqual(
      chat('input', { role: 'assistant', content: null, tool_calls: [call({})] }),
    );
  });

  it('keep further members, and come after those that were beside the content', () => {
    const first = { id: 'c0', type: 'function', function: { name: 'clock', arguments: '{}' } };
    const part = { type: 'tool_use', id: 'c1', name: 'ferry_times', cache_control: { type: 'ephemeral' } };
    const messages = [{ role: 'assistant', content: ['One moment.', part], tool_calls: [first] }];
    expect(outputOf({ 'gen_ai.output.messages': messages })).toEqual(
      chat('output', {
        role: 'assistant',
        content: ['One moment.'],
        tool_calls: [first, { ...call({}), cache_control: { type: 'ephemeral' } }],
      }),
    );
  });

  it('that OpenInference sends as a part and beside the parts are one', () => {
    const at = 'llm.output_messages.0.message.';
    const output = outputOf({
      [`${at}role`]: 'assistant',
      [`${at}contents.0.message_content.type`]: 'text',
      [`${at}contents.0.message_content.text`]: 'One moment.',
      [`${at}contents.1.message_content.type`]: 'tool_use',
      [`${at}contents.1.tool_call.id`]: 'c1',
      [`${at}contents.1.tool_call.function.name`]: 'ferry_times',
      [`${at}contents.1.tool_call.function.arguments`]: '{"port":"Moss"}',
      [`${at}tool_calls.0.tool_call.id`]: 'c1',
      [`${at}tool_calls.0.tool_call.function.name`]: 'ferry_times',
      [`${at}tool_calls.0.tool_call.function.arguments`]: '{"port":"Moss"}',
    });
    expect(output).toEqual(
      chat('output', {
        role: 'assistant',
        content: [{ type: 'text', text: 'One moment.' }],
        tool_calls: [{ id: 'c1', function: { name: 'ferry_times', arguments: '{"port":"Moss"}' } }],
      }),
    );
  });

  it('that OpenInference sends only as a part stand beside the content', () => {
    const at = 'llm.input_messages.0.message.';
    const input = inputOf({
      [`${at}role`]: 'assistant',
      [`${at}contents.0.message_content.type`]: 'tool_use',
      [`${at}contents.0.tool_call.id`]: 'c1',
      [`${at}contents.0.tool_call.function.name`]: 'ferry_times',
      [`${at}contents.0.tool_call.__proto__.x`]: 'data',
    });
    expect(JSON.stringify(input)).toBe(
      '{"type":"chat_messages","value":[{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function",' +
        '"function":{"name":"ferry_times"},"__proto__":{"x":"data"}}]}],"path":"input"}',
    );
  });

  it.each([
    ['[{"toolCallId":"c1","toolName":"ferry_times","input":"{\\"port\\":\\"Moss\\"}"}]', {}],
    [
      '[{"toolCallType":"function","toolCallId":"c1","toolName":"ferry_times","args":"{\\"port\\":\\"Moss\\"}"}]',
      { toolCallType: 'function' },
    ],
  ])('of the AI SDK are a message, with the text of the answer: %s', (calls, more) => {
    const made = [{ ...call({ arguments: '{"port":"Moss"}' }), ...more }];
    for (const text of [undefined, '']) {
      const attributes = {
        'ai.response.toolCalls': calls,
        ...(text === undefined ? {} : { 'ai.response.text': text }),
      };
      expect(outputOf(attributes)).toEqual(chat('output', { role: 'assistant', content: null, tool_calls: made }));
    }
    expect(outputOf({ 'ai.response.text': 'One moment.', 'ai.response.toolCalls': calls })).toEqual(
      chat('output', { role: 'assistant', content: 'One moment.', tool_calls: made }),
    );
  });

  it('of the AI SDK that are none, or no list of calls, change nothing', () => {
    const answer = { type: 'text', value: 'Yes.', path: 'output' };
    for (const calls of ['[]', '[1]', '{}', '[{"broken', '']) {
      expect(outputOf({ 'ai.response.text': 'Yes.', 'ai.response.toolCalls': calls })).toEqual(answer);
    }
    expect(outputOf({ 'ai.response.toolCalls': '[1]' })).toEqual({ type: 'json', value: [1], path: 'output' });
  });

  it('nest no deeper than free JSON may', () => {
    const nested = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`;
    const messages = (levels: number) =>
      `[{"role":"assistant","parts":[{"type":"tool_call","name":"x","arguments":${nested(levels)}}]}]`;
    expect(outputOf({ 'gen_ai.output.messages': messages(50) })).toMatchObject({ type: 'chat_messages' });
    expect(outputOf({ 'gen_ai.output.messages': messages(60) })).toMatchObject({
      type: 'json',
      value: [{ parts: [{ type: 'tool_call' }] }],
    });
  });
});

it('a span of the AI SDK that runs a tool is named after it', () => {
  const named = (name: string, tool: string) => draftOf({ 'ai.toolCall.name': tool }, { name }).name;
  expect(named('ai.toolCall', 'pantry')).toBe('pantry');
  expect(named('ai.toolCall', '')).toBe('ai.toolCall');
  expect(named('execute_tool', 'pantry')).toBe('execute_tool');
  expect(draftOf({}, { name: 'ai.toolCall' }).name).toBe('ai.toolCall');
  expect(draftOf({}, { name: '' }).name).toBeUndefined();
});

describe('system instructions', () => {
  const KEY = 'gen_ai.system_instructions';
  const MESSAGES = { 'gen_ai.input.messages': JSON.stringify([USER]) };

  it.each([
    ['Be kind.', 'Be kind.'],
    ['[{"type":"text","content":"Be kind."}]', [{ type: 'text', content: 'Be kind.' }]],
    ['{"type":"text","content":"Be kind."}', [{ type: 'text', content: 'Be kind.' }]],
    [
      ['Be kind.', 'Be brief.'],
      ['Be kind.', 'Be brief.'],
    ],
  ])('lead the messages, as text or parts: %j', (sent, content) => {
    expect(inputOf({ [KEY]: sent, ...MESSAGES })).toEqual(chat('input', { role: 'system', content }, USER));
  });

  it('may be whole messages', () => {
    const developer = { role: 'developer', content: 'Be kind.' };
    expect(inputOf({ [KEY]: JSON.stringify([developer]), ...MESSAGES })).toEqual(chat('input', developer, USER));
  });

  it('lead messages of every source', () => {
    const system = { role: 'system', content: 'Be kind.' };
    expect(inputOf({ [KEY]: 'Be kind.', 'ai.prompt.messages': JSON.stringify([USER]) })).toEqual(
      chat('input', system, USER),
    );
    expect(inputOf({ [KEY]: 'Be kind.', 'gen_ai.prompt': 'Ferries?' })).toEqual(chat('input', system, USER));
    const typed = JSON.stringify({ type: 'chat_messages', value: [USER] });
    expect(inputOf({ [KEY]: 'Be kind.', 'langwatch.input': typed })).toMatchObject({ value: [system, USER] });
  });

  it('that the messages repeat stand once', () => {
    const system = { role: 'system', content: [{ type: 'text', text: 'Be kind.' }] };
    const messages = JSON.stringify([system, USER]);
    expect(inputOf({ [KEY]: 'Be kind.', 'gen_ai.input.messages': messages })).toEqual(chat('input', system, USER));
    expect(inputOf({ [KEY]: 'Be brief.', 'gen_ai.input.messages': messages })).toEqual(
      chat('input', { role: 'system', content: 'Be brief.' }, system, USER),
    );
  });

  it('leave JSON of another form as it is, and are the input where there is no other', () => {
    expect(inputOf({ [KEY]: 'Be kind.', 'input.value': '{"city":"Moss"}' })).toMatchObject({ type: 'json' });
    expect(inputOf({ [KEY]: 'Be kind.' })).toEqual(chat('input', { role: 'system', content: 'Be kind.' }));
    for (const nothing of ['', '[]', 'none']) {
      expect(inputOf({ [KEY]: nothing })).toBeUndefined();
      expect(inputOf({ [KEY]: nothing, ...MESSAGES })).toEqual(chat('input', USER));
    }
  });

  it('are read from the parameters that OpenInference has them in', () => {
    const asked = {
      'llm.input_messages.0.message.role': 'user',
      'llm.input_messages.0.message.content': 'Ferries?',
    };
    for (const system of ['Be kind.', [{ type: 'text', text: 'Be kind.' }]]) {
      const params = JSON.stringify({ max_tokens: 9, system });
      expect(inputOf({ 'llm.invocation_parameters': params, ...asked })).toEqual(
        chat('input', { role: 'system', content: system }, USER),
      );
    }
    expect(inputOf({ 'llm.invocation_parameters': '{"max_tokens":9}', ...asked })).toEqual(chat('input', USER));
  });

  it.each(['ai.prompt', 'gen_ai.prompt'])('lead the messages of a whole request in %s', (key) => {
    const prompt = JSON.stringify({ model: 'm', system: 'Be kind.', messages: [USER] });
    expect(inputOf({ [key]: prompt })).toEqual(chat('input', { role: 'system', content: 'Be kind.' }, USER));
    expect(inputOf({ [key]: JSON.stringify({ messages: [USER] }) })).toEqual(chat('input', USER));
    for (const other of [{ messages: [] }, { messages: [1] }, { messages: 'x' }, { prompt: 'Ferries?' }]) {
      expect(inputOf({ [key]: JSON.stringify(other) })).toEqual({ type: 'json', value: other, path: 'input' });
    }
  });
});

describe('messages', () => {
  it('of several choices are all kept', () => {
    const choices = ['Heads.', 'Tails.'].map((content) => ({ role: 'assistant', content, finish_reason: 'stop' }));
    expect(outputOf({ 'gen_ai.output.messages': JSON.stringify(choices) })).toEqual(chat('output', ...choices));
    expect(
      outputOf({
        'gen_ai.completion.0.role': 'assistant',
        'gen_ai.completion.0.content': 'Heads.',
        'gen_ai.completion.1.role': 'assistant',
        'gen_ai.completion.1.content': 'Tails.',
      }),
    ).toMatchObject({ value: [{ content: 'Heads.' }, { content: 'Tails.' }] });
    const answer = { id: 'a', choices: choices.map((message, index) => ({ index, message })) };
    expect(outputOf({ 'gen_ai.completion': JSON.stringify(answer) })).toEqual(chat('output', ...choices));
    const broken = { choices: [{ index: 0 }] };
    expect(outputOf({ 'gen_ai.completion': JSON.stringify(broken) })).toMatchObject({ type: 'json', value: broken });
  });

  it('whose parts are the JSON text of an attribute have these parts', () => {
    const parts = [
      { type: 'text', text: 'What is this?' },
      { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo' } },
    ];
    const input = (content: string) => inputOf({ 'gen_ai.prompt.0.role': 'user', 'gen_ai.prompt.0.content': content });
    expect(input(JSON.stringify(parts))).toEqual(chat('input', { role: 'user', content: parts }));
    for (const text of ['[{"type":"invoice"}]', '[{"text":"a"}]', '[1]', '[{"type":"text"', '[]']) {
      expect(input(text)).toEqual(chat('input', { role: 'user', content: text }));
    }
  });
});

describe('values of Traceloop', () => {
  it.each(['input', 'output'] as const)('that are a JSON text are the %s without its quotes', (side) => {
    const read = (value: string) => draftOf({ [`traceloop.entity.${side}`]: value })[side];
    expect(read('"said \\"ok\\"\\n"')).toEqual({ type: 'text', value: 'said "ok"\n', path: side });
    expect(read('"odd \\ud800"')).toMatchObject({ value: 'odd \ufffd' });
    expect(read('"{\\"city\\":\\"Moss\\"}"')).toEqual({ type: 'json', value: { city: 'Moss' }, path: side });
    for (const text of ['"open', '"a" and "b"', '"', 'ok', '42']) {
      expect(read(text)).toEqual({ type: 'text', value: text, path: side });
    }
  });
});
