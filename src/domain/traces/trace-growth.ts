/** Computes totals and aggregates of a trace after an append; of a large one without reading its other spans. */

import type { AppendTables, TraceKey } from '../events/append-tables.ts';
import { beginNodes, type GrownShares, growShares } from './shares/grow-shares.ts';
import { withShares } from './shares/shares.ts';
import { type Replaced, type SpanSummary, SUMMED, type SummedName, type TraceHead, type TraceTotals } from './trace.ts';
import {
  addCounts,
  aggregatesOf,
  createAggregator,
  hasNodes,
  isBefore,
  isOutdated,
  NO_AGGREGATES,
  outdatedAggregates,
  readAggregates,
  SPANS_READ_THROUGH_MAX,
  type SpanCounts,
  type TraceAggregates,
} from './trace-aggregates.ts';
import { addTotals, firstTokenAtOf, isUnpriced, totalsOf } from './trace-totals.ts';

export type TraceState = { readonly totals: TraceTotals; readonly aggregates: TraceAggregates };

/** Spans have their shares in place of what they report. */
type Growth = GrownShares & {
  /** Whether the trace has the span now. */
  readonly isStored: (spanId: string) => boolean;
};

/** Null when the new state depends on all spans, so that it must be recomputed. */
export function grow(state: TraceState, { added, replaced, reshared, isStored }: Growth): TraceState | null {
  const changed = replaced.filter((each) => !isSame(each));
  if (changed.some((each) => dependsOn(state, each))) return null;
  if (changed.length + reshared.length > 0 && !isExact(state.totals)) return null;
  const counts = { ...state.aggregates.counts };
  let { totals } = state;
  for (const { old } of changed) {
    addCounts(counts, old, -1);
    totals = withoutSpan(totals, counts, old);
  }
  for (const { old, next } of reshared) {
    for (const name of SUMMED) counts[name] += Number(next[name] !== null) - Number(old[name] !== null);
    totals = withOtherShare(totals, counts, { old, next });
  }
  const incoming = [...added, ...changed.map(({ next }) => next)];
  const aggregates = addSpans({ ...state.aggregates, counts }, incoming, isStored);
  if (isRootLost(state.aggregates, aggregates, added)) return null;
  const coming = totalsOf(incoming);
  const sum = addTotals(totals, coming);
  return [totals, coming].some((part) => hidesFirstToken(part, sum)) ? null : { totals: sum, aggregates };
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
    (old.firstTokenAtMs !== null && old.firstTokenAtMs <= (firstTokenAtOf(totals) ?? 0))
  );
}

/** Whether a first token may be earlier than the part tells, which began later than the whole does. */
function hidesFirstToken({ firstTokenMs, startedAtMs }: TraceTotals, whole: TraceTotals): boolean {
  return firstTokenMs === 0 && startedAtMs !== whole.startedAtMs;
}

/** Larger sums are rounded, so subtracting a span from them would be inexact. */
function isExact(totals: TraceTotals): boolean {
  return SUMMED.every((name) => (totalOf(totals, name) ?? 0) <= Number.MAX_SAFE_INTEGER);
}

function totalOf(totals: TraceTotals, name: SummedName): number | null {
  return name === 'costNanoUsd' ? totals.totalCostNanoUsd : totals[name];
}

type Reshared = GrownShares['reshared'][number];

