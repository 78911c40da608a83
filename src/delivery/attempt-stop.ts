/** The one thing that ends an attempt early: its deadline, or the caller. */

import { type Failure, SENDER_LOST, TIMEOUT } from './http-verdict.ts';

export type Stop = {
  /** Null as long as the attempt may go on. */
  readonly reason: () => Failure | null;
  /** Names what is to be broken off now; steps follow each other, so there is one at a time. */
  readonly onStop: (breakOff: ((reason: Failure) => void) | null) => void;
  readonly fire: (reason: Failure) => void;
  /** The attempt is over. */
  readonly end: () => void;
};

/** `onEnd` may be called more than once. */
export function createStop(deadlineMs: number, signal: AbortSignal, onEnd: (stop: Stop) => void): Stop {
  let stoppedBy: Failure | null = null;
  let breakOff: ((reason: Failure) => void) | null = null;
  const onAbort = () => fire(SENDER_LOST);
  const end = () => {
    clearTimeout(timer);
    waitersOf(signal).delete(onAbort);
    onEnd(stop);
  };
  const fire = (reason: Failure) => {
    if (stoppedBy) return;
    stoppedBy = reason;
    end();
    breakOff?.(reason);
  };
  const timer = setTimeout(fire, deadlineMs, TIMEOUT);
  const stop: Stop = {
    reason: () => stoppedBy,
    onStop(next) {
      breakOff = next;
      if (stoppedBy) next?.(stoppedBy);
    },
    fire,
    end,
  };
  if (signal.aborted) onAbort();
  else waitersOf(signal).add(onAbort);
  return stop;
}

const waiters = new WeakMap<AbortSignal, Set<() => void>>();

/** Who is to be told. One listener for all: a signal goes through all that it has to find the one that leaves. */
function waitersOf(signal: AbortSignal): Set<() => void> {
  const known = waiters.get(signal);
  if (known !== undefined) return known;
  const made = new Set<() => void>();
  waiters.set(signal, made);
  signal.addEventListener('abort', () => {
    for (const tell of [...made]) tell();
  });
  return made;
}
