/** Notifies listeners soon that there may be something new. */

export type Wake = {
  /** Several calls before listeners are notified count as one. */
  notify(): void;
  /** Answers a function that removes the listener. */
  listen(wake: () => void): () => void;
};

export function createWake(): Wake {
  const listeners = new Set<() => void>();
  let isPending = false;

  function notifyListeners(): void {
    isPending = false;
    for (const wake of listeners) wake();
  }

  return {
    notify() {
      if (isPending || listeners.size === 0) return;
      isPending = true;
      setImmediate(notifyListeners);
    },
    listen(wake) {
      // The same function may be registered twice.
      const listener = () => wake();
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}
