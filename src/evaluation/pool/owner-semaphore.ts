/** A semaphore whose permits are shared by owners (projects): no owner holds all of them, and waiting owners take turns. */

import { createOwnerQueue } from './owner-queue.ts';

export type OwnerSemaphore = {
  /** `full`: too many wait. `stopped`: the signal was aborted. The caller MUST `release` a permit that it acquired. */
  acquire(owner: string, signal: AbortSignal): Promise<'acquired' | 'full' | 'stopped'>;
  release(owner: string): void;
};

export type OwnerSemaphoreOptions = {
  readonly permitsMax: number;
  readonly waitingMax: number;
};

/** How many permits one owner may hold: all but one, so that long work of one owner cannot block the others. */
export function permitsOfOwner(permitsMax: number): number {
  return Math.max(1, permitsMax - 1);
}

export function createOwnerSemaphore({ permitsMax, waitingMax }: OwnerSemaphoreOptions): OwnerSemaphore {
  const ofOwnerMax = permitsOfOwner(permitsMax);
  const acquired = new Map<string, number>();
  let acquiredTotal = 0;
  const waiting = createOwnerQueue<() => void>(waitingMax);

  function canAcquire(owner: string): boolean {
    return acquiredTotal < permitsMax && (acquired.get(owner) ?? 0) < ofOwnerMax;
  }

  function countPermit(owner: string): void {
    acquired.set(owner, (acquired.get(owner) ?? 0) + 1);
    acquiredTotal += 1;
  }

  return {
    acquire(owner, signal) {
      if (signal.aborted) return Promise.resolve('stopped');
      if (canAcquire(owner)) {
        countPermit(owner);
        return Promise.resolve('acquired');
      }
      return new Promise((resolve) => {
        const grant = () => {
          signal.removeEventListener('abort', giveUp);
          countPermit(owner);
          resolve('acquired');
        };
        const giveUp = () => {
          waiting.remove(owner, grant);
          resolve('stopped');
        };
        if (waiting.add(owner, grant)) signal.addEventListener('abort', giveUp, { once: true });
        else resolve('full');
      });
    },
    release(owner) {
      const left = (acquired.get(owner) ?? 0) - 1;
      if (left > 0) acquired.set(owner, left);
      else acquired.delete(owner);
      acquiredTotal -= 1;
      // The permit passes directly to the next waiter, so a new caller cannot take it in between.
      waiting.next(canAcquire)?.();
    },
  };
}
