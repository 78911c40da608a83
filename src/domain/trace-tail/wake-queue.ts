/** Wakes those who are to be told something a few at a time, so that a thousand who are told the same hold up nobody else. */

import type { Subscriber } from './subscriber.ts';

export type WakeQueue = {
  /** Wakes it when its turn has come, the first come first. */
  add(subscriber: Subscriber): void;
  delete(subscriber: Subscriber): void;
};

/** As many in a tick as may be told anything in it; what has been told to some is taken before the others are told. */
const WOKEN_AT_ONCE = 16;
const GAP_MS = 20;

export function createWakeQueue(pause: (delayMs: number, signal: AbortSignal) => Promise<void>): WakeQueue {
  const due = new Set<Subscriber>();
  const never = new AbortController().signal;
  let isWaking = false;

  async function wakeAll(): Promise<void> {
    isWaking = true;
    // Whoever is due in the same turn is known by then.
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
