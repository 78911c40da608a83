/** Idempotency keys: claimed before an effect, and completed by the transaction of the effect. */

import type { ClaimInstants, ManagementStore, Receipt, ReceiptName } from '../../domain/management.ts';
import type { Managing } from '../management.ts';
import type { Changing } from '../questions.ts';

type Claim = { readonly name: ReceiptName; readonly fingerprint: Buffer; readonly at: ClaimInstants };

// More than one, so that what is forgotten goes faster than it comes.
const SWEPT_PER_CLAIM = 10;
// Each round is lost to somebody else who claims or lets go at the same moment.
const ROUNDS_MAX = 10;

/** Each claim also removes a few receipts that count no more. */
export function createReceipts({ transact }: Managing): Pick<ManagementStore, 'claim' | 'release'> {
  return {
    claim: (name, fingerprint, at) => transact((tx) => claim(tx, { name, fingerprint, at })),
    release: (name) => transact(async (tx) => void (await tx.change(tx.questions.organization.releaseClaim, name))),
  };

  async function claim(tx: Changing, { name, fingerprint, at }: Claim): Promise<'claimed' | 'running' | Receipt> {
    const fresh = { ...name, fingerprint, claimedAtMs: at.nowMs, answer: null };
    for (let round = 0; round < ROUNDS_MAX; round += 1) {
      const [known] = await tx.ask(tx.questions.organization.findReceipt, name);
      if (known === undefined) {
        if ((await tx.change(tx.questions.organization.insertClaim, fresh)) === 0) continue;
        await tx.change(tx.questions.organization.sweepReceipts, {
          beforeMs: at.forgottenBeforeMs,
          limit: SWEPT_PER_CLAIM,
        });
        return 'claimed';
      }
      const { answer, claimedAtMs } = known;
      if (claimedAtMs >= (answer ? at.forgottenBeforeMs : at.staleBeforeMs)) {
        return answer ? { name, fingerprint: known.fingerprint, answer } : 'running';
      }
      if ((await tx.change(tx.questions.organization.takeOver, { ...fresh, knownAtMs: claimedAtMs })) > 0)
        return 'claimed';
    }
    return 'running';
  }
}
