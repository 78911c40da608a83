/** Idempotency keys: claimed before the effect, and completed in the transaction of the effect. */

import type { ClaimInstants, ManagementStore, Receipt, ReceiptName } from '../../domain/management/management.ts';
import type { Transact, Transaction } from '../queries.ts';

type Claim = { readonly name: ReceiptName; readonly fingerprint: Buffer; readonly at: ClaimInstants };

// More than one, so that expired receipts go faster than new ones come.
const REMOVED_PER_CLAIM = 10;
// An attempt fails only when another claim or release happens at the same moment.
const ATTEMPTS_MAX = 10;

/** Each claim also removes a few expired receipts. */
export function createReceipts(transact: Transact): Pick<ManagementStore, 'claim' | 'release'> {
  return {
    claim: (name, fingerprint, at) => transact((tx) => claim(tx, { name, fingerprint, at })),
    release: (name) => transact(async (tx) => void (await tx.change(tx.queries.organization.releaseClaim, name))),
  };

  async function claim(tx: Transaction, { name, fingerprint, at }: Claim): Promise<'claimed' | 'running' | Receipt> {
    const fresh = { ...name, fingerprint, claimedAtMs: at.nowMs, answer: null };
    for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt += 1) {
      const [known] = await tx.runQuery(tx.queries.organization.findReceipt, name);
      if (known === undefined) {
        if ((await tx.change(tx.queries.organization.insertClaim, fresh)) === 0) continue;
        await tx.change(tx.queries.organization.removeOldReceipts, {
          beforeMs: at.forgottenBeforeMs,
          limit: REMOVED_PER_CLAIM,
        });
        return 'claimed';
      }
      const { answer, claimedAtMs } = known;
      if (claimedAtMs >= (answer ? at.forgottenBeforeMs : at.staleBeforeMs)) {
        return answer ? { name, fingerprint: known.fingerprint, answer } : 'running';
      }
      if ((await tx.change(tx.queries.organization.takeOver, { ...fresh, knownAtMs: claimedAtMs })) > 0)
        return 'claimed';
    }
    return 'running';
  }
}
