/** Divides the numbers of JSON as decimals: as doubles, 0.3 would not be a multiple of 0.1. */

/** A schema's divisor is above 0. */
export function isMultiple(number: number, divisor: number): boolean {
  const [one, other] = [readDecimal(number), readDecimal(divisor)];
  if (one.exponent < other.exponent) return one.digits % (other.digits * power(other.exponent - one.exponent)) === 0n;
  return (one.digits * power(one.exponent - other.exponent)) % other.digits === 0n;
}

type Decimal = { readonly digits: bigint; readonly exponent: number };

/** The value is digits × 10^exponent. */
function readDecimal(number: number): Decimal {
  const [mantissa = '', exponent = '0'] = number.toString().split('e');
  const [whole = '', fraction = ''] = mantissa.split('.');
  return { digits: BigInt(`${whole}${fraction}`), exponent: Number(exponent) - fraction.length };
}

function power(exponent: number): bigint {
  return 10n ** BigInt(exponent);
}
