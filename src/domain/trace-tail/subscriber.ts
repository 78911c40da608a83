/** One who follows the traces of a project: what is still to be told, as much as is kept of it. */

export type Change = {
  readonly traceId: string;
  /** Which time it was looked at, for all who are told of it together: a later one may find it changed. */
  readonly look: number;
};

/** What is to be told next. */
export type Due = {
  readonly changes: readonly Change[];
  /** Changes that were left out since the last time. */
  readonly dropped: number;
};

export type Subscriber = {
  /** A trace that changes again before it is told of is told of once, as it is then. Without room the oldest go. */
  offer(changes: readonly Change[]): void;
  drop(count: number): void;
  /** Whether there is anything to tell. */
  hasAny(): boolean;
  take(changesMax: number): Due;
  /** Lets go of whoever waits. */
  wake(): void;
  /** Resolves at the next `wake`. */
  waitForTurn(): Promise<void>;
};

/** `changesMax` may change with how many others there are. */
export function createSubscriber(changesMax: () => number): Subscriber {
  const waiting = new Map<string, Change>();
  let dropped = 0;
  let turn: PromiseWithResolvers<void> | null = null;

  return {
    offer(changes) {
      const room = changesMax();
      // Of many changes for many who follow, only what is kept may cost anything.
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
    drop(count) {
      dropped += count;
    },
    hasAny: () => waiting.size > 0 || dropped > 0,
    take(limit) {
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
    wake() {
      turn?.resolve();
      turn = null;
    },
    waitForTurn() {
      turn ??= Promise.withResolvers<void>();
      return turn.promise;
    },
  };
}
