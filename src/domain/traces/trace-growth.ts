/** Computes totals and aggregates of a trace after an append; of a large one without reading its other spans. */

import type { AppendTables, TraceState as StoredState, TraceKey } from '../events/append-tables.ts';
import { type SpanSummary, SUMMED, type SummedName, type TraceRecord, type TraceTotals } from './trace.ts';
import {
  addCounts,
  aggregatesOf,
  createAggregator,
  isBefore,
  isOutdated,
  NO_AGGREGATES,
  outdatedAggregates,
  readAggregates,
  SPANS_READ_THROUGH_MAX,
  type SpanCounts,
  type TraceAggregates,
} from './trace-aggregates.ts';
import { addTotals, isUnpriced, totalsOf, waitedMs } from './trace-totals.ts';

export type TraceState = { readonly totals: TraceTotals; readonly aggregates: TraceAggregates };

type Growth = {
  readonly added: readonly SpanSummary[];
  /** Spans that replaced stored spans of the same id. */
  readonly replaced: readonly Replaced[];
  /** Whether the trace has the span now. */
  readonly isStored: (spanId: string) => boolean;
};

export type Replaced = { readonly old: SpanSummary; readonly next: SpanSummary };

/** Null when the new state depends on all spans, so that it must be recomputed. */
export function grow(state: TraceState, { added, replaced, isStored }: Growth): TraceState | null {
  const changed = replaced.filter((each) => !isSame(each));
  if (changed.some((each) => dependsOn(state, each)) || (changed.length > 0 && !isExact(state.totals))) return null;
  const counts = { ...state.aggregates.counts };
  let { totals } = state;
  for (const { old } of changed) {
    addCounts(counts, old, -1);
    totals = withoutSpan(totals, counts, old);
  }
  const incoming = [...added, ...changed.map(({ next }) => next)];
  const aggregates = addSpans({ ...state.aggregates, counts }, incoming, isStored);
  if (isRootLost(state.aggregates, aggregates, added)) return null;
  return { totals: addTotals(totals, totalsOf(incoming)), aggregates };
}

/** Whether the old and the new span have the same summary. */
export function isSame({ old, next }: Replaced): boolean {
  return (Object.keys(next) as (keyof SpanSummary)[]).every((name) => old[name] === next[name]);
}

/** Whether the state holds a value of the old span that the new span may not have. */
function dependsOn({ totals, aggregates }: TraceState, { old, next }: Replaced): boolean {
  const { root, lastTopLevel, firstInput, lastOutput, firstError, models } = aggregates;
  const named = [root, lastTopLevel, firstInput, lastOutput, firstError, ...models];
  return (
    named.some((position) => position?.spanId === old.spanId) ||
    (old.startedAtMs === totals.startedAtMs && next.startedAtMs > old.startedAtMs) ||
    (old.finishedAtMs === totals.finishedAtMs && next.finishedAtMs < old.finishedAtMs) ||
    (totals.firstTokenMs !== null && waitedMs(old) === totals.firstTokenMs)
  );
}

/** Larger sums are rounded, so subtracting a span from them would be inexact. */
function isExact(totals: TraceTotals): boolean {
  return SUMMED.every((name) => (totalOf(totals, name) ?? 0) <= Number.MAX_SAFE_INTEGER);
}

function totalOf(totals: TraceTotals, name: SummedName): number | null {
  return name === 'costNanoUsd' ? totals.totalCostNanoUsd : totals[name];
}

/** `counts` already exclude the span. */
function withoutSpan(totals: TraceTotals, counts: SpanCounts, span: SpanSummary): TraceTotals {
  const less = (name: SummedName) => (counts[name] === 0 ? null : (totalOf(totals, name) ?? 0) - (span[name] ?? 0));
  return {
    ...totals,
    spanCount: totals.spanCount - 1,
    promptTokens: less('promptTokens'),
    completionTokens: less('completionTokens'),
    reasoningTokens: less('reasoningTokens'),
    cacheReadInputTokens: less('cacheReadInputTokens'),
    cacheCreationInputTokens: less('cacheCreationInputTokens'),
    totalCostNanoUsd: less('costNanoUsd'),
    unpricedSpans: totals.unpricedSpans - (isUnpriced(span) ? 1 : 0),
    tokensEstimated: counts.tokensEstimated > 0,
    hasError: counts.hasError > 0,
  };
}

function addSpans(
  known: TraceAggregates,
  spans: readonly SpanSummary[],
  isStored: Growth['isStored'],
): TraceAggregates {
  const { root } = known;
  const aggregator = createAggregator(known);
  // The parent matters only for spans that may become the root.
  const mayBeRoot = (span: SpanSummary) =>
    root === null || (root.parentId !== null && (!root.isParentless || isBefore(span, root)));
  for (const span of spans) {
    aggregator.add(span, span.parentId === null || (mayBeRoot(span) && !isStored(span.parentId)));
  }
  return aggregator.end();
}

/** Whether the root gained its parent and no added span replaces it. */
function isRootLost(before: TraceAggregates, after: TraceAggregates, added: readonly SpanSummary[]): boolean {
  const { root } = before;
  if (root === null || root.parentId === null || !root.isParentless) return false;
  return after.root?.spanId === root.spanId && added.some(({ spanId }) => spanId === root.parentId);
}

export type Sums = Pick<StoredState, 'totals' | 'aggregatesJson'>;

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

type LinkedSummary = SpanSummary & {
  /** Whether the span has no stored parent. */
  readonly isParentless: boolean;
};

const SUMMED_AT_ONCE = 500;

/** Computes totals and aggregates of a trace from all its spans, one by one. */
export function createRecomputation() {
  const aggregator = createAggregator(NO_AGGREGATES);
  let totals = totalsOf([]);
  let some: SpanSummary[] = [];

  function sumUp(): void {
    totals = addTotals(totals, totalsOf(some));
    some = [];
  }

  return {
    /** Takes every span of the trace once, in any order, and keeps few. */
    add(span: LinkedSummary): void {
      aggregator.add(span, span.isParentless);
      some.push(span);
      if (some.length === SUMMED_AT_ONCE) sumUp();
    },
    end(): TraceState {
      sumUp();
      return { totals, aggregates: aggregator.end() };
    },
  };
}
