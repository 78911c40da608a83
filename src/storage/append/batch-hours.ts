/** The changes of a batch to the hourly sums of analytics: each trace is subtracted as it was and added as it is. */

import type { CountedSpan } from '../../domain/analytics/sums.ts';
import { type CountedTrace, createHourChanges, type HourRow, isInHours } from '../analytics/hour-changes.ts';
import type { Reader } from './reader.ts';

export type Touched = {
  /** The traces before the batch, by sequence. */
  readonly stored: ReadonlyMap<number, CountedTrace>;
  /** The sequences of erased traces. */
  readonly erased: readonly number[];
  /** The traces after the batch. */
  readonly now: readonly (CountedTrace & { readonly sequence: number })[];
  readonly spans: Iterable<CountedSpan & { readonly traceSequence: number; readonly spanId: string }>;
};

export function countHours(read: Reader, { stored, erased, now, spans }: Touched): readonly HourRow[] {
  const changes = createHourChanges();
  const brought = Map.groupBy(spans, ({ traceSequence }) => traceSequence);
  const storedSpans = ({ projectNumber }: CountedTrace, sequence: number) =>
    read('listSummaries', { projectNumber, sequence });

  for (const sequence of erased) {
    const before = stored.get(sequence);
    if (before !== undefined && isInHours(before)) changes.change(before, storedSpans(before, sequence), -1);
  }
  for (const trace of now) {
    const { sequence } = trace;
    const added = brought.get(sequence) ?? [];
    const before = stored.get(sequence);
    if (before === undefined) {
      changes.change(trace, added, 1);
      continue;
    }
    // Only its metadata changed, or the trace was already too large for hourly sums.
    if (added.length === 0 || !isInHours(before)) continue;
    const summaries = before.spanCount === 0 ? [] : storedSpans(before, sequence);
    changes.change(before, summaries, -1);
    if (!isInHours(trace)) continue;
    const current = new Map<string, CountedSpan>(summaries.map((summary) => [summary.spanId, summary]));
    for (const span of added) current.set(span.spanId, span);
    changes.change(trace, current.values(), 1);
  }
  return changes.rows();
}
