/** Sums traces up by interval, in any order: every interval stays open until the end. */

import { intervalAt, type Span } from './calendar.ts';
import { createDistribution, type Distribution } from './distribution.ts';
import { addTrace, type CountedTrace, type MutableSums, noSums, type Totals, totalsOfSums } from './sums.ts';
import type { AnalyticsQuery } from './trace-analytics-store.ts';

/** A trace as its bucket counts it; null: unknown. */
export type SummedTrace = CountedTrace & {
  readonly startMs: number;
  readonly totalTimeMs: number | null;
  readonly firstTokenMs: number | null;
};

/** The sums of one group, by the start of the interval. */
export type GroupSums = Map<number, IntervalSum>;
type IntervalSum = {
  readonly span: Span;
  readonly sums: MutableSums;
  /** Null: no percentiles are asked for. */
  readonly durations: { readonly totalTimes: Distribution; readonly firstTokens: Distribution } | null;
};

/** The reader thread has a heap of a few hundred megabytes. */
const LIMITS = { cellsMax: 50_000, valuesMax: 4_000_000 };

/** `isFull`: the sums need more memory than they may. */
export function createIntervalSums(
  query: Pick<AnalyticsQuery, 'interval' | 'fromMs' | 'toMs' | 'hasPercentiles'>,
  limits = LIMITS,
) {
  let span: Span = { startMs: 0, endMs: 0 };
  let [cells, values] = [0, 0];

  function newCell(): IntervalSum {
    cells += 1;
    const durations = query.hasPercentiles
      ? { totalTimes: createDistribution(), firstTokens: createDistribution() }
      : null;
    return { span, sums: noSums(), durations };
  }

  function addTo(kept: Distribution, value: number | null): void {
    if (value === null) return;
    const before = kept.size();
    kept.add(value);
    values += kept.size() - before;
  }

  return {
    isFull: (): boolean => cells > limits.cellsMax || values > limits.valuesMax,
    add(group: GroupSums, trace: SummedTrace): void {
      // Most traces began in the interval of the trace before.
      const { startMs } = trace;
      if (startMs < span.startMs || startMs >= span.endMs) span = intervalAt(query, startMs);
      const cell = group.get(span.startMs) ?? newCell();
      if (cell.sums.traces === 0) group.set(span.startMs, cell);
      addTrace(cell.sums, trace);
      if (cell.durations === null) return;
      addTo(cell.durations.totalTimes, trace.totalTimeMs);
      addTo(cell.durations.firstTokens, trace.firstTokenMs);
    },
  };
}

export function totalsOf({ sums, durations }: IntervalSum): Totals {
  return totalsOfSums(sums, {
    totalTimeMs: durations?.totalTimes.percentiles() ?? null,
    firstTokenMs: durations?.firstTokens.percentiles() ?? null,
  });
}
