import { expect } from 'vitest';
import { EXACT_VALUES_MAX, type Percentiles } from '../../../src/domain/analytics/distribution.ts';

/** Expects percentiles as the contract has them. */
export function expectNear(found: Percentiles | null, values: readonly number[]): void {
  const sorted = values.toSorted((one, other) => one - other);
  if (found === null) {
    expect(values).toEqual([]);
    return;
  }
  for (const percent of [50, 95, 99] as const) {
    const exact = sorted[Math.ceil((percent * values.length) / 100) - 1] ?? Number.NaN;
    const error = values.length > EXACT_VALUES_MAX ? exact / 100 : 0;
    expect(Math.abs(found[`p${percent}`] - exact), `p${percent} of ${values.length}`).toBeLessThanOrEqual(error);
  }
}
