/** Waiting that ends when a test says so. */

export type ManualPause = {
  readonly pause: (delayMs: number, signal: AbortSignal) => Promise<void>;
  /** How long those who wait now want to wait. */
  readonly waiting: () => readonly number[];
  /** Ends every wait that has begun, and lets everybody go on until they wait again. */
  readonly pass: () => Promise<void>;
};

type Waiter = { readonly delayMs: number; readonly end: () => void };

export function createManualPause(): ManualPause {
  const waiters = new Set<Waiter>();
  return {
    pause: (delayMs, signal) =>
      new Promise((resolve) => {
        const waiter = {
          delayMs,
          end: () => {
            waiters.delete(waiter);
            resolve();
          },
        };
        if (signal.aborted) return resolve();
        waiters.add(waiter);
        signal.addEventListener('abort', waiter.end);
      }),
    waiting: () => [...waiters].map(({ delayMs }) => delayMs),
    async pass() {
      for (const waiter of [...waiters]) waiter.end();
      await new Promise((resolve) => setImmediate(resolve));
    },
  };
}
