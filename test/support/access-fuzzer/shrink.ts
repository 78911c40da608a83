/** Finds a short list of operations that still shows what a long one showed. */

export type Shrinking<T> = {
  /** Whether a list still shows it. */
  readonly fails: (items: readonly T[]) => Promise<boolean>;
  /** How often that may be asked. */
  readonly triesMax: number;
  readonly durationMaxMs: number;
};

/** Leaves out ever smaller parts, as long as what is left still fails. The last item always stays. */
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
