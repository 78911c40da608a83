/**
 * Counts requests in budgets, in the transaction that changes their rows: `charges` of a row always say what the buckets
 * hold of it.
 */

import type { OrganizationLog, RequestRow } from '../events/append-tables.ts';
import { completeContent, type RequestContent, type RequestCost } from '../events/request-content.ts';
import type { RequestSignal } from '../events/request-state.ts';
import { NO_BUDGETS, type Spender } from './active-budgets.ts';
import type { Bucket, BucketKey, Budget } from './budget.ts';
import { budgetEvent, reachedLevels } from './budget-event.ts';
import { amountsOf, bucketName, type Charges, unpackCharges } from './charges.ts';
import { periodAt } from './period.ts';

type CountedLog = Pick<OrganizationLog, 'budgets' | 'created' | 'insertGovernanceEvent'>;

/** An outcome of a request; see RequestUpdate. */
type Outcome = Pick<Spender, 'organizationId' | 'projectId'> & {
  readonly projectNumber: number;
  readonly signal: RequestSignal;
  readonly content: () => RequestContent;
};

type Known = {
  readonly cost: RequestCost | null;
  /** Null: the request is new. */
  readonly row: RequestRow | null;
  /** What its admission told; null without one. */
  readonly admitted: RequestContent | null;
};

/** What an outcome counts, and where. Requests that only spans tell of count nowhere. */
export function chargeOutcome(log: CountedLog, outcome: Outcome, { cost, row, admitted }: Known): Charges | null {
  const isReported = 'source' in outcome.signal && outcome.signal.source === 'report';
  if (!isReported && (row === null || (row.admission === null && row.charges === null))) return null;
  const before = row === null ? null : unpackCharges(row.charges);
  const nanoUsd = cost?.nanoUsd ?? 0;
  const hasOutcome = row !== null && 'source' in row.state;
  // An admission that reserved its estimate has decided already, unless another provider served the request.
  if (before !== null && !hasOutcome && !isOfOtherProvider(outcome, admitted)) {
    return { ...before, nanoUsd, estimates: null };
  }
  const active = log.budgets.active();
  if (active === NO_BUDGETS && before === null) return null;
  // A budget does not count what had its outcome before there was the budget.
  const madeByMs = hasOutcome ? row.receivedAtMs : Number.POSITIVE_INFINITY;
  const counted = active
    .matching(spenderOf(log, outcome, admitted))
    .flatMap(({ budget, subject }): readonly BucketKey[] => {
      const same = before?.buckets.find((bucket) => bucket.budgetId === budget.id && bucket.subject === subject);
      if (same !== undefined) return [same];
      // A request counts in the period that let it through.
      const period =
        budget.createdAtMs > madeByMs ? null : periodAt(budget, (admitted ?? outcome.content()).occurredAtMs);
      return period === null ? [] : [{ budgetId: budget.id, periodStartedAtMs: period.startedAtMs, subject }];
    });
  const ofArchived = before?.buckets.filter(({ budgetId }) => active.find(budgetId) === undefined) ?? [];
  const buckets = [...counted, ...ofArchived];
  return buckets.length === 0 ? null : { nanoUsd, buckets, estimates: null };
}

function isOfOtherProvider({ content }: Outcome, admitted: RequestContent | null): boolean {
  const { modelProviderId } = content();
  return admitted !== null && modelProviderId !== null && modelProviderId !== admitted.modelProviderId;
}

function spenderOf({ budgets }: CountedLog, outcome: Outcome, admitted: RequestContent | null): Spender {
  const { organizationId, projectId, projectNumber } = outcome;
  const reported = outcome.content();
  const { virtualKeyId, principalUserId, endUserId, modelProviderId } =
    admitted === null ? reported : completeContent(reported, admitted);
  const teamId = budgets.active().countsTeams ? budgets.teamOf(projectNumber) : null;
  return { organizationId, projectId, teamId, virtualKeyId, principalUserId, endUserId, modelProviderId };
}

type Counted = { readonly charges: Charges | null; readonly isLeased: boolean };

