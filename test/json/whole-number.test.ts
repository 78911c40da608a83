import { describe, expect, it } from 'vitest';
import { readWholeNumber } from '../../src/json/whole-number.ts';

describe('a whole number in a body', () => {
  it.each([
    ['5', 5],
    ['5.0', 5],
    ['5e0', 5],
    ['5E+0', 5],
    ['0.5e1', 5],
    ['500e-2', 5],
    ['50.00e-1', 5],
    ['-3.0', -3],
    ['1e3', 1_000],
    ['9007199254740991.000', 9_007_199_254_740_991],
    ['0.0', 0],
    ['0e-9', 0],
    ['0e9999999999999999999', 0],
  ])('%s is %d', (text, number) => {
    expect(readWholeNumber(text)).toBe(number);
  });

  it('has no sign when it is zero', () => {
    for (const text of ['-0', '-0.0', '-0e5']) expect(Object.is(readWholeNumber(text), 0), text).toBe(true);
  });

  it.each(['5.5', '5e-1', '0.1', '1e-400', '-0.5', '5.0000000000000000001', '4503599627370497.5'])(
    '%s is none, however close a double comes to one',
    (text) => {
      expect(readWholeNumber(text)).toBeNull();
    },
  );

  it('reports values beyond every bound as such', () => {
    expect(readWholeNumber('1e400')).toBe(Number.POSITIVE_INFINITY);
    expect(readWholeNumber('-1e400')).toBe(Number.NEGATIVE_INFINITY);
    expect(readWholeNumber('9007199254740993')).toBeGreaterThan(Number.MAX_SAFE_INTEGER);
  });

  it('is checked in time proportional to its length', () => {
    const before = process.threadCpuUsage();
    expect(readWholeNumber(`1${'0'.repeat(500_000)}1`)).toBe(Number.POSITIVE_INFINITY);
    expect(readWholeNumber(`1.${'0'.repeat(500_000)}1`)).toBeNull();
    expect(process.threadCpuUsage(before).user).toBeLessThan(1_000_000);
  });
});
