/** Idempotency keys: claimed before the effect, and completed in the transaction of the effect. */

import { LockMode } from '@mikro-orm/core';
import { AHEAD_MAX_MS } from '../../domain/clock.ts';
import type { ClaimInstants, ManagementStore, Receipt, ReceiptName } from '../../domain/management/management.ts';
import { IdempotencyReceipt } from '../entities/organization.ts';
import type { EntityManager } from '../mapper.ts';
import type { Row } from '../queries.ts';
import type { Units } from './units.ts';

type Claim = { readonly name: ReceiptName; readonly fingerprint: Buffer; readonly at: ClaimInstants };

// More than one, so that expired receipts are removed faster than new ones are stored.
const REMOVED_PER_CLAIM = 10;
// An attempt fails only when another claim or release happens at the same moment.
const ATTEMPTS_MAX = 10;

/** Each claim also removes a few expired receipts. */
export function createReceipts({ transact }: Units): Pick<ManagementStore, 'claim' | 'release'> {
  return {
    claim: (name, fingerprint, at) => transact(({ em }) => claim(em, { name, fingerprint, at })),
    // Receipts with an answer stay.
    release: (name) =>
      transact(async ({ em }) => void (await em.nativeDelete(IdempotencyReceipt, { ...name, answer: null }))),
  };
}

async function claim(em: EntityManager, { name, fingerprint, at }: Claim): Promise<'claimed' | 'running' | Receipt> {
  const fresh = { fingerprint, claimedAtMs: at.nowMs, answer: null };
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt += 1) {
    // Not managed: another attempt reads the row again.
    const known = await em.findOne(IdempotencyReceipt, name, { disableIdentityMap: true });
    if (known === null) {
      if (!(await insertNew(em, { ...name, ...fresh }))) continue;
      await removeExpired(em, at.expiredBeforeMs);
      return 'claimed';
    }
    const { answer, claimedAtMs } = known;
    if (answer && claimedAtMs >= at.expiredBeforeMs) return { name, fingerprint: known.fingerprint, answer };
    // A later claim was made by a clock that was ahead.
    if (!answer && claimedAtMs >= at.staleBeforeMs && claimedAtMs <= at.nowMs + AHEAD_MAX_MS) return 'running';
    // Of several concurrent attempts one succeeds: the others find another instant in the row.
    if ((await em.nativeUpdate(IdempotencyReceipt, { ...name, claimedAtMs }, fresh)) > 0) return 'claimed';
  }
  return 'running';
}

async function insertNew(em: EntityManager, row: Row<'IdempotencyReceipt'>): Promise<boolean> {
  const insert = em.createQueryBuilder(IdempotencyReceipt).insert(row).onConflict().ignore();
  return (await insert.execute('run')).affectedRows > 0;
}

/** Skips rows that another process is removing. */
async function removeExpired(em: EntityManager, beforeMs: number): Promise<void> {
  const expired = await em.find(
    IdempotencyReceipt,
    { claimedAtMs: { $lt: beforeMs } },
    {
      fields: ['claimedAtMs'],
      orderBy: { claimedAtMs: 'asc' },
      limit: REMOVED_PER_CLAIM,
      lockMode: LockMode.PESSIMISTIC_PARTIAL_WRITE,
    },
  );
  for (const receipt of expired) em.remove(receipt);
}
