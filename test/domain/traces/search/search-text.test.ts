import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  createSpanTexts,
  searchTextsOf,
  TEXT_BYTES_PER_SPAN_MAX,
} from '../../../../src/domain/traces/search/search-text.ts';
import { collectTexts } from '../../../../src/domain/traces/search/value-texts.ts';

const NOTHING = { name: 'n', type: 'llm', errorJson: null, inputJson: null, outputJson: null } as const;
const BASE64 = Buffer.from(Array.from({ length: 300 }, (_, index) => (index * 7) % 256)).toString('base64');

function textOf(value: unknown): string {
  const [, text = ''] = searchTextsOf({ ...NOTHING, inputJson: JSON.stringify(value) });
  return text;
}

const json = (value: unknown) => textOf({ type: 'json', value });
const chat = (...value: readonly unknown[]) => textOf({ type: 'chat_messages', value });

describe('the searched texts of a span', () => {
  it('are its name, its error message, its input and its output, folded', () => {
    const errorJson = JSON.stringify({ has_error: true, message: 'Timed OUT', stacktrace: ['at main.ts'] });
    const inputJson = JSON.stringify({ type: 'text', value: 'What "is"\nthis?' });
    const outputJson = JSON.stringify({ type: 'raw', value: 'E\u0301clair' });
    expect(searchTextsOf({ name: 'Planner', type: 'llm', errorJson, inputJson, outputJson })).toEqual([
      'planner',
      'timed out',
      'what "is"\nthis?',
      'éclair',
    ]);
    expect(searchTextsOf({ ...NOTHING, name: null, type: 'tool' })).toEqual(['tool']);
  });

  it('are strings without escapes, numbers and booleans of JSON, but not the names of its members', () => {
    const value = {
      note: 'she said "hi"\nand left \\o/',
      count: 4711,
      isPaid: true,
      nothing: null,
      list: [['é', 0.5]],
    };
    expect(json(value)).toBe('she said "hi"\nand left \\o/\n4711\ntrue\né\n0.5');
    expect(json('plain')).toBe('plain');
    expect(json(null)).toBe('');
    expect(textOf({ type: 'custom', value: { type: 'refund', role: 'x' } })).toBe('refund\nx');
  });

  it('of chat messages are the contents, names and calls of every message', () => {
    expect(
      chat(
        { role: 'system', content: 'Be kind.' },
        { role: 'user', content: [{ type: 'text', text: 'Weather?' }], name: 'Ann' },
        {
          role: 'assistant',
          content: null,
          tool_calls: [{ type: 'function', id: 'call_1', function: { name: 'look_up', arguments: '{"city":"Rome"}' } }],
        },
        { role: 'tool', tool_call_id: 'call_1', content: 'sunny' },
      ),
    ).toBe('be kind.\nweather?\nann\ncall_1\nlook_up\n{"city":"rome"}\ncall_1\nsunny');
    const list = [
      { type: 'text', value: 'one' },
      { type: 'json', value: { type: 'two' } },
    ];
    expect(textOf({ type: 'list', value: list })).toBe('one\ntwo');
  });

  it('are not the reasoning of models, whatever form it has', () => {
    expect(
      chat(
        {
          role: 'assistant',
          content: 'A cat.',
          reasoning_content: 'hidden',
          reasoning: 'hidden',
          thinking_blocks: [{ a: 'hidden' }],
        },
        {
          role: 'assistant',
          content: [
            { type: 'thinking', thinking: 'hidden', signature: 'hidden' },
            { type: 'text', text: 'b' },
          ],
        },
        {
          role: 'assistant',
          parts: [
            { content: 'hidden', deep: [{ x: 'hidden' }], type: 'reasoning' },
            { type: 'text', content: 'c' },
          ],
        },
        { type: 'reasoning', summary: [{ type: 'summary_text', text: 'hidden' }] },
        { role: 'model', parts: [{ text: 'hidden', thought: true }, { thought: true, text: 'hidden' }, { text: 'd' }] },
      ),
    ).toBe('a cat.\nb\nc\nd');
    expect(json({ thought: true, text: 'of a person' })).toBe('true\nof a person');
    expect(json([{ type: 'reasoning', text: 'hidden' }, { reasoning: 'of a judge' }])).toBe('of a judge');
  });

  it('are not binary data', () => {
    expect(
      chat({
        role: 'user',
        content: [
          { type: 'blob', modality: 'image', content: 'iVBORw0KGgo' },
          { type: 'image_url', image_url: { url: `data:image/png;base64,${BASE64}` } },
          { type: 'input_audio', input_audio: { data: BASE64, format: 'wav' } },
          { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo' } },
          { type: 'file', data: 'iVBORw0KGgo', filename: 'cat.png', mediaType: 'image/png' },
          { type: 'image_url', image_url: { url: 'https://example.com/cat.png' } },
        ],
      }),
    ).toBe('wav\ncat.png\nimage/png\nhttps://example.com/cat.png');
    expect(json({ data: 'words' })).toBe('words');
    expect(json('x'.repeat(1_000))).toBe('x'.repeat(1_000));
  });

  it('are its first 64 KiB, cut between characters', () => {
    expect(TEXT_BYTES_PER_SPAN_MAX).toBe(64 * 1024);
    const span = (inputJson: string) =>
      searchTextsOf({ ...NOTHING, inputJson, outputJson: '{"type":"text","value":"z"}' });
    const text = (value: string) => JSON.stringify({ type: 'text', value });
    const fits = 'a'.repeat(TEXT_BYTES_PER_SPAN_MAX - 2);
    expect(span(text(fits))).toEqual(['n', fits, 'z']);
    expect(span(text(`${fits}b`))).toEqual(['n', `${fits}b`]);
    expect(span(text(`${fits}bc`))).toEqual(['n', `${fits}b`]);
    expect(span(text(`${fits}é`))).toEqual(['n', fits, 'z']);
    const behind = [
      { type: 'blob', content: 'y'.repeat(200_000) },
      { thinking: 'y'.repeat(90_000), type: 'thinking' },
      'seen',
    ];
    expect(json(behind)).toBe('seen');
  });

  it('are the same wherever their JSON is cut into slices', () => {
    const member = fc.constantFrom('type', 'role', 'content', 'data', 'media_type', 'reasoning', 'x');
    const word = fc.constantFrom('text', 'thinking', 'blob', 'a "b"\n', 'image/png', BASE64, 'y'.repeat(50));
    const { value } = fc.letrec((tie) => ({
      value: fc.oneof({ maxDepth: 5 }, word, fc.constantFrom(1, true, null), tie('list'), tie('object')),
      list: fc.array(tie('value'), { maxLength: 4 }),
      object: fc.dictionary(member, tie('value'), { maxKeys: 4 }),
    }));
    const type = fc.constantFrom('json', 'chat_messages', 'list');
    fc.assert(
      fc.property(type, value, fc.nat(200), fc.integer({ min: 1, max: 40 }), (of, inside, bytesMax, length) => {
        const text = JSON.stringify({ type: of, value: inside });
        const whole = collectTexts('value', bytesMax);
        whole.add(text);
        const sliced = collectTexts('value', bytesMax);
        for (let start = 0; start < text.length; start += length)
          if (!sliced.add(text.slice(start, start + length))) break;
        expect(sliced.end()).toBe(whole.end());
        expect(Buffer.byteLength(whole.end().replaceAll('\n', ''))).toBeLessThanOrEqual(bytesMax);
      }),
      { numRuns: 2_000 },
    );
  });

  it('need no more of a long text once their limit is reached', () => {
    const texts = createSpanTexts();
    const reading = texts.read('inputJson');
    let slices = 0;
    const slice = 'word '.repeat(2_000);
    while (reading.add(slices === 0 ? `{"type":"text","value":"${slice}` : slice)) slices += 1;
    expect(slices).toBeLessThan(50);
    const list = texts.read('outputJson');
    expect(texts.isFull()).toBe(false);
    expect(list.add('{"type":"chat_messages","value":[')).toBe(true);
  });
});
