/** Asks for the price of a span by what its row holds. */

import { isObject, parseFreeJson } from '../../json/free-json.ts';
import type { LosslessObject } from '../../json/lossless-json.ts';
import { readDetails } from '../traces/collector/collector-details.ts';
import type { PriceQuery } from './pricing.ts';
import type { PricedSpan } from './repricing.ts';

/** What the sender stated in USD is not stored. */
export function storedQuery(span: PricedSpan, paramsJson: string | null | undefined): PriceQuery {
  return {
    model: span.model,
    vendor: span.vendor,
    startedAtMs: span.startedAtMs,
    tokens: {
      prompt: span.promptTokens,
      completion: span.completionTokens,
      reasoning: span.reasoningTokens,
      cacheRead: span.cacheReadInputTokens,
      cacheCreation: span.cacheCreationInputTokens,
    },
    details: readDetails(storedObject(span.otherMetricsJson), storedObject(paramsJson)),
    explicitCostUsd: null,
    cachedTokensInPrompt: span.cachedTokensInPrompt,
    resultCostUsd: null,
    spanRates: null,
  };
}

export function storedObject(storedJson: string | null | undefined): LosslessObject | undefined {
  const value = storedJson === null || storedJson === undefined ? null : parseFreeJson(storedJson);
  return isObject(value) ? value : undefined;
}
