/** The api has rates per token, the console shows them per million. */

const MILLION = 1_000_000;

/** Rounds away floating-point noise. */
export function perMillion(usdPerToken: number): string {
  return `$${Number((usdPerToken * MILLION).toPrecision(12))}`;
}

/** Moves the decimal point instead of dividing, so 0.1 becomes exactly 1e-7. Null for invalid input. */
export function perToken(usdPerMillion: string): number | null {
  return /^\d+(?:\.\d+)?$/.test(usdPerMillion.trim()) ? Number(`${usdPerMillion.trim()}e-6`) : null;
}
