/** Caches reads of the store for callers without a credential: frequent scrapes and health checks must not load the store. */

/** How long a result is reused. */
const FRESH_MS = 5_000;
/** After this time the scrape leaves the metric out. */
const TIMEOUT_MS = 2_000;

/**
 * Begins no second read while one is pending, for example on a store that hangs: callers share its answer and its time
 * limit, and once that is over they are refused at once.
 */
export function shareRead<T>(
  read: () => Promise<T>,
  monotonicMs: () => number,
  { freshMs = FRESH_MS, timeoutMs = TIMEOUT_MS } = {},
): () => Promise<T> {
  let current: { answer: Promise<T>; endedAtMs: number | null } | null = null;

  function begin(): NonNullable<typeof current> {
    const reading = read();
    const own: NonNullable<typeof current> = { answer: waitAtMost(reading, timeoutMs), endedAtMs: null };
    reading.then(
      () => {
        own.answer = reading;
        own.endedAtMs = monotonicMs();
      },
      () => {
        if (current === own) current = null;
      },
    );
    return own;
  }

  return () => {
    const isUsable = current !== null && (current.endedAtMs === null || monotonicMs() - current.endedAtMs < freshMs);
    if (current === null || !isUsable) current = begin();
    return current.answer;
  };
}

/** Rejects when the answer takes longer. Does not keep the process alive. */
async function waitAtMost<T>(answer: Promise<T>, delayMs: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error('the store takes too long')), delayMs);
    timer.unref();
  });
  try {
    return await Promise.race([answer, late]);
  } finally {
    clearTimeout(timer);
  }
}
