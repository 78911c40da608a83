/** What is told of the traces of a group. */

import { costOf, type Sums } from './sums.ts';
import type { Percentiles } from './values.ts';

/** Null: nothing was known. */
export type Totals = {
  readonly traces: number;
  readonly spans: number;
  readonly errors: number;
  readonly promptTokens: number | null;
  readonly completionTokens: number | null;
  readonly totalCostUsd: number | null;
  readonly firstTokenMs: Percentiles | null;
  readonly totalTimeMs: Percentiles | null;
};

type Durations = Pick<Totals, 'firstTokenMs' | 'totalTimeMs'>;

export const NO_DURATIONS: Durations = { firstTokenMs: null, totalTimeMs: null };

export function totalsOfSums(sums: Sums, durations: Durations): Totals {
  const { traces, spans, errors, promptTokens, promptKnown, completionTokens, completionKnown, costKnown } = sums;
  return {
    traces,
    spans,
    errors,
    promptTokens: promptKnown === 0 ? null : promptTokens,
    completionTokens: completionKnown === 0 ? null : completionTokens,
    totalCostUsd: costKnown === 0 ? null : costOf(sums),
    ...durations,
  };
}
