/** Shares one recheck among all streams with the same credentials and rpc, if it began less than half a second ago. */

export type ShareRecheck = (presented: string, prove: () => Promise<void>) => Promise<void>;

/** How long a recheck is shared after it has begun. */
const SHARED_MS = 500;
/** The most rechecks in memory. */
const SHARED_MAX = 10_000;

type Recheck = { readonly atMs: number; readonly outcome: Promise<void> };

export function createRecheckSharing(monotonicMs: () => number): ShareRecheck {
  const rechecks = new Map<string, Recheck>();

  function dropOlder(nowMs: number): void {
    for (const [presented, { atMs }] of rechecks) {
      if (nowMs - atMs < SHARED_MS && rechecks.size <= SHARED_MAX) break;
      rechecks.delete(presented);
    }
  }

  return (presented, prove) => {
    const nowMs = monotonicMs();
    dropOlder(nowMs);
    const cached = rechecks.get(presented);
    if (cached !== undefined) return cached.outcome;
    const outcome = prove();
    rechecks.set(presented, { atMs: nowMs, outcome });
    return outcome;
  };
}
