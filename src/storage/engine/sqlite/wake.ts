/** Tells those who listen, soon, that there may be something new. */

export type Wake = {
  /** However often it is called, those who listen are told once. */
  notify(): void;
  /** Answers how to stop. */
  listen(wake: () => void): () => void;
};

export function createWake(): Wake {
  const listeners = new Set<() => void>();
  let isPending = false;

  function tell(): void {
    isPending = false;
    for (const wake of listeners) wake();
  }

  return {
    notify() {
      if (isPending || listeners.size === 0) return;
      isPending = true;
      setImmediate(tell);
    },
    listen(wake) {
      // One function may be handed over twice.
      const listener = () => wake();
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}
