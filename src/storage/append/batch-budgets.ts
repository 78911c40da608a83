/** The budgets' part of the log of an organization, in a batch; see batch-log.ts. */

import { type ActiveBudgets, compileBudgets, NO_BUDGETS } from '../../domain/budgets/active-budgets.ts';
import type { Bucket, BucketKey, Budget } from '../../domain/budgets/budget.ts';
import type { BudgetTables } from '../../domain/budgets/budget-tables.ts';
import { bucketName } from '../../domain/budgets/charges.ts';
import type { LogTables } from '../../domain/events/append-tables.ts';
import type { LeaseKey } from '../../domain/gateway/lease-store.ts';
import { type PackedBudget, unpackBudget } from '../budgets/budgets.ts';
import type { AddedToBucket } from './queries.ts';
import type { Found, Reader } from './reader.ts';

/** Caches the budgets of organizations where appends are stored, each with the version that it is of. */
export type BudgetCache = {
  get(organizationNumber: number): ActiveBudgets | undefined;
  keep(organizationNumber: number, budgets: ActiveBudgets): void;
};

const ORGANIZATIONS_MAX = 1_000;

export function createBudgetCache(): BudgetCache {
  const known = new Map<number, ActiveBudgets>();
  return {
    get: (organizationNumber) => known.get(organizationNumber),
    keep(organizationNumber, budgets) {
      if (known.size >= ORGANIZATIONS_MAX) known.clear();
      known.set(organizationNumber, budgets);
    },
  };
}

/** What is added to buckets, in the order of their keys. */
export type WrittenBuckets = () => readonly AddedToBucket[];

type Deps = { readonly read: Reader; readonly budgets: BudgetCache };

/** A bucket with the changes of the batch, and the sums of these. */
type Changed = { readonly bucket: Bucket; readonly spentNanoUsd: bigint; readonly leasedNanoUsd: bigint };

export function createBatchBudgets({ read, budgets }: Deps, organizationNumber: number) {
  const changed = new Map<string, Changed>();
  let active: ActiveBudgets | undefined;

  function readActive(): ActiveBudgets {
    const known = budgets.get(organizationNumber);
    const [stored] = read('findBudgetVersion', { number: organizationNumber });
    // Not loaded yet: the run is void, and the rows that it looks for are loaded along.
    if (stored === undefined) return known ?? NO_BUDGETS;
    if (stored.budgetVersion === 0) return NO_BUDGETS;
    if (known?.version === stored.budgetVersion) return known;
    const rows = read('listActiveBudgets', { organizationNumber });
    const [first] = rows;
    if (first === undefined) return known ?? NO_BUDGETS;
    const compiled = compileBudgets(rows.flatMap(toBudgets), first.version);
    budgets.keep(organizationNumber, compiled);
    return compiled;
  }

  function findStored(key: BucketKey): Bucket | undefined {
    const [row] = read('findBucket', { organizationNumber, ...key });
    if (row === undefined) return undefined;
    const { spent, leased, periodEndsAtMs, marks } = row;
    return { ...key, periodEndsAtMs, marks, spentNanoUsd: BigInt(spent), leasedNanoUsd: BigInt(leased) };
  }

  const tables: BudgetTables = {
    active() {
      active ??= readActive();
      return active;
    },
    teamOf: (projectNumber) => read('findOwner', { projectNumber })[0]?.teamId ?? null,
    findBucket: (key) => changed.get(bucketName(key))?.bucket ?? findStored(key),
    changeBucket(key, { periodEndsAtMs, spentNanoUsd, leasedNanoUsd, marks }) {
      const before = tables.findBucket(key);
      const bucket: Bucket = {
        ...key,
        periodEndsAtMs,
        spentNanoUsd: (before?.spentNanoUsd ?? 0n) + spentNanoUsd,
        leasedNanoUsd: (before?.leasedNanoUsd ?? 0n) + leasedNanoUsd,
        marks: (before?.marks ?? 0) | marks,
      };
      const earlier = changed.get(bucketName(key));
      changed.set(bucketName(key), {
        bucket,
        spentNanoUsd: (earlier?.spentNanoUsd ?? 0n) + spentNanoUsd,
        leasedNanoUsd: (earlier?.leasedNanoUsd ?? 0n) + leasedNanoUsd,
      });
    },
  };
  const written: WrittenBuckets = () =>
    [...changed]
      .sort(([one], [other]) => (one < other ? -1 : 1))
      .map(([, change]) => toAdded(organizationNumber, change));
  return { tables, written };
}

/** Of an organization without budgets there is one row, of nulls. */
function toBudgets({ version: _, ...row }: Found<'listActiveBudgets'>): readonly Budget[] {
  return row.id === null ? [] : [unpackBudget(row as PackedBudget)];
}

function toAdded(
  organizationNumber: number,
  { bucket, spentNanoUsd: spent, leasedNanoUsd: leased }: Changed,
): AddedToBucket {
  const { budgetId, periodStartedAtMs, subject, periodEndsAtMs, marks } = bucket;
  return {
    ...{ organizationNumber, budgetId, periodStartedAtMs, subject, periodEndsAtMs, marks },
    ...{ spentHigh: highOf(spent), spentLow: lowOf(spent), leasedHigh: highOf(leased), leasedLow: lowOf(leased) },
  };
}

const LOW_BITS = 32;

function highOf(amount: bigint): number {
  return Number(amount >> BigInt(LOW_BITS));
}

function lowOf(amount: bigint): number {
  return Number(BigInt.asUintN(LOW_BITS, amount));
}

/** Leases with what they hold now, by name. */
export type WrittenLeases = ReadonlyMap<string, LeaseKey & { readonly nanoUsd: number }>;

/** The leases of budgets from which the admissions of a batch take. */
export function createBatchLeases(read: Reader) {
  const written = new Map<string, LeaseKey & { readonly nanoUsd: number }>();
  const nameOf = ({ organizationNumber, processId, fence, ...bucket }: LeaseKey) =>
    `${organizationNumber} ${bucketName(bucket)} ${processId} ${fence}`;
  const tables: Pick<LogTables, 'findLease' | 'changeLease'> = {
    findLease: (key) => (written.get(nameOf(key)) ?? read('findLease', key)[0])?.nanoUsd,
    changeLease: (key, nanoUsd) => void written.set(nameOf(key), { ...key, nanoUsd }),
  };
  return { tables, written };
}
