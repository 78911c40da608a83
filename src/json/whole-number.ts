/** Reads integers of a body from the digits sent: a double would round a fraction away. */

import type { LosslessJson } from './lossless-json.ts';

const NUMBER = /^-?([0-9]+)(?:\.([0-9]+))?(?:[eE]([+-]?[0-9]+))?$/;

/** The text of a number as it was sent; null for anything else. */
export function numberText(value: LosslessJson): string | null {
  if (typeof value === 'number') return String(value);
  return typeof value === 'object' && JSON.isRawJSON(value) ? value.rawJSON : null;
}

/**
 * The integer that the text of a JSON number means in any spelling: 5, 5.0 and 5e0 are the same. Null when a fraction
 * is left. Exact up to 2^53 - 1 in magnitude; a larger integer gives a number beyond that.
 */
export function readWholeNumber(text: string): number | null {
  const [, whole, fraction = '', exponent = '0'] = NUMBER.exec(text) ?? [];
  if (whole === undefined) return null;
  const digits = whole + fraction;
  const zeros = countZerosAtEnd(digits);
  if (zeros === digits.length) return 0;
  return Number(exponent) - fraction.length + zeros < 0 ? null : Number(text);
}

/** As readWholeNumber; null also for other types. */
export function wholeNumberOf(value: LosslessJson): number | null {
  const text = numberText(value);
  return text === null ? null : readWholeNumber(text);
}

/** A loop, because a regular expression takes quadratic time on hostile digits. */
function countZerosAtEnd(digits: string): number {
  let start = digits.length;
  while (start > 0 && digits[start - 1] === '0') start -= 1;
  return digits.length - start;
}
