/** Long computations as generators: a runner on the event loop can pause between their steps. */

export type Steps<T> = Generator<undefined, T, void>;

/** Runs a computation to its end, with pauses between steps. */
export type RunCooperatively = <T>(steps: Steps<T>) => Promise<T>;

/** Runs all steps without a pause: for few items, and for threads that serve nothing else. */
export function runWithoutPauses<T>(steps: Steps<T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

type CooperativeRunnerDeps = {
  /** Resolves in a later turn of the event loop. */
  readonly yieldToEventLoop: () => Promise<void>;
  /** Monotonic milliseconds. */
  readonly nowMs: () => number;
};

/** How long steps may run in one turn of the event loop. */
const TURN_MAX_MS = 10;

/** Pauses only after steps have run for TURN_MAX_MS: most computations end within their first turn. */
export function createCooperativeRunner({ yieldToEventLoop, nowMs }: CooperativeRunnerDeps): RunCooperatively {
  return async (steps) => {
    let startedAtMs: number | null = null;
    for (;;) {
      const step = steps.next();
      if (step.done === true) return step.value;
      startedAtMs ??= nowMs();
      if (nowMs() - startedAtMs < TURN_MAX_MS) continue;
      await yieldToEventLoop();
      startedAtMs = nowMs();
    }
  };
}
