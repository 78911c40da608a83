/** A semaphore: bounds how many jobs run at once; the others wait in the order they came. */

export type Semaphore = {
  /** Resolves with true once there is a permit, or with false after `waitMaxMs`. */
  acquire(waitMaxMs?: number): Promise<boolean>;
  release(): void;
};

export function createSemaphore(permits: number): Semaphore {
  const waiting = new Set<(acquired: boolean) => void>();
  let running = 0;
  return {
    acquire(waitMaxMs) {
      if (running < permits) {
        running += 1;
        return Promise.resolve(true);
      }
      return new Promise((resolve) => {
        const settle = (acquired: boolean) => {
          clearTimeout(timer);
          waiting.delete(settle);
          resolve(acquired);
        };
        const timer = waitMaxMs === undefined ? undefined : setTimeout(() => settle(false), waitMaxMs);
        waiting.add(settle);
      });
    },
    release() {
      const [next] = waiting;
      if (next) next(true);
      else running -= 1;
    },
  };
}
