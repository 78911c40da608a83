import { describe, expect, it } from 'vitest';
import { createAnswerReader } from '../../../../src/domain/gateway/dialects/answer-reader.ts';
import type { RouteKind } from '../../../../src/domain/gateway/dialects/dialect.ts';
import { withOthers } from '../../../../src/domain/gateway/dialects/other-texts.ts';

const SECRET = 'badword';
const BASE64 = 'A'.repeat(2 * 1024 * 1024);

function read(route: RouteKind, answer: object | readonly (object | string)[]) {
  const isStreamed = Array.isArray(answer);
  const reader = createAnswerReader({
    ...{ route, isStreamed, hidesUsage: false, captures: true, isJudged: true },
    holdMemory: () => true,
  });
  const events = isStreamed ? answer : [];
  const texts = events.map((event) => `data: ${typeof event === 'string' ? event : JSON.stringify(event)}\n\n`);
  reader.read(Buffer.from(isStreamed ? texts.join('') : JSON.stringify(answer)));
  reader.end();
  const { output, others, isWhole } = reader.facts();
  return { isWhole, judged: JSON.stringify(withOthers(output, others)), others };
}

const part = { type: 'output_text', text: 'Hi', annotations: [] };
const said = { id: 'msg_1', type: 'message', status: 'completed', role: 'assistant', content: [part] };
const responseOf = (...output: object[]) => ({
  ...{ object: 'response', status: 'completed', instructions: 'Be kind.', tools: [{ name: 'search' }] },
  output,
});
const messageOf = (...content: object[]) => ({ type: 'message', role: 'assistant', model: 'm', content });
const choiceOf = (message: object, more: object = {}) => ({
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hi', ...message }, finish_reason: 'stop', ...more }],
});
const result = (content: unknown) => ({ type: 'mcp_tool_result', tool_use_id: 'toolu_1', is_error: false, content });

const ANSWERS: readonly (readonly [what: string, route: RouteKind, answer: object])[] = [
  ['what a tool of the provider found', 'messages', messageOf(result([{ type: 'text', text: SECRET }]))],
  ['a result that is a text', 'messages', messageOf(result(SECRET))],
  ['members of a result that have the names of states', 'messages', messageOf(result({ found: { status: SECRET } }))],
  ['citations', 'messages', messageOf({ type: 'text', text: 'Hi', citations: [{ cited_text: SECRET }] })],
  ['blocks of an unknown type', 'messages', messageOf({ type: 'new', parts: [{ words: [SECRET] }] })],
  ['the output of a call', 'responses', responseOf(said, { type: 'mcp_call', arguments: '{}', output: SECRET })],
  [
    'the logs of code',
    'responses',
    responseOf({ type: 'code_interpreter_call', code: '1', outputs: [{ type: 'logs', logs: SECRET }] }),
  ],
  [
    'the results of a search',
    'responses',
    responseOf({ type: 'file_search_call', queries: ['tea'], results: [{ file_id: 'f', text: SECRET }] }),
  ],
  ['the text of older completions', 'chat', choiceOf({}, { text: SECRET })],
  [
    'annotations',
    'chat',
    choiceOf({ annotations: [{ type: 'url_citation', url_citation: { url: 'https://x.example', title: SECRET } }] }),
  ],
  ['a second name of the reasoning', 'chat', choiceOf({ reasoning_content: 'Hm.', reasoning: SECRET })],
  ['contents of another type', 'chat', choiceOf({ content: { text: SECRET } })],
  ['lists of texts', 'chat', { ...choiceOf({}), citations: [SECRET] }],
];

