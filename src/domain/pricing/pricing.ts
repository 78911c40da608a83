import { createRowMatcher, resolveVendor } from './match.ts';
import { picoToNano, scaleDecimal, usdNumberToNano } from './money.ts';
import { NO_OVERRIDES, type OverrideSet, ratesOf } from './override.ts';
import type { PriceRegistry, PriceRow, PriceSet, RateBand, TokenRates } from './registry.ts';
import { numberOfName, packRates, type UsageFacts } from './usage-facts.ts';

/** Whole tokens, 0..10^12, null when not reported. Reasoning is part of completion. */
export type TokenCounts = {
  prompt: number | null;
  completion: number | null;
  reasoning: number | null;
  cacheRead: number | null;
  cacheCreation: number | null;
};

/** The source of a cost: the sender, its rates, an override, the price list, a guardrail's result, or none. */
type CostSource = 'explicit' | 'span_rates' | 'override' | 'registry' | 'result' | 'unpriced';

/** One span, or one request of a gateway, to be priced. `resultCostUsd` is what a guardrail or evaluation reported. */
export type PriceQuery = {
  model: string | null;
  vendor: string | null;
  startedAtMs: number;
  tokens: TokenCounts;
  explicitCostUsd: number | null;
  cachedTokensInPrompt: boolean | null;
  resultCostUsd: number | null;
  spanRates: { inputUsdPerToken: number; outputUsdPerToken: number } | null;
};

/** `source` is null when there was nothing to price, `unpriced` when the cost is unknown or too large to hold. */
export type Price = { costNanoUsd: number | null; source: CostSource | null; rateVersion: string | null };

/** The rates of a name at an instant, from the price list or from an override, which has no provider. */
export type PriceMatch = {
  source: 'registry' | 'override';
  provider: string | null;
  id: string;
  matchedForm: string;
  rates: TokenRates & { tiers: readonly RateBand[] };
};

export type Pricing = ReturnType<typeof createPricing>;

const millisecondsPerDay = 86_400_000;
const picoDigits = 12;
const nothingToPrice: Price = Object.freeze({ costNanoUsd: null, source: null, rateVersion: null });
const NO_FACTS: UsageFacts = Object.freeze({ totalInput: null, totalOutput: null, row: 0, shareRates: null });
const unpriced: Price = Object.freeze({ costNanoUsd: null, source: 'unpriced', rateVersion: null });

/** The pricing rules over one price list. */
export function createPricing(registry: PriceRegistry) {
  const matchRow = createRowMatcher(registry);
  const rateVersion = `registry@${registry.releasedOn}`;

  return { price, match, measure };

  /** Prices a query. The same query, overrides and registry always give the same digits. */
  function price(question: PriceQuery, overrides = NO_OVERRIDES): Price {
    if (isAmount(question.explicitCostUsd)) return toPrice(usdNumberToNano(question.explicitCostUsd), 'explicit', null);
    const counted = hasTokenCount(question.tokens);
    const priced = counted
      ? (priceBySender(question) ?? priceByOverride(question, overrides) ?? priceByRow(question))
      : null;
    if (priced !== null) return priced;
    if (isAmount(question.resultCostUsd)) return toPrice(usdNumberToNano(question.resultCostUsd), 'result', null);
    return counted ? unpriced : nothingToPrice;
  }

  function priceByRow(question: PriceQuery): Price | null {
    const row = question.model === null ? undefined : matchRow(question.model, question.vendor)?.row;
    const set = row === undefined ? undefined : findSet(row, question.startedAtMs);
    if (row === undefined || set === undefined) return null;
    const usage = splitTokens(question, reportsCacheApart(row.provider, row.id));
    return toPrice(computeCost(usage, findRates(set, usage)), 'registry', rateVersion);
  }

  /** See UsageFacts; `price` is the price of the same query. */
  function measure(question: PriceQuery, { source }: Price, overrides = NO_OVERRIDES): UsageFacts {
    const { model, vendor, startedAtMs, tokens, spanRates } = question;
    if (model === null && !hasTokenCount(tokens)) return NO_FACTS;
    const row = model === null ? undefined : matchRow(model, vendor)?.row;
    const cacheApart =
      row === undefined ? reportsCacheApartUnlisted(question) : reportsCacheApart(row.provider, row.id);
    const { uncached, cacheRead, cacheWrite, output } = splitTokens(question, cacheApart);
    const input = uncached + cacheRead + cacheWrite;
    const name = row === undefined ? model : `${row.provider}/${row.id}`;
    return {
      totalInput: input === (tokens.prompt ?? 0) ? null : input,
      totalOutput: output === (tokens.completion ?? 0) ? null : output,
      row: name === null ? 0 : numberOfName(name),
      shareRates: ratesBySource(),
    };

    function ratesBySource(): string | null {
      if (source === 'span_rates' && spanRates !== null) return packRates(ratesOfSender(spanRates));
      const found = source === 'override' && model !== null ? overrides.find(model, startedAtMs) : null;
      if (found !== null) return packRates({ ...ratesOf(found.override), tiers: [] });
      const set = source === 'registry' && row !== undefined ? findSet(row, startedAtMs) : undefined;
      return set === undefined ? null : packRates({ ...set.base, tiers: set.tiers });
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
    };
  }
}

