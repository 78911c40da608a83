/** Why the gateway refuses a request before it is dispatched. The routes write it in the dialect of the provider. */

import type { Budget } from '../budgets/budget.ts';

/** What a refusal tells of the budget that caused it. */
export type RefusingBudget = Pick<Budget, 'id' | 'scope' | 'window'>;

export type RateDimension = 'rpm' | 'tpm' | 'rpd';

export type GatewayRefusal =
  | {
      readonly code: 'budget_exceeded';
      readonly httpStatus: 402;
      /**
       * `spent`: nothing is left. `estimate_exceeds_budget`: less is left than the request may cost. `price_unknown`: the
       * model has no price.
       */
      readonly reason: 'spent' | 'estimate_exceeds_budget' | 'price_unknown';
      readonly budget: RefusingBudget;
    }
  | {
      /** Enough is left, but requests in flight have reserved it. */
      readonly code: 'budget_reserved';
      readonly httpStatus: 429;
      readonly retryAfterSeconds: number;
      readonly budget: RefusingBudget;
    }
  | {
      readonly code: 'rate_limited';
      readonly httpStatus: 429;
      readonly retryAfterSeconds: number;
      readonly dimension: RateDimension;
    }
  /** Nothing bounds the cost of a part of the request, or of its output. */
  | { readonly code: 'unbounded_request'; readonly httpStatus: 400; readonly param: string }
  /** The store cannot be reached, and nothing is left in memory. */
  | { readonly code: 'unavailable'; readonly httpStatus: 503; readonly retryAfterSeconds: number };

export const UNAVAILABLE: GatewayRefusal = { code: 'unavailable', httpStatus: 503, retryAfterSeconds: 1 };

export function budgetExceeded(
  budget: RefusingBudget,
  reason: Extract<GatewayRefusal, { code: 'budget_exceeded' }>['reason'],
): GatewayRefusal {
  return { code: 'budget_exceeded', httpStatus: 402, reason, budget: refusing(budget) };
}

export function budgetReserved(budget: RefusingBudget): GatewayRefusal {
  return { code: 'budget_reserved', httpStatus: 429, retryAfterSeconds: 1, budget: refusing(budget) };
}

function refusing({ id, scope, window }: RefusingBudget): RefusingBudget {
  return { id, scope, window };
}
