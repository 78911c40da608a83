/** Computations over many rows that stop now and then, so that whoever runs them on an event loop can let others in. */

export type Steps<T> = Generator<undefined, T, void>;

/** Takes all steps without a pause: for few rows, and for threads that nobody else waits for. */
export function runAtOnce<T>(steps: Steps<T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}
