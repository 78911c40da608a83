/** Proves again what many streams present alike: once for all of them, as long as that was hardly ago. */

export type ShareProof = (presented: string, prove: () => Promise<void>) => Promise<void>;

/** A proof counts for those who ask for it so soon after it has begun. */
const SHARED_MS = 500;
/** Of proofs that are remembered. */
const SHARED_MAX = 10_000;

type Proof = { readonly atMs: number; readonly outcome: Promise<void> };

export function createShareProof(monotonicMs: () => number): ShareProof {
  const proofs = new Map<string, Proof>();

  function forget(nowMs: number): void {
    for (const [presented, { atMs }] of proofs) {
      if (nowMs - atMs < SHARED_MS && proofs.size <= SHARED_MAX) break;
      proofs.delete(presented);
    }
  }

  return (presented, prove) => {
    const nowMs = monotonicMs();
    forget(nowMs);
    const known = proofs.get(presented);
    if (known !== undefined) return known.outcome;
    const outcome = prove();
    proofs.set(presented, { atMs: nowMs, outcome });
    return outcome;
  };
}
