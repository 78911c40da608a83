/** Queries of buckets of budgets, of their leases, and of rate limits. */

import { sql } from 'kysely';
import type { BucketKey } from '../../domain/budgets/budget.ts';
import type { BudgetPeriod } from '../../domain/budgets/budget-store.ts';
import type { LeaseKey } from '../../domain/gateway/lease-store.ts';
import { columns, insertNew, pick, remove, rowsOf, select, update } from '../plain-queries.ts';
import { change, changeRows, query } from '../queries.ts';

/** As text: a double would round large sums. */
const sumText = (column: 'spentNanoUsd' | 'leasedNanoUsd') =>
  sql<string>`cast(coalesce(sum(${sql.ref(column)}), 0) as text)`;

export const sumPeriod = query<BudgetPeriod & { readonly organizationNumber: number }>()(
  (db, { organizationNumber, budgetId, periodStartedAtMs }) =>
    rowsOf(db, 'BudgetBucket', { organizationNumber, budgetId, periodStartedAtMs }).select([
      sumText('spentNanoUsd').as('spent'),
      sumText('leasedNanoUsd').as('leased'),
    ]),
);

type OfBucket = BucketKey & { readonly organizationNumber: number };
type RenewedLease = LeaseKey & { readonly renewedAtMs: number };

const BUCKET = ['organizationNumber', 'budgetId', 'periodStartedAtMs', 'subject'] as const;
const LEASE = [...BUCKET, 'processId', 'fence'] as const;

/** Renews a lease, or begins one that holds nothing. Locks it. */
export const touchLease = change<RenewedLease & { readonly nanoUsd: number }>((db, params, { insert }) =>
  insert(db, 'BudgetLease', params).onConflict((known) =>
    known.columns([...LEASE]).doUpdateSet(({ ref }) => ({ renewedAtMs: ref('excluded.renewedAtMs') })),
  ),
);

export const findLimit = query<{ readonly organizationId: string; readonly budgetId: string }>()(
  (db, { organizationId, budgetId }) =>
    rowsOf(db, 'Budget', { organizationId, id: budgetId })
      .where('archivedAtMs', 'is', null)
      .select('limitNanoUsd as limitNanoUsd'),
);

export const insertBucket = insertNew('BudgetBucket');

/** Amounts as text: they may exceed what a double holds exactly. */
export const lockBucket = query<OfBucket>()((db, key, { lock }) =>
  lock(
    rowsOf(db, 'BudgetBucket', pick(key, ...BUCKET)).select([
      textOf('spentNanoUsd').as('spent'),
      textOf('leasedNanoUsd').as('leased'),
    ]),
  ),
);

function textOf(column: string) {
  return sql<string>`cast(${sql.ref(column)} as text)`;
}

/** The only statement that leases more of a bucket: it changes nothing where spent and leased would exceed the limit. */
export const leaseOfBucket = change<OfBucket & { readonly nanoUsd: number; readonly limitNanoUsd: number }>(
  (db, params, dialect) => {
    const { nanoUsd, limitNanoUsd } = params;
    return dialect
      .update(db, 'BudgetBucket', pick(params, ...BUCKET))
      .where(sql<boolean>`${sql.ref('spentNanoUsd')} + ${sql.ref('leasedNanoUsd')} + ${nanoUsd} <= ${limitNanoUsd}`)
      .set(({ eb }) => ({ leasedNanoUsd: eb('leasedNanoUsd', '+', nanoUsd) }));
  },
);

export const addToLease = change<LeaseKey & { readonly nanoUsd: number }>((db, params, dialect) =>
  dialect
    .update(db, 'BudgetLease', pick(params, ...LEASE))
    .set(({ eb }) => ({ nanoUsd: eb('nanoUsd', '+', params.nanoUsd) })),
);

export const findLeaseAmount = select('BudgetLease', LEASE, ['nanoUsd']);

export const renewLeases = update('BudgetLease', ['processId'], ['renewedAtMs']);

/** The leases of a process, with what their buckets have spent and leased above their limits, as text. */
export const listLeases = query<{ readonly processId: string }>()((db, { processId }) =>
  db
    .selectFrom('BudgetLease as lease')
    .innerJoin('BudgetBucket as bucket', (join) =>
      join
        .onRef('bucket.organizationNumber', '=', 'lease.organizationNumber')
        .onRef('bucket.budgetId', '=', 'lease.budgetId')
        .onRef('bucket.periodStartedAtMs', '=', 'lease.periodStartedAtMs')
        .onRef('bucket.subject', '=', 'lease.subject'),
    )
    .innerJoin('Organization as organization', 'organization.number', 'lease.organizationNumber')
    .innerJoin('Budget as budget', (join) =>
      join.onRef('budget.organizationId', '=', 'organization.id').onRef('budget.id', '=', 'lease.budgetId'),
    )
    .where('lease.processId', '=', processId)
    .select(columns('lease', ...LEASE))
    .select(
      sql<string>`cast(${sql.ref('bucket.spentNanoUsd')} + ${sql.ref('bucket.leasedNanoUsd')}
        - ${sql.ref('budget.limitNanoUsd')} as text)`.as('excess'),
    ),
);

/** Those not renewed since an instant. */
export const listOldLeases = query<{ readonly renewedByMs: number; readonly limit: number }>()(
  (db, { renewedByMs, limit }) =>
    db
      .selectFrom('BudgetLease')
      .where('renewedAtMs', '<=', renewedByMs)
      .select(columns('BudgetLease', ...LEASE))
      .orderBy('renewedAtMs')
      .limit(limit),
);

/** Locks a lease that was not renewed since an instant. */
export const lockLease = query<LeaseKey & { readonly renewedByMs: number }>()((db, params, { lock }) =>
  lock(
    rowsOf(db, 'BudgetLease', pick(params, ...LEASE))
      .where('renewedAtMs', '<=', params.renewedByMs)
      .select('nanoUsd as nanoUsd'),
  ),
);

export const removeLease = remove('BudgetLease', LEASE);

/** Frees what an ended lease has held. */
export const freeOfBucket = changeRows<OfBucket & { readonly freedNanoUsd: number }>((db, params, dialect) =>
  dialect
    .update(db, 'BudgetBucket', pick(params, ...BUCKET))
    .set(({ eb }) => ({ leasedNanoUsd: eb('leasedNanoUsd', '-', params.freedNanoUsd) })),
);

const RATE = ['organizationNumber', 'virtualKeyId', 'dimension'] as const;

export const insertRateBucket = insertNew('RateBucket');

export const lockRateBucket = query<Pick<RateKey, (typeof RATE)[number]>>()((db, key, { lock }) =>
  lock(rowsOf(db, 'RateBucket', pick(key, ...RATE)).select(columns('RateBucket', 'level', 'filledAtMs'))),
);

export const updateRateBucket = update('RateBucket', RATE, ['level', 'filledAtMs']);

type RateKey = {
  readonly organizationNumber: number;
  readonly virtualKeyId: string;
  readonly dimension: 'rpm' | 'tpm' | 'rpd';
};
