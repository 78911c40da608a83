/**
 * Shares the event loop among callers. Requests that arrive together are begun one after the other, each caller in
 * turn, and after a while the loop sees to everything else before the next: a burst of one caller neither stops the
 * loop nor stands in front of the others.
 */

export type FairQueue = {
  /** Runs the job now, or soon where others are before it. Callers are told apart by identity. */
  add(caller: unknown, job: () => void): void;
};

/** How long requests are begun before the loop sees to everything else. */
const TURN_MS = 5;
const FORGET_AFTER = 256;
const RESOLVED = Promise.resolve();

type Waiting = { readonly jobs: (() => void)[]; next: number };

/** A caller who always has more waiting must not keep what was begun long ago. */
function forgetBegun(waiting: Waiting): void {
  if (waiting.next < FORGET_AFTER || waiting.next * 2 < waiting.jobs.length) return;
  waiting.jobs.splice(0, waiting.next);
  waiting.next = 0;
}

/** `clock` is monotonic milliseconds. */
export function createFairQueue(clock: () => number): FairQueue {
  // In the order in which the callers come next.
  const callers = new Map<unknown, Waiting>();
  let isRunning = false;
  let turnBeganMs: number | null = null;
  /** Whether a job was begun since promises and ticks have settled. */
  let hasBegun = false;

  function takeNext(): (() => void) | undefined {
    for (const [caller, waiting] of callers) {
      const job = waiting.jobs[waiting.next];
      waiting.next += 1;
      forgetBegun(waiting);
      callers.delete(caller);
      if (waiting.next < waiting.jobs.length) callers.set(caller, waiting);
      return job;
    }
    return undefined;
  }

  // What a job leads to at once belongs to it, so the next one is begun only when promises and ticks have settled.
  const goOn = () => process.nextTick(step);

  function settle(): void {
    hasBegun = false;
  }

  function isOver(): boolean {
    turnBeganMs ??= beginTurn();
    return clock() - turnBeganMs >= TURN_MS;
  }

  function step(): void {
    const job = isOver() ? undefined : takeNext();
    if (job === undefined) {
      isRunning = false;
      return;
    }
    // queueMicrotask would carry an async context along, which costs more than the rest of this.
    RESOLVED.then(goOn);
    job();
  }

  function beginTurn(): number {
    setImmediate(endTurn);
    return clock();
  }

  function endTurn(): void {
    turnBeganMs = null;
    if (callers.size > 0) start();
  }

  function start(): void {
    if (isRunning) return;
    isRunning = true;
    process.nextTick(step);
  }

  return {
    add(caller, job) {
      if (!hasBegun && !isRunning && callers.size === 0 && !isOver()) {
        hasBegun = true;
        RESOLVED.then(settle);
        job();
        return;
      }
      const waiting = callers.get(caller);
      if (waiting) waiting.jobs.push(job);
      else callers.set(caller, { jobs: [job], next: 0 });
      start();
    },
  };
}
