/** Durations of traces that are gone through in any order, by the intervals in which the traces began. */

import type { AnalyticsQuestion, Bucket } from '../trace-analytics-store.ts';
import { calendarSpan, type Span } from './calendar.ts';
import { createValues, type Values } from './values.ts';

export type Durations = {
  /** Null: nothing is known. */
  add(startedAtMs: number, totalTimeMs: number | null, firstTokenMs: number | null): void;
  /** Whether there is no room for all of them. */
  isTooMuch(): boolean;
  /** The same bucket, with the percentiles of its interval. */
  complete(bucket: Bucket): Bucket;
};

/** They take eight bytes each. */
const VALUES_MAX = 4_000_000;

type Cell = { readonly span: Span; readonly totalTimes: Values; readonly firstTokens: Values };

export function createDurations(
  { interval, fromMs, toMs, bucketsMax }: AnalyticsQuestion,
  valuesMax = VALUES_MAX,
): Durations {
  const cells = new Map<number, Cell>();
  let last: Cell | null = null;
  let values = 0;

  function cellAt(instantMs: number): Cell {
    // Most begin where the one before did.
    if (last !== null && instantMs >= last.span.startMs && instantMs < last.span.endMs) return last;
    const span = interval === 'total' ? { startMs: fromMs, endMs: toMs + 1 } : calendarSpan(interval, instantMs);
    const cell = cells.get(span.startMs) ?? { span, totalTimes: createValues(), firstTokens: createValues() };
    cells.set(span.startMs, cell);
    last = cell;
    return cell;
  }

  function addTo(kept: Values, value: number | null): void {
    if (value === null) return;
    const before = kept.size();
    kept.add(value);
    values += kept.size() - before;
  }

  return {
    add(startedAtMs, totalTimeMs, firstTokenMs) {
      const { totalTimes, firstTokens } = cellAt(startedAtMs);
      addTo(totalTimes, totalTimeMs);
      addTo(firstTokens, firstTokenMs);
    },
    isTooMuch: () => values > valuesMax || cells.size > bucketsMax,
    complete(bucket) {
      const cell = cells.get(bucket.startMs);
      const totalTimeMs = cell?.totalTimes.percentiles() ?? null;
      const firstTokenMs = cell?.firstTokens.percentiles() ?? null;
      return { ...bucket, totals: { ...bucket.totals, totalTimeMs, firstTokenMs } };
    },
  };
}
