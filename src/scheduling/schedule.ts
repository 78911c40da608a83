/** Repeats a job after a first delay, one run at a time, until it is stopped. */

import { setTimeout } from 'node:timers/promises';

/** Resolves after the delay, or when the signal is aborted. */
export type Wait = (delayMs: number, signal: AbortSignal) => Promise<void>;

export type ScheduleOptions = {
  readonly firstDelayMs: number;
  readonly intervalMs: number;
  /** The delay after a failed run. */
  readonly retryDelayMs: number;
  readonly wait: Wait;
  readonly run: (signal: AbortSignal) => Promise<void>;
  readonly onError: (error: unknown) => void;
};

export type Schedule = {
  /** Resolves when the current run has ended. */
  stop(): Promise<void>;
};

export function startSchedule(options: ScheduleOptions): Schedule {
  const stopping = new AbortController();
  const ended = repeat(options, stopping.signal);
  return {
    async stop() {
      stopping.abort();
      await ended;
    },
  };
}

async function repeat({ wait, run, onError, ...delays }: ScheduleOptions, signal: AbortSignal): Promise<void> {
  await wait(delays.firstDelayMs, signal);
  while (!signal.aborted) {
    let delayMs = delays.intervalMs;
    try {
      await run(signal);
    } catch (error) {
      onError(error);
      delayMs = delays.retryDelayMs;
    }
    await wait(delayMs, signal);
  }
}

/** A wait that does not keep the process alive. */
export const waitUnref: Wait = (delayMs, signal) =>
  setTimeout(delayMs, undefined, { ref: false, signal }).catch(() => undefined);
