/** The seed of a scenario, which repeats it, and its line of figures. */

export type Figures = {
  readonly id: string;
  readonly seed: number;
  readonly n: number;
  readonly lost?: number;
  readonly dup?: number;
  readonly p99?: number;
  readonly rss?: number;
  readonly stall?: number;
  readonly slowdown?: number;
  readonly pass: boolean;
};

/** SPANDREL_TEST_SEED repeats a run. */
export function drawSeed(): number {
  const given = process.env.SPANDREL_TEST_SEED;
  return given === undefined ? Math.floor(Math.random() * 2 ** 31) : Number(given);
}

/** A small, fast generator; the same seed gives the same numbers in [0, 1). */
export function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

export function report(figures: Figures): void {
  process.stdout.write(`${JSON.stringify(figures)}\n`);
}

/** Runs `work` for every item, at most `width` at once. */
export async function inParallel<T>(
  items: readonly T[],
  width: number,
  work: (item: T, index: number) => Promise<void>,
): Promise<void> {
  let next = 0;
  await Promise.all(
    Array.from({ length: Math.min(width, items.length) }, async () => {
      while (next < items.length) {
        const index = next++;
        await work(items[index] as T, index);
      }
    }),
  );
}

/** True in the full tier. */
export const isFullTier = process.env.SPANDREL_TEST_TIER === 'full';

/** The number of runs of a property test: the quick tier does a tenth of them. */
export function runsOf(full: number): number {
  return isFullTier ? full : Math.ceil(full / 10);
}
