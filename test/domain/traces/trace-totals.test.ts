import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { SpanSummary, TraceTotals } from '../../../src/domain/traces/trace.ts';
import { summaryOf, totalsOf } from '../../../src/domain/traces/trace-totals.ts';
import { sendSpan } from './collector/collecting.ts';
import { summary } from './summaries.ts';

describe('totals of a trace', () => {
  it('are nothing without spans', () => {
    expect(totalsOf([])).toEqual({
      ...{ spanCount: 0, startedAtMs: null, finishedAtMs: null, firstTokenMs: null, totalTimeMs: null },
      ...{ promptTokens: null, completionTokens: null, reasoningTokens: null, cacheReadInputTokens: null },
      ...{ cacheCreationInputTokens: null, totalCostNanoUsd: null, unpricedSpans: 0 },
      ...{ tokensEstimated: false, hasError: false },
    });
  });

  it('never show a negative duration', () => {
    const backwards = summary({ startedAtMs: 5000, finishedAtMs: 4000, firstTokenAtMs: 3000 });
    expect(totalsOf([backwards])).toMatchObject({ totalTimeMs: 0, firstTokenMs: 0 });
  });

  it('take the shortest wait for a first token', () => {
    const spans = [
      summary({ spanId: 'a', startedAtMs: 1000, firstTokenAtMs: 1300 }),
      summary({ spanId: 'b', startedAtMs: 1200, firstTokenAtMs: 1900 }),
    ];
    expect(totalsOf(spans).firstTokenMs).toBe(300);
  });

  it('distinguish a sum of zero from a missing count', () => {
    const spans = [summary({ promptTokens: 0 }), summary({ spanId: 'b' })];
    expect(totalsOf(spans)).toMatchObject({ promptTokens: 0, completionTokens: null, totalCostNanoUsd: null });
  });

  it('count spans with tokens and no known cost', () => {
    const spans = [
      summary({ spanId: 'a', promptTokens: 0 }),
      summary({ spanId: 'b', cacheCreationInputTokens: 1 }),
      summary({ spanId: 'c', completionTokens: 5, costNanoUsd: 0 }),
    ];
    expect(totalsOf(spans).unpricedSpans).toBe(1);
  });

  it('add costs exactly', () => {
    const spans = Array.from({ length: 1000 }, (_, index) => summary({ spanId: `s${index}`, costNanoUsd: 450 }));
    expect(totalsOf(spans).totalCostNanoUsd).toBe(450_000);
  });

  it('depend only on the latest version of each span, for any order and repeats', () => {
    const arrivals = fc.array(arrival(), { maxLength: 40 });
    fc.assert(
      fc.property(arrivals, fc.infiniteStream(fc.nat()), (sent, order) => {
        const stored = new Map(sent.map((span) => [span.spanId, span]));
        const keys = [...stored.values()].map((span) => ({ span, key: order.next().value ?? 0 }));
        const shuffled = keys.sort((a, b) => a.key - b.key).map(({ span }) => span);
        const totals = totalsOf(shuffled);
        expect(totals).toEqual(bruteForce([...stored.values()]));
        for (const span of shuffled) stored.set(span.spanId, span);
        expect(totalsOf([...stored.values()])).toEqual(totals);
      }),
    );
  });
});

describe('a summary', () => {
  it('says what its span says', () => {
    const span = sendSpan({ name: 'n', input: 'x', error: 'e', metrics: { prompt_tokens: 3, cost: 0.5 } });
    expect(summaryOf(span)).toEqual(
      summary({
        ...{ spanId: 'span-1', name: 'n', startedAtMs: span.startedAtMs, finishedAtMs: span.finishedAtMs },
        ...{ promptTokens: 3, costNanoUsd: 500_000_000, costSource: 'explicit', hasInput: true, hasError: true },
      }),
    );
  });
});

function arrival(): fc.Arbitrary<SpanSummary> {
  const count = fc.option(fc.nat(1_000_000));
  const instant = fc.integer({ min: 0, max: 100_000 });
  return fc
    .record({
      ...{ spanId: fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f', 'g'), startedAtMs: instant, finishedAtMs: instant },
      ...{ firstTokenAtMs: fc.option(instant), promptTokens: count, completionTokens: count, reasoningTokens: count },
      ...{ cacheReadInputTokens: count, cacheCreationInputTokens: count, costNanoUsd: fc.option(fc.nat(1e9)) },
      ...{ tokensEstimated: fc.boolean(), hasError: fc.boolean() },
    })
    .map(summary);
}

function bruteForce(spans: readonly SpanSummary[]): TraceTotals {
  const known = (pick: (span: SpanSummary) => number | null) => spans.map(pick).filter((value) => value !== null);
  const sum = (pick: (span: SpanSummary) => number | null) =>
    known(pick).length === 0 ? null : known(pick).reduce((total, value) => total + value, 0);
  const least = (values: readonly number[]) => (values.length === 0 ? null : Math.min(...values));
  const startedAtMs = least(spans.map((span) => span.startedAtMs));
  const finishedAtMs = spans.length === 0 ? null : Math.max(...spans.map((span) => span.finishedAtMs));
  const firstTokens = spans.flatMap(({ firstTokenAtMs }) => (firstTokenAtMs === null ? [] : [firstTokenAtMs]));
  return {
    spanCount: spans.length,
    startedAtMs,
    finishedAtMs,
    firstTokenMs:
      startedAtMs === null || firstTokens.length === 0 ? null : Math.max(0, Math.min(...firstTokens) - startedAtMs),
    totalTimeMs: startedAtMs === null || finishedAtMs === null ? null : Math.max(0, finishedAtMs - startedAtMs),
    promptTokens: sum((span) => span.promptTokens),
    completionTokens: sum((span) => span.completionTokens),
    reasoningTokens: sum((span) => span.reasoningTokens),
    cacheReadInputTokens: sum((span) => span.cacheReadInputTokens),
    cacheCreationInputTokens: sum((span) => span.cacheCreationInputTokens),
    totalCostNanoUsd: sum((span) => span.costNanoUsd),
    unpricedSpans: spans.filter((span) => span.costNanoUsd === null && hasTokens(span)).length,
    tokensEstimated: spans.some((span) => span.tokensEstimated),
    hasError: spans.some((span) => span.hasError),
  };
}

function hasTokens(span: SpanSummary): boolean {
  const counts = [span.promptTokens, span.completionTokens, span.reasoningTokens, span.cacheReadInputTokens];
  return [...counts, span.cacheCreationInputTokens].some((count) => (count ?? 0) > 0);
}
