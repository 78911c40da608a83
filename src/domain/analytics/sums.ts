/** Counts and sums of traces that can be added and taken off again, so that they stay exact whatever is sent again or removed. */

import type { TraceTotals } from '../trace.ts';

/**
 * Of some traces, or of those of their spans that a model wrote. How many values were known stands beside each sum, for a
 * sum of none is null. Costs are kept as whole US dollars and the nano-USD left over: no number of them leaves the integers
 * that a double holds.
 */
export type Sums = {
  readonly traces: number;
  readonly spans: number;
  readonly errors: number;
  readonly promptTokens: number;
  readonly promptKnown: number;
  readonly completionTokens: number;
  readonly completionKnown: number;
  readonly costUsd: number;
  readonly costRestNanoUsd: number;
  readonly costKnown: number;
};

export type SumsInMaking = { -readonly [Name in keyof Sums]: number };

const NANO_PER_USD = 1_000_000_000;

export function noSums(): SumsInMaking {
  return {
    traces: 0,
    spans: 0,
    errors: 0,
    promptTokens: 0,
    promptKnown: 0,
    completionTokens: 0,
    completionKnown: 0,
    costUsd: 0,
    costRestNanoUsd: 0,
    costKnown: 0,
  };
}

/** `times` is 1 to add, -1 to take off. */
export function addSums(to: SumsInMaking, sums: Sums, times: 1 | -1 = 1): void {
  to.traces += times * sums.traces;
  to.spans += times * sums.spans;
  to.errors += times * sums.errors;
  to.promptTokens += times * sums.promptTokens;
  to.promptKnown += times * sums.promptKnown;
  to.completionTokens += times * sums.completionTokens;
  to.completionKnown += times * sums.completionKnown;
  to.costUsd += times * sums.costUsd;
  to.costRestNanoUsd += times * sums.costRestNanoUsd;
  to.costKnown += times * sums.costKnown;
}

/** Whether adding them changes nothing. */
export function isNothing(sums: Sums): boolean {
  return Object.values(sums).every((each) => each === 0);
}

/** What is known of a trace or a span. */
export type Amounts = {
  readonly promptTokens: number | null;
  readonly completionTokens: number | null;
  readonly costNanoUsd: number | null;
};

export function addAmounts(to: SumsInMaking, { promptTokens, completionTokens, costNanoUsd }: Amounts): void {
  if (promptTokens !== null) {
    to.promptTokens += promptTokens;
    to.promptKnown += 1;
  }
  if (completionTokens !== null) {
    to.completionTokens += completionTokens;
    to.completionKnown += 1;
  }
  if (costNanoUsd === null) return;
  const usd = Math.floor(costNanoUsd / NANO_PER_USD);
  to.costUsd += usd;
  to.costRestNanoUsd += costNanoUsd - usd * NANO_PER_USD;
  to.costKnown += 1;
}

/** US dollars, as near as a double comes. */
export function costOf({ costUsd, costRestNanoUsd }: Sums): number {
  const nano = costUsd * NANO_PER_USD + costRestNanoUsd;
  return Number.isSafeInteger(nano) ? nano / NANO_PER_USD : costUsd + costRestNanoUsd / NANO_PER_USD;
}

type Counted = Pick<TraceTotals, 'spanCount' | 'hasError' | 'promptTokens' | 'completionTokens' | 'totalCostNanoUsd'>;

/** Of one whole trace. */
export function sumsOfTrace(trace: Counted): Sums {
  const sums = noSums();
  sums.traces = 1;
  sums.spans = trace.spanCount;
  sums.errors = trace.hasError ? 1 : 0;
  addAmounts(sums, { ...trace, costNanoUsd: trace.totalCostNanoUsd });
  return sums;
}

/** What a span counts for. */
export type CountedSpan = Amounts & { readonly model: string | null; readonly hasError: boolean };

/**
 * Of one trace, by the models of its spans. Null stands for a trace none of whose spans has a model, or that has no spans; of
 * a trace that has models the other spans count for none of them.
 */
export function sumsByModel(spans: Iterable<CountedSpan>): ReadonlyMap<string | null, Sums> {
  const byModel = new Map<string | null, SumsInMaking>();
  for (const span of spans) {
    const sums = byModel.get(span.model) ?? { ...noSums(), traces: 1 };
    byModel.set(span.model, sums);
    sums.spans += 1;
    if (span.hasError) sums.errors += 1;
    addAmounts(sums, span);
  }
  if (byModel.size > 1) byModel.delete(null);
  if (byModel.size === 0) byModel.set(null, { ...noSums(), traces: 1 });
  return byModel;
}
