/** What a request needs of the budgets that it counts for. */

import {
  type DearestRates,
  estimateCost,
  estimateExpected,
  estimateWorst,
  type RequestSize,
  type Reserve,
} from './estimate.ts';
import { budgetExceeded, type GatewayRefusal, type RefusingBudget } from './refusal.ts';

/** A budget as a request finds it: the bucket that the request counts in, and the rules of the budget. */
export type BudgetBucket = RefusingBudget & {
  readonly organizationNumber: number;
  readonly bucketNumber: number;
  readonly limitNanoUsd: number;
  readonly onBreach: 'block' | 'warn';
  readonly reserve: Reserve;
};

/** An amount that a request must reserve in a bucket before its dispatch. */
export type BudgetDemand = { readonly bucket: BudgetBucket; readonly nanoUsd: number };

export type DemandingRequest = {
  readonly size: RequestSize;
  /** Null: the model has no price. */
  readonly rates: DearestRates | null;
  readonly medianOutputTokens: number | null;
  /** Whether the key lets requests of unknown price pass. */
  readonly allowsUnpriced: boolean;
};

/** Budgets that only warn demand nothing, and neither does a model whose price is zero. */
export function demandsOf(
  request: DemandingRequest,
  buckets: readonly BudgetBucket[],
): readonly BudgetDemand[] | GatewayRefusal {
  const { size, rates, medianOutputTokens, allowsUnpriced } = request;
  const blocking = buckets.filter(({ onBreach }) => onBreach === 'block');
  const [first] = blocking;
  if (first === undefined) return [];
  if (rates === null) return allowsUnpriced ? [] : budgetExceeded(first, 'price_unknown');
  const expected = estimateCost(estimateExpected(size, medianOutputTokens), rates);
  if (expected === 0) return [];
  const worst = blocking.some(({ reserve }) => reserve === 'worst') ? estimateWorst(size) : null;
  if (worst !== null && 'unboundedParam' in worst) {
    return { code: 'unbounded_request', httpStatus: 400, param: worst.unboundedParam };
  }
  const worstCost = worst === null ? expected : estimateCost(worst, rates);
  return blocking.map((bucket) => ({ bucket, nanoUsd: bucket.reserve === 'worst' ? worstCost : expected }));
}
