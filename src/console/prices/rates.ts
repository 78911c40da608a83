/** Rates are kept for a token and read for a million of them. */

const MILLION = 1_000_000;

/** As people write prices, without the digits that multiplying a fraction adds. */
export function perMillion(usdPerToken: number): string {
  return `$${Number((usdPerToken * MILLION).toPrecision(12))}`;
}

/** Moves the point instead of dividing: 0.1 for a million is 1e-7 exactly. Null for what is no amount. */
export function perToken(usdPerMillion: string): number | null {
  return /^\d+(?:\.\d+)?$/.test(usdPerMillion.trim()) ? Number(`${usdPerMillion.trim()}e-6`) : null;
}
