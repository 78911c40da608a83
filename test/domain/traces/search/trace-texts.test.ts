import { describe, expect, it } from 'vitest';
import { runWithoutPauses } from '../../../../src/domain/steps.ts';
import * as texts from '../../../../src/domain/traces/search/trace-texts.ts';

const inputText = (json: string) => runWithoutPauses(texts.inputText(json));
const outputText = (json: string) => runWithoutPauses(texts.outputText(json));

function typed(type: string, value: unknown): string {
  return JSON.stringify({ type, value });
}

describe('text forms', () => {
  it('of text and raw are the string', () => {
    expect(inputText(typed('text', 'a\nb'))).toBe('a\nb');
    expect(outputText(typed('raw', '{}'))).toBe('{}');
  });

  it('of a conversation are the last user message and the last reply', () => {
    const messages = [
      { role: 'system', content: 'S' },
      { role: 'user', content: 'first' },
      { role: 'user', content: [{ type: 'text', text: 'a' }, { type: 'image_url' }, { content: 'b' }, 'c', null] },
      { role: 'assistant', content: 'answer' },
    ];
    expect(inputText(typed('chat_messages', messages))).toBe('a\nb\nc');
    expect(outputText(typed('chat_messages', messages))).toBe('answer');
    expect(inputText(typed('chat_messages', [{ role: 'tool', content: 'only' }]))).toBe('only');
    expect(inputText(typed('chat_messages', []))).toBe('');
    expect(outputText(typed('chat_messages', []))).toBe('');
  });

  it('of an answer without text are its tool calls', () => {
    const calls = [{ id: '1', function: { name: 'f' } }];
    const answer = (fields: object) =>
      outputText(typed('chat_messages', [{ role: 'assistant', content: null, ...fields }]));
    expect(answer({ tool_calls: calls })).toBe(JSON.stringify(calls));
    expect(answer({ tool_calls: [] })).toBe('');
    expect(answer({ content: 'said', tool_calls: calls })).toBe('said');
    expect(inputText(typed('chat_messages', [{ role: 'user', content: null, tool_calls: calls }]))).toBe('');
  });

  it('of a message are its parts that are text', () => {
    const parts = [
      { type: 'reasoning', content: 'hidden', text: 'hidden' },
      { type: 'thinking', thinking: 'hidden', text: 'hidden' },
      { type: 'blob', mime_type: 'image/png', content: 'aGlkZGVu' },
      { type: 'file', content: 'hidden', text: 'hidden' },
      { type: 'tool_call_response', id: '1', content: 'hidden' },
      { type: 'tool_result', content: 'hidden' },
      { text: 'hidden', thought: true },
      { type: 'text', content: 'a' },
      { type: 'input_text', text: 'b' },
      { type: 'output_text', text: 'c' },
      { type: null, text: 'd' },
    ];
    for (const message of [{ content: parts }, { parts }, { content: null, parts }]) {
      const conversation = typed('chat_messages', [{ role: 'user', ...message }]);
      expect(inputText(conversation)).toBe('a\nb\nc\nd');
      expect(outputText(conversation)).toBe('a\nb\nc\nd');
    }
    const picture = typed('chat_messages', [{ role: 'user', content: parts.slice(0, 7) }]);
    expect([inputText(picture), outputText(picture)]).toEqual(['', '']);
  });

  it('of an answer without text are the calls among its parts, too', () => {
    const call = { type: 'tool_use', id: '1', name: 'f', input: {} };
    const answer = (content: readonly object[]) => outputText(typed('chat_messages', [{ role: 'assistant', content }]));
    expect(answer([{ type: 'thinking', thinking: 'hidden' }, call])).toBe(JSON.stringify([call]));
    expect(answer([{ type: 'text', text: 'said' }, call])).toBe('said');
  });

  it('of json are the telling string of an object, else compact JSON with all its digits', () => {
    expect(inputText(typed('json', 'bare'))).toBe('bare');
    expect(inputText(typed('json', { text: 't', question: 'q', input: 5 }))).toBe('q');
    expect(outputText(typed('json', { text: 't', answer: 'a' }))).toBe('a');
    expect(outputText(typed('json', { question: 'q' }))).toBe('{"question":"q"}');
    expect(inputText('{"type":"json","value":{"n":12345678901234567890,"__proto__":{"input":"x"}}}')).toBe(
      '{"n":12345678901234567890,"__proto__":{"input":"x"}}',
    );
    expect(inputText(typed('json', null))).toBe('null');
  });

  it('of large values are those of small ones, in steps', () => {
    const items = Array.from({ length: 100_000 }, (_, index) => `item ${index}`);
    const large = typed('json', { input: null, numbers: items, n: 1 });
    expect(inputText(large.replace('"n":1', '"n":12345678901234567890'))).toBe(
      JSON.stringify({ input: null, numbers: items, n: 1 }).replace('"n":1', '"n":12345678901234567890'),
    );
    expect(inputText(typed('json', { numbers: items, query: 'q' }))).toBe('q');
    expect(inputText(typed('text', items.join(' ')))).toBe(items.join(' '));
    expect([...texts.outputText(large)].length).toBeGreaterThan(10);
  });

  it('of a list are those of its items, and of anything else compact JSON', () => {
    const items = [
      { type: 'text', value: 'a' },
      { type: 'json', value: { query: 'b' } },
      { type: 'x', value: 'c' },
    ];
    expect(inputText(typed('list', items))).toBe('a\nb\n"c"');
    expect(outputText(typed('guardrail_result', { passed: true }))).toBe('{"passed":true}');
    expect(outputText(typed('toString', 'x'))).toBe('"x"');
  });
});
