/**
 * Shares the event loop among callers. Requests that arrive together are started one after the other, round-robin over
 * their callers, and after a few milliseconds the loop serves its other events first: a burst of one caller neither
 * blocks the loop nor delays the requests of others.
 */

export type FairQueue = {
  /** Runs the job now, or later where others are queued before it. Callers are compared by identity. */
  add(caller: unknown, job: () => void): void;
};

/** How long requests are started before the loop serves its other events. */
const TURN_MS = 5;
const FORGET_AFTER = 256;
const RESOLVED = Promise.resolve();

type CallerQueue = { readonly jobs: (() => void)[]; next: number };

/** Drops started jobs from the queue of a caller that never empties, or they would stay in memory. */
function dropStarted(waiting: CallerQueue): void {
  if (waiting.next < FORGET_AFTER || waiting.next * 2 < waiting.jobs.length) return;
  waiting.jobs.splice(0, waiting.next);
  waiting.next = 0;
}

/** `clock` is monotonic milliseconds. */
export function createFairQueue(clock: () => number): FairQueue {
  // In the order in which the callers are served next.
  const callers = new Map<unknown, CallerQueue>();
  let isRunning = false;
  let turnBeganMs: number | null = null;
  /** Whether a job was started since pending promises and ticks last ran. */
  let hasBegun = false;

  function dequeue(): (() => void) | undefined {
    for (const [caller, waiting] of callers) {
      const job = waiting.jobs[waiting.next];
      waiting.next += 1;
      dropStarted(waiting);
      callers.delete(caller);
      if (waiting.next < waiting.jobs.length) callers.set(caller, waiting);
      return job;
    }
    return undefined;
  }

  // Promises and ticks that a job schedules are part of its cost, so the next job starts only after they have run.
  const goOn = () => process.nextTick(step);

  function clearBegun(): void {
    hasBegun = false;
  }

  function isOver(): boolean {
    turnBeganMs ??= beginTurn();
    return clock() - turnBeganMs >= TURN_MS;
  }

  function step(): void {
    const job = isOver() ? undefined : dequeue();
    if (job === undefined) {
      isRunning = false;
      return;
    }
    // queueMicrotask would propagate the async context, which costs more than the rest of this function.
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
        RESOLVED.then(clearBegun);
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
