/** What a request may cost, estimated before it is dispatched. */

import { computeCost } from '../pricing/cost.ts';
import { NANO_USD_MAX } from '../pricing/money.ts';
import type { PriceMatch } from '../pricing/pricing.ts';
import type { TokenRates } from '../pricing/rates.ts';

export type RequestSize = {
  /** UTF-8 bytes of what the model reads as text. */
  readonly textBytes: number;
  /** Tokens of inputs that are sent as tokens. */
  readonly arrayTokens: number;
  /** Tokens of the text by the tokenizer of the model; null without one. */
  readonly textTokens: number | null;
  /** How many answers are asked for. */
  readonly choices: number;
  /** The most tokens of one answer, as the caller limits it; null: it does not. 0 for embeddings. */
  readonly outputTokensMax: number | null;
  /** The most tokens of one answer of the model; null: unknown. */
  readonly modelOutputTokensMax: number | null;
  /** The parameters whose tokens nothing in the request bounds: media by URL, earlier responses, tools of the provider. */
  readonly unboundedParams: readonly string[];
};

export type EstimatedTokens = { readonly input: number; readonly output: number };

/** What is assumed while a key has too few outcomes. */
const OUTPUT_TOKENS_WITHOUT_OUTCOMES = 256;
const MEDIANS = 4;
const BYTES_PER_TOKEN = 4;

/** `medianOutputTokens`: of the recent answers of the key; null while there are too few. */
export function estimateExpected(size: RequestSize, medianOutputTokens: number | null): EstimatedTokens {
  const { textBytes, arrayTokens, textTokens, choices } = size;
  const usual = medianOutputTokens === null ? OUTPUT_TOKENS_WITHOUT_OUTCOMES : Math.ceil(MEDIANS * medianOutputTokens);
  const output = Math.min(outputMaxOf(size) ?? usual, usual);
  return {
    input: arrayTokens + (textTokens ?? Math.ceil(textBytes / BYTES_PER_TOKEN)),
    output: output * Math.max(1, choices),
  };
}

/** The name of a parameter when nothing bounds what the request may cost. */
export function estimateWorst(size: RequestSize): EstimatedTokens | { readonly unboundedParam: string } {
  const [unboundedParam] = size.unboundedParams;
  if (unboundedParam !== undefined) return { unboundedParam };
  const output = outputMaxOf(size);
  if (output === null) return { unboundedParam: 'max_tokens' };
  // Every token of a text stands for a byte at least.
  return { input: size.arrayTokens + size.textBytes, output: output * Math.max(1, size.choices) };
}

function outputMaxOf({ outputTokensMax, modelOutputTokensMax }: RequestSize): number | null {
  if (outputTokensMax === null || modelOutputTokensMax === null) return outputTokensMax ?? modelOutputTokensMax;
  return Math.min(outputTokensMax, modelOutputTokensMax);
}

/** The rates of an estimate: no token and no request costs more. */
export type DearestRates = {
  readonly inputPicoUsd: number;
  readonly outputPicoUsd: number;
  readonly requestPicoUsd: number;
};

/** Of the prices that may be in force from the dispatch to the outcome. At least one. */
export function dearestRates(prices: readonly Pick<PriceMatch, 'rates' | 'services'>[]): DearestRates {
  const all = prices.flatMap(({ rates, services }) => [rates, ...services.map((service) => service.rates)]);
  const bands: readonly TokenRates[] = all.flatMap((rates) => [rates, ...rates.tiers]);
  return {
    inputPicoUsd: maxOf(bands, inputRatesOf),
    outputPicoUsd: maxOf(bands, (rates) => [rates.outputPicoUsd, rates.audioOutputPicoUsd]),
    requestPicoUsd: maxOf(bands, (rates) => [rates.requestPicoUsd]),
  };
}

function inputRatesOf(rates: TokenRates): readonly number[] {
  const { inputPicoUsd, audioInputPicoUsd, cacheReadPicoUsd, cacheWritePicoUsd, cacheWrite1hPicoUsd } = rates;
  return [inputPicoUsd, audioInputPicoUsd, cacheReadPicoUsd, cacheWritePicoUsd, cacheWrite1hPicoUsd];
}

function maxOf(bands: readonly TokenRates[], ratesOf: (rates: TokenRates) => readonly number[]): number {
  return Math.max(...bands.flatMap(ratesOf));
}

/** Nano-USD. 0 only for a model whose price is zero. */
export function estimateCost({ input, output }: EstimatedTokens, rates: DearestRates): number {
  const { inputPicoUsd, outputPicoUsd, requestPicoUsd } = rates;
  if (inputPicoUsd + outputPicoUsd + requestPicoUsd === 0) return 0;
  const parts = { input, audioInput: 0, cacheRead: 0, cacheWrite: 0, cacheWrite1h: 0, output, audioOutput: 0 };
  const cost = computeCost({ ...parts, request: 1 }, { ...EVERY_RATE, inputPicoUsd, outputPicoUsd, requestPicoUsd });
  return Math.max(1, cost ?? NANO_USD_MAX);
}

const EVERY_RATE = {
  cacheReadPicoUsd: 0,
  cacheWritePicoUsd: 0,
  cacheWrite1hPicoUsd: 0,
  audioInputPicoUsd: 0,
  audioOutputPicoUsd: 0,
};

/** Fewer outcomes say too little of a key. */
const OUTCOMES_MIN = 20;
const OUTCOMES_MAX = 64;

export type RecentOutputs = ReturnType<typeof createRecentOutputs>;

/** The output tokens of the recent outcomes of each key, for `keysMax` keys, in memory. */
export function createRecentOutputs(keysMax: number) {
  const byKey = new Map<string, number[]>();
  return {
    /** `outputTokens`: of one answer. */
    note(keyId: string, outputTokens: number): void {
      const recent = byKey.get(keyId) ?? [];
      byKey.delete(keyId);
      recent.push(outputTokens);
      if (recent.length > OUTCOMES_MAX) recent.shift();
      byKey.set(keyId, recent);
      const [oldest] = byKey.keys();
      if (byKey.size > keysMax && oldest !== undefined) byKey.delete(oldest);
    },
    /** Null while there are too few outcomes. */
    medianOf(keyId: string): number | null {
      const recent = byKey.get(keyId) ?? [];
      if (recent.length < OUTCOMES_MIN) return null;
      const ascending = recent.toSorted((one, other) => one - other);
      return ascending[Math.floor(ascending.length / 2)] ?? null;
    },
  };
}
