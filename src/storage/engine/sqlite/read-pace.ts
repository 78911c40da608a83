/**
 * Paces reads, which run on the thread that accepts traces. While appends are under way, a rest follows each read, so
 * that dashboards slow down a little before senders do; otherwise reads run at full speed. Either way the event loop
 * runs in between.
 */

import type { RunRead } from './connection.ts';

type PaceDeps = {
  readonly runRead: RunRead;
  /** Whether appends are under way. */
  readonly isBusy: () => boolean;
  /** Monotonic milliseconds. */
  readonly nowMs: () => number;
  readonly wait: (delayMs: number) => Promise<void>;
  /** Resolves in the next turn of the event loop. */
  readonly yieldToEventLoop: () => Promise<void>;
};

/** The rest after a read, as a multiple of its duration; sending its rows costs as much again. */
const REST_SHARE = 6;
const REST_MAX_MS = 10;
/** Shorter rests add up: beside long computations a wait takes a turn of the event loop, however short it was to be. */
const REST_MIN_MS = 5;
/** How long queued reads run before the event loop serves other work. */
const TURN_MS = 5;

export function paceReads({ runRead, isBusy, nowMs, wait, yieldToEventLoop }: PaceDeps): RunRead {
  let last: Promise<unknown> = Promise.resolve();
  let restUntilMs = 0;
  let readForMs = 0;

  async function readInTurn<T>(read: () => T): Promise<T> {
    if (readForMs >= TURN_MS) {
      readForMs = 0;
      await yieldToEventLoop();
    }
    const restMs = restUntilMs - nowMs();
    if (restMs >= REST_MIN_MS && isBusy()) await wait(restMs);
    const startedAtMs = nowMs();
    try {
      return await runRead(read);
    } finally {
      const endedAtMs = nowMs();
      readForMs += endedAtMs - startedAtMs;
      const rest = (endedAtMs - startedAtMs) * REST_SHARE;
      restUntilMs = Math.min(endedAtMs + REST_MAX_MS, Math.max(endedAtMs, restUntilMs) + rest);
    }
  }

  return (read) => {
    const result = last.then(() => readInTurn(read));
    last = result.catch(() => undefined);
    return result;
  };
}
