/** The cost of the tokens of a request, like that of a span of the same instant. */

import type { RequestCost, RequestUsage } from '../events/request-content.ts';
import type { Prices } from '../pricing/prices.ts';

type Charged = {
  readonly model: string | null;
  /** Null: unknown. */
  readonly vendor: string | null;
  readonly atMs: number;
  readonly usage: RequestUsage;
  /** Whether the input tokens contain the cached ones; null: as the model's provider counts. */
  readonly isCachedInInput: boolean | null;
};

/** Null: the price is unknown. */
export function costOfUsage(
  prices: Prices,
  { model, vendor, atMs, usage, isCachedInInput }: Charged,
): RequestCost | null {
  const { costNanoUsd, rateVersion } = prices.price({
    model,
    vendor,
    startedAtMs: atMs,
    tokens: {
      prompt: usage.inputTokens,
      completion: usage.outputTokens,
      reasoning: usage.reasoningTokens,
      cacheRead: usage.cacheReadInputTokens,
      cacheCreation: usage.cacheCreationInputTokens,
    },
    details: null,
    explicitCostUsd: null,
    cachedTokensInPrompt: isCachedInInput,
    resultCostUsd: null,
    spanRates: null,
  });
  return costNanoUsd === null ? null : { nanoUsd: costNanoUsd, rateVersion };
}
