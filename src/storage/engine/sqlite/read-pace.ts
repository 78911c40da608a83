/**
 * Reads run on the thread that takes in traces. While appends are on their way each read is followed by a rest, so that
 * dashboards slow down a little before senders do; with nothing to append they run at full speed. Either way the event
 * loop goes on in between.
 */

import type { ReadLane } from './connection.ts';

export type PaceDeps = {
  readonly lane: ReadLane;
  /** Whether appends are on their way. */
  readonly isBusy: () => boolean;
  /** Monotonic milliseconds. */
  readonly nowMs: () => number;
  readonly wait: (delayMs: number) => Promise<void>;
  /** Resolves in the next turn of the event loop. */
  readonly nextTurn: () => Promise<void>;
};

/** How long the rest after a read is, in times of the read itself; answering with its rows costs as much again. */
const REST_SHARE = 4;
const REST_MAX_MS = 10;
/** How long reads that wait for one another go on before the loop sees to everything else. */
const TURN_MS = 5;

export function paceReads({ lane, isBusy, nowMs, wait, nextTurn }: PaceDeps): ReadLane {
  let last: Promise<unknown> = Promise.resolve();
  let restUntilMs = 0;
  let readForMs = 0;

  async function readInTurn<T>(read: () => T): Promise<T> {
    if (readForMs >= TURN_MS) {
      readForMs = 0;
      await nextTurn();
    }
    const restMs = restUntilMs - nowMs();
    if (restMs > 0 && isBusy()) await wait(restMs);
    const startedAtMs = nowMs();
    try {
      return await lane(read);
    } finally {
      const endedAtMs = nowMs();
      readForMs += endedAtMs - startedAtMs;
      restUntilMs = endedAtMs + Math.min(REST_MAX_MS, (endedAtMs - startedAtMs) * REST_SHARE);
    }
  }

  return (read) => {
    const result = last.then(() => readInTurn(read));
    last = result.catch(() => undefined);
    return result;
  };
}
