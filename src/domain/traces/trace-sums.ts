/** Computes totals and aggregates of a trace after an append. */

import type { AppendTables, TraceKey, TraceState } from '../events/append-tables.ts';
import { addTotals } from './add-totals.ts';
import type { SpanSummary, TraceRecord } from './trace.ts';
import {
  aggregatesOf,
  isOutdated,
  outdatedAggregates,
  readAggregates,
  SPANS_READ_THROUGH_MAX,
} from './trace-aggregates.ts';
import { grow, isSame, type Replaced } from './trace-growth.ts';
import { totalsOf } from './trace-totals.ts';

export type Sums = Pick<TraceState, 'totals' | 'aggregatesJson'>;

type Changes = {
  /** Before changes. */
  readonly record: TraceRecord;
  readonly added: readonly SpanSummary[];
  readonly replaced: readonly Replaced[];
};

/** Of a trace that has no other spans. */
export function sumUpNew(spans: readonly SpanSummary[]): Sums {
  const isLarge = spans.length > SPANS_READ_THROUGH_MAX;
  return { totals: totalsOf(spans), aggregatesJson: isLarge ? JSON.stringify(aggregatesOf(spans)) : null };
}

/** Call it after the spans are stored. Its time does not grow with the trace. */
export function sumUp(tables: AppendTables, traceKey: TraceKey, changes: Changes): Sums {
  const { record, added, replaced } = changes;
  if (record.spanCount > SPANS_READ_THROUGH_MAX) return growLarge(tables, traceKey, changes);
  if (record.spanCount + added.length <= SPANS_READ_THROUGH_MAX && replaced.every(isSame)) {
    return { totals: addTotals(record, totalsOf(added)), aggregatesJson: null };
  }
  return sumUpNew(tables.summaries(traceKey));
}

function growLarge(tables: AppendTables, traceKey: TraceKey, { record, added, replaced }: Changes): Sums {
  const { aggregatesJson, spanCount } = record;
  if (aggregatesJson !== null && !isOutdated(record)) {
    const state = { totals: record, aggregates: readAggregates(aggregatesJson) };
    const isStored = (spanId: string) => tables.hasSpan(traceKey, spanId);
    const grown = grow(state, { added, replaced, isStored });
    if (grown !== null) return { totals: grown.totals, aggregatesJson: JSON.stringify(grown.aggregates) };
  }
  // The span count stays right: the limit per trace uses it.
  return {
    totals: { ...record, spanCount: spanCount + added.length },
    aggregatesJson: outdatedAggregates(tables.newChangeId()),
  };
}
