/** Collects durations of traces, given in any order, by the interval in which each trace began. */

import { intervalAt, type Span } from './calendar.ts';
import { createDistribution, type Distribution } from './distribution.ts';
import type { AnalyticsQuery, Bucket } from './trace-analytics-store.ts';

export type Durations = ReturnType<typeof createDurations>;

/** Each takes eight bytes. */
const VALUES_MAX = 4_000_000;

type Cell = { readonly span: Span; readonly totalTimes: Distribution; readonly firstTokens: Distribution };

export function createDurations(query: AnalyticsQuery, valuesMax = VALUES_MAX) {
  const cells = new Map<number, Cell>();
  let last: Cell | null = null;
  let values = 0;

  function cellAt(instantMs: number): Cell {
    // Most traces began in the interval of the trace before.
    if (last !== null && instantMs >= last.span.startMs && instantMs < last.span.endMs) return last;
    const span = intervalAt(query, instantMs);
    const cell = cells.get(span.startMs) ?? {
      span,
      totalTimes: createDistribution(),
      firstTokens: createDistribution(),
    };
    cells.set(span.startMs, cell);
    last = cell;
    return cell;
  }

  function addTo(kept: Distribution, value: number | null): void {
    if (value === null) return;
    const before = kept.size();
    kept.add(value);
    values += kept.size() - before;
  }

  return {
    /** Null: unknown. */
    add(startedAtMs: number, totalTimeMs: number | null, firstTokenMs: number | null): void {
      const { totalTimes, firstTokens } = cellAt(startedAtMs);
      addTo(totalTimes, totalTimeMs);
      addTo(firstTokens, firstTokenMs);
    },
    /** Whether the durations need more memory than allowed. */
    isOverLimit: (): boolean => values > valuesMax || cells.size > query.bucketsMax,
    /** Adds the percentiles of its interval to a bucket. */
    complete(bucket: Bucket): Bucket {
      const cell = cells.get(bucket.startMs);
      const totalTimeMs = cell?.totalTimes.percentiles() ?? null;
      const firstTokenMs = cell?.firstTokens.percentiles() ?? null;
      return { ...bucket, totals: { ...bucket.totals, totalTimeMs, firstTokenMs } };
    },
  };
}
