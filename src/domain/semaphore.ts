/** A semaphore whose permits are shared by owners, such as projects: waiting owners take turns. */

import { createOwnerQueue } from './owner-queue.ts';

export type SemaphoreOptions = {
  readonly permitsMax: number;
  /** How many permits one owner may hold; by default all. */
  readonly ofOwnerMax?: number;
  /** How many may wait; by default any number. */
  readonly waitingMax?: number;
  readonly waitingOfOwnerMax?: number;
};

/** All permits but one, so that long work of one owner cannot block the others. */
export function allButOne(permitsMax: number): number {
  return Math.max(1, permitsMax - 1);
}

export function createSemaphore<Owner = void>(options: SemaphoreOptions) {
  const { permitsMax, ofOwnerMax = permitsMax, waitingMax = Number.POSITIVE_INFINITY } = options;
  const acquired = new Map<Owner, number>();
  let acquiredTotal = 0;
  const waiting = createOwnerQueue<Owner, () => void>(waitingMax, options.waitingOfOwnerMax);

  function canAcquire(owner: Owner): boolean {
    return acquiredTotal < permitsMax && (acquired.get(owner) ?? 0) < ofOwnerMax;
  }

  function countPermit(owner: Owner): void {
    acquired.set(owner, (acquired.get(owner) ?? 0) + 1);
    acquiredTotal += 1;
  }

  return {
    /**
     * `full`, `owner_full`: too many wait, or too many of this owner. `stopped`: the signal was aborted. The caller MUST
     * `release` a permit that it acquired.
     */
    acquire(owner: Owner, signal?: AbortSignal): Promise<'acquired' | 'full' | 'owner_full' | 'stopped'> {
      if (signal?.aborted) return Promise.resolve('stopped');
      if (canAcquire(owner)) {
        countPermit(owner);
        return Promise.resolve('acquired');
      }
      return new Promise((resolve) => {
        const grant = () => {
          signal?.removeEventListener('abort', giveUp);
          countPermit(owner);
          resolve('acquired');
        };
        const giveUp = () => {
          waiting.remove(owner, grant);
          resolve('stopped');
        };
        const outcome = waiting.add(owner, grant);
        if (outcome === 'added') signal?.addEventListener('abort', giveUp, { once: true });
        else resolve(outcome);
      });
    },
    release(owner: Owner): void {
      const left = (acquired.get(owner) ?? 0) - 1;
      if (left > 0) acquired.set(owner, left);
      else acquired.delete(owner);
      acquiredTotal -= 1;
      // The permit passes directly to the next waiter, so a new caller cannot take it in between.
      waiting.next(canAcquire)?.();
    },
  };
}
