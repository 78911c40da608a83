import { describe, expect, it } from 'vitest';
import { runWithoutPauses } from '../../../src/domain/steps.ts';
import type { Span } from '../../../src/domain/traces/trace.ts';
import { createDigest } from '../../../src/domain/traces/trace-digest.ts';
import { layOutTree } from '../../../src/domain/traces/trace-tree.ts';
import { sendSpan } from './collector/collecting.ts';

const MIB = 1024 * 1024;

/** `spans`: sorted by start. */
function digest(spans: readonly Span[]): string {
  const layout = runWithoutPauses(layOutTree(spans));
  const text = createDigest(layout);
  const byId = new Map(spans.map((span) => [span.spanId, span]));
  for (const line of layout.lines) {
    const span = byId.get(line.spanId);
    if (span !== undefined && !runWithoutPauses(text.add(line, span))) break;
  }
  return text.text();
}

/** A chain of nested spans with the same texts. */
function chain(count: number, fields: object): readonly Span[] {
  const span = sendSpan({ span_id: 's', ...fields });
  return Array.from({ length: count }, (_, index) => ({
    ...span,
    spanId: `s${index}`,
    parentId: index === 0 ? null : `s${index - 1}`,
  }));
}

describe('a digest', () => {
  it('shows input, output and error below each line of the tree', () => {
    const root = sendSpan({ span_id: 'root', name: 'answer', input: 'What\nnow?', error: { message: 'late' } });
    const leaf = sendSpan({
      ...{ span_id: 'leaf', parent_id: 'root', type: 'llm', name: 'ask', model: 'gpt-5' },
      output: { type: 'json', value: { answer: 'Paris' } },
    });
    const quiet = sendSpan({ span_id: 'quiet', parent_id: 'root', name: 'quiet' });
    expect(digest([root, leaf, quiet])).toBe(
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

  it('cuts each text at 2,000 characters', () => {
    const text = digest([sendSpan({ span_id: 'root', input: '🙂'.repeat(2001) })]);
    expect(text.split('\n').at(-1)).toBe(`        input: ${'🙂'.repeat(2000)}`);
  });

  it('shows the first 1,000 spans and counts the rest', () => {
    const text = digest(chain(1500, {}));
    expect(text.split('\n').at(-1)).toBe('… 500 more');
  });

  it('ends at 1 MiB, however many spans below each other have texts of line breaks alone', () => {
    const texts = { input: '\n'.repeat(5000), output: '\n'.repeat(5000), error: { message: '\n'.repeat(5000) } };
    const before = process.threadCpuUsage();
    const text = digest(chain(190, texts));
    // It was 443 MB and 10 s once.
    expect(process.threadCpuUsage(before).user).toBeLessThan(4_000_000);
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(MIB + 20);
    expect(Buffer.byteLength(text)).toBeGreaterThan(MIB - 4096);
    expect(text).toMatch(/\n… \d+ more$/);
  });

  it('counts the spans that it does not show whole', () => {
    const text = digest(chain(300, { input: 'a'.repeat(5000), output: 'b'.repeat(5000) }));
    const whole = text.match(/output: b{2000}(?=\n|$)/g)?.length ?? 0;
    expect(whole).toBeGreaterThan(100);
    expect(text.split('\n').at(-1)).toBe(`… ${300 - whole} more`);
  });

  it('answers for chains of 10,000 spans', () => {
    expect(
      digest(chain(10_000, { input: 'x\ny' }))
        .split('\n')
        .at(-1),
    ).toBe('… 9000 more');
  });
});
