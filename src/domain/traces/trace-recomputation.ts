/** Computes totals and aggregates of a trace from all its spans, one by one. */

import type { SpanSummary } from './trace.ts';
import { createAggregator, NO_AGGREGATES } from './trace-aggregates.ts';
import type { TraceState } from './trace-growth.ts';
import { addTotals, totalsOf } from './trace-totals.ts';

type LinkedSummary = SpanSummary & {
  /** Whether the span has no stored parent. */
  readonly isParentless: boolean;
};

const SUMMED_AT_ONCE = 500;

type Recomputation = {
  /** Takes every span of the trace once, in any order, and keeps few. */
  add(span: LinkedSummary): void;
  end(): TraceState;
};

export function createRecomputation(): Recomputation {
  const aggregator = createAggregator(NO_AGGREGATES);
  let totals = totalsOf([]);
  let some: SpanSummary[] = [];

  function sumUp(): void {
    totals = addTotals(totals, totalsOf(some));
    some = [];
  }

  return {
    add(span) {
      aggregator.add(span, span.isParentless);
      some.push(span);
      if (some.length === SUMMED_AT_ONCE) sumUp();
    },
    end() {
      sumUp();
      return { totals, aggregates: aggregator.end() };
    },
  };
}
