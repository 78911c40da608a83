/** What a request needs of the budgets that it counts for. */

import type { MatchedBudget } from '../budgets/active-budgets.ts';
import type { BucketKey, Budget } from '../budgets/budget.ts';
import { periodAt } from '../budgets/period.ts';
import { type DearestRates, estimateCost, estimateExpected, estimateWorst, type RequestSize } from './estimate.ts';
import { budgetExceeded, type GatewayRefusal } from './refusal.ts';

/** A budget as a request finds it, and the bucket that the request counts in. */
export type BudgetBucket = BucketKey & {
  readonly organizationNumber: number;
  readonly budget: Budget;
  readonly periodEndsAtMs: number | null;
};

/** The buckets of an instant. */
export function bucketsAt(
  matched: readonly MatchedBudget[],
  { organizationNumber, atMs }: { readonly organizationNumber: number; readonly atMs: number },
): readonly BudgetBucket[] {
  return matched.flatMap(({ budget, subject }) => {
    const period = periodAt(budget, atMs);
    if (period === null) return [];
    const { startedAtMs: periodStartedAtMs, endsAtMs: periodEndsAtMs } = period;
    return { organizationNumber, budget, budgetId: budget.id, subject, periodStartedAtMs, periodEndsAtMs };
  });
}

/** What a request may cost in a bucket. */
export type BudgetDemand = {
  readonly bucket: BudgetBucket;
  readonly nanoUsd: number;
  /** Whether the bucket must have so much left. If not, the request only counts in it. */
  readonly isLimited: boolean;
};

export type DemandingRequest = {
  readonly size: RequestSize;
  /** Null: the model has no price. */
  readonly rates: DearestRates | null;
  readonly medianOutputTokens: number | null;
  /** Whether the key lets requests of unknown price pass. */
  readonly allowsUnpriced: boolean;
};

/** One for each bucket. Budgets that only warn limit nothing, and neither does any budget a model whose price is zero. */
export function demandsOf(
  request: DemandingRequest,
  buckets: readonly BudgetBucket[],
): readonly BudgetDemand[] | GatewayRefusal {
  const { size, rates, medianOutputTokens, allowsUnpriced } = request;
  if (buckets.length === 0) return [];
  const blocking = buckets.filter(({ budget }) => budget.onBreach === 'block');
  const [first] = blocking;
  if (rates === null) {
    if (first !== undefined && !allowsUnpriced) return budgetExceeded(first.budget, 'price_unknown');
    return buckets.map((bucket) => ({ bucket, nanoUsd: 0, isLimited: false }));
  }
  const expected = estimateCost(estimateExpected(size, medianOutputTokens), rates);
  if (expected === 0) return buckets.map((bucket) => ({ bucket, nanoUsd: 0, isLimited: false }));
  const worst = blocking.some(({ budget }) => budget.reserve === 'worst') ? estimateWorst(size) : null;
  if (worst !== null && 'unboundedParam' in worst) {
    return { code: 'unbounded_request', httpStatus: 400, param: worst.unboundedParam };
  }
  const worstCost = worst === null ? expected : estimateCost(worst, rates);
  return buckets.map((bucket) => {
    const isLimited = bucket.budget.onBreach === 'block';
    return { bucket, isLimited, nanoUsd: isLimited && bucket.budget.reserve === 'worst' ? worstCost : expected };
  });
}
