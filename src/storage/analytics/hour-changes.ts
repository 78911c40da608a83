/**
 * Adds traces to the hourly sums, and subtracts them. One grouping of an hour sums whole traces, another one the spans of
 * each model, because a trace counts once per model. Large traces are in no hour: a changed span would need all spans of
 * the trace. Queries read large traces directly.
 */

import { HOUR_MS } from '../../domain/analytics/calendar.ts';
import {
  addSums,
  type CountedSpan,
  isZero,
  type MutableSums,
  noSums,
  type Sums,
  sumsByModel,
  sumsOfTrace,
} from '../../domain/analytics/sums.ts';
import { type SharedSpan, withShares } from '../../domain/traces/shares/shares.ts';
import type { SpanSummary, TraceRecord } from '../../domain/traces/trace.ts';
import { SPANS_READ_THROUGH_MAX } from '../../domain/traces/trace-aggregates.ts';
import type { Queries, Transaction } from '../transaction.ts';
import { GROUPINGS } from './groupings.ts';
import type { HourRow } from './queries.ts';

export type { HourRow } from './queries.ts';

/** What the hours need of a trace. */
type CountedTrace = Pick<
  TraceRecord,
  'startedAtMs' | 'insertedAtMs' | 'spanCount' | 'hasError' | 'promptTokens' | 'completionTokens' | 'totalCostNanoUsd'
> & { readonly projectNumber: number };

/** Whether the hours count the trace. */
function isInHours({ spanCount }: Pick<CountedTrace, 'spanCount'>): boolean {
  return spanCount <= SPANS_READ_THROUGH_MAX;
}

export function hourOf(instantMs: number): number {
  return Math.floor(instantMs / HOUR_MS);
}

type Key = Omit<HourRow, keyof Sums>;

function createHourChanges() {
  const changed = new Map<string, { readonly key: Key; readonly sums: MutableSums }>();

  function add(key: Key, sums: Sums, times: 1 | -1): void {
    const name = `${key.projectNumber} ${key.grouping} ${key.hour} ${key.receivedHour} ${key.model}`;
    const known = changed.get(name) ?? { key, sums: noSums() };
    changed.set(name, known);
    addSums(known.sums, sums, times);
  }

  return {
    /** Adds (1) or subtracts (-1) a trace with all of its spans. */
    change(trace: CountedTrace, spans: Iterable<CountedSpan>, times: 1 | -1): void {
      const { projectNumber, startedAtMs, insertedAtMs } = trace;
      if (!isInHours(trace)) return;
      // A trace without spans starts when it is received.
      const [hour, receivedHour] = [hourOf(startedAtMs ?? insertedAtMs), hourOf(insertedAtMs)];
      const key = { projectNumber, grouping: GROUPINGS.traces, hour, receivedHour, model: '' };
      add(key, sumsOfTrace(trace), times);
      for (const [model, sums] of sumsByModel(spans)) {
        const grouping = model === null ? GROUPINGS.withoutModel : GROUPINGS.models;
        add({ ...key, grouping, model: model ?? '' }, sums, times);
      }
    },
    /** By ascending key, without rows that change nothing. */
    rows: (): readonly HourRow[] =>
      [...changed.values()]
        .filter(({ sums }) => !isZero(sums))
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

/**
 * The spans of a stored trace as the hours count them. A trace that was stored before shares existed is counted by what
 * its spans report, until a change recomputes its totals.
 */
function asCounted<Span extends SharedSpan>(trace: CountedTrace, spans: readonly Span[]): readonly Span[] {
  return spans.every(({ callRow }) => callRow === null) && isSumOf(trace, spans) ? spans : withShares(spans);
}

function isSumOf(trace: CountedTrace, spans: readonly SharedSpan[]): boolean {
  return (
    trace.promptTokens === sumOf(spans, 'promptTokens') &&
    trace.completionTokens === sumOf(spans, 'completionTokens') &&
    trace.totalCostNanoUsd === sumOf(spans, 'costNanoUsd')
  );
}

function sumOf(spans: readonly SharedSpan[], name: 'promptTokens' | 'completionTokens' | 'costNanoUsd'): number | null {
  const known = spans.flatMap((span) => span[name] ?? []);
  return known.length === 0 ? null : known.reduce((sum, value) => sum + value, 0);
}

type HourQueries = Pick<Queries['retention'], 'listCounted' | 'listCountedSpans' | 'addHour'>;

type Removed = { readonly projectNumber: number; readonly sequence: number };

/** Subtracts traces. MUST be called in the transaction that removes or hides them, before it does so. */
export async function subtractFromHours(
  { runQuery, change }: Pick<Transaction, 'runQuery' | 'change'>,
  queries: HourQueries,
  traces: readonly Removed[],
): Promise<void> {
  const changes = createHourChanges();
  for (const [projectNumber, some] of Map.groupBy(traces, (trace) => trace.projectNumber)) {
    const sequences = some.map(({ sequence }) => sequence);
    const counted = (await runQuery(queries.listCounted, { projectNumber, sequences })).filter(isInHours);
    if (counted.length === 0) continue;
    const known = counted.map(({ sequence }) => sequence);
    const spans = await runQuery(queries.listCountedSpans, { projectNumber, sequences: known });
    const bySequence = Map.groupBy(spans, ({ traceSequence }) => traceSequence);
    for (const trace of counted) changes.change(trace, asCounted(trace, bySequence.get(trace.sequence) ?? []), -1);
  }
  for (const row of changes.rows()) await change(queries.addHour, row);
}

type Touched = {
  /** The traces before the batch, by sequence. */
  readonly stored: ReadonlyMap<number, CountedTrace>;
  /** The sequences of erased traces. */
  readonly erased: readonly number[];
  /** The traces after the batch. */
  readonly now: readonly (CountedTrace & { readonly sequence: number })[];
  readonly spans: Iterable<SpanSummary & { readonly traceSequence: number }>;
};

/** The changes of a batch: each trace is subtracted as it was and added as it is. */
export function countHours(
  listSummaries: (projectNumber: number, sequence: number) => readonly SpanSummary[],
  { stored, erased, now, spans }: Touched,
): readonly HourRow[] {
  const changes = createHourChanges();
  const brought = Map.groupBy(spans, ({ traceSequence }) => traceSequence);

  for (const sequence of erased) {
    const before = stored.get(sequence);
    if (before !== undefined && isInHours(before))
      changes.change(before, asCounted(before, listSummaries(before.projectNumber, sequence)), -1);
  }
  for (const trace of now) {
    const { sequence } = trace;
    const added = brought.get(sequence) ?? [];
    const before = stored.get(sequence);
    if (before === undefined) {
      changes.change(trace, withShares(added), 1);
      continue;
    }
    // Only its metadata changed, or the trace was already too large for hourly sums.
    if (added.length === 0 || !isInHours(before)) continue;
    const summaries = before.spanCount === 0 ? [] : listSummaries(before.projectNumber, sequence);
    changes.change(before, asCounted(before, summaries), -1);
    if (!isInHours(trace)) continue;
    const current = new Map<string, SpanSummary>(summaries.map((summary) => [summary.spanId, summary]));
    for (const span of added) current.set(span.spanId, span);
    changes.change(trace, withShares([...current.values()]), 1);
  }
  return changes.rows();
}