describe('a judged answer has', () => {
  it.each(ANSWERS)('%s (%s)', (_, route, answer) => {
    const { isWhole, judged } = read(route, answer);
    expect({ isWhole, judged }).toEqual({ isWhole: true, judged: expect.stringContaining(SECRET) });
  });

  it('what comes in the blocks of a stream', () => {
    const start = { type: 'content_block_start', index: 0, content_block: result([{ type: 'text', text: SECRET }]) };
    expect(read('messages', [start]).judged).toContain(SECRET);
    const item = { type: 'mcp_call', id: 'mcp_1', name: 'find', arguments: '{}', output: SECRET };
    const done = { type: 'response.output_item.done', output_index: 0, item };
    expect(read('responses', [done]).judged).toContain(SECRET);
  });

  it('what comes in pieces of an unknown kind, put together', () => {
    const piece = (text: string) => ({ choices: [{ index: 0, delta: { aside: text } }] });
    expect(read('chat', [piece('bad'), piece('word')]).others).toEqual([SECRET]);
    const delta = (text: string) => ({ type: 'response.new.delta', item_id: 'i', delta: text });
    expect(read('responses', [delta('bad'), delta('word')]).others).toEqual([SECRET]);
  });

  it('what the end of a stream says otherwise than its pieces', () => {
    const events = [
      { type: 'response.output_text.delta', output_index: 0, delta: 'H' },
      { type: 'response.output_text.delta', output_index: 0, delta: 'i' },
      { type: 'response.output_text.done', output_index: 0, text: 'Hi' },
    ];
    const end = (text: string) => ({
      type: 'response.completed',
      response: responseOf({ ...said, content: [{ ...part, text }] }),
    });
    expect(read('responses', [...events, end('Hi')])).toMatchObject({ isWhole: true, others: [] });
    expect(read('responses', [...events, end(SECRET)]).others).toEqual([SECRET]);
  });
});

describe('a judged answer', () => {
  it('does not repeat its request, states or words of filters', () => {
    const filters = { content_filter_results: { hate: { filtered: false, severity: 'safe' } } };
    const chat = { ...choiceOf({}, filters), id: 'c1', object: 'chat.completion', model: 'm', x_groq: { id: 'r1' } };
    expect(read('chat', chat).others).toEqual([]);
    expect(read('responses', responseOf(said)).others).toEqual([]);
    const call = { type: 'tool_use', id: 'toolu_1', name: 'buy', input: { what: 'tea' } };
    expect(read('messages', { ...messageOf(call), stop_reason: 'tool_use' }).others).toEqual([]);
  });

  it('is read once where a server sends the text of the older completions beside the same content', () => {
    const judgedOf = (choice: object) => read('chat', [{ choices: [{ index: 0, ...choice }] }, '[DONE]']).judged;
    const delta = { role: 'assistant', content: 'se' };
    expect(judgedOf({ text: 'se', delta })).toBe(judgedOf({ delta }));
    expect(judgedOf({ text: 'se' })).toContain('se');
    expect(judgedOf({ text: 'cret', delta })).toContain('cret');
  });

  it('may have an image or a sound, which has no text', () => {
    const image = { type: 'image_generation_call', id: 'ig_1', status: 'completed', result: BASE64 };
    expect(read('responses', responseOf(said, image)).isWhole).toBe(true);
    const url = { image_url: { url: `data:image/png;base64,${BASE64}` } };
    expect(read('chat', choiceOf({ images: [url] })).isWhole).toBe(true);
    expect(read('chat', choiceOf({ audio: { id: 'a', data: BASE64, transcript: 'Hi' } })).isWhole).toBe(true);
  });

  it.each(['not json badword', '"badword"', '["badword"]'])('with an event %s cannot be read', (event) => {
    expect(read('chat', [choiceOf({}), event, '[DONE]']).isWhole).toBe(false);
    expect(read('chat', [choiceOf({}), '', '[DONE]']).isWhole).toBe(true);
  });

  it('cannot be read when it nests too deep, or has too many texts beside the output', () => {
    let nested: object = { text: SECRET };
    for (let depth = 0; depth < 200; depth += 1) nested = { nested };
    expect(read('messages', [{ type: 'new', nested }]).isWhole).toBe(false);
    const results = Array.from({ length: 20 }, (_, index) => `${index} ${' x'.repeat(50_000)}`);
    expect(read('messages', messageOf(result(results))).isWhole).toBe(false);
  });

  it('of embeddings has no text, and cannot be read when it is no JSON', () => {
    const vectors = { object: 'list', data: [{ object: 'embedding', index: 0, embedding: BASE64 }] };
    expect(read('embeddings', vectors)).toMatchObject({ isWhole: true, others: [] });
    const options = { route: 'embeddings', isStreamed: false, hidesUsage: false, captures: true } as const;
    const reader = createAnswerReader({ ...options, isJudged: true, holdMemory: () => true });
    reader.read(Buffer.from('badword'));
    reader.end();
    expect(reader.facts().isWhole).toBe(false);
  });
});
