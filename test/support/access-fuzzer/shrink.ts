/** Shortens a list that fails to one that still fails. */

export type Shrinking<T> = {
  /** True when the list still fails. */
  readonly fails: (items: readonly T[]) => Promise<boolean>;
  /** The most calls of `fails`. */
  readonly triesMax: number;
  readonly durationMaxMs: number;
};

/** Leaves out ever smaller ranges while the rest still fails. The last item always stays. */
export async function shrink<T>(
  items: readonly T[],
  { fails, triesMax, durationMaxMs }: Shrinking<T>,
): Promise<readonly T[]> {
  let kept = items;
  let tries = 0;
  const startedAtMs = performance.now();
  for (let size = Math.ceil(kept.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let end = kept.length - 1; end > 0; end -= size) {
      if (tries === triesMax || performance.now() - startedAtMs > durationMaxMs) return kept;
      tries += 1;
      const fewer = kept.filter((_, index) => index < end - size || index >= end);
      if (await fails(fewer)) kept = fewer;
    }
  }
  return kept;
}
