/** A subscriber to the traces of a project, with its bounded queue of unsent changes. */

export type Change = {
  readonly traceId: string;
  /** Number of the read, shared by all its subscribers: a later read may find another state. */
  readonly readId: number;
};

export type Subscriber = ReturnType<typeof createSubscriber>;

/** `changesMax` may change with the number of others. */
export function createSubscriber(changesMax: () => number) {
  const waiting = new Map<string, Change>();
  let dropped = 0;
  let turn: PromiseWithResolvers<void> | null = null;

  return {
    /** Queues changes. A trace that changes again before it is sent is sent once. A full queue drops the oldest. */
    offer(changes: readonly Change[]): void {
      const room = changesMax();
      // Cuts first: with many subscribers, dropped changes must cost no time.
      const kept = changes.length > room ? changes.slice(-room) : changes;
      dropped += changes.length - kept.length;
      for (const change of kept) {
        waiting.delete(change.traceId);
        waiting.set(change.traceId, change);
      }
      for (const oldest of waiting.keys()) {
        if (waiting.size <= room) break;
        waiting.delete(oldest);
        dropped += 1;
      }
    },
    drop(count: number): void {
      dropped += count;
    },
    /** Whether there is anything to send. */
    hasAny: (): boolean => waiting.size > 0 || dropped > 0,
    /** The changes to send next, and how many were dropped since the last call. */
    dequeue(limit: number) {
      const changes: Change[] = [];
      for (const change of waiting.values()) {
        if (changes.length >= limit) break;
        changes.push(change);
      }
      for (const { traceId } of changes) waiting.delete(traceId);
      const due = { changes, dropped };
      dropped = 0;
      return due;
    },
    /** Ends `waitForWake`. */
    wake(): void {
      turn?.resolve();
      turn = null;
    },
    /** Resolves at the next `wake`. */
    waitForWake(): Promise<void> {
      turn ??= Promise.withResolvers<void>();
      return turn.promise;
    },
  };
}

/** With GAP_MS, as many in a tick as may send in it; the gap lets earlier messages leave before others are sent. */
const WOKEN_AT_ONCE = 16;
const GAP_MS = 20;

/** Wakes a few at a time, so that a thousand subscribers with the same change do not block other work. */
export function createWakeQueue(pause: (delayMs: number, signal: AbortSignal) => Promise<void>) {
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
    /** Wakes the subscriber in its turn, first come first. */
    add(subscriber: Subscriber): void {
      due.add(subscriber);
      if (!isWaking) void wakeAll();
    },
    delete: (subscriber: Subscriber): void => void due.delete(subscriber),
  };
}
