/** What a batch changes in the hours of analytics: each trace it touched is taken off as it was, and added as it is. */

import type { CountedSpan } from '../../domain/analytics/sums.ts';
import { type CountedTrace, createHourChanges, type HourRow, isInHours } from '../analytics/hour-changes.ts';
import type { Reader } from './reader.ts';

export type Touched = {
  /** As they were stored before the batch, by their sequences. */
  readonly stored: ReadonlyMap<number, CountedTrace>;
  /** The sequences of those that are gone. */
  readonly erased: readonly number[];
  /** As they are now, with the spans that the batch brings. */
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
    // Only its metadata is new, or it was large before.
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
