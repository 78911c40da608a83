/** Builds span summaries from the fields that a test needs. */

import type { SpanSummary } from '../../../src/domain/traces/trace.ts';

export function summary(fields: Partial<SpanSummary>): SpanSummary {
  return {
    ...{ spanId: 'span', parentId: null, type: 'span', name: null, model: null },
    ...{ startedAtMs: 1000, finishedAtMs: 2000, firstTokenAtMs: null },
    ...{ startedNs: null, finishedNs: null },
    ...{ promptTokens: null, completionTokens: null, reasoningTokens: null },
    ...{ cacheReadInputTokens: null, cacheCreationInputTokens: null, costNanoUsd: null, tokensEstimated: false },
    ...{ costSource: null, callRow: 0, totalInput: null, totalOutput: null, shareRates: null },
    ...{ hasInput: false, hasOutput: false, hasError: false },
    ...fields,
  };
}

/** By start, then id, as storage returns them. */
export function sorted(...summaries: readonly SpanSummary[]): readonly SpanSummary[] {
  return [...summaries].sort((a, b) => a.startedAtMs - b.startedAtMs || (a.spanId < b.spanId ? -1 : 1));
}
