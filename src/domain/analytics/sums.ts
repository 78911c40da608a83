/** Counts and sums of traces that can be added and subtracted, so that they stay exact when traces change or are removed. */

import type { TraceTotals } from '../traces/trace.ts';
import type { Percentiles } from './distribution.ts';

/**
 * Of some traces, or of their spans with a model. Beside each sum stands how many values were known: a sum of none is
 * null. Costs are whole US dollars plus the remaining nano-USD, so that every number stays a safe integer.
 */
export type MutableSums = ReturnType<typeof noSums>;
export type Sums = Readonly<MutableSums>;

const NANO_PER_USD = 1_000_000_000;

export function noSums() {
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

/** `times` is 1 to add, -1 to subtract. */
export function addSums(to: MutableSums, sums: Sums, times: 1 | -1 = 1): void {
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

/** Whether adding the sums would change nothing. */
export function isZero(sums: Sums): boolean {
  return Object.values(sums).every((each) => each === 0);
}

/** Adds one whole trace. */
export function addTrace(to: MutableSums, trace: CountedTrace): void {
  to.traces += 1;
  to.spans += trace.spanCount;
  if (trace.hasError) to.errors += 1;
  addAmounts(to, trace.promptTokens, trace.completionTokens, trace.totalCostNanoUsd);
}

/** Null: unknown. */
function addAmounts(
  to: MutableSums,
  promptTokens: number | null,
  completionTokens: number | null,
  costNanoUsd: number | null,
): void {
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

/** US dollars, as precise as a double allows. */
export function costOf({ costUsd, costRestNanoUsd }: Pick<Sums, 'costUsd' | 'costRestNanoUsd'>): number {
  const nano = costUsd * NANO_PER_USD + costRestNanoUsd;
  return Number.isSafeInteger(nano) ? nano / NANO_PER_USD : costUsd + costRestNanoUsd / NANO_PER_USD;
}

export type CountedTrace = Pick<
  TraceTotals,
  'spanCount' | 'hasError' | 'promptTokens' | 'completionTokens' | 'totalCostNanoUsd'
>;

/** The sums of one whole trace. */
export function sumsOfTrace(trace: CountedTrace): Sums {
  const sums = noSums();
  addTrace(sums, trace);
  return sums;
}

/** What one span adds; null: unknown. */
export type CountedSpan = {
  readonly promptTokens: number | null;
  readonly completionTokens: number | null;
  readonly costNanoUsd: number | null;
  readonly model: string | null;
  readonly hasError: boolean;
};

/**
 * The spans of one trace that count for each model. The key is null where no span has a model. In a trace with models the
 * spans without one are left out.
 */
export function spansByModel<Span extends Pick<CountedSpan, 'model'>>(
  spans: Iterable<Span>,
): ReadonlyMap<string | null, readonly Span[]> {
  const byModel = Map.groupBy(spans, ({ model }) => model);
  if (byModel.size > 1) byModel.delete(null);
  if (byModel.size === 0) byModel.set(null, []);
  return byModel;
}

/** The sums of one trace by the models of its spans. */
export function sumsByModel(spans: Iterable<CountedSpan>): ReadonlyMap<string | null, Sums> {
  return new Map([...spansByModel(spans)].map(([model, of]) => [model, sumsOfSpans(of)]));
}

/** The sums of some spans of one trace, which counts as one trace. */
export function sumsOfSpans(spans: readonly CountedSpan[]): Sums {
  const sums = { ...noSums(), traces: 1 };
  for (const span of spans) {
    sums.spans += 1;
    if (span.hasError) sums.errors += 1;
    addAmounts(sums, span.promptTokens, span.completionTokens, span.costNanoUsd);
  }
  return sums;
}

/** Null: no value was known. */
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
