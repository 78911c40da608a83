import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  NANO_USD_MAX,
  nanoToUsdNumber,
  nanoToUsdText,
  picoToNano,
  scaleDecimal,
  usdNumberToNano,
  usdTextToNano,
} from '../../../src/domain/pricing/money.ts';
import { runsOf } from '../../support/scenario.ts';

const anyNano = fc.integer({ min: 0, max: NANO_USD_MAX });

describe('usdNumberToNano', () => {
  it.each([
    [0, 0],
    [-0, 0],
    [0.25, 250_000_000],
    [0.1, 100_000_000],
    [5e-10, 1],
    [4.9999999999e-10, 0],
    [1e-300, 0],
    [1.0000000005, 1_000_000_001],
    [1.0000000004999, 1_000_000_000],
    [1.5e-9, 2],
    [2.5e-9, 3],
    [3.75e-8, 38],
    [9_007_199, 9_007_199_000_000_000],
    // Doubles are two nano-USD apart here, and the shortest text of this one ends in a zero.
    [9_007_199.254740991, NANO_USD_MAX - 1],
  ])('reads %s as %s nano-USD', (usd, nano) => {
    expect(usdNumberToNano(usd)).toBe(nano);
  });

  it.each([9_007_199.254740993, 9_007_200, 1e21, Number.MAX_VALUE, Number.POSITIVE_INFINITY, Number.NaN, -1, -1e-12])(
    'has no amount for %s',
    (usd) => {
      expect(usdNumberToNano(usd)).toBeNull();
    },
  );

  it('goes by the decimal text of the double, never by its binary value', () => {
    fc.assert(
      fc.property(fc.double({ min: 1e-6, max: 9_000_000, noNaN: true }), (usd) => {
        expect(usdNumberToNano(usd)).toBe(usdTextToNano(String(usd)));
      }),
      { numRuns: runsOf(2_000) },
    );
  });
});

describe('nanoToUsdNumber', () => {
  it('is the very double that the decimal text reads as', () => {
    fc.assert(
      fc.property(anyNano, (nano) => {
        expect(nanoToUsdNumber(nano)).toBe(Number(nanoToUsdText(nano)));
      }),
      { numRuns: runsOf(2_000) },
    );
  });

  it('gives back the amount it came from, for everything below a million dollars', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 1e15 - 1 }), (nano) => {
        expect(usdNumberToNano(nanoToUsdNumber(nano))).toBe(nano);
      }),
      { numRuns: runsOf(2_000) },
    );
  });
});

describe('nanoToUsdText', () => {
  it.each([
    [0, '0'],
    [1, '0.000000001'],
    [450, '0.00000045'],
    [3_808_000, '0.003808'],
    [100_000_000, '0.1'],
    [999_999_999, '0.999999999'],
    [1_000_000_000, '1'],
    [12_000_000_000, '12'],
    [10_000_000_010, '10.00000001'],
    [NANO_USD_MAX, '9007199.254740991'],
  ])('writes %s as %s', (nano, text) => {
    expect(nanoToUsdText(nano)).toBe(text);
  });

  it('reads back as the same amount', () => {
    fc.assert(
      fc.property(anyNano, (nano) => {
        expect(usdTextToNano(nanoToUsdText(nano))).toBe(nano);
      }),
    );
  });
});

describe('usdTextToNano', () => {
  it.each([
    ['0', 0],
    ['0.0', 0],
    ['12', 12_000_000_000],
    ['0.003808', 3_808_000],
    ['0.0000000005', 1],
    ['0.00000000049999999999999999999', 0],
    ['1.000000000499999999999999999999', 1_000_000_000],
    ['1.000000000500000000000000000000', 1_000_000_001],
    ['0.999999999500000000000000000000', 1_000_000_000],
    ['9007199.254740991', NANO_USD_MAX],
    ['9007199.2547409914', NANO_USD_MAX],
  ])('reads %s as %s nano-USD', (text, nano) => {
    expect(usdTextToNano(text)).toBe(nano);
  });

  it.each([
    '',
    '.5',
    '1.',
    '00',
    '01',
    '+1',
    '-1',
    '-0',
    '1e3',
    '1E-3',
    ' 1',
    '1 ',
    '1\n',
    '1,5',
    '0x10',
    'NaN',
    '\u0661',
    '10000000',
    `0.${'0'.repeat(31)}`,
    '9007199.2547409915',
    '9007199.254740992',
    '9999999',
  ])('refuses %j', (text) => {
    expect(usdTextToNano(text)).toBeNull();
  });
});

describe('picoToNano', () => {
  it.each([
    [0, 0],
    [499, 0],
    [500, 1],
    [1_499, 1],
    [37_500, 38],
    [9_007_199_254_740_991, 9_007_199_254_741],
    [9_007_199_254_740_499, 9_007_199_254_740],
  ])('rounds %s pico-USD half up to %s nano-USD', (pico, nano) => {
    expect(picoToNano(pico)).toBe(nano);
    expect(picoToNano(BigInt(pico))).toBe(nano);
  });

  it('agrees with itself on numbers and big integers', () => {
    fc.assert(
      fc.property(anyNano, (pico) => {
        expect(picoToNano(pico)).toBe(picoToNano(BigInt(pico)));
      }),
      { numRuns: runsOf(2_000) },
    );
  });

  it('ends exactly at the largest amount', () => {
    const largest = BigInt(NANO_USD_MAX) * 1000n + 499n;
    expect(picoToNano(largest)).toBe(NANO_USD_MAX);
    expect(picoToNano(largest + 1n)).toBeNull();
  });
});

describe('scaleDecimal', () => {
  it.each([
    ['0.08333333333333334', 6, 83_333n],
    ['0.18000000000000002', 6, 180_000n],
    ['0.0375', 6, 37_500n],
    ['600', 6, 600_000_000n],
    ['1.5e-7', 12, 150_000n],
    ['5e-13', 12, 1n],
    ['4e-13', 12, 0n],
    ['9e-14', 12, 0n],
    ['1e+21', 2, 100_000_000_000_000_000_000_000n],
    ['1.25e+21', 0, 1_250_000_000_000_000_000_000n],
  ])('scales %s by 10^%s to %s', (text, digits, scaled) => {
    expect(scaleDecimal(text, digits)).toBe(scaled);
  });
});
