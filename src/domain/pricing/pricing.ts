/** Decides what a call costs: the sender's cost comes first, then its rates, an override, and the price list. */

import { computeCost, computeCostOfUsd, picoUsdOf } from './cost.ts';
import { createRowMatcher } from './match.ts';
import { usdNumberToNano } from './money.ts';
import { NO_OVERRIDES, type OverrideSet, ratesOf } from './override.ts';
import {
  completeRates,
  findBand,
  type RateBand,
  rateService,
  type ServiceRate,
  type ServiceTier,
  type TokenRates,
} from './rates.ts';
import type { PriceRegistry, PriceRow, PriceSet } from './registry.ts';
import { numberOfName, packRates, type UsageFacts } from './share-rates.ts';
import { type BilledParts, hasTokenCount, splitUsage, totalInputOf, totalOutputOf, type Usage } from './usage.ts';
import { resolveVendor } from './vendors.ts';

/** The source of a cost: the sender, its rates, an override, the price list, a guardrail's result, or none. */
type CostSource = 'explicit' | 'span_rates' | 'override' | 'registry' | 'result' | 'unpriced';

/** One span, or one request of a gateway, to be priced. `resultCostUsd` is what a guardrail or evaluation reported. */
export type PriceQuery = Usage & {
  model: string | null;
  vendor: string | null;
  startedAtMs: number;
  explicitCostUsd: number | null;
  resultCostUsd: number | null;
  spanRates: { inputUsdPerToken: number; outputUsdPerToken: number } | null;
};

/** `source` is null when there was nothing to price, `unpriced` when the cost is unknown or too large to hold. */
export type Price = { costNanoUsd: number | null; source: CostSource | null; rateVersion: string | null };

/** A span that has its price: the source of the price, and whether the span is a call. */
export type Measured = { readonly source: string | null; readonly isCall: boolean };

/** The rates of a name at an instant, from the price list or from an override, which has no provider. */
export type PriceMatch = {
  source: 'registry' | 'override';
  provider: string | null;
  id: string;
  matchedForm: string;
  rates: TokenRates & { tiers: readonly RateBand[] };
  /** The rates of other service tiers. */
  services: readonly ServiceMatch[];
};

export type ServiceMatch = { tier: ServiceTier; rates: PriceMatch['rates'] };

export type Pricing = ReturnType<typeof createPricing>;

const millisecondsPerDay = 86_400_000;
const nothingToPrice: Price = Object.freeze({ costNanoUsd: null, source: null, rateVersion: null });
const NO_FACTS: UsageFacts = Object.freeze({ totalInput: null, totalOutput: null, callRow: 0, shareRates: null });
const unpriced: Price = Object.freeze({ costNanoUsd: null, source: 'unpriced', rateVersion: null });

/** The pricing rules over one price list. */
export function createPricing(registry: PriceRegistry) {
  const matchRow = createRowMatcher(registry);
  const rateVersion = `registry@${registry.releasedOn}`;

  return { price, match, measure, rateVersion };

  /** Prices a query. The same query, overrides and registry always give the same digits. */
  function price(query: PriceQuery, overrides = NO_OVERRIDES): Price {
    if (isAmount(query.explicitCostUsd)) return toPrice(usdNumberToNano(query.explicitCostUsd), 'explicit', null);
    const counted = hasTokenCount(query.tokens);
    const priced = counted ? (priceBySender(query) ?? priceByOverride(query, overrides) ?? priceByRow(query)) : null;
    if (priced !== null) return priced;
    if (isAmount(query.resultCostUsd)) return toPrice(usdNumberToNano(query.resultCostUsd), 'result', null);
    return counted ? unpriced : nothingToPrice;
  }

  function priceByRow(query: PriceQuery): Price | null {
    const row = query.model === null ? undefined : matchRow(query.model, query.vendor)?.row;
    const set = row === undefined ? undefined : findSet(row, query.startedAtMs);
    if (row === undefined || set === undefined) return null;
    const parts = splitUsage(query, reportsCacheApart(row.provider, row.id));
    const rates = findRates({ row, set }, parts, query.details?.serviceTier ?? null);
    return toPrice(computeCost(parts, rates), 'registry', rateVersion);
  }

  function measure(query: PriceQuery, { source, isCall }: Measured, overrides = NO_OVERRIDES): UsageFacts {
    const { model, vendor, startedAtMs, tokens, details, spanRates } = query;
    if (model === null && !hasTokenCount(tokens)) return NO_FACTS;
    const row = model === null ? undefined : matchRow(model, vendor)?.row;
    const cacheApart = row === undefined ? reportsCacheApartUnlisted(query) : reportsCacheApart(row.provider, row.id);
    const parts = splitUsage(query, cacheApart);
    const [input, output] = [totalInputOf(parts), totalOutputOf(parts)];
    return {
      totalInput: input === (tokens.prompt ?? 0) ? null : input,
      totalOutput: output === (tokens.completion ?? 0) ? null : output,
      callRow: isCall && model !== null ? numberOf(model, row) : 0,
      shareRates: isCall ? null : ratesBySource(),
    };

    function ratesBySource(): string | null {
      if (source === 'span_rates' && spanRates !== null) return packRates({ ...ratesOfSender(spanRates), tiers: [] });
      const found = source === 'override' && model !== null ? overrides.find(model, startedAtMs) : null;
      if (found !== null) return packRates({ ...ratesOf(found.override), tiers: [] });
      if (source !== 'registry' || row === undefined) return null;
      const set = findSet(row, startedAtMs);
      const service = findService(row, details?.serviceTier ?? null);
      if (set === undefined) return null;
      return packRates(service === undefined ? { ...set.base, tiers: set.tiers } : matchService(set, service).rates);
    }
  }

  /** The row of the price list for a name at an instant; null when none. */
  function match(model: string, vendor: string | null, atMs: number): PriceMatch | null {
    const found = matchRow(model, vendor);
    const set = found === null ? undefined : findSet(found.row, atMs);
    if (found === null || set === undefined) return null;
    const { provider, id } = found.row;
    return {
      source: 'registry',
      provider,
      id,
      matchedForm: found.matchedForm,
      rates: { ...set.base, tiers: set.tiers },
      services: found.row.services.map((service) => matchService(set, service)),
    };
  }
}

