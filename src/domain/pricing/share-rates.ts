/** The price of a part of a span's tokens, at the rates that were packed when the span was priced. */

import { type BilledTokens, computeCost, findRates } from './pricing.ts';

/** Nano-USD at packed rates; null when the amount is too large. */
export function priceTokens(packed: string, tokens: BilledTokens): number | null {
  const [base = [], ...tiers] = JSON.parse(packed) as readonly (readonly number[])[];
  const set = { base: ratesOf(base), tiers: tiers.map((tier) => ({ ...ratesOf(tier), aboveTokens: tier[4] ?? 0 })) };
  return computeCost(tokens, findRates(set, tokens));
}

function ratesOf([
  inputPicoUsd = 0,
  outputPicoUsd = 0,
  cacheReadPicoUsd = 0,
  cacheWritePicoUsd = 0,
]: readonly number[]) {
  return { inputPicoUsd, outputPicoUsd, cacheReadPicoUsd, cacheWritePicoUsd };
}
