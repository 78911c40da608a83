/**
 * What traces add to the hours and take off again. An hour holds whole traces under one grouping, and under another the
 * spans of each model, because a trace counts for a model once. Large traces are in no hour: what one of their spans
 * changes could be told only by looking at all of them, so whoever asks goes through those.
 */

import { HOUR_MS } from '../../domain/analytics/calendar.ts';
import {
  addSums,
  type CountedSpan,
  isNothing,
  noSums,
  type Sums,
  type SumsInMaking,
  sumsByModel,
  sumsOfTrace,
} from '../../domain/analytics/sums.ts';
import type { TraceRecord } from '../../domain/trace.ts';
import { SPANS_READ_THROUGH_MAX } from '../../domain/trace-aggregates.ts';

export const GROUPINGS = { traces: 0, models: 1, withoutModel: 2 } as const;

export type HourRow = Sums & {
  readonly projectNumber: number;
  readonly grouping: number;
  readonly hour: number;
  readonly receivedHour: number;
  readonly model: string;
};

/** A trace as the hours see it. */
export type CountedTrace = Pick<
  TraceRecord,
  'startedAtMs' | 'insertedAtMs' | 'spanCount' | 'hasError' | 'promptTokens' | 'completionTokens' | 'totalCostNanoUsd'
> & { readonly projectNumber: number };

export type HourChanges = {
  /** A trace with all of its spans, or one without them again. */
  change(trace: CountedTrace, spans: Iterable<CountedSpan>, times: 1 | -1): void;
  /** In the order of their keys, without those that come to nothing. */
  rows(): readonly HourRow[];
};

/** Whether a trace is in the hours. */
export function isInHours({ spanCount }: Pick<CountedTrace, 'spanCount'>): boolean {
  return spanCount <= SPANS_READ_THROUGH_MAX;
}

export function hourOf(instantMs: number): number {
  return Math.floor(instantMs / HOUR_MS);
}

type Key = Omit<HourRow, keyof Sums>;

export function createHourChanges(): HourChanges {
  const changed = new Map<string, { readonly key: Key; readonly sums: SumsInMaking }>();

  function add(key: Key, sums: Sums, times: 1 | -1): void {
    const name = `${key.projectNumber} ${key.grouping} ${key.hour} ${key.receivedHour} ${key.model}`;
    const known = changed.get(name) ?? { key, sums: noSums() };
    changed.set(name, known);
    addSums(known.sums, sums, times);
  }

  return {
    change(trace, spans, times) {
      const { projectNumber, startedAtMs, insertedAtMs } = trace;
      if (!isInHours(trace)) return;
      // One without spans began when it came in.
      const [hour, receivedHour] = [hourOf(startedAtMs ?? insertedAtMs), hourOf(insertedAtMs)];
      const key = { projectNumber, grouping: GROUPINGS.traces, hour, receivedHour, model: '' };
      add(key, sumsOfTrace(trace), times);
      for (const [model, sums] of sumsByModel(spans)) {
        const grouping = model === null ? GROUPINGS.withoutModel : GROUPINGS.models;
        add({ ...key, grouping, model: model ?? '' }, sums, times);
      }
    },
    rows: () =>
      [...changed.values()]
        .filter(({ sums }) => !isNothing(sums))
        .sort((one, other) => compareKeys(one.key, other.key))
        .map(({ key, sums }) => ({ ...key, ...sums })),
  };
}

function compareKeys(one: Key, other: Key): number {
  return (
    one.projectNumber - other.projectNumber ||
    one.grouping - other.grouping ||
    one.hour - other.hour ||
    one.receivedHour - other.receivedHour ||
    Number(one.model > other.model) - Number(one.model < other.model)
  );
}
