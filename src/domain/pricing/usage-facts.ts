/** What pricing tells of a span for shares: its total tokens, its row, and the rates of a part of its tokens. */

import type { RateBand, TokenRates } from './registry.ts';

/** How shares see a span. */
export type UsageFacts = {
  /** With the tokens of caches; null: equals the prompt tokens. */
  readonly totalInput: number | null;
  /** With the tokens of reasoning; null: equals the completion tokens. */
  readonly totalOutput: number | null;
  /** Equal for models with the same row in the price list, or of the same name without one; 0 without a model. */
  readonly row: number;
  /** The rates that a part of the tokens would cost, in the form of packRates; null: none. */
  readonly shareRates: string | null;
};

type Rates = TokenRates & { readonly tiers: readonly RateBand[] };

export function packRates({ tiers, ...base }: Rates): string {
  return JSON.stringify([listOf(base), ...tiers.map((tier) => [...listOf(tier), tier.aboveTokens])]);
}

function listOf({ inputPicoUsd, outputPicoUsd, cacheReadPicoUsd, cacheWritePicoUsd }: TokenRates): readonly number[] {
  return [inputPicoUsd, outputPicoUsd, cacheReadPicoUsd, cacheWritePicoUsd];
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
