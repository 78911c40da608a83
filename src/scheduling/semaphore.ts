/** A semaphore whose permits are shared by owners, such as projects: waiting owners take turns. */

import { createOwnerQueue, type OwnerQueue } from './owner-queue.ts';

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
  const acquired = createCounts<Owner>();
  return createSemaphoreOf<Owner>({
    canAcquire: (owner) => acquired.total() < permitsMax && acquired.of(owner) < ofOwnerMax,
    count: acquired.add,
    waiting: createOwnerQueue(waitingMax, options.waitingOfOwnerMax),
  });
}

export type Counts<Owner> = ReturnType<typeof createCounts<Owner>>;

/** How many each owner has. */
export function createCounts<Owner>() {
  const counts = new Map<Owner, number>();
  let total = 0;
  return {
    of: (owner: Owner) => counts.get(owner) ?? 0,
    total: () => total,
    add(owner: Owner, change: number): void {
      const count = (counts.get(owner) ?? 0) + change;
      if (count > 0) counts.set(owner, count);
      else counts.delete(owner);
      total += change;
    },
  };
}

type Shares<Owner> = {
  readonly canAcquire: (owner: Owner) => boolean;
  /** Called for each permit that an owner gets or gives back. */
  readonly count: (owner: Owner, change: 1 | -1) => void;
  readonly waiting: Pick<OwnerQueue<Owner, () => void>, 'add' | 'remove' | 'next'>;
};

export function createSemaphoreOf<Owner>({ canAcquire, count, waiting }: Shares<Owner>) {
  return {
    /**
     * `full`, `owner_full`: too many wait, or too many of this owner. `stopped`: the signal was aborted. The caller MUST
     * `release` a permit that it acquired.
     */
    acquire(owner: Owner, signal?: AbortSignal): Promise<'acquired' | 'full' | 'owner_full' | 'stopped'> {
      if (signal?.aborted) return Promise.resolve('stopped');
      if (canAcquire(owner)) {
        count(owner, 1);
        return Promise.resolve('acquired');
      }
      return new Promise((resolve) => {
        const grant = () => {
          signal?.removeEventListener('abort', giveUp);
          count(owner, 1);
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
      count(owner, -1);
      // The permit passes directly to the next waiter, so a new caller cannot take it in between.
      waiting.next(canAcquire)?.();
    },
  };
}
