/** Totals of a trace, computed from its stored spans alone. */

import type { ShareNumbers } from './shares/usage-node.ts';
import type { Span, SpanNumbers, SpanSummary, TraceTotals } from './trace.ts';

type TotaledSpan = SpanNumbers & Pick<SpanSummary, 'startedAtMs' | 'finishedAtMs' | 'firstTokenAtMs' | 'hasError'>;

/** The totals over all spans of a trace, each id once, in any order. */
export function totalsOf(spans: readonly TotaledSpan[]): TraceTotals {
  const [first] = spans;
  if (first === undefined) return NO_SPANS;
  // A sum of nulls stays null: "not reported" and "zero" are different answers.
  let { startedAtMs, finishedAtMs } = first;
  let firstTokenAtMs: number | null = null;
  let promptTokens: number | null = null;
  let completionTokens: number | null = null;
  let reasoningTokens: number | null = null;
  let cacheReadInputTokens: number | null = null;
  let cacheCreationInputTokens: number | null = null;
  let totalCostNanoUsd: number | null = null;
  let unpricedSpans = 0;
  let tokensEstimated = false;
  let hasError = false;
  for (const span of spans) {
    if (span.startedAtMs < startedAtMs) startedAtMs = span.startedAtMs;
    if (span.finishedAtMs > finishedAtMs) finishedAtMs = span.finishedAtMs;
    firstTokenAtMs = pick(Math.min, firstTokenAtMs, span.firstTokenAtMs);
    promptTokens = addKnown(promptTokens, span.promptTokens);
    completionTokens = addKnown(completionTokens, span.completionTokens);
    reasoningTokens = addKnown(reasoningTokens, span.reasoningTokens);
    cacheReadInputTokens = addKnown(cacheReadInputTokens, span.cacheReadInputTokens);
    cacheCreationInputTokens = addKnown(cacheCreationInputTokens, span.cacheCreationInputTokens);
    totalCostNanoUsd = addKnown(totalCostNanoUsd, span.costNanoUsd);
    if (isUnpriced(span)) unpricedSpans += 1;
    tokensEstimated ||= span.tokensEstimated;
    hasError ||= span.hasError;
  }
  return {
    spanCount: spans.length,
    startedAtMs,
    finishedAtMs,
    firstTokenMs: firstTokenAtMs === null ? null : Math.max(0, firstTokenAtMs - startedAtMs),
    totalTimeMs: Math.max(0, finishedAtMs - startedAtMs),
    promptTokens,
    completionTokens,
    reasoningTokens,
    cacheReadInputTokens,
    cacheCreationInputTokens,
    totalCostNanoUsd,
    unpricedSpans,
    tokensEstimated,
    hasError,
  };
}

/** The earliest first token of a trace; at its start also for one that is reported to be earlier. */
export function firstTokenAtOf({ startedAtMs, firstTokenMs }: TraceTotals): number | null {
  return startedAtMs === null || firstTokenMs === null ? null : startedAtMs + firstTokenMs;
}

/** Whether the span used tokens and its cost is unknown. */
export function isUnpriced(span: ShareNumbers): boolean {
  return span.costNanoUsd === null && countsTokens(span);
}

/** The fields that totals, the tree and the choice of root use. */
export function summaryOf(span: Span): SpanSummary {
  return {
    spanId: span.spanId,
    parentId: span.parentId,
    type: span.type,
    name: span.name,
    model: span.model,
    startedAtMs: span.startedAtMs,
    finishedAtMs: span.finishedAtMs,
    firstTokenAtMs: span.firstTokenAtMs,
    startedNs: span.startedNs,
    finishedNs: span.finishedNs,
    promptTokens: span.promptTokens,
    completionTokens: span.completionTokens,
    reasoningTokens: span.reasoningTokens,
    cacheReadInputTokens: span.cacheReadInputTokens,
    cacheCreationInputTokens: span.cacheCreationInputTokens,
    costNanoUsd: span.costNanoUsd,
    costSource: span.costSource,
    callRow: span.callRow,
    totalInput: span.totalInput,
    totalOutput: span.totalOutput,
    shareRates: span.shareRates,
    tokensEstimated: span.tokensEstimated,
    hasInput: span.inputJson !== null,
    hasOutput: span.outputJson !== null,
    hasError: span.errorJson !== null,
  };
}

const NO_SPANS: TraceTotals = Object.freeze({
  spanCount: 0,
  startedAtMs: null,
  finishedAtMs: null,
  firstTokenMs: null,
  totalTimeMs: null,
  promptTokens: null,
  completionTokens: null,
  reasoningTokens: null,
  cacheReadInputTokens: null,
  cacheCreationInputTokens: null,
  totalCostNanoUsd: null,
  unpricedSpans: 0,
  tokensEstimated: false,
  hasError: false,
});

function addKnown(sum: number | null, value: number | null): number | null {
  if (value === null) return sum;
  return sum === null ? value : sum + value;
}

function countsTokens(span: ShareNumbers): boolean {
  const { promptTokens, completionTokens, reasoningTokens, cacheReadInputTokens, cacheCreationInputTokens } = span;
  const cached = (cacheReadInputTokens ?? 0) + (cacheCreationInputTokens ?? 0);
  return (promptTokens ?? 0) + (completionTokens ?? 0) + (reasoningTokens ?? 0) + cached > 0;
}

export function addTotals(a: TraceTotals, b: TraceTotals): TraceTotals {
  const startedAtMs = pick(Math.min, a.startedAtMs, b.startedAtMs);
  const finishedAtMs = pick(Math.max, a.finishedAtMs, b.finishedAtMs);
  const firstTokenAtMs = pick(Math.min, firstTokenAtOf(a), firstTokenAtOf(b));
  return {
    spanCount: a.spanCount + b.spanCount,
    startedAtMs,
    finishedAtMs,
    firstTokenMs: startedAtMs === null || firstTokenAtMs === null ? null : Math.max(0, firstTokenAtMs - startedAtMs),
    totalTimeMs: startedAtMs === null || finishedAtMs === null ? null : Math.max(0, finishedAtMs - startedAtMs),
    promptTokens: addKnown(a.promptTokens, b.promptTokens),
    completionTokens: addKnown(a.completionTokens, b.completionTokens),
    reasoningTokens: addKnown(a.reasoningTokens, b.reasoningTokens),
    cacheReadInputTokens: addKnown(a.cacheReadInputTokens, b.cacheReadInputTokens),
    cacheCreationInputTokens: addKnown(a.cacheCreationInputTokens, b.cacheCreationInputTokens),
    totalCostNanoUsd: addKnown(a.totalCostNanoUsd, b.totalCostNanoUsd),
    unpricedSpans: a.unpricedSpans + b.unpricedSpans,
    tokensEstimated: a.tokensEstimated || b.tokensEstimated,
    hasError: a.hasError || b.hasError,
  };
}

function pick(choose: (a: number, b: number) => number, a: number | null, b: number | null): number | null {
  if (a === null) return b;
  return b === null ? a : choose(a, b);
}
