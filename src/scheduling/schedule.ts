/** Repeats work, one run at a time, until it is stopped. */

import { setTimeout } from 'node:timers/promises';

/** Resolves after the delay, or when the signal is aborted. */
export type Wait = (delayMs: number, signal: AbortSignal) => Promise<void>;

export type LoopOptions = {
  /** By default the first run begins at once. */
  readonly firstDelayMs?: number;
  /** The delay after a failed run. */
  readonly retryDelayMs: number;
  readonly wait: Wait;
  /** Resolves to the delay before the next run. Its own waits end early, too, when the loop is woken, if they use `wait`. */
  readonly run: (signal: AbortSignal, wait: Wait) => Promise<number>;
  readonly onError: (error: unknown) => void;
};

export type Loop = {
  /** Ends the present wait; during a run without one, the next. */
  wake(): void;
  /** Aborts the signal of the current run. Resolves when the run has ended. */
  stop(): Promise<void>;
};

export function startLoop({ firstDelayMs = 0, retryDelayMs, run, onError, ...options }: LoopOptions): Loop {
  const stopping = new AbortController();
  const { signal } = stopping;
  let waking = new AbortController();
  const wait: Wait = async (delayMs, until) => {
    await options.wait(delayMs, AbortSignal.any([until, waking.signal]));
    if (waking.signal.aborted) waking = new AbortController();
  };
  const repeat = async () => {
    if (firstDelayMs > 0) await wait(firstDelayMs, signal);
    while (!signal.aborted) {
      let delayMs = retryDelayMs;
      try {
        delayMs = await run(signal, wait);
      } catch (error) {
        onError(error);
      }
      await wait(delayMs, signal);
    }
  };
  const ended = repeat();
  return {
    wake: () => waking.abort(),
    async stop() {
      stopping.abort();
      await ended;
    },
  };
}

export type ScheduleOptions = Omit<LoopOptions, 'run'> & {
  readonly intervalMs: number;
  readonly run: (signal: AbortSignal) => Promise<void>;
};

/** A loop with the same delay after every run that succeeds. */
export function startSchedule({ intervalMs, run, ...options }: ScheduleOptions): Loop {
  return startLoop({ ...options, run: (signal) => run(signal).then(() => intervalMs) });
}

/** A wait that does not keep the process alive. */
export const waitUnref: Wait = (delayMs, signal) =>
  setTimeout(delayMs, undefined, { ref: false, signal }).catch(() => undefined);
