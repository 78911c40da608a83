/** Groups work items into commits: each commit takes all items that waited for it, in order. Commits end in any order. */

import type { DeliveryStore, WorkItem, WorkOutcome } from '../domain/delivery/webhook-store.ts';
import { Fault } from '../domain/fault.ts';
import type { Wait } from '../scheduling/schedule.ts';

export type WorkQueue = ReturnType<typeof createWorkQueue>;

type WorkQueueDeps = {
  readonly apply: DeliveryStore['apply'];
  readonly nowMs: () => number;
  readonly attemptsPerHourMax: number | null;
  /** Commits under way at once. Where one thread of the store makes them all, a second one begins as soon as the first has ended. */
  readonly commitsMax: number;
  readonly wait: Wait;
};

// A larger commit would delay appends of events.
const WORK_PER_COMMIT_MAX = 256;
const BACKGROUND_PER_COMMIT_MAX = 64;
/** After so many items that could not be stored alone, and none that could, no other is tried. */
const FAILED_ALONE_MAX = 8;
/** The pause after the first commit that fails because the store is away. It doubles up to the largest. */
const PAUSE_MIN_MS = 100;
const PAUSE_MAX_MS = 5_000;

type Waiting = {
  readonly work: WorkItem;
  readonly resolve: (outcome: WorkOutcome) => void;
  readonly reject: (error: unknown) => void;
};

export function createWorkQueue({ apply, nowMs, attemptsPerHourMax, commitsMax, wait }: WorkQueueDeps) {
  const urgent: Waiting[] = [];
  const background: Waiting[] = [];
  const draining = new AbortController();
  let pauseMs = PAUSE_MIN_MS;
  let isScheduled = false;
  let underWay = 0;
  let drained: (() => void)[] = [];

  function schedule(): void {
    if (isScheduled || underWay >= commitsMax || urgent.length + background.length === 0) return;
    isScheduled = true;
    // Items of the same turn of the event loop join the commit.
    setImmediate(() => void commit());
  }

  async function commit(): Promise<void> {
    isScheduled = false;
    underWay += 1;
    const batch = urgent.splice(0, WORK_PER_COMMIT_MAX);
    batch.push(...background.splice(0, Math.min(BACKGROUND_PER_COMMIT_MAX, WORK_PER_COMMIT_MAX - batch.length)));
    try {
      await storeItems(batch, { stored: 0, failed: 0 });
      pauseMs = PAUSE_MIN_MS;
    } catch (error) {
      for (const item of batch) item.reject(error);
      await pause();
    }
    underWay -= 1;
    schedule();
    if (isIdle()) finishDrain();
  }

  /**
   * Stores items in one commit. The batch mixes organizations, so if the store cannot store all of it, each half is stored by itself,
   * and so on: only those items are rejected that cannot be stored alone. Rejects while the store is away, and once several items
   * could not be stored and none could.
   */
  async function storeItems(items: readonly Waiting[], tried: { stored: number; failed: number }): Promise<void> {
    try {
      const outcomes = await apply(
        items.map(({ work }) => work),
        { nowMs: nowMs(), attemptsPerHourMax },
      );
      for (const [index, item] of items.entries()) settle(item, outcomes[index]);
      tried.stored += items.length;
    } catch (error) {
      if (isAway(error) || (tried.stored === 0 && tried.failed >= FAILED_ALONE_MAX)) throw error;
      const half = items.length >> 1;
      if (half > 0) for (const part of [items.slice(0, half), items.slice(half)]) await storeItems(part, tried);
      else {
        for (const item of items) item.reject(error);
        tried.failed += 1;
      }
    }
  }

  /** Rejected items are added again at once, and would ask a store that is away thousands of times per second. */
  async function pause(): Promise<void> {
    const waitedMs = pauseMs;
    await wait(waitedMs, draining.signal);
    // Another commit may have waited at the same time.
    pauseMs = Math.max(pauseMs, Math.min(waitedMs * 2, PAUSE_MAX_MS));
  }

  function isIdle(): boolean {
    return !isScheduled && underWay === 0;
  }

  function finishDrain(): void {
    for (const resolve of drained) resolve();
    drained = [];
  }

  return {
    /**
     * Resolves with the outcome once it is durable. Rejects when the outcome is unknown. Background items wait for all
     * urgent ones, and each commit takes only some of them.
     */
    add: (work: WorkItem, isUrgent = true) =>
      new Promise<WorkOutcome>((resolve, reject) => {
        (isUrgent ? urgent : background).push({ work, resolve, reject });
        schedule();
      }),
    /** Whether the next commit is full already. */
    isFull: (isUrgent: boolean) =>
      isUrgent ? urgent.length >= WORK_PER_COMMIT_MAX : background.length >= BACKGROUND_PER_COMMIT_MAX,
    /** Resolves when no item waits. From the first call on no commit waits for the store to come back. */
    async drain(): Promise<void> {
      draining.abort();
      if (!isIdle()) await new Promise<void>((resolve) => drained.push(resolve));
    },
  };
}

function settle(item: Waiting, outcome: WorkOutcome | undefined): void {
  if (outcome === undefined) item.reject(new Error('no outcome for a piece of work'));
  else item.resolve(outcome);
}

/** Whether the store cannot serve now, whatever the items are. */
export function isAway(error: unknown): boolean {
  return error instanceof Fault && error.kind === 'unavailable';
}
