import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { growShares } from '../../../../src/domain/traces/shares/grow-shares.ts';
import { withShares } from '../../../../src/domain/traces/shares/shares.ts';
import { type SpanSummary, SUMMED } from '../../../../src/domain/traces/trace.ts';
import { runsOf } from '../../../support/scenario.ts';
import { TREE } from '../../../support/share-model/trees.ts';
import { summary } from '../summaries.ts';
import { toSummary } from './model-summary.ts';

const RUNS = runsOf(2_000);

describe('shares of a trace that grows', () => {
  it('sum up to those of all its spans after every append, or are unknown', () => {
    let known = 0;
    let unknown = 0;
    fc.assert(
      fc.property(
        TREE.chain((spans) =>
          fc.tuple(
            fc.shuffledSubarray([...spans], { minLength: spans.length }),
            fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 14, maxLength: 14 }),
            fc.array(fc.constantFrom(null, 28, 100), { maxLength: 3 }),
          ),
        ),
        ([order, sizes, resent]) => {
          const trace = createTrace();
          const waiting = order.map(toSummary);
          while (waiting.length > 0) {
            if (!trace.append(waiting.splice(0, sizes.pop() ?? 1))) {
              unknown += 1;
              return;
            }
            known += 1;
          }
          for (const [index, promptTokens] of resent.entries()) {
            const span = toSummary(order[index % order.length] ?? raise());
            if (!trace.append([{ ...span, promptTokens }])) return;
          }
        },
      ),
      { numRuns: RUNS },
    );
    expect(known / (known + unknown)).toBeGreaterThan(0.8);
  });

  it('reads and stores only the spans of an append and those above them', () => {
    const trace = createTrace();
    const root = summary({ spanId: 'root', type: 'agent', promptTokens: 300 });
    const leaves = Array.from({ length: 1_000 }, (_, index) => usedSpan(`leaf ${index}`, 'step'));
    trace.append([root, summary({ spanId: 'step', parentId: 'root' }), ...leaves]);
    trace.touched.clear();
    expect(trace.append([usedSpan('new', 'step')])).toBe(true);
    expect([...trace.touched].sort()).toEqual(['new', 'root', 'step']);
  });
});

it('are unknown where calls of many models may have become those of one', () => {
  const trace = createTrace();
  const call = (spanId: string, callRow: number, promptTokens: number, parentId: string | null) =>
    summary({ spanId, parentId, type: 'llm', model: `m${callRow}`, callRow, promptTokens });
  const children = [0, 1, 2, 3, 4].map((index) => `k${index}`);
  trace.append([call('p', 1, 50, null), ...children.map((id, index) => call(id, index + 1, 9, 'p'))]);
  const [last = '', ...others] = children.toReversed();
  for (const id of others) expect(trace.append([call(id, 1, 10, 'p')])).toBe(true);
  expect(trace.append([call(last, 1, 10, 'p')])).toBe(false);
});

function usedSpan(spanId: string, parentId: string): SpanSummary {
  return summary({ spanId, parentId, type: 'llm', model: 'gpt-5', callRow: 1, promptTokens: 2 });
}

/** Adds the shares up as an append does, and compares them with those of all spans. */
function createTrace() {
  const packed = new Map<string, string>();
  const touched = new Set<string>();
  const spans = new Map<string, SpanSummary>();
  const sums = Object.fromEntries(SUMMED.map((name) => [name, 0]));
  const add = (share: Partial<SpanSummary>, times: 1 | -1) => {
    for (const name of SUMMED) sums[name] = (sums[name] ?? 0) + times * (share[name] ?? 0);
  };
  const nodes = {
    find(spanId: string) {
      touched.add(spanId);
      return packed.get(spanId);
    },
    store(spanId: string, node: string) {
      touched.add(spanId);
      packed.set(spanId, node);
    },
  };
  return {
    touched,
    append(sent: readonly SpanSummary[]): boolean {
      const added = sent.filter(({ spanId }) => !spans.has(spanId));
      const replaced = sent.flatMap((next) => {
        const old = spans.get(next.spanId);
        return old === undefined ? [] : [{ old, next }];
      });
      for (const span of sent) spans.set(span.spanId, span);
      const grown = growShares(nodes, { added, replaced });
      if (grown === null) return false;
      for (const span of grown.added) add(span, 1);
      for (const { old, next } of [...grown.replaced, ...grown.reshared]) {
        add(old, -1);
        add(next, 1);
      }
      const expected = Object.fromEntries(
        SUMMED.map((name) => [name, withShares([...spans.values()]).reduce((sum, span) => sum + (span[name] ?? 0), 0)]),
      );
      expect(sums).toEqual(expected);
      return true;
    },
  };
}

function raise(): never {
  throw new Error('a trace has spans');
}
