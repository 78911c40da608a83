import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { sharesOf, withShares } from '../../../../src/domain/traces/shares/shares.ts';
import type { SpanSummary } from '../../../../src/domain/traces/trace.ts';
import { runsOf } from '../../../support/scenario.ts';
import { type ModelSpan, readTrace } from '../../../support/share-model/shares.ts';
import { idOf, TREE } from '../../../support/share-model/trees.ts';
import { toSummary } from './model-summary.ts';

const RUNS = runsOf(3_000);

describe('shares of random traces', () => {
  it('equal an independent reading of the documents', () => {
    fc.assert(
      fc.property(TREE, (spans) => {
        const model = readTrace(spans);
        const shown = withShares(spans.map(toSummary)).map(
          ({ spanId, promptTokens, completionTokens, costNanoUsd }) => [
            spanId,
            { input: promptTokens, output: completionTokens, cost: costNanoUsd },
          ],
        );
        expect(new Map(shown as [string, unknown][])).toEqual(model.shares);
        const { roles } = sharesOf(spans.map(toSummary));
        expect(new Map(spans.map(({ id }, index) => [id, roles[index]]))).toEqual(model.roles);
      }),
      { numRuns: RUNS },
    );
  });

  it('do not depend on the order of the spans', () => {
    fc.assert(
      fc.property(
        TREE.chain((spans) =>
          fc.tuple(fc.constant(spans), fc.shuffledSubarray([...spans], { minLength: spans.length })),
        ),
        ([spans, shuffled]) => {
          expect(byId(withShares(shuffled.map(toSummary)))).toEqual(byId(withShares(spans.map(toSummary))));
        },
      ),
      { numRuns: RUNS / 10 },
    );
  });

  it('count only calls in a trace with a chain of more than 512 spans', () => {
    for (const length of [512, 513]) {
      const spans = Array.from({ length }, (_, index): ModelSpan => chained(index));
      const shown = withShares(spans.map(toSummary));
      expect(new Map(shown.map(({ spanId, promptTokens }) => [spanId, promptTokens]))).toEqual(
        new Map([...readTrace(spans).shares].map(([id, { input }]) => [id, input])),
      );
    }
  });
});

function chained(index: number): ModelSpan {
  const isCall = index % 3 === 0;
  return {
    ...{ id: idOf(index), parent: index === 0 ? null : idOf(index - 1), type: isCall ? 'llm' : 'span' },
    ...{ row: isCall ? 'r' : null, start: 0, input: index, output: 1, cost: null, rates: null },
  };
}

function byId(spans: readonly SpanSummary[]): ReadonlyMap<string, SpanSummary> {
  return new Map(spans.map((span) => [span.spanId, span]));
}
