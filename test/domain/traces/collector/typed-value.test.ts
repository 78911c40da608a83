import { describe, expect, it } from 'vitest';
import type { JsonValue } from '../../../../src/domain/fault.ts';
import {
  isChat,
  readTypedValue,
  toListDraft,
  toTypedDraft,
} from '../../../../src/domain/traces/collector/typed-value.ts';
import { nest, newReading } from './collecting.ts';

function read(value: JsonValue): string | null {
  const reading = newReading();
  const text = readTypedValue(toTypedDraft(value, 'input'), reading);
  expect(reading.problem).toBeNull();
  return text;
}

function refusal(value: JsonValue): string | null {
  const reading = newReading();
  readTypedValue(toTypedDraft(value, 'input'), reading);
  return reading.problem;
}

describe('a typed value', () => {
  it('is stored as type and value in that order, without what came beside them', () => {
    expect(read({ value: { b: 1, a: [] }, extra: 1, type: 'json' })).toBe('{"type":"json","value":{"b":1,"a":[]}}');
    expect(read({ type: 'my_own', value: null })).toBe('{"type":"my_own","value":null}');
    expect(read({ type: 'json', value: null })).toBe('{"type":"json","value":null}');
  });

  it('keeps system messages, trailing assistant messages, null calls and empty lists', () => {
    const value = [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: [{ type: 'text', text: 'Hi' }, { type: 'image_url' }] },
      { role: 'assistant', content: null, function_call: null, tool_calls: [], weird: { a: [null] } },
      {},
    ];
    expect(read({ type: 'chat_messages', value })).toBe(JSON.stringify({ type: 'chat_messages', value }));
  });

  it('need not have a type: a string is text, anything else is json', () => {
    expect(read('hello')).toBe('{"type":"text","value":"hello"}');
    expect(read([1, 2])).toBe('{"type":"json","value":[1,2]}');
    expect(read(0)).toBe('{"type":"json","value":0}');
    expect(read({ type: 'text' })).toBe('{"type":"json","value":{"type":"text"}}');
    expect(read({ type: 5, value: 1 })).toBe('{"type":"json","value":{"type":5,"value":1}}');
  });

  it('is absent when null', () => {
    expect(read(null)).toBeNull();
  });

  it('holds typed values only when it is a list', () => {
    expect(read({ type: 'list', value: ['a', { type: 'text', value: 'b', id: 1 }, 7] })).toBe(
      '{"type":"list","value":[{"type":"text","value":"a"},{"type":"text","value":"b","id":1},{"type":"json","value":7}]}',
    );
  });

  it.each([
    { type: 'text', value: null },
    { type: 'raw', value: {} },
    { type: 'chat_messages', value: 'hi' },
    { type: 'chat_messages', value: [{}, 'hi'] },
    { type: 'chat_messages', value: [{ role: 1 }] },
    { type: 'chat_messages', value: [{ content: {} }] },
    { type: 'list', value: {} },
    { type: 'list', value: [{ type: 'text', value: 1 }] },
    { type: 'guardrail_result', value: [] },
    { type: 'evaluation_result', value: 'x' },
  ])('of a listed type with another shape is kept as json: %j', (value) => {
    expect(read(value)).toBe(JSON.stringify({ type: 'json', value: value.value }));
  });

  it('may nest 64 levels, not 65', () => {
    expect(refusal({ type: 'json', value: nest(64) })).toBeNull();
    expect(refusal({ type: 'json', value: nest(65) })).toBe('.input.value: nested deeper than 64 levels');
    expect(refusal(nest(65))).toBe('.input: nested deeper than 64 levels');
  });

  it('keeps U+0000 inside, and marks what is too long', () => {
    expect(read('a\u0000b')).toBe('{"type":"text","value":"a\\u0000b"}');
    const reading = newReading();
    const long = `${'x'.repeat(1_048_576)}y`;
    const text = readTypedValue(toTypedDraft({ type: 'json', value: [long, 'short'] }, 'input'), reading);
    expect(JSON.parse(text ?? '').value).toEqual([`${'x'.repeat(1_048_576)}…[truncated: 1048577 bytes]`, 'short']);
    expect(reading.cuts).toBe(1);
  });
});

describe('the list of outputs of older clients', () => {
  it('is nothing, its only item, or a list', () => {
    const one = { type: 'text', value: 'a' };
    const readList = (values: JsonValue[]) => readTypedValue(toListDraft(values, 'outputs'), newReading());
    expect(readList([])).toBeNull();
    expect(readList([one])).toBe('{"type":"text","value":"a"}');
    expect(readList([one, 'b'])).toBe(
      '{"type":"list","value":[{"type":"text","value":"a"},{"type":"text","value":"b"}]}',
    );
  });
});

describe('a conversation', () => {
  it('follows the stored type', () => {
    expect(isChat(read({ type: 'chat_messages', value: [] }))).toBe(true);
    expect(isChat(read({ type: 'text', value: '{"type":"chat_messages",' }))).toBe(false);
    expect(isChat(null)).toBe(false);
  });
});
