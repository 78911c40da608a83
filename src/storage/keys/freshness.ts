/**
 * Shares reads without ever answering with an outdated value: a call during a read waits for the next read, so that one
 * read runs and at most one waits, however many callers there are.
 */

/**
 * Every call gets the result of a read that began after the call. A read begins when `pause` resolves; calls until then share
 * it.
 */
export function createFreshness<T>(
  read: () => Promise<T>,
  pause: (() => Promise<unknown>) | null = null,
): () => Promise<T> {
  let running: Promise<unknown> = Promise.resolve();
  let waiting: Promise<T> | null = null;

  function start(): Promise<T> {
    waiting = null;
    const started = read();
    running = started;
    return started;
  }

  const begin = pause === null ? start : () => pause().then(start);
  return () => {
    waiting ??= running.then(begin, begin);
    return waiting;
  };
}

/** The same for values by name: one read returns all names requested meanwhile. Null for names it does not find. */
export function createFreshLookup<V>(
  readAll: (names: readonly string[]) => Promise<ReadonlyMap<string, V>>,
): (name: string) => Promise<V | null> {
  let requested = new Set<string>();
  const readRequested = createFreshness(() => {
    const names = [...requested];
    requested = new Set();
    return readAll(names);
  });
  return async (name) => {
    requested.add(name);
    return (await readRequested()).get(name) ?? null;
  };
}
