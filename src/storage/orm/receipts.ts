/** Idempotency keys: claimed before an effect, and completed by the transaction of the effect. */

import { type EntityManager, type InferEntity, LockMode, UniqueConstraintViolationException } from '@mikro-orm/core';
import type { ClaimInstants, Receipt, ReceiptName } from '../../domain/management.ts';
import { toBuffer } from '../rows/bytes.ts';
import { IdempotencyReceipt } from '../tables/audit.ts';

export type Claim = { readonly name: ReceiptName; readonly fingerprint: Uint8Array; readonly at: ClaimInstants };

// More than one, so that what is forgotten goes faster than it comes.
const SWEPT_PER_CLAIM = 10;
// Each round is lost to somebody else who claims or lets go at the same moment.
const ROUNDS_MAX = 10;

/** See ManagementStore.claim. Each claim also removes a few receipts that count no more. */
export async function claim(fork: () => EntityManager, { name, fingerprint, at }: Claim) {
  for (let round = 0; round < ROUNDS_MAX; round += 1) {
    const known = await fork().findOne(IdempotencyReceipt, pick(name));
    const taken = known === null ? await insertClaim(fork(), { name, fingerprint, at }) : null;
    if (taken === true) {
      await sweep(fork(), at.forgottenBeforeMs);
      return 'claimed';
    }
    if (known === null) continue;
    if (known.claimedAtMs >= (known.answer ? at.forgottenBeforeMs : at.staleBeforeMs)) return answerOf(name, known);
    if (await takeOver(fork(), { name, fingerprint, at }, known)) return 'claimed';
  }
  return 'running';
}

function answerOf(name: ReceiptName, { fingerprint, answer }: Row): 'running' | Receipt {
  return answer ? { name, fingerprint: toBuffer(fingerprint), answer: toBuffer(answer) } : 'running';
}

type Row = InferEntity<typeof IdempotencyReceipt>;

async function insertClaim(em: EntityManager, { name, fingerprint, at }: Claim): Promise<boolean> {
  try {
    await em.insert(IdempotencyReceipt, {
      ...pick(name),
      fingerprint: toBuffer(fingerprint),
      claimedAtMs: at.nowMs,
    });
    return true;
  } catch (error) {
    if (error instanceof UniqueConstraintViolationException) return false;
    throw error;
  }
}

/** Of several who try at once one succeeds: the others find another instant in the row. */
async function takeOver(em: EntityManager, { name, fingerprint, at }: Claim, known: Row): Promise<boolean> {
  const taken = await em.nativeUpdate(
    IdempotencyReceipt,
    { ...pick(name), claimedAtMs: known.claimedAtMs, answer: known.answer ? { $ne: null } : null },
    { fingerprint: toBuffer(fingerprint), claimedAtMs: at.nowMs, answer: null },
  );
  return taken > 0;
}

async function sweep(em: EntityManager, forgottenBeforeMs: number): Promise<void> {
  await em.transactional(async (tx) => {
    const forgotten = await tx.find(
      IdempotencyReceipt,
      { claimedAtMs: { $lt: forgottenBeforeMs } },
      // Rows that another process is removing are left to it.
      { orderBy: { claimedAtMs: 'asc' }, limit: SWEPT_PER_CLAIM, lockMode: LockMode.PESSIMISTIC_PARTIAL_WRITE },
    );
    for (const receipt of forgotten) {
      await tx.nativeDelete(IdempotencyReceipt, { ...pick(receipt), claimedAtMs: receipt.claimedAtMs });
    }
  });
}

/** See ManagementStore.release. What has an answer stays. */
export async function release(em: EntityManager, name: ReceiptName): Promise<void> {
  await em.nativeDelete(IdempotencyReceipt, { ...pick(name), answer: null });
}

/** False when the claim is complete, or somebody else's, or gone. Nobody takes it over before the transaction ends. */
export async function holdClaim(tx: EntityManager, { name, fingerprint }: Receipt): Promise<boolean> {
  const claimed = { ...pick(name), fingerprint: toBuffer(fingerprint), answer: null };
  return (await tx.findOne(IdempotencyReceipt, claimed, { lockMode: LockMode.PESSIMISTIC_WRITE })) !== null;
}

export async function complete(tx: EntityManager, { name, answer }: Receipt): Promise<void> {
  await tx.nativeUpdate(IdempotencyReceipt, pick(name), { answer: toBuffer(answer) });
}

function pick({ organizationId, keyId, operation, value }: ReceiptName): ReceiptName {
  return { organizationId, keyId, operation, value };
}
