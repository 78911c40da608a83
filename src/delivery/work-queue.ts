/** Collects work while a commit runs, so that each commit takes along all that waited for it, in the order it came. */

import type { DeliveryStore, Work, WorkOutcome } from '../domain/webhook-store.ts';

export type WorkQueue = {
  /**
   * Resolves when what became of it is durable. Rejects when that is unknown. What is not urgent is stored behind all that
   * is, and a little at a time.
   */
  add(work: Work, isUrgent?: boolean): Promise<WorkOutcome>;
  /** Whether so much waits that more would only wait longer. */
  isFull(isUrgent: boolean): boolean;
  /** Resolves when nothing waits any more. */
  drain(): Promise<void>;
};

export type WorkQueueDeps = {
  readonly apply: DeliveryStore['apply'];
  readonly nowMs: () => number;
  readonly attemptsPerHourMax: number | null;
};

// A commit of more would hold up those who store events.
const WORK_PER_COMMIT_MAX = 256;
const LEISURELY_PER_COMMIT_MAX = 64;

type Waiting = {
  readonly work: Work;
  readonly resolve: (outcome: WorkOutcome) => void;
  readonly reject: (error: unknown) => void;
};

export function createWorkQueue({ apply, nowMs, attemptsPerHourMax }: WorkQueueDeps): WorkQueue {
  const urgent: Waiting[] = [];
  const leisurely: Waiting[] = [];
  let isUnderWay = false;
  let drained: (() => void)[] = [];

  function schedule(): void {
    if (isUnderWay || urgent.length + leisurely.length === 0) return;
    isUnderWay = true;
    // Whatever else is decided in this turn of the event loop comes along.
    setImmediate(() => void commit());
  }

  async function commit(): Promise<void> {
    const batch = urgent.splice(0, WORK_PER_COMMIT_MAX);
    batch.push(...leisurely.splice(0, Math.min(LEISURELY_PER_COMMIT_MAX, WORK_PER_COMMIT_MAX - batch.length)));
    try {
      const outcomes = await apply(
        batch.map(({ work }) => work),
        { nowMs: nowMs(), attemptsPerHourMax },
      );
      for (const [index, item] of batch.entries()) {
        const outcome = outcomes[index];
        if (outcome === undefined) item.reject(new Error('the store did not say what became of a piece of work'));
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
    add: (work, isUrgent = true) =>
      new Promise((resolve, reject) => {
        (isUrgent ? urgent : leisurely).push({ work, resolve, reject });
        schedule();
      }),
    isFull: (isUrgent) =>
      isUrgent ? urgent.length >= WORK_PER_COMMIT_MAX : leisurely.length >= LEISURELY_PER_COMMIT_MAX,
    drain: () =>
      isUnderWay
        ? new Promise((resolve) => {
            drained.push(resolve);
          })
        : Promise.resolve(),
  };
}
