/** A judge whose operator limits nothing. */

import { createJudgeBudget } from '../../../src/evaluation/judge/judge-budget.ts';
import { pricesOfNobody } from '../../support/pricing.ts';

export const UNLIMITED = {
  limits: { models: null, tokensMax: 16_384, bodyMaxBytes: 262_144 },
  budget: createJudgeBudget({
    store: {
      reserve: async () => {
        throw new Error('nothing is reserved without a budget');
      },
      settle: async () => undefined,
    },
    prices: pricesOfNobody.listed,
    clock: () => 0,
    budgetNanoUsd: null,
    mayBeUnpriced: false,
    onError: (error) => {
      throw error;
    },
  }),
};
