/** Keeps a yes or no that may be some seconds old, so that not every request has to read it. */

export type AgingFlag = {
  read(): Promise<boolean>;
  /** Makes the next read a fresh one. */
  forget(): void;
};

/** `nowMs` is a monotonic clock. */
export function createAgingFlag(readFresh: () => Promise<boolean>, ageMaxMs: number, nowMs: () => number): AgingFlag {
  let kept: { readonly value: boolean; readonly readAtMs: number } | null = null;
  let version = 0;
  return {
    async read() {
      const startedAtMs = nowMs();
      if (kept && startedAtMs - kept.readAtMs < ageMaxMs) return kept.value;
      const readVersion = version;
      const value = await readFresh();
      // An answer that was overtaken by forget() is used once and not kept.
      if (readVersion === version) kept = { value, readAtMs: startedAtMs };
      return value;
    },
    forget() {
      version += 1;
      kept = null;
    },
  };
}
