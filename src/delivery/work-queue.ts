/** Groups work items into commits: each commit takes all items that arrived while the previous one ran, in order. */

import type { DeliveryStore, WorkItem, WorkOutcome } from '../domain/delivery/webhook-store.ts';

export type WorkQueue = ReturnType<typeof createWorkQueue>;

type WorkQueueDeps = {
  readonly apply: DeliveryStore['apply'];
  readonly nowMs: () => number;
  readonly attemptsPerHourMax: number | null;
};

// A larger commit would delay appends of events.
const WORK_PER_COMMIT_MAX = 256;
const BACKGROUND_PER_COMMIT_MAX = 64;

type Waiting = {
  readonly work: WorkItem;
  readonly resolve: (outcome: WorkOutcome) => void;
  readonly reject: (error: unknown) => void;
};

export function createWorkQueue({ apply, nowMs, attemptsPerHourMax }: WorkQueueDeps) {
  const urgent: Waiting[] = [];
  const background: Waiting[] = [];
  let isUnderWay = false;
  let drained: (() => void)[] = [];

  function schedule(): void {
    if (isUnderWay || urgent.length + background.length === 0) return;
    isUnderWay = true;
    // Items of the same turn of the event loop join the commit.
    setImmediate(() => void commit());
  }

  async function commit(): Promise<void> {
    const batch = urgent.splice(0, WORK_PER_COMMIT_MAX);
    batch.push(...background.splice(0, Math.min(BACKGROUND_PER_COMMIT_MAX, WORK_PER_COMMIT_MAX - batch.length)));
    try {
      const outcomes = await apply(
        batch.map(({ work }) => work),
        { nowMs: nowMs(), attemptsPerHourMax },
      );
      for (const [index, item] of batch.entries()) {
        const outcome = outcomes[index];
        if (outcome === undefined) item.reject(new Error('no outcome for a piece of work'));
        else item.resolve(outcome);
      }
    } catch (error) {
      for (const item of batch) item.reject(error);
    }
    isUnderWay = false;
    schedule();
    if (!isUnderWay) finishDrain();
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
    /** Resolves when no item waits. */
    async drain(): Promise<void> {
      if (isUnderWay) await new Promise<void>((resolve) => drained.push(resolve));
    },
  };
}
