/** How the console writes numbers; the locale is that of the browser. */

import { describe, expect, it } from 'vitest';
import {
  formatBytes,
  formatDuration,
  formatPoints,
  formatScore,
  formatShare,
} from '../../src/console/design/format.ts';

describe('durations', () => {
  it.each([
    [0, '0 ms'],
    [999, '999 ms'],
    [999.6, '1.00 s'],
    [59_994, '59.99 s'],
    [59_996, '1 m 0 s'],
    [60_400, '1 m 0 s'],
    [539_600, '9 m 0 s'],
    [3_599_400, '59 m 59 s'],
    [3_599_600, '1 h 0 m'],
    [7_199_000, '2 h 0 m'],
    [undefined, '–'],
  ])('of %s ms are rounded before they are split: %s', (ms, shown) => {
    expect(formatDuration(ms)).toBe(shown);
  });
});

describe('other numbers', () => {
  it('are rounded to the next unit', () => {
    expect([formatBytes(1_023), formatBytes(1_024), formatBytes(1_048_570)]).toEqual(['1023 B', '1.0 KB', '1.0 MB']);
  });

  it('of shares are percents, and their differences points', () => {
    expect([formatShare(0.9833), formatPoints(0.0167), formatPoints(-0.0167)]).toEqual(['98.3%', '+1.7 pp', '−1.7 pp']);
    expect(formatScore(0.123456)).toBe('0.1235');
  });
});
