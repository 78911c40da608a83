/**
 * Answers that other processes may change at any moment: none is older than the question. Whoever asks while a read
 * runs waits for the next one and shares it, so that however many ask, one read runs and one waits.
 */

/** Gives every caller what a read answered that began after the call. */
export function createFreshness<T>(read: () => Promise<T>): () => Promise<T> {
  let running: Promise<unknown> = Promise.resolve();
  let waiting: Promise<T> | null = null;

  function start(): Promise<T> {
    waiting = null;
    const started = read();
    running = started;
    return started;
  }

  return () => {
    waiting ??= running.then(start, start);
    return waiting;
  };
}

/** The same for answers by name: one read answers for all names that were asked meanwhile. Null for names it leaves out. */
export function createFreshLookup<V>(
  readAll: (names: readonly string[]) => Promise<ReadonlyMap<string, V>>,
): (name: string) => Promise<V | null> {
  let asked = new Set<string>();
  const answers = createFreshness(() => {
    const names = [...asked];
    asked = new Set();
    return readAll(names);
  });
  return async (name) => {
    asked.add(name);
    return (await answers()).get(name) ?? null;
  };
}
