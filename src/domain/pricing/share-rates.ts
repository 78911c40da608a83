/** What pricing knows of a span that shares need: its total tokens, its row, and the rates of a part of its tokens. */

import { computeCost } from './cost.ts';
import { findBand, type RateBand, type TokenRates } from './rates.ts';
import { type BilledParts, totalInputOf } from './usage.ts';

/** How shares see a span. */
export type UsageFacts = {
  /** With the tokens of caches; null: equals the prompt tokens. */
  readonly totalInput: number | null;
  /** With the tokens of reasoning; null: equals the completion tokens. */
  readonly totalOutput: number | null;
  /** Equal for calls of models with the same row in the price list, or of the same name without one; 0: no call. */
  readonly callRow: number;
  /**
   * The rates that a part of the tokens would cost, in the form of packRates; null: none. A call has none: its share is
   * all of its tokens or none.
   */
  readonly shareRates: string | null;
};

type Rates = TokenRates & { readonly tiers: readonly RateBand[] };

/** In the order in which they are packed. */
const NAMES = [
  'inputPicoUsd',
  'outputPicoUsd',
  'cacheReadPicoUsd',
  'cacheWritePicoUsd',
  'cacheWrite1hPicoUsd',
  'audioInputPicoUsd',
  'audioOutputPicoUsd',
  'requestPicoUsd',
] as const satisfies readonly (keyof TokenRates)[];

export function packRates({ tiers, ...base }: Rates): string {
  return JSON.stringify([listOf(base), ...tiers.map((tier) => [...listOf(tier), tier.aboveTokens])]);
}

function listOf(rates: TokenRates): readonly number[] {
  return NAMES.map((name) => rates[name]);
}

/** Nano-USD at packed rates; null when the amount is too large. */
export function priceTokens(packed: string, parts: BilledParts): number | null {
  const [base = [], ...tiers] = JSON.parse(packed) as readonly (readonly number[])[];
  const bands = tiers.map((tier) => ({ ...ratesOf(tier), aboveTokens: tier[NAMES.length] ?? 0 }));
  return computeCost(parts, findBand(bands, totalInputOf(parts)) ?? ratesOf(base));
}

function ratesOf(list: readonly number[]): TokenRates {
  return Object.fromEntries(NAMES.map((name, index) => [name, list[index] ?? 0])) as TokenRates;
}

const HIGH_BITS = 0xffff;
const LOW_SIZE = 0x1_0000_0000;

/** 48 bits of a hash, never 0: short, and two names of one trace hardly ever share it. */
export function numberOfName(name: string): number {
  let low = 0x811c9dc5;
  let high = 0x01000193;
  for (let at = 0; at < name.length; at += 1) {
    const code = name.charCodeAt(at);
    low = Math.imul(low ^ code, 0x01000193);
    high = Math.imul(high ^ code, 0x5bd1e995) ^ (high >>> 15);
  }
  return (high & HIGH_BITS) * LOW_SIZE + (low >>> 0) || 1;
}
