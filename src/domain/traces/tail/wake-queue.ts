/** Wakes subscribers a few at a time, so that a thousand with the same change do not block other work. */

import type { Subscriber } from './subscriber.ts';

type WakeQueue = {
  /** Wakes the subscriber in its turn, first come first. */
  add(subscriber: Subscriber): void;
  delete(subscriber: Subscriber): void;
};

/** With GAP_MS, as many in a tick as may send in it; the gap lets earlier messages leave before others are sent. */
const WOKEN_AT_ONCE = 16;
const GAP_MS = 20;

export function createWakeQueue(pause: (delayMs: number, signal: AbortSignal) => Promise<void>): WakeQueue {
  const due = new Set<Subscriber>();
  const never = new AbortController().signal;
  let isWaking = false;

  async function wakeAll(): Promise<void> {
    isWaking = true;
    // By then, all subscribers of this turn are due.
    await Promise.resolve();
    while (due.size > 0) {
      let woken = 0;
      for (const subscriber of due) {
        due.delete(subscriber);
        subscriber.wake();
        woken += 1;
        if (woken === WOKEN_AT_ONCE) break;
      }
      await pause(GAP_MS, never);
    }
    isWaking = false;
  }

  return {
    add(subscriber) {
      due.add(subscriber);
      if (!isWaking) void wakeAll();
    },
    delete: (subscriber) => void due.delete(subscriber),
  };
}