/** `counts` already have the next share. */
function withOtherShare(totals: TraceTotals, counts: SpanCounts, { old, next }: Reshared): TraceTotals {
  const moved = (name: SummedName) =>
    counts[name] === 0 ? null : (totalOf(totals, name) ?? 0) - (old[name] ?? 0) + (next[name] ?? 0);
  return {
    ...totals,
    promptTokens: moved('promptTokens'),
    completionTokens: moved('completionTokens'),
    reasoningTokens: moved('reasoningTokens'),
    cacheReadInputTokens: moved('cacheReadInputTokens'),
    cacheCreationInputTokens: moved('cacheCreationInputTokens'),
    totalCostNanoUsd: moved('costNanoUsd'),
    unpricedSpans: totals.unpricedSpans + Number(isUnpriced(next)) - Number(isUnpriced(old)),
  };
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

export type Sums = Pick<TraceHead, 'aggregatesJson'> & { readonly totals: TraceTotals };

type Changes = {
  /** Before changes. */
  readonly record: TraceHead;
  readonly added: readonly SpanSummary[];
  readonly replaced: readonly Replaced[];
};

type NewSums = Sums & {
  /** The packed nodes of a large trace, by span id; null: it needs none, or can have none. */
  readonly nodes: ReadonlyMap<string, string> | null;
};

/** Of a trace that has no other spans. */
export function sumUpNew(spans: readonly SpanSummary[]): NewSums {
  const shared = withShares(spans);
  const totals = totalsOf(shared);
  if (spans.length <= SPANS_READ_THROUGH_MAX) return { totals, aggregatesJson: null, nodes: null };
  const nodes = beginNodes(spans);
  return { totals, aggregatesJson: JSON.stringify({ ...aggregatesOf(shared), hasNodes: nodes !== null }), nodes };
}

export function storeNodes(tables: AppendTables, traceKey: TraceKey, { nodes }: NewSums): void {
  for (const [spanId, packed] of nodes ?? []) tables.storeUsageNode(traceKey, spanId, packed);
}

/** Call it after the spans are stored. Its time does not grow with the trace. */
export function sumUp(tables: AppendTables, traceKey: TraceKey, changes: Changes): Sums {
  const { record, added, replaced } = changes;
  if (added.length === 0 && replaced.every(isSame)) return { totals: record, aggregatesJson: record.aggregatesJson };
  if (record.spanCount > SPANS_READ_THROUGH_MAX) return growLarge(tables, traceKey, changes);
  const sums = sumUpNew(tables.summaries(traceKey));
  storeNodes(tables, traceKey, sums);
  return { totals: sums.totals, aggregatesJson: sums.aggregatesJson };
}

function growLarge(tables: AppendTables, traceKey: TraceKey, { record, added, replaced }: Changes): Sums {
  const { aggregatesJson, spanCount } = record;
  const nodes = {
    find: (spanId: string) => tables.findUsageNode(traceKey, spanId),
    store: (spanId: string, packed: string) => tables.storeUsageNode(traceKey, spanId, packed),
  };
  const changed = replaced.filter((each) => !isSame(each));
  const shares = hasNodes(aggregatesJson) ? growShares(nodes, { added, replaced: changed }) : null;
  if (shares !== null && aggregatesJson !== null && !isOutdated(record)) {
    const state = { totals: record, aggregates: readAggregates(aggregatesJson) };
    const isStored = (spanId: string) => tables.hasSpan(traceKey, spanId);
    const grown = grow(state, { ...shares, isStored });
    if (grown !== null) return { totals: grown.totals, aggregatesJson: JSON.stringify(grown.aggregates) };
  }
  // The span count stays right: the limit per trace uses it.
  return {
    totals: { ...record, spanCount: spanCount + added.length },
    aggregatesJson: outdatedAggregates(tables.newChangeId(), shares !== null),
  };
}

type LinkedSummary = SpanSummary & {
  /** Whether the span has no stored parent. */
  readonly isParentless: boolean;
};

/** Computes totals and aggregates of a trace from all its spans. */
export function createRecomputation() {
  const spans: LinkedSummary[] = [];
  return {
    /** Takes every span of the trace once, in any order. */
    add(span: LinkedSummary): void {
      spans.push(span);
    },
    end(): TraceState {
      const shared = withShares(spans);
      const aggregator = createAggregator(NO_AGGREGATES);
      for (const span of shared) aggregator.add(span, span.isParentless);
      return { totals: totalsOf(shared), aggregates: aggregator.end() };
    },
  };
}
