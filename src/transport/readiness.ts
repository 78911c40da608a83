/** Whether the store works, for callers who prove nothing: what they cost it does not depend on how many they are. */

/** Everybody who asks within it has one answer. */
const FRESH_MS = 250;
/** A store that takes longer to answer is as good as none. */
const PATIENCE_MS = 2_000;

export function shareReadiness(ready: () => Promise<void>, monotonicMs: () => number): () => Promise<boolean> {
  let asking: Promise<boolean> | null = null;
  let answer: Promise<boolean> | null = null;
  let answeredAtMs: number | null = null;

  /** A store that does not answer is not asked anew. */
  function ask(): Promise<boolean> {
    asking ??= ready()
      .then(
        () => true,
        () => false,
      )
      .finally(() => {
        asking = null;
      });
    return asking;
  }

  async function look(): Promise<boolean> {
    answeredAtMs = null;
    const isReady = await orFalse(ask(), PATIENCE_MS);
    answeredAtMs = monotonicMs();
    return isReady;
  }

  return () => {
    const isStale = answeredAtMs !== null && monotonicMs() - answeredAtMs >= FRESH_MS;
    if (answer === null || isStale) answer = look();
    return answer;
  };
}

async function orFalse(answer: Promise<boolean>, delayMs: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<false>((resolve) => {
    timer = setTimeout(() => resolve(false), delayMs);
    timer.unref();
  });
  try {
    return await Promise.race([answer, late]);
  } finally {
    clearTimeout(timer);
  }
}
