/** Whether the store works, for callers without a credential: their number does not change how often the store is checked. */

import { shareRead } from './shared-read.ts';

/** How long a result is reused. */
const FRESH_MS = 250;

export function shareReadiness(ready: () => Promise<void>, monotonicMs: () => number): () => Promise<boolean> {
  const check = () =>
    ready().then(
      () => true,
      () => false,
    );
  const read = shareRead(check, monotonicMs, FRESH_MS);
  // A store that takes too long counts as not ready.
  return () => read().catch(() => false);
}
