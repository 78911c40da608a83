/** Keeps work under the same key from overlapping; work under other keys does not wait. */

export type KeyedMutex = {
  /** Runs the work once all earlier work under the key has ended, whether it succeeded or failed. */
  run<R>(key: string, work: () => Promise<R>): Promise<R>;
  /** Waits for all earlier holders of the key. The returned function releases it and must be called. */
  acquire(key: string): Promise<() => void>;
  /** Whether the key is held. */
  isHeld(key: string): boolean;
};

export function createKeyedMutex(): KeyedMutex {
  /** By key, the promise of the last holder in the queue. */
  const lastHolders = new Map<string, Promise<void>>();

  async function acquire(key: string): Promise<() => void> {
    const before = lastHolders.get(key);
    const { promise: released, resolve } = Promise.withResolvers<void>();
    lastHolders.set(key, released);
    await before;
    return () => {
      if (lastHolders.get(key) === released) lastHolders.delete(key);
      resolve();
    };
  }

  return {
    acquire,
    async run(key, work) {
      const release = await acquire(key);
      try {
        return await work();
      } finally {
        release();
      }
    },
    isHeld: (key) => lastHolders.has(key),
  };
}
