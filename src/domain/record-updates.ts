/** Records that are replaced whole, only while they are as they were read. */

import { unavailableFault } from './fault.ts';

type Updated = { readonly id: string; readonly updatedAtMs: number };

// Every failed attempt means that another request succeeded, so a long series means heavy contention.
const ATTEMPTS_MAX = 50;
const RETRY_AFTER_SECONDS = 1;

/** Repeats an attempt, which reads the record each time, while others change it. */
export async function retryStale<Changed>(
  refusal: string,
  attempt: () => Promise<Changed | 'stale'>,
  attemptsMax = ATTEMPTS_MAX,
): Promise<Changed> {
  for (let round = 0; round < attemptsMax; round += 1) {
    const changed = await attempt();
    if (changed !== 'stale') return changed;
  }
  throw unavailableFault(refusal, RETRY_AFTER_SECONDS);
}

/** Strictly increasing, so that it identifies one state of the record. */
export function nextUpdateMs(stored: Updated, nowMs: number): number {
  return Math.max(nowMs, stored.updatedAtMs + 1);
}

/** The last updated first, then by id. */
export function byLastUpdate(one: Updated, other: Updated): number {
  return other.updatedAtMs - one.updatedAtMs || (one.id < other.id ? -1 : 1);
}
