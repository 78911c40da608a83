import { describe, expect, it } from 'vitest';
import { asciiTree, chooseSpans, inputText, outputText } from '../../src/domain/trace-view.ts';
import { sorted, summary } from './summaries.ts';

function typed(type: string, value: unknown): string {
  return JSON.stringify({ type, value });
}

describe('the spans that speak for a trace', () => {
  it('are none without spans', () => {
    expect(chooseSpans([])).toEqual({
      ...{ rootId: null, inputFromId: null, outputFromId: null, errorFromId: null, name: '', models: [] },
    });
  });

  it('are the earliest span without a stored parent, whoever arrived first', () => {
    const spans = sorted(
      summary({ spanId: 'child', parentId: 'root', startedAtMs: 1 }),
      summary({ spanId: 'root', name: 'Root', startedAtMs: 5, hasInput: true, hasOutput: true, hasError: true }),
      summary({ spanId: 'orphan', parentId: 'gone', startedAtMs: 9, finishedAtMs: 1 }),
    );
    expect(chooseSpans(spans)).toMatchObject({
      ...{ rootId: 'root', inputFromId: 'root', outputFromId: 'root', errorFromId: 'root', name: 'Root' },
    });
  });

  it('are chosen by id among roots that started together', () => {
    expect(chooseSpans(sorted(summary({ spanId: 'b' }), summary({ spanId: 'a', type: 'llm' })))).toMatchObject({
      rootId: 'a',
      name: 'llm',
    });
  });

  it('exist also where every span has a parent', () => {
    const spans = sorted(
      summary({ spanId: 'a', parentId: 'b', startedAtMs: 2, hasOutput: true }),
      summary({ spanId: 'b', parentId: 'a', startedAtMs: 1, name: 'first' }),
    );
    expect(chooseSpans(spans)).toMatchObject({ rootId: 'b', name: 'first', outputFromId: 'a' });
  });

  it('skip judges and tools where the root says nothing', () => {
    const spans = sorted(
      summary({ spanId: 'root', startedAtMs: 0, finishedAtMs: 99 }),
      summary({ spanId: 'guard', parentId: 'root', type: 'guardrail', startedAtMs: 1, hasInput: true }),
      summary({
        spanId: 'tool',
        parentId: 'root',
        type: 'tool',
        startedAtMs: 2,
        finishedAtMs: 90,
        hasInput: true,
        hasOutput: true,
      }),
      summary({
        spanId: 'llm',
        parentId: 'root',
        type: 'llm',
        startedAtMs: 3,
        finishedAtMs: 50,
        hasInput: true,
        hasOutput: true,
      }),
      summary({ spanId: 'early', parentId: 'root', startedAtMs: 4, finishedAtMs: 40, hasOutput: true, hasError: true }),
      summary({
        spanId: 'eval',
        parentId: 'root',
        type: 'evaluation',
        startedAtMs: 5,
        finishedAtMs: 98,
        hasOutput: true,
        hasError: true,
      }),
    );
    expect(chooseSpans(spans)).toMatchObject({ inputFromId: 'tool', outputFromId: 'llm', errorFromId: 'early' });
  });

  it('answer with the root that finished last', () => {
    const spans = sorted(
      summary({ spanId: 'a', startedAtMs: 1, finishedAtMs: 50, hasOutput: true }),
      summary({ spanId: 'b', startedAtMs: 2, finishedAtMs: 60, hasOutput: true }),
    );
    expect(chooseSpans(spans)).toMatchObject({ rootId: 'a', outputFromId: 'b' });
  });

  it('name each model once, latest started first', () => {
    const spans = sorted(
      summary({ spanId: 'a', startedAtMs: 1, model: 'm1' }),
      summary({ spanId: 'b', startedAtMs: 2, model: 'm2' }),
      summary({ spanId: 'c', startedAtMs: 3, model: 'm1' }),
      summary({ spanId: 'd', startedAtMs: 4 }),
    );
    expect(chooseSpans(spans).models).toEqual(['m1', 'm2']);
  });
});

describe('text forms', () => {
  it('of text and raw are the string', () => {
    expect(inputText(typed('text', 'a\nb'))).toBe('a\nb');
    expect(outputText(typed('raw', '{}'))).toBe('{}');
  });

  it('of a conversation are what the user asked last, and what was answered last', () => {
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

describe('the tree', () => {
  it('draws children below their parents, in the order they started', () => {
    const spans = sorted(
      summary({ spanId: 'r', name: 'root', startedAtMs: 0 }),
      summary({ spanId: 'b', parentId: 'r', type: 'llm', name: 'ask', model: 'gpt-5', startedAtMs: 2 }),
      summary({ spanId: 'c', parentId: 'b', type: 'tool', startedAtMs: 1 }),
      summary({ spanId: 'd', parentId: 'r', name: 'two\nlines', startedAtMs: 3 }),
      summary({ spanId: 'e', parentId: 'd', name: 'leaf', startedAtMs: 4 }),
      summary({ spanId: 'o', parentId: 'gone', name: 'orphan', startedAtMs: 5 }),
    );
    expect(asciiTree(spans)).toBe(
      [
        '.',
        '├── span: root',
        '│   ├── llm: ask (gpt-5)',
        '│   │   └── tool: tool',
        '│   └── span: two lines',
        '│       └── span: leaf',
        '└── span: orphan',
      ].join('\n'),
    );
    expect(asciiTree([])).toBe('.');
  });

  it('shows the spans of a cycle at root level, each once, with what hangs below them', () => {
    const spans = sorted(
      summary({ spanId: 'a', parentId: 'c', name: 'a', startedAtMs: 1 }),
      summary({ spanId: 'b', parentId: 'a', name: 'b', startedAtMs: 2 }),
      summary({ spanId: 'c', parentId: 'b', name: 'c', startedAtMs: 3 }),
      summary({ spanId: 'd', parentId: 'b', name: 'below', startedAtMs: 4 }),
      summary({ spanId: 'self', parentId: 'self', name: 'self', startedAtMs: 5 }),
    );
    expect(asciiTree(spans)).toBe(
      ['.', '├── span: a', '├── span: b', '│   └── span: below', '├── span: c', '└── span: self'].join('\n'),
    );
  });

  it('stops after 1,000 lines and counts the rest, for chains, stars and rings of 100,000 spans', () => {
    const count = 100_000;
    const shapes: ((index: number) => string | null)[] = [
      (index) => (index === 0 ? null : `s${index - 1}`),
      (index) => (index === 0 ? null : 's0'),
      (index) => `s${(index + 1) % count}`,
      () => 'gone',
    ];
    for (const parentOf of shapes) {
      const spans = Array.from({ length: count }, (_, index) =>
        summary({ spanId: `s${index}`, parentId: parentOf(index), startedAtMs: index }),
      );
      const lines = asciiTree(spans).split('\n');
      expect(lines).toHaveLength(1002);
      expect(lines.at(-1)).toBe('… 99000 more');
      expect(chooseSpans(spans).rootId).toBe('s0');
    }
  });

  it('draws 1,000 spans without a remark', () => {
    const spans = Array.from({ length: 1000 }, (_, index) => summary({ spanId: `s${index}`, startedAtMs: index }));
    expect(asciiTree(spans).split('\n').at(-1)).toBe('└── span: span');
  });
});
