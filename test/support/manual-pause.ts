/** Pauses that end when a test ends them. */

export type ManualPause = {
  readonly pause: (delayMs: number, signal: AbortSignal) => Promise<void>;
  /** The delays of the pending waits. */
  readonly waiting: () => readonly number[];
  /** Ends every pending wait; resolves after the code that waited has run on. */
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
