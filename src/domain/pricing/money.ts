/** The largest cost: up to this integer, doubles hold all integers exactly. */
export const NANO_USD_MAX = 9007199254740991;

const nanoDigits = 9;
const nanoPerUsd = 1e9;
const picoPerNano = 1000;
// Below this a whole number of nano-USD has at most 15 significant digits, which a double always keeps.
const nanoRoundTripMax = 1e15;
const usdTextPattern = /^(0|[1-9][0-9]{0,6})(\.[0-9]{1,30})?$/;
const usdTokenPattern = /^(0|[1-9][0-9]{0,6})(\.[0-9]{1,30})?(e[+-]?[0-9]{1,3})?$/;

/**
 * USD as integer nano-USD, half up. Converts the decimal text of the double, so 0.1 is a tenth and not its
 * binary neighbour. Null for an amount above NANO_USD_MAX, below zero or not finite.
 */
export function usdNumberToNano(usd: number): number | null {
  if (!Number.isFinite(usd) || usd < 0) return null;
  const nano = Math.round(usd * nanoPerUsd);
  // When so short a decimal reads back as the same double, it is the double's text, which needs no parsing then.
  if (nano < nanoRoundTripMax && nano / nanoPerUsd === usd) return nano + 0;
  return toNanoUsd(scaleDecimal(String(usd), nanoDigits));
}

/** The double nearest to nano / 10^9: both operands are exact, so one division rounds once and correctly. */
export function nanoToUsdNumber(nano: number): number {
  return nano / nanoPerUsd;
}

/** The double nearest to pico / 10^12, for whole pico-USD below 2^53. */
export function picoToUsdNumber(pico: number): number {
  return pico / (nanoPerUsd * picoPerNano);
}

/** The decimal text of nano / 10^9: no exponent, no trailing zeros, `12` rather than `12.0`. */
export function nanoToUsdText(nano: number | bigint): string {
  const digits = String(nano).padStart(nanoDigits + 1, '0');
  const fraction = digits.slice(-nanoDigits).replace(/0+$/, '');
  const whole = digits.slice(0, -nanoDigits);
  return fraction === '' ? whole : `${whole}.${fraction}`;
}

/**
 * A plain decimal text in USD as integer nano-USD, half up. Null when refused: a sign, an exponent, a leading zero,
 * more than 7 whole or 30 fraction digits, or an amount that rounds to more than NANO_USD_MAX.
 */
export function usdTextToNano(text: string): number | null {
  return usdTextPattern.test(text) ? toNanoUsd(scaleDecimal(text, nanoDigits)) : null;
}

/** As usdTextToNano, for a JSON number, which may have an exponent. */
export function usdTokenToNano(token: string): number | null {
  const text = token.toLowerCase();
  return usdTokenPattern.test(text) ? toNanoUsd(scaleDecimal(text, nanoDigits)) : null;
}

/** Whole pico-USD, not negative, as nano-USD, half up; null above NANO_USD_MAX. A bigint of any size is exact. */
export function picoToNano(pico: number | bigint): number | null {
  if (typeof pico === 'bigint') return toNanoUsd((pico + 500n) / 1000n);
  // The remainder is exact, while the quotient of two doubles might already be rounded up.
  const rest = pico % picoPerNano;
  return (pico - rest) / picoPerNano + (rest * 2 >= picoPerNano ? 1 : 0);
}

/** A decimal text without sign, exponent allowed, times 10^digits, rounded half up to a whole number. */
export function scaleDecimal(text: string, digits: number): bigint {
  const [mantissa = '', exponent = '0'] = text.split('e');
  const [whole = '', fraction = ''] = mantissa.split('.');
  const figures = whole + fraction;
  const point = whole.length + Number(exponent) + digits;
  if (point < 0) return 0n;
  const kept = BigInt(figures.padEnd(point, '0').slice(0, point));
  return figures.charAt(point) >= '5' ? kept + 1n : kept;
}

function toNanoUsd(nano: bigint): number | null {
  return nano > BigInt(NANO_USD_MAX) ? null : Number(nano);
}