function priceBySender(question: PriceQuery): Price | null {
  const rates = question.spanRates;
  if (rates === null || !isAmount(rates.inputUsdPerToken) || !isAmount(rates.outputUsdPerToken)) return null;
  const input = scaleDecimal(String(rates.inputUsdPerToken), picoDigits);
  const output = scaleDecimal(String(rates.outputUsdPerToken), picoDigits);
  const usage = splitTokens(question, reportsCacheApartUnlisted(question));
  return toPrice(computeExactCost(usage, { input, output, cacheRead: input, cacheWrite: input }), 'span_rates', null);
}

function ratesOfSender({ inputUsdPerToken, outputUsdPerToken }: NonNullable<PriceQuery['spanRates']>) {
  const input = Number(scaleDecimal(String(inputUsdPerToken), picoDigits));
  const output = Number(scaleDecimal(String(outputUsdPerToken), picoDigits));
  return { inputPicoUsd: input, outputPicoUsd: output, cacheReadPicoUsd: input, cacheWritePicoUsd: input, tiers: [] };
}

function priceByOverride(question: PriceQuery, overrides: OverrideSet): Price | null {
  const found = question.model === null ? null : overrides.find(question.model, question.startedAtMs);
  if (found === null) return null;
  const usage = splitTokens(question, reportsCacheApartUnlisted(question));
  return toPrice(computeCost(usage, ratesOf(found.override)), 'override', null);
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

export function findRates(set: Pick<PriceSet, 'base' | 'tiers'>, usage: BilledTokens): TokenRates {
  if (set.tiers.length === 0) return set.base;
  const inputTokens = usage.uncached + usage.cacheRead + usage.cacheWrite;
  return set.tiers.findLast(({ aboveTokens }) => inputTokens > aboveTokens) ?? set.base;
}

export type BilledTokens = { uncached: number; cacheRead: number; cacheWrite: number; output: number };

function splitTokens(question: PriceQuery, cacheApart: boolean): BilledTokens {
  const { tokens, cachedTokensInPrompt } = question;
  const prompt = tokens.prompt ?? 0;
  const completion = tokens.completion ?? 0;
  const reasoning = tokens.reasoning ?? 0;
  const cacheRead = tokens.cacheRead ?? 0;
  const cacheWrite = tokens.cacheCreation ?? 0;
  const cached = cacheRead + cacheWrite;
  // A prompt smaller than its cached part cannot include it, even if reported so.
  const included = cached <= prompt && (cachedTokensInPrompt ?? !cacheApart);
  return {
    uncached: included ? prompt - cached : prompt,
    cacheRead,
    cacheWrite,
    // A sender of more reasoning than completion counts the two apart.
    output: reasoning > completion ? completion + reasoning : completion,
  };
}

/** True when the maker of a model reports cached tokens beside the prompt tokens, not within them. */
function reportsCacheApart(provider: string, modelId: string): boolean {
  return provider === 'anthropic' || modelId.includes('claude');
}

// Without a row of the price list, the sender's vendor and model name replace its provider and id.
function reportsCacheApartUnlisted({ vendor, model }: PriceQuery): boolean {
  return reportsCacheApart(resolveVendor(vendor ?? ''), (model ?? '').toLowerCase());
}

/** Nano-USD. No term is negative: when the sum is a safe integer, no step before it was rounded. */
export function computeCost(usage: BilledTokens, rates: TokenRates): number | null {
  const pico =
    usage.uncached * rates.inputPicoUsd +
    usage.cacheRead * rates.cacheReadPicoUsd +
    usage.cacheWrite * rates.cacheWritePicoUsd +
    usage.output * rates.outputPicoUsd;
  if (pico <= Number.MAX_SAFE_INTEGER) return picoToNano(pico);
  return computeExactCost(usage, {
    input: BigInt(rates.inputPicoUsd),
    output: BigInt(rates.outputPicoUsd),
    cacheRead: BigInt(rates.cacheReadPicoUsd),
    cacheWrite: BigInt(rates.cacheWritePicoUsd),
  });
}

type ExactRates = { input: bigint; output: bigint; cacheRead: bigint; cacheWrite: bigint };

function computeExactCost(usage: BilledTokens, rates: ExactRates): number | null {
  return picoToNano(
    BigInt(usage.uncached) * rates.input +
      BigInt(usage.cacheRead) * rates.cacheRead +
      BigInt(usage.cacheWrite) * rates.cacheWrite +
      BigInt(usage.output) * rates.output,
  );
}

function toPrice(costNanoUsd: number | null, source: CostSource, rateVersion: string | null): Price {
  return costNanoUsd === null ? unpriced : { costNanoUsd, source, rateVersion };
}

function isAmount(usd: number | null): usd is number {
  return usd !== null && usd >= 0;
}

export function hasTokenCount({ prompt, completion, reasoning, cacheRead, cacheCreation }: TokenCounts): boolean {
  return (prompt ?? completion ?? reasoning ?? cacheRead ?? cacheCreation) !== null;
}