export const COUNTED_NOWHERE: Counted = { charges: null, isLeased: false };

/** What a stored request counts: until it has its outcome or is settled, its estimate is a part of leases. */
export function countedBy({ charges, state }: RequestRow): Counted {
  return { charges: unpackCharges(charges), isLeased: state.status === 'admitted' };
}

/** Reserves amounts in buckets in which no lease has reserved them. */
export function addReserved({ budgets }: CountedLog, amounts: readonly (readonly [BucketKey, number])[]): void {
  for (const [key, nanoUsd] of amounts) {
    if (nanoUsd === 0) continue;
    const stored = budgets.findBucket(key);
    const periodEndsAtMs = stored?.periodEndsAtMs ?? endOf(budgets.active().find(key.budgetId), key);
    budgets.changeBucket(key, { periodEndsAtMs, spentNanoUsd: 0n, leasedNanoUsd: BigInt(nanoUsd), marks: 0 });
  }
}

function endOf(budget: Budget | undefined, { periodStartedAtMs }: BucketKey): number | null {
  return budget === undefined ? null : (periodAt(budget, periodStartedAtMs)?.endsAtMs ?? null);
}

/** Moves what a request counted to where it counts now, and tells which levels that has reached. */
export function moveSpend(log: CountedLog, from: Counted, to: Charges | null): void {
  if (from.charges === null && to === null) return;
  const moves = new Map<string, Move>();
  const add = (key: BucketKey, spentNanoUsd: number, leasedNanoUsd: number) => {
    const move = moves.get(bucketName(key)) ?? { key, spentNanoUsd: 0, leasedNanoUsd: 0 };
    move.spentNanoUsd += spentNanoUsd;
    move.leasedNanoUsd += leasedNanoUsd;
    moves.set(bucketName(key), move);
  };
  const { charges, isLeased } = from;
  for (const [key, nanoUsd] of charges === null ? [] : amountsOf(charges)) {
    add(key, isLeased ? 0 : -nanoUsd, isLeased ? -nanoUsd : 0);
  }
  for (const [key, nanoUsd] of to === null ? [] : amountsOf(to)) add(key, nanoUsd, 0);
  for (const move of moves.values()) changeBucket(log, move);
}

/** The amounts are differences of at most two costs, which are exact. */
type Move = { readonly key: BucketKey; spentNanoUsd: number; leasedNanoUsd: number };

function changeBucket(log: CountedLog, { key, spentNanoUsd, leasedNanoUsd }: Move): void {
  if (spentNanoUsd === 0 && leasedNanoUsd === 0) return;
  const { budgets } = log;
  const budget = budgets.active().find(key.budgetId);
  const stored = budgets.findBucket(key);
  // Retention has removed what was spent in a period so long ago.
  if (isEmpty(stored) && (spentNanoUsd < 0 || leasedNanoUsd < 0)) return;
  const periodEndsAtMs = stored?.periodEndsAtMs ?? endOf(budget, key);
  const change = { periodEndsAtMs, spentNanoUsd: BigInt(spentNanoUsd), leasedNanoUsd: BigInt(leasedNanoUsd) };
  const bucket = {
    ...key,
    periodEndsAtMs,
    spentNanoUsd: (stored?.spentNanoUsd ?? 0n) + change.spentNanoUsd,
    leasedNanoUsd: (stored?.leasedNanoUsd ?? 0n) + change.leasedNanoUsd,
    marks: stored?.marks ?? 0,
  };
  const reached = budget === undefined || spentNanoUsd <= 0 ? [] : reachedLevels(budget, bucket);
  budgets.changeBucket(key, { ...change, marks: reached.reduce((marks, { mark }) => marks | mark, 0) });
  if (budget === undefined) return;
  for (const level of reached)
    log.insertGovernanceEvent(budgetEvent(level, budget, { bucket, occurredAt: log.created }));
}

function isEmpty(bucket: Bucket | undefined): boolean {
  return bucket === undefined || (bucket.spentNanoUsd === 0n && bucket.leasedNanoUsd === 0n);
}
