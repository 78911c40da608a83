/** Adds the totals of two disjoint sets of spans: the result equals totalsOf over both. */

import type { TraceTotals } from './trace.ts';

export function addTotals(a: TraceTotals, b: TraceTotals): TraceTotals {
  const startedAtMs = pick(Math.min, a.startedAtMs, b.startedAtMs);
  const finishedAtMs = pick(Math.max, a.finishedAtMs, b.finishedAtMs);
  return {
    spanCount: a.spanCount + b.spanCount,
    startedAtMs,
    finishedAtMs,
    firstTokenMs: pick(Math.min, a.firstTokenMs, b.firstTokenMs),
    totalTimeMs: startedAtMs === null || finishedAtMs === null ? null : Math.max(0, finishedAtMs - startedAtMs),
    promptTokens: pick(sum, a.promptTokens, b.promptTokens),
    completionTokens: pick(sum, a.completionTokens, b.completionTokens),
    reasoningTokens: pick(sum, a.reasoningTokens, b.reasoningTokens),
    cacheReadInputTokens: pick(sum, a.cacheReadInputTokens, b.cacheReadInputTokens),
    cacheCreationInputTokens: pick(sum, a.cacheCreationInputTokens, b.cacheCreationInputTokens),
    totalCostNanoUsd: pick(sum, a.totalCostNanoUsd, b.totalCostNanoUsd),
    unpricedSpans: a.unpricedSpans + b.unpricedSpans,
    tokensEstimated: a.tokensEstimated || b.tokensEstimated,
    hasError: a.hasError || b.hasError,
  };
}

function sum(a: number, b: number): number {
  return a + b;
}

function pick(choose: (a: number, b: number) => number, a: number | null, b: number | null): number | null {
  if (a === null) return b;
  return b === null ? a : choose(a, b);
}
