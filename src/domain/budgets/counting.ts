/**
 * Counts requests in budgets, in the transaction that changes their rows: `charges` of a row always say what the buckets
 * hold of it.
 */

import type { OrganizationLog } from '../events/append-tables.ts';
import type { Spender } from './active-budgets.ts';
import type { Bucket, BucketKey } from './budget.ts';
import { budgetEvent, reachedLevels } from './budget-event.ts';
import { bucketName, type Charges } from './charges.ts';
import { periodAt } from './period.ts';

export type CountedLog = Pick<OrganizationLog, 'budgets' | 'created' | 'insertGovernanceEvent'>;

/** What decides where a request with an outcome counts. */
export type CountedOutcome = Omit<Spender, 'teamId'> & {
  readonly projectNumber: number;
  /** Of the admission, if there was one: a request counts in the period that let it through. */
  readonly occurredAtMs: number;
  readonly nanoUsd: number;
};

/** What a request counted before. */
export type KnownCharges = {
  readonly charges: Charges | null;
  readonly hasOutcome: boolean;
  readonly receivedAtMs: number;
};

/** Where an outcome counts. `known` is null for a new request. */
export function chargeOutcome(
  { budgets }: Pick<CountedLog, 'budgets'>,
  outcome: CountedOutcome,
  known: KnownCharges | null,
): Charges | null {
  const { nanoUsd, projectNumber, occurredAtMs } = outcome;
  const before = known?.charges ?? null;
  // An admission that reserved its estimate has decided already.
  if (known?.hasOutcome === false && before !== null) return { ...before, nanoUsd };
  const active = budgets.active();
  const spender = { ...outcome, teamId: active.countsTeams ? budgets.teamOf(projectNumber) : null };
  const counted = active.matching(spender).flatMap(({ budget, subject }): readonly BucketKey[] => {
    const same = before?.buckets.find((bucket) => bucket.budgetId === budget.id && bucket.subject === subject);
    if (same !== undefined) return [same];
    // A budget does not count what had its outcome before there was the budget.
    if (known?.hasOutcome === true && budget.createdAtMs > known.receivedAtMs) return [];
    const period = periodAt(budget, occurredAtMs);
    return period === null ? [] : [{ budgetId: budget.id, periodStartedAtMs: period.startedAtMs, subject }];
  });
  const ofArchived = before?.buckets.filter(({ budgetId }) => active.find(budgetId) === undefined) ?? [];
  const buckets = [...counted, ...ofArchived];
  return buckets.length === 0 ? null : { nanoUsd, buckets };
}

type Counted = { readonly charges: Charges | null; readonly isLeased: boolean };

export const COUNTED_NOWHERE: Counted = { charges: null, isLeased: false };

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
  for (const key of charges?.buckets ?? []) {
    const nanoUsd = charges?.nanoUsd ?? 0;
    add(key, isLeased ? 0 : -nanoUsd, isLeased ? -nanoUsd : 0);
  }
  for (const key of to?.buckets ?? []) add(key, to?.nanoUsd ?? 0, 0);
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
  const periodEndsAtMs =
    stored?.periodEndsAtMs ??
    (budget === undefined ? null : (periodAt(budget, key.periodStartedAtMs)?.endsAtMs ?? null));
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
