/** Computations over many items that stop now and then, so that whoever runs them on an event loop can let others in. */

export type Steps<T> = Generator<undefined, T, void>;

/** Takes the steps of a computation to their end, with pauses between them. */
export type TakeSteps = <T>(steps: Steps<T>) => Promise<T>;

/** Takes all steps without a pause: for few items, and for threads that nobody else waits for. */
export function runAtOnce<T>(steps: Steps<T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

export type StepTakerDeps = {
  /** Resolves in a later turn of the event loop. */
  readonly nextTurn: () => Promise<void>;
  /** Monotonic milliseconds. */
  readonly nowMs: () => number;
};

/** How long steps may follow each other in one turn of the event loop. */
const TURN_MAX_MS = 10;

/** Pauses only once steps have taken a while: most computations end within their first turn. */
export function createStepTaker({ nextTurn, nowMs }: StepTakerDeps): TakeSteps {
  return async (steps) => {
    let startedAtMs: number | null = null;
    for (;;) {
      const step = steps.next();
      if (step.done === true) return step.value;
      startedAtMs ??= nowMs();
      if (nowMs() - startedAtMs < TURN_MAX_MS) continue;
      await nextTurn();
      startedAtMs = nowMs();
    }
  };
}
