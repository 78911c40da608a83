/** Caches reads of the store: /metrics needs no credential, so frequent scrapes must not load the store. */

import { waitAtMost } from '../transport/wait-at-most.ts';

/** How long a result is reused. */
const FRESH_MS = 5_000;
/** After this time the scrape leaves the metric out. */
const TIMEOUT_MS = 2_000;

export function shareRead<T>(read: () => Promise<T>, monotonicMs: () => number): () => Promise<T> {
  let current: { readonly answer: Promise<T>; endedAtMs: number | null } | null = null;

  function begin(): Promise<T> {
    const mine: NonNullable<typeof current> = { answer: read(), endedAtMs: null };
    current = mine;
    mine.answer.then(
      () => {
        mine.endedAtMs = monotonicMs();
      },
      () => {
        if (current === mine) current = null;
      },
    );
    return mine.answer;
  }

  return () => {
    const isUsable = current !== null && (current.endedAtMs === null || monotonicMs() - current.endedAtMs < FRESH_MS);
    return waitAtMost(isUsable && current !== null ? current.answer : begin(), TIMEOUT_MS);
  };
}
