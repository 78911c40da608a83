import { describe, expect, it } from 'vitest';
import { digest, digestSpanIds } from '../../src/domain/trace-digest.ts';
import { summaryOf } from '../../src/domain/trace-totals.ts';
import { asciiTree } from '../../src/domain/trace-view.ts';
import { sendSpan } from './collecting.ts';
import { summary } from './summaries.ts';

const root = sendSpan({ span_id: 'root', name: 'answer', input: 'What\nnow?', error: { message: 'late' } });
const leaf = sendSpan({
  ...{ span_id: 'leaf', parent_id: 'root', type: 'llm', name: 'ask', model: 'gpt-5' },
  output: { type: 'json', value: { answer: 'Paris' } },
});
const quiet = sendSpan({ span_id: 'quiet', parent_id: 'root', name: 'quiet' });
const summaries = [root, leaf, quiet].map(summaryOf);

describe('a digest', () => {
  it('tells below each line of the tree what went in, what came out and what broke', () => {
    const full = new Map([root, leaf, quiet].map((span) => [span.spanId, span]));
    expect(digest(summaries, full)).toBe(
      [
        '.',
        '└── span: answer',
        '    │   input: What',
        '    │   now?',
        '    │   error: late',
        '    ├── llm: ask (gpt-5)',
        '    │       output: Paris',
        '    └── span: quiet',
      ].join('\n'),
    );
  });

  it('is the tree alone where it is given no spans', () => {
    expect(digest(summaries, new Map())).toBe(asciiTree(summaries));
  });

  it('cuts each text at 2,000 characters', () => {
    const long = sendSpan({ span_id: 'root', input: '🙂'.repeat(2001) });
    const text = digest([summaryOf(long)], new Map([['root', long]]));
    expect(text.split('\n').at(-1)).toBe(`        input: ${'🙂'.repeat(2000)}`);
  });

  it('needs only the spans of its first 1,000 lines', () => {
    const many = Array.from({ length: 1500 }, (_, index) => summary({ spanId: `s${index}`, startedAtMs: index }));
    const ids = digestSpanIds(many);
    expect([ids.length, ids[0], ids.at(-1)]).toEqual([1000, 's0', 's999']);
    expect(digest(many, new Map()).split('\n').at(-1)).toBe('… 500 more');
  });
});
