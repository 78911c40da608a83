/** Validates what is sent of budgets. */

import type { Reason } from '../fault.ts';
import { usdTextToNano } from '../pricing/money.ts';
import { lengthReason } from '../reasons.ts';
import type { Budget, BudgetScope } from './budget.ts';

export type BudgetDraft = Pick<Budget, 'name' | 'onBreach' | 'providerId' | 'reserve' | 'window'> & {
  readonly scope: DraftScope;
  readonly limitUsd: string;
  /** Null: when the budget is created. */
  readonly cycleAnchorAtMs: number | null;
};

/** A draft whose scope is a record that is made together with the budget. */
export type UnscopedDraft = Omit<BudgetDraft, 'scope'>;

/** `id` null: not sent. */
export type DraftScope = { readonly kind: BudgetScope['kind']; readonly id: string | null };

/** Undefined: not sent. */
export type BudgetChanges = Partial<Pick<Budget, 'name' | 'onBreach' | 'reserve'> & { readonly limitUsd: string }> & {
  /** What never changes: a budget may be sent back as it was read. */
  readonly repeated: Repeated;
};

type Repeated = Partial<Pick<Budget, 'window' | 'providerId' | 'cycleAnchorAtMs'> & { readonly scope: DraftScope }>;

const ANCHOR_MIN_MS = Date.UTC(2000, 0);
const ANCHOR_END_MS = Date.UTC(2100, 0);
const DECIMALS = /^\d+(?:\.\d{1,9})?$/;
const NAME_EXPECTED = '1 to 128 characters that are not all blank';
const LIMIT_EXPECTED = 'a decimal number above 0, at most 9007199.254740991, with at most 9 decimals';

export function draftProblems(draft: BudgetDraft): readonly Reason[] {
  const { scope } = draft;
  return [...unscopedProblems(draft), ...(scope.id === null && scope.kind !== 'organization' ? [missingScope()] : [])];
}

export function unscopedProblems(draft: UnscopedDraft): readonly Reason[] {
  const { cycleAnchorAtMs: anchorAtMs } = draft;
  const isOutside = anchorAtMs !== null && (anchorAtMs < ANCHOR_MIN_MS || anchorAtMs >= ANCHOR_END_MS);
  return [...changeProblems(draft), ...(isOutside ? [anchorReason('must be from 2000 to the end of 2099')] : [])];
}

export function changeProblems({ name, limitUsd }: Pick<BudgetChanges, 'name' | 'limitUsd'>): readonly Reason[] {
  return [
    // The contract has the length.
    ...(name !== undefined && name !== '' && name.trim() === '' ? [lengthReason('name', NAME_EXPECTED)] : []),
    ...(limitUsd === undefined ? [] : limitProblems(limitUsd)),
  ];
}

function limitProblems(text: string): readonly Reason[] {
  const nanoUsd = DECIMALS.test(text) ? usdTextToNano(text) : null;
  if (nanoUsd !== null && nanoUsd > 0) return [];
  const message = `limit_usd must be ${LIMIT_EXPECTED}`;
  return [{ field: 'limit_usd', type: 'invalid_format', message, expected: LIMIT_EXPECTED }];
}

function missingScope(): Reason {
  const message = 'scope.id is required';
  return { field: 'scope.id', type: 'invalid_type', message, expected: 'string', received: 'undefined' };
}

/** Windows reach back before their anchor, but a single period begins with it. */
export function futureProblems({ window, cycleAnchorAtMs }: UnscopedDraft, nowMs: number): readonly Reason[] {
  const isSingle = window === 'total' || window === 'manual';
  const isAhead = isSingle && cycleAnchorAtMs !== null && cycleAnchorAtMs > nowMs;
  return isAhead ? [anchorReason(`must not be in the future for the window ${window}`)] : [];
}

function anchorReason(rule: string): Reason {
  return { field: 'cycle_anchor_at', type: 'custom', message: `cycle_anchor_at ${rule}` };
}

/** What is sent of a budget that never changes, and is not as it is. */
export function repetitionProblems({ repeated }: BudgetChanges, budget: Budget): readonly Reason[] {
  const { scope = budget.scope, window = budget.window } = repeated;
  const { cycleAnchorAtMs = budget.cycleAnchorAtMs, providerId = budget.providerId } = repeated;
  const isOtherScope = scope.kind !== budget.scope.kind || (scope.id !== null && scope.id !== budget.scope.id);
  const differs = {
    scope: isOtherScope,
    window: window !== budget.window,
    provider_id: providerId !== budget.providerId,
    cycle_anchor_at: cycleAnchorAtMs !== budget.cycleAnchorAtMs,
  };
  return Object.entries(differs).flatMap(([field, isOther]): readonly Reason[] =>
    isOther ? [{ field, type: 'custom', message: `${field} cannot be changed` }] : [],
  );
}

/** Of a text without problems. */
export function limitOfText(text: string): number {
  const nanoUsd = usdTextToNano(text);
  if (nanoUsd === null) throw new Error('a limit was let through that is none');
  return nanoUsd;
}
