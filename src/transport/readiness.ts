/** Whether the store works, for callers without a credential: their number does not change how often the store is checked. */

import { waitAtMost } from './wait-at-most.ts';

/** How long a result is reused. */
const FRESH_MS = 250;
/** A store that takes longer counts as not ready. */
const TIMEOUT_MS = 2_000;

export function shareReadiness(ready: () => Promise<void>, monotonicMs: () => number): () => Promise<boolean> {
  let check: Promise<boolean> | null = null;
  let answer: Promise<boolean> | null = null;
  let checkedAtMs: number | null = null;

  /** Starts no second check while one is pending, for example on a store that hangs. */
  function startCheck(): Promise<boolean> {
    check ??= ready()
      .then(
        () => true,
        () => false,
      )
      .finally(() => {
        check = null;
      });
    return check;
  }

  async function awaitCheck(): Promise<boolean> {
    checkedAtMs = null;
    const isReady = await waitAtMost(startCheck(), TIMEOUT_MS).catch(() => false);
    checkedAtMs = monotonicMs();
    return isReady;
  }

  return () => {
    const isStale = checkedAtMs !== null && monotonicMs() - checkedAtMs >= FRESH_MS;
    if (answer === null || isStale) answer = awaitCheck();
    return answer;
  };
}
