import { describe, expect, it } from 'vitest';
import { toSpanDraft } from '../../../../src/domain/traces/otlp/span-draft.ts';
import type { LosslessJson } from '../../../../src/json/lossless-json.ts';
import { attributesOf, draftOf, spanWith, traceOf, viewOf } from './spans.ts';

type Said = { readonly [key: string]: LosslessJson };

const CALL = { id: 'c', type: 'function', function: { name: 'weather', arguments: { in: 'Oslo' } } };
const event = (name: string, said: Said) => ({ name, timeNano: 0n, attributes: attributesOf(said) });

/** The input and output of a span that has these events. */
function read(events: readonly (readonly [name: string, said: Said])[], attributes: Said = {}) {
  const { input, output } = draftOf(attributes, { events: events.map(([name, said]) => event(name, said)) });
  return { input: valueIn(input), output: valueIn(output) };
}

function valueIn(draft: ReturnType<typeof draftOf>['input']): unknown {
  return draft !== undefined && 'value' in draft ? draft.value : draft;
}

describe('messages in events', () => {
  it('are the input and output of their span, by the role that their names tell', () => {
    const { input, output } = read([
      ['gen_ai.system.message', { content: 'Be brief.' }],
      ['gen_ai.user.message', { content: 'Rain?', role: 'end_user' }],
      ['gen_ai.assistant.message', { tool_calls: '[{"id":"c","type":"function"}]' }],
      ['gen_ai.tool.message', { content: '{"mm":3}', id: 'c' }],
      ['gen_ai.choice', { message: '{"content":"Yes."}', finish_reason: 'stop', index: 0 }],
      ['exception', { 'exception.message': 'no message' }],
    ]);
    expect(input).toEqual([
      { role: 'system', content: 'Be brief.' },
      { role: 'end_user', content: 'Rain?' },
      { role: 'assistant', content: null, tool_calls: [{ id: 'c', type: 'function' }] },
      { role: 'tool', content: '{"mm":3}', id: 'c' },
    ]);
    expect(output).toEqual([{ role: 'assistant', content: 'Yes.', finish_reason: 'stop' }]);
  });

  it('of one event with all messages are those, behind its instructions', () => {
    const details = {
      'gen_ai.input.messages': '[{"role":"user","parts":[{"type":"text","content":"Is the ferry on time?"}]}]',
      'gen_ai.output.messages': [{ role: 'assistant', parts: [{ type: 'text', content: 'Yes.' }] }],
      'gen_ai.system_instructions': '[{"type":"text","content":"Be brief."}]',
    };
    const { input, output } = read([['gen_ai.client.inference.operation.details', details]]);
    expect(input).toEqual([
      { role: 'system', content: [{ type: 'text', content: 'Be brief.' }] },
      { role: 'user', content: [{ type: 'text', content: 'Is the ferry on time?' }] },
    ]);
    expect(output).toEqual([{ role: 'assistant', content: [{ type: 'text', content: 'Yes.' }] }]);
  });

  it.each([
    ['a text', 'Rain?', 'Yes.', 'Rain?', 'Yes.'],
    [
      'messages',
      '[{"role":"user","content":"Rain?"}]',
      '[{"role":"assistant","content":"Yes."}]',
      [{ role: 'user', content: 'Rain?' }],
      [{ role: 'assistant', content: 'Yes.' }],
    ],
  ])('of the earlier names may be %s', (_, prompt, completion, input, output) => {
    expect(
      read([
        ['gen_ai.content.prompt', { 'gen_ai.prompt': prompt }],
        ['gen_ai.content.completion', { 'gen_ai.completion': completion }],
      ]),
    ).toEqual({ input, output });
  });

  it('of Amazon become parts of a message', () => {
    const { input, output } = read([
      ['gen_ai.user.message', { content: '[{"text":"Rain?"}]' }],
      [
        'gen_ai.assistant.message',
        { content: '[{"toolUse":{"toolUseId":"c","name":"weather","input":{"in":"Oslo"}}}]' },
      ],
      ['gen_ai.tool.message', { content: '[{"toolResult":{"toolUseId":"c","content":[{"text":"3 mm"}]}}]' }],
      ['gen_ai.choice', { message: '[{"reasoningContent":{"reasoningText":{"text":"Wet."}}},{"text":"Yes."}]' }],
    ]);
    expect(input).toEqual([
      { role: 'user', content: [{ type: 'text', content: 'Rain?' }] },
      { role: 'assistant', content: null, tool_calls: [CALL] },
      { role: 'tool', content: [{ type: 'tool_call_response', id: 'c', response: [{ text: '3 mm' }] }] },
    ]);
    expect(output).toEqual([
      {
        role: 'assistant',
        content: [
          { type: 'reasoning', content: 'Wet.' },
          { type: 'text', content: 'Yes.' },
        ],
      },
    ]);
  });

  it('may stand in one attribute with the whole body', () => {
    const body = (value: LosslessJson) => ({ 'gen_ai.event.content': JSON.stringify(value) });
    expect(
      read([
        ['gen_ai.user.message', body({ content: 'Rain?' })],
        ['gen_ai.choice', body({ message: { content: 'Yes.' }, finish_reason: 'stop' })],
      ]),
    ).toEqual({
      input: [{ role: 'user', content: 'Rain?' }],
      output: [{ role: 'assistant', content: 'Yes.', finish_reason: 'stop' }],
    });
  });

  it('that are JSON of their own stay texts', () => {
    const answer = '{"answer":42}';
    expect(read([['gen_ai.choice', { message: answer }]]).output).toEqual([{ role: 'assistant', content: answer }]);
    expect(read([['gen_ai.user.message', { content: '[1,2]' }]]).input).toEqual([{ role: 'user', content: '[1,2]' }]);
    expect(read([['gen_ai.user.message', { content: { port: 'Moss' } }]]).input).toEqual([
      { role: 'user', content: '{"port":"Moss"}' },
    ]);
  });

  it('leave the attributes of the span their place', () => {
    const events = [
      ['gen_ai.user.message', { content: 'of the event' }],
      ['gen_ai.choice', { message: 'of the event' }],
    ] as const;
    expect(read(events, { 'input.value': 'of the span' })).toEqual({
      input: 'of the span',
      output: [{ role: 'assistant', content: 'of the event' }],
    });
  });

  it('without content say nothing', () => {
    expect(
      read([
        ['gen_ai.user.message', { 'gen_ai.system': 'openai' }],
        ['gen_ai.choice', {}],
      ]),
    ).toEqual({
      input: undefined,
      output: undefined,
    });
  });

  it('are read up to a thousand', () => {
    const many = Array.from({ length: 1_001 }, () => ['gen_ai.user.message', { content: 'x' }] as const);
    expect(read(many).input).toHaveLength(1_000);
    const listed = JSON.stringify(many.map(() => ({ role: 'user', content: 'x' })));
    expect(read([['gen_ai.content.prompt', { 'gen_ai.prompt': listed }]]).input).toHaveLength(1_000);
  });

  it('make a span with a model a call', () => {
    const events = [event('gen_ai.user.message', { content: 'Rain?' })];
    expect(draftOf({ 'gen_ai.request.model': 'gpt-5' }, { events }).type).toBe('llm');
    expect(draftOf({}, { events }).type).toBe('span');
  });

  it('count as nested by their parsed texts', () => {
    const nested = `[{"toolUse":{"input":${'['.repeat(60)}${']'.repeat(60)}}}]`;
    const view = viewOf(spanWith({}, { events: [event('gen_ai.choice', { message: nested })] }));
    toSpanDraft(view.span, view.json);
    const { facts } = view.json;
    expect(facts.depth).toBeGreaterThan(64);
  });
});

it('an evaluation in an event is one of its span', () => {
  const said = {
    'gen_ai.evaluation.name': 'Relevance',
    'gen_ai.evaluation.score.value': 0.5,
    'gen_ai.evaluation.score.label': 'relevant',
    'gen_ai.evaluation.explanation': 'On the subject.',
  };
  const { evaluations } = traceOf(spanWith({}, { events: [event('gen_ai.evaluation.result', said)] }));
  expect(evaluations).toMatchObject([
    { name: 'Relevance', score: 0.5, label: 'relevant', details: 'On the subject.', spanId: '0123456789abcdef' },
  ]);
});
