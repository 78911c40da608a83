import { nanoToUsdNumber } from '../../src/domain/pricing/money.ts';
import type { PriceOverride } from '../../src/domain/pricing/override.ts';
import { packPriceRegistry } from '../../src/domain/pricing/packing.ts';
import { readPriceList } from '../../src/domain/pricing/price-list.ts';
import { createPriceResolver } from '../../src/domain/pricing/prices.ts';
import { createPricing, type PriceQuery, type Pricing } from '../../src/domain/pricing/pricing.ts';
import { unpackPriceRegistry } from '../../src/domain/pricing/registry.ts';
import type { TokenCounts, UsageDetails } from '../../src/domain/pricing/usage.ts';
import { runWithoutPauses } from '../../src/domain/steps.ts';

/** The real price list and the rules over it. */
export const registry = readPriceList();
export const pricing = createPricing(registry);

/** Resolves prices for organizations without overrides. */
export const pricesOfNobody = createPriceResolver({
  pricing,
  store: { priceOverrides: async () => [] },
  runCooperatively: async (steps) => runWithoutPauses(steps),
});

export const noTokens: TokenCounts = {
  prompt: null,
  completion: null,
  reasoning: null,
  cacheRead: null,
  cacheCreation: null,
};

const noDetails: UsageDetails = {
  inputAudio: null,
  outputAudio: null,
  cacheWrite5m: null,
  cacheWrite1h: null,
  total: null,
  requests: null,
  serviceTier: null,
};

/** The fields of a price query that matter to a test. `at` is an ISO instant. */
export type PriceDraft = Partial<Omit<PriceQuery, 'tokens' | 'details'>> & {
  tokens?: Partial<TokenCounts>;
  details?: Partial<UsageDetails>;
  at?: string;
};

export function ask({ tokens, details, at, ...rest }: PriceDraft): PriceQuery {
  return {
    model: null,
    vendor: null,
    startedAtMs: Date.parse(at ?? '2026-11-01T12:00:00Z'),
    explicitCostUsd: null,
    cachedTokensInPrompt: null,
    resultCostUsd: null,
    spanRates: null,
    ...rest,
    tokens: { ...noTokens, ...tokens },
    details: details === undefined ? null : { ...noDetails, ...details },
  };
}

export function priceUsd(query: PriceDraft): number | null {
  const { costNanoUsd } = pricing.price(ask(query));
  return costNanoUsd === null ? null : nanoToUsdNumber(costNanoUsd);
}

/** Pricing rules over one provider, in the form of the package. */
export function createListed(id: string, models: Parameters<typeof packPriceRegistry>[1][number]['models']): Pricing {
  const provider = { id, name: id, api_pattern: '', models };
  const release = { version: 'test', releasedOn: '2020-01-02' };
  return createPricing(unpackPriceRegistry(packPriceRegistry(release, [provider])));
}

/** An override of 1,000 pico-USD (one nano-USD) per input token. */
export function createOverride(given: Partial<PriceOverride>): PriceOverride {
  return {
    id: 'override',
    model: 'none',
    match: 'exact',
    inputPicoUsd: 1000,
    outputPicoUsd: 0,
    cacheReadPicoUsd: null,
    cacheWritePicoUsd: null,
    effectiveFromMs: null,
    createdAtMs: 0,
    ...given,
  };
}
