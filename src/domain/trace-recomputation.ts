/** The totals and aggregates of a trace from all its spans, one after the other. */

import { addTotals } from './add-totals.ts';
import type { SpanSummary } from './trace.ts';
import { createAggregator, NO_AGGREGATES } from './trace-aggregates.ts';
import type { TraceState } from './trace-growth.ts';
import { totalsOf } from './trace-totals.ts';

export type LinkedSummary = SpanSummary & {
  /** Whether it stands at root level for want of a stored parent. */
  readonly isParentless: boolean;
};

const SUMMED_AT_ONCE = 500;

/** `spans` are all of a trace, each once, in any order. None of them is kept. */
export function recompute(spans: Iterable<LinkedSummary>): TraceState {
  const aggregator = createAggregator(NO_AGGREGATES);
  let totals = totalsOf([]);
  let some: SpanSummary[] = [];
  for (const span of spans) {
    aggregator.add(span, span.isParentless);
    some.push(span);
    if (some.length < SUMMED_AT_ONCE) continue;
    totals = addTotals(totals, totalsOf(some));
    some = [];
  }
  return { totals: addTotals(totals, totalsOf(some)), aggregates: aggregator.end() };
}
