/** Sums of the feedback on traces, for buckets that analytics return. */

import { intervalAt } from './calendar.ts';
import type { FeedbackAnswer, FeedbackQuery } from './trace-analytics-store.ts';

export type CountedEvent = {
  readonly type: string;
  readonly metricsJson: string;
  /** The start of its trace. */
  readonly startMs: number;
};

const VOTES = 'thumbs_up_down';

/** The name by which analytics ask for a metric of events of a type. */
export function feedbackMetric(type: string, metric: string): string {
  return `events.${type}.${metric}`;
}

type Cell = { readonly metrics: Map<string, { sum: number; count: number }>; thumbsUp: number; thumbsDown: number };

export function createFeedbackSums(query: FeedbackQuery) {
  const wanted = new Set(query.metrics);
  const cells = query.buckets.map((): Cell => ({ metrics: new Map(), thumbsUp: 0, thumbsDown: 0 }));
  const indexes = new Map(query.buckets.map(({ startMs, group }, index) => [keyOf(startMs, group), index]));

  function addTo(cell: Cell, { type, metricsJson }: CountedEvent): void {
    for (const [name, value] of Object.entries<number>(JSON.parse(metricsJson))) {
      const metric = feedbackMetric(type, name);
      if (wanted.has(metric)) {
        const { sum, count } = cell.metrics.get(metric) ?? { sum: 0, count: 0 };
        cell.metrics.set(metric, { sum: sum + value, count: count + 1 });
      }
      if (type !== VOTES || name !== 'vote') continue;
      if (value > 0) cell.thumbsUp += 1;
      if (value < 0) cell.thumbsDown += 1;
    }
  }

  return {
    /** Counts an event in each group of its trace. */
    add(event: CountedEvent, groups: Iterable<string | null>): void {
      const { startMs } = intervalAt(query, event.startMs);
      for (const group of groups) {
        const index = indexes.get(keyOf(startMs, group));
        const cell = index === undefined ? undefined : cells[index];
        if (cell !== undefined) addTo(cell, event);
      }
    },
    answer: (): FeedbackAnswer => ({
      kind: 'sums',
      sums: cells.map(({ metrics, ...votes }) => ({
        ...votes,
        metrics: [...metrics].map(([name, sums]) => ({ name, ...sums })),
      })),
    }),
  };
}

function keyOf(startMs: number, group: string | null): string {
  return group === null ? String(startMs) : `${startMs} ${group}`;
}
