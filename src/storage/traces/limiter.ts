/** A semaphore with a bounded queue. */

import { unavailableFault } from '../../domain/fault.ts';

/** Rejects with the unavailable Fault when the queue is full. */
export type Limiter = <T>(work: () => Promise<T>) => Promise<T>;

const RETRY_AFTER_SECONDS = 1;

export function createLimiter(limits: { readonly runningMax: number; readonly waitingMax: number }): Limiter {
  const waiting: (() => void)[] = [];
  let running = 0;

  async function begin(): Promise<void> {
    if (running < limits.runningMax) {
      running += 1;
      return;
    }
    if (waiting.length >= limits.waitingMax) {
      throw unavailableFault('Too many large traces are being read; try again.', RETRY_AFTER_SECONDS);
    }
    await new Promise<void>((resolve) => waiting.push(resolve));
  }

  return async (work) => {
    await begin();
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      // The permit passes to the next in the queue.
      if (next === undefined) running -= 1;
      else next();
    }
  };
}
