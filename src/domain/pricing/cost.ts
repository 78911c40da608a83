/** What billed parts cost at given rates, exactly. */

import { picoToNano, scaleDecimal } from './money.ts';
import type { TokenRates } from './rates.ts';
import type { BilledParts } from './usage.ts';

const picoDigits = 12;

/** Nano-USD; null when too large to hold. No term is negative: when the sum is safe, no step before it was rounded. */
export function computeCost(parts: BilledParts, rates: TokenRates): number | null {
  const pico =
    parts.input * rates.inputPicoUsd +
    parts.audioInput * rates.audioInputPicoUsd +
    parts.cacheRead * rates.cacheReadPicoUsd +
    parts.cacheWrite * rates.cacheWritePicoUsd +
    parts.cacheWrite1h * rates.cacheWrite1hPicoUsd +
    parts.output * rates.outputPicoUsd +
    parts.audioOutput * rates.audioOutputPicoUsd +
    parts.request * rates.requestPicoUsd;
  if (pico <= Number.MAX_SAFE_INTEGER) return picoToNano(pico);
  return addExactly([
    [parts.input, BigInt(rates.inputPicoUsd)],
    [parts.audioInput, BigInt(rates.audioInputPicoUsd)],
    [parts.cacheRead, BigInt(rates.cacheReadPicoUsd)],
    [parts.cacheWrite, BigInt(rates.cacheWritePicoUsd)],
    [parts.cacheWrite1h, BigInt(rates.cacheWrite1hPicoUsd)],
    [parts.output, BigInt(rates.outputPicoUsd)],
    [parts.audioOutput, BigInt(rates.audioOutputPicoUsd)],
    [parts.request, BigInt(rates.requestPicoUsd)],
  ]);
}

/** As computeCost, for one rate in USD of all that goes in and one of all that comes out. */
export function computeCostOfUsd(parts: BilledParts, inputUsd: number, outputUsd: number): number | null {
  const { input, audioInput, cacheRead, cacheWrite, cacheWrite1h, output, audioOutput } = parts;
  return addExactly([
    [input + audioInput + cacheRead + cacheWrite + cacheWrite1h, scaleDecimal(String(inputUsd), picoDigits)],
    [output + audioOutput, scaleDecimal(String(outputUsd), picoDigits)],
  ]);
}

/** Pico-USD of an amount in USD. */
export function picoUsdOf(usd: number): number {
  return Number(scaleDecimal(String(usd), picoDigits));
}

function addExactly(terms: readonly (readonly [count: number, picoUsd: bigint])[]): number | null {
  return picoToNano(terms.reduce((sum, [count, picoUsd]) => sum + BigInt(count) * picoUsd, 0n));
}
