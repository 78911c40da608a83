/**
 * The budget of a project for language models on one day. Before each call the highest price that it can have is reserved
 * in the store, so that calls of all processes together stay within the budget and a killed process forgets nothing.
 */

import { type JudgeSpendingStore, utcDayOf } from '../../domain/evaluations/judge-spending.ts';
import type { Prices } from '../../domain/pricing/prices.ts';
import type { TokenCounts } from '../../domain/pricing/usage.ts';

/** What one judgement spends. */
export type Spending = {
  /** Called before each call with the bytes of its body. False: the budget does not cover it. */
  reserve(bodyBytes: number): Promise<boolean>;
  /** Called after each call; `unknown`: it may have been billed, nobody knows for how much. */
  settle(usage: TokenCounts | 'nothing' | 'unknown'): Promise<void>;
};

type JudgeBudgetDeps = {
  readonly store: JudgeSpendingStore;
  /** The price list without the prices of organizations, which could set theirs to zero. */
  readonly prices: Prices;
  readonly clock: () => number;
  /** For a project and day (UTC); null: no limit, and nothing is counted. */
  readonly budgetNanoUsd: number | null;
  /** Whether models without a price may be asked; they count nothing. */
  readonly mayBeUnpriced: boolean;
  readonly onError: (error: unknown) => void;
};

type Judged = { readonly projectId: string; readonly model: string; readonly tokensMax: number };

export type JudgeBudget = ReturnType<typeof createJudgeBudget>;

export function createJudgeBudget(deps: JudgeBudgetDeps) {
  const { store, prices, clock, budgetNanoUsd, mayBeUnpriced } = deps;

  function priceOf(model: string, tokens: TokenCounts): number | null {
    return prices.price(tokenQuery(model, tokens, clock())).costNanoUsd;
  }

  return {
    isLimited: budgetNanoUsd !== null,
    /** `unpriced`: the model has no price and must have one. */
    open({ projectId, model, tokensMax }: Judged): Spending | 'unpriced' {
      if (budgetNanoUsd === null) return UNLIMITED;
      const highest = (bytes: number) => priceOf(model, { ...NO_TOKENS, prompt: bytes, completion: tokensMax });
      if (highest(1) === null) return mayBeUnpriced ? UNLIMITED : 'unpriced';
      let reserved = { day: 0, nanoUsd: 0 };
      return {
        async reserve(bodyBytes) {
          // A token has at least one byte.
          const nanoUsd = highest(bodyBytes) ?? budgetNanoUsd + 1;
          reserved = { day: utcDayOf(clock()), nanoUsd };
          return await store.reserve({ projectId, ...reserved, budgetNanoUsd });
        },
        async settle(usage) {
          // The reserved amount stays: a call that was given up may be billed.
          if (usage === 'unknown') return;
          const costNanoUsd = usage === 'nothing' ? 0 : priceOf(model, usage);
          if (costNanoUsd === null || costNanoUsd === reserved.nanoUsd) return;
          const changeNanoUsd = costNanoUsd - reserved.nanoUsd;
          await store.settle({ projectId, day: reserved.day, changeNanoUsd }).catch(deps.onError);
        },
      };
    },
  };
}

const NO_TOKENS: TokenCounts = { prompt: 0, completion: 0, reasoning: null, cacheRead: null, cacheCreation: null };
const UNLIMITED: Spending = { reserve: async () => true, settle: async () => {} };

/** The price of tokens that an OpenAI-compatible endpoint reported. */
export function tokenQuery(model: string, tokens: TokenCounts, startedAtMs: number): Parameters<Prices['price']>[0] {
  return {
    model,
    vendor: null,
    startedAtMs,
    tokens,
    details: null,
    explicitCostUsd: null,
    // The chat API counts cached tokens as part of the prompt.
    cachedTokensInPrompt: true,
    resultCostUsd: null,
    spanRates: null,
  };
}
