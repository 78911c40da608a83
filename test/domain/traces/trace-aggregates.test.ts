import { describe, expect, it } from 'vitest';
import type { SpanSummary } from '../../../src/domain/traces/trace.ts';
import { aggregatesOf, choiceOf } from '../../../src/domain/traces/trace-aggregates.ts';
import { sorted, summary } from './summaries.ts';

function choose(spans: readonly SpanSummary[]) {
  return choiceOf(aggregatesOf(spans));
}

describe('the spans that speak for a trace', () => {
  it('are none without spans', () => {
    expect(choose([])).toEqual({
      ...{ rootId: null, inputFromId: null, outputFromId: null, errorFromId: null, name: '', models: [] },
    });
  });

  it('are the earliest span that names no parent, in any order of arrival', () => {
    const spans = sorted(
      summary({ spanId: 'child', parentId: 'root', startedAtMs: 1 }),
      summary({ spanId: 'root', name: 'Root', startedAtMs: 5, hasInput: true, hasOutput: true, hasError: true }),
      summary({ spanId: 'orphan', parentId: 'gone', startedAtMs: 9, finishedAtMs: 1 }),
    );
    expect(choose(spans)).toMatchObject({
      ...{ rootId: 'root', inputFromId: 'root', outputFromId: 'root', errorFromId: 'root', name: 'Root' },
    });
  });

  it('are a span that names no parent before an earlier one whose parent is not stored', () => {
    const texts = { hasInput: true, hasOutput: true, hasError: true };
    const orphan = summary({ spanId: 'orphan', parentId: 'gone', startedAtMs: 1, finishedAtMs: 9, ...texts });
    const earlier = summary({ spanId: 'earlier', parentId: 'orphan', startedAtMs: 0 });
    const root = summary({ spanId: 'root', startedAtMs: 5, finishedAtMs: 6, ...texts });
    const ofRoot = { rootId: 'root', inputFromId: 'root', outputFromId: 'root', errorFromId: 'root' };
    expect(choose([orphan, root])).toMatchObject(ofRoot);
    expect(choose([root, orphan])).toMatchObject(ofRoot);
    expect(choose([earlier, orphan])).toMatchObject({ rootId: 'orphan', outputFromId: 'orphan' });
  });

  it('are chosen by id among roots that started together', () => {
    expect(choose(sorted(summary({ spanId: 'b' }), summary({ spanId: 'a', type: 'llm' })))).toMatchObject({
      rootId: 'a',
      name: 'llm',
    });
  });

  it('exist also where every span has a parent', () => {
    const spans = sorted(
      summary({ spanId: 'a', parentId: 'b', startedAtMs: 2, hasOutput: true }),
      summary({ spanId: 'b', parentId: 'a', startedAtMs: 1, name: 'first' }),
    );
    expect(choose(spans)).toMatchObject({ rootId: 'b', name: 'first', outputFromId: 'a' });
  });

  it('skip evaluations and tools when the root has no text', () => {
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
    expect(choose(spans)).toMatchObject({ inputFromId: 'tool', outputFromId: 'llm', errorFromId: 'early' });
  });

  it('answer with the root, and where it has no output with the span without a parent that finished last', () => {
    const other = summary({ spanId: 'b', startedAtMs: 2, finishedAtMs: 60, hasOutput: true });
    const orphan = summary({ spanId: 'c', parentId: 'gone', startedAtMs: 3, finishedAtMs: 70, hasOutput: true });
    const root = summary({ spanId: 'a', startedAtMs: 1, finishedAtMs: 50, hasOutput: true });
    expect(choose([root, other, orphan])).toMatchObject({ rootId: 'a', outputFromId: 'a' });
    expect(choose([{ ...root, hasOutput: false }, other, orphan])).toMatchObject({ rootId: 'a', outputFromId: 'b' });
  });

  it('name each model once, latest started first', () => {
    const spans = sorted(
      summary({ spanId: 'a', startedAtMs: 1, model: 'm1' }),
      summary({ spanId: 'b', startedAtMs: 2, model: 'm2' }),
      summary({ spanId: 'c', startedAtMs: 3, model: 'm1' }),
      summary({ spanId: 'd', startedAtMs: 4 }),
    );
    expect(choose(spans).models).toEqual(['m1', 'm2']);
  });

  it('name the 100 models that were used last', () => {
    const spans = Array.from({ length: 300 }, (_, index) =>
      summary({ spanId: `s${index}`, startedAtMs: index, model: `m${(index * 7) % 150}` }),
    );
    const { models } = choose(spans);
    expect(models).toHaveLength(100);
    expect(models.slice(0, 2)).toEqual([`m${(299 * 7) % 150}`, `m${(298 * 7) % 150}`]);
    expect(new Set(models)).toEqual(new Set(spans.slice(-100).map(({ model }) => model)));
  });
});
