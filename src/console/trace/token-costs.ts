/** Splits the cost of a span by kind of token. The server has priced the span; this only explains its sum. */

import type { PriceMatch, PriceRates } from '../../../gen/spandrel/v1/pricing_pb.js';
import type { SpanMetrics } from '../../../gen/spandrel/v1/traces_pb.js';

export type CostPart = {
  readonly label: string;
  readonly tokens: number;
  readonly usdPerToken: number;
  readonly usd: number;
};

type Rates = Pick<
  PriceRates,
  | 'inputCostPerToken'
  | 'outputCostPerToken'
  | 'cacheReadCostPerToken'
  | 'cacheWriteCostPerToken'
  | 'cacheWrite1hCostPerToken'
>;

/** The server rounds to billionths of a dollar. */
const TOLERANCE_USD = 2e-9;

/**
 * Null unless the parts add up to the cost. Whether the prompt contains the cached tokens and the answer the reasoning, and
 * which service tier applied, is what makes them add up.
 */
export function splitCost(metrics: SpanMetrics, match: PriceMatch): readonly CostPart[] | null {
  const { cost } = metrics;
  if (cost === undefined || cost === 0) return null;
  const [prompt, answer, read, written, reasoning] = [
    metrics.promptTokens,
    metrics.completionTokens,
    metrics.cacheReadInputTokens,
    metrics.cacheCreationInputTokens,
    metrics.reasoningTokens,
  ].map((count) => Number(count ?? 0n)) as [number, number, number, number, number];
  for (const input of new Set([Math.max(0, prompt - read - written), prompt])) {
    for (const output of new Set([answer, answer + reasoning])) {
      for (const rates of ratesOf(match, input + read + written)) {
        const parts = [
          partOf('Input', input, rates.inputCostPerToken),
          partOf('Read from cache', read, rates.cacheReadCostPerToken),
          partOf('Written to cache', written, rates.cacheWriteCostPerToken),
          partOf(reasoning > 0 ? 'Output with reasoning' : 'Output', output, rates.outputCostPerToken),
        ];
        const sum = parts.reduce((usd, part) => usd + part.usd, 0);
        if (Math.abs(sum - cost) <= TOLERANCE_USD) return parts.filter(({ tokens }) => tokens > 0);
      }
    }
  }
  return null;
}

function partOf(label: string, tokens: number, usdPerToken: number): CostPart {
  return { label, tokens, usdPerToken, usd: tokens * usdPerToken };
}

/** The rates of each service tier for an input of this size, and those for caches that live an hour. */
function ratesOf({ rates, flexRates, batchRates, priorityRates }: PriceMatch, inputTokens: number): readonly Rates[] {
  return [rates, flexRates, batchRates, priorityRates].flatMap((each): readonly Rates[] => {
    if (!each) return [];
    const tier = each.tiers.findLast(({ aboveTokens }) => inputTokens > Number(aboveTokens)) ?? each;
    const hour = tier.cacheWrite1hCostPerToken;
    return hour === undefined ? [tier] : [tier, { ...tier, cacheWriteCostPerToken: hour }];
  });
}
