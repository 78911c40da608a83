/** Stops an attempt early: at its deadline, or when the caller aborts it. */

import { type Failure, SENDER_LOST, TIMEOUT } from './failure.ts';

export type Stop = {
  /** Null while the attempt may continue. */
  readonly reason: () => Failure | null;
  /**
   * Sets what to call when the attempt is stopped; null: nothing. An attempt has one step at a time, so one callback is
   * enough.
   */
  readonly onStop: (breakOff: ((reason: Failure) => void) | null) => void;
  readonly fire: (reason: Failure) => void;
  /** MUST be called when the attempt ends. */
  readonly end: () => void;
};

/** `onEnd` may run more than once. */
export function createStop(deadlineMs: number, signal: AbortSignal, onEnd = (_stop: Stop) => {}): Stop {
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

/**
 * The attempts to stop with a signal. They share one listener, because removing a listener from a signal searches all
 * of them.
 */
function waitersOf(signal: AbortSignal): Set<() => void> {
  const cached = waiters.get(signal);
  if (cached !== undefined) return cached;
  const made = new Set<() => void>();
  waiters.set(signal, made);
  signal.addEventListener('abort', () => {
    for (const abortAttempt of [...made]) abortAttempt();
  });
  return made;
}