function numberOf(model: string, row: PriceRow | undefined): number {
  return numberOfName(row === undefined ? model : `${row.provider}/${row.id}`);
}

function priceBySender(query: PriceQuery): Price | null {
  const rates = query.spanRates;
  if (rates === null || !isAmount(rates.inputUsdPerToken) || !isAmount(rates.outputUsdPerToken)) return null;
  const parts = splitUsage(query, reportsCacheApartUnlisted(query));
  return toPrice(computeCostOfUsd(parts, rates.inputUsdPerToken, rates.outputUsdPerToken), 'span_rates', null);
}

function ratesOfSender({ inputUsdPerToken, outputUsdPerToken }: NonNullable<PriceQuery['spanRates']>) {
  return completeRates({ inputPicoUsd: picoUsdOf(inputUsdPerToken), outputPicoUsd: picoUsdOf(outputUsdPerToken) });
}

function priceByOverride(query: PriceQuery, overrides: OverrideSet): Price | null {
  const found = query.model === null ? null : overrides.find(query.model, query.startedAtMs);
  if (found === null) return null;
  const parts = splitUsage(query, reportsCacheApartUnlisted(query));
  return toPrice(computeCost(parts, ratesOf(found.override)), 'override', null);
}

function findSet(row: PriceRow, atMs: number): PriceSet | undefined {
  return row.sets.findLast(({ condition }) => {
    if (condition.kind === 'always') return true;
    if (condition.kind === 'from') return atMs >= condition.startMs;
    const timeOfDay = ((atMs % millisecondsPerDay) + millisecondsPerDay) % millisecondsPerDay;
    const { startMs, endMs } = condition;
    // A window whose end comes before its start runs over midnight.
    if (startMs > endMs) return timeOfDay >= startMs || timeOfDay < endMs;
    return timeOfDay >= startMs && timeOfDay < endMs;
  });
}

type SetOfRow = { readonly row: PriceRow; readonly set: PriceSet };

function findRates({ row, set }: SetOfRow, parts: BilledParts, tier: ServiceTier | null): TokenRates {
  const band = findBand(set.tiers, totalInputOf(parts));
  const service = findService(row, tier);
  if (service === undefined || (band !== undefined && service.isBaseOnly === true)) return band ?? set.base;
  return rateService(band ?? set.base, service);
}

function findService(row: PriceRow, tier: ServiceTier | null): ServiceRate | undefined {
  return tier === null ? undefined : row.services.find((each) => each.tier === tier);
}

function matchService({ base, tiers }: PriceSet, service: ServiceRate): ServiceMatch {
  const { tier, isBaseOnly } = service;
  const bands = tiers.map((band) =>
    isBaseOnly === true ? band : { aboveTokens: band.aboveTokens, ...rateService(band, service) },
  );
  return { tier, rates: { ...rateService(base, service), tiers: bands } };
}

/** True when the maker of a model reports cached tokens beside the prompt tokens, not within them. */
function reportsCacheApart(provider: string, modelId: string): boolean {
  return provider === 'anthropic' || modelId.includes('claude');
}

// Without a row of the price list, the sender's vendor and model name replace its provider and id.
function reportsCacheApartUnlisted({ vendor, model }: PriceQuery): boolean {
  return reportsCacheApart(resolveVendor(vendor ?? ''), (model ?? '').toLowerCase());
}

function toPrice(costNanoUsd: number | null, source: CostSource, rateVersion: string | null): Price {
  return costNanoUsd === null ? unpriced : { costNanoUsd, source, rateVersion };
}

function isAmount(usd: number | null): usd is number {
  return usd !== null && usd >= 0;
}
