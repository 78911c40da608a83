/** What the overview of the console keeps, and for what. */

import { describe, expect, it } from 'vitest';
import { changesKey, MODEL_TRACES_MAX, pairKey } from '../../src/console/overview/query-keys.ts';

describe('what the overview looked up', () => {
  const range = { range: '7d' };
  const counts = { traces: 10, tracesBefore: 5 };
  const pair = { by: 'model', and: 'label' } as const;

  it('is never shown for another project, range or pair', () => {
    const keys = [
      changesKey('project_1', range, counts),
      changesKey('project_2', range, counts),
      changesKey('project_1', { range: '30d' }, counts),
      pairKey('project_1', range, pair),
      pairKey('project_2', range, pair),
      pairKey('project_1', { range: 'custom', from: '2026-01-01T00:00:00Z' }, pair),
      pairKey('project_1', range, { by: 'label', and: 'model' }),
    ].map((key) => JSON.stringify(key));
    expect(new Set(keys).size).toBe(keys.length);
  });

  it('is looked up again where the numbers of traces allow other searches, and kept where they do not', () => {
    const of = (traces: number, tracesBefore: number) => changesKey('project_1', range, { traces, tracesBefore });
    expect(of(11, 6)).toEqual(of(10, 5));
    expect(of(10, 0)).not.toEqual(of(10, 5));
    expect(of(MODEL_TRACES_MAX + 1, 5)).not.toEqual(of(10, 5));
    expect(changesKey('project_1', range, null)).not.toEqual(of(0, 0));
  });

  it('is fetched again by a refresh', () => {
    expect(changesKey('project_1', range, counts)[0]).toBe('connect-query');
    expect(pairKey('project_1', range, pair)[0]).toBe('connect-query');
  });
});
