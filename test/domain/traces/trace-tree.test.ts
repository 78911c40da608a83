import { describe, expect, it } from 'vitest';
import { runWithoutPauses } from '../../../src/domain/steps.ts';
import type { SpanSummary } from '../../../src/domain/traces/trace.ts';
import { drawTree, layOutTree } from '../../../src/domain/traces/trace-tree.ts';
import { sorted, summary } from './summaries.ts';

function asciiTree(spans: readonly SpanSummary[]): string {
  return drawTree(runWithoutPauses(layOutTree(spans)), new Map(spans.map((span) => [span.spanId, span])));
}

/** A chain of nested spans. */
function chain(count: number, fields: Partial<SpanSummary> = {}): readonly SpanSummary[] {
  return Array.from({ length: count }, (_, index) =>
    summary({ spanId: `s${index}`, parentId: index === 0 ? null : `s${index - 1}`, startedAtMs: index, ...fields }),
  );
}

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
    }
  });

  it('draws 1,000 spans without a remark', () => {
    const spans = Array.from({ length: 1000 }, (_, index) => summary({ spanId: `s${index}`, startedAtMs: index }));
    expect(asciiTree(spans).split('\n').at(-1)).toBe('└── span: span');
  });

  it('draws a chain of 10,000 spans in lines that stop moving to the right', () => {
    const lines = asciiTree(chain(10_000)).split('\n');
    expect(lines).toHaveLength(1002);
    expect(lines[33]).toBe(`${'    '.repeat(32)}└── span: span`);
    expect(new Set(lines.slice(33, 1001))).toEqual(new Set([lines[33]]));
  });

  it('stops at 256 KiB and counts the rest, however long names and models are', () => {
    const text = asciiTree(chain(1000, { name: '😀'.repeat(1024), model: 'é'.repeat(512) }));
    const lines = text.split('\n');
    const last = lines.pop();
    expect(Buffer.byteLength(text)).toBeLessThan(257 * 1024);
    expect(Buffer.byteLength(text)).toBeGreaterThan(240 * 1024);
    expect(last).toBe(`… ${1000 - (lines.length - 1)} more`);
  });
});
