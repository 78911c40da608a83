/**
 * Looks for work again and again: when it is told that there may be some, when some is due, and every now and then
 * because what tells it may be lost. One look at a time. Deliveries and evaluations are found so.
 */

import type { Clock } from '../domain/clock.ts';

export type LookLoop = {
  /** The time by which leases are judged. */
  nowMs(): number;
  /** Looks after so long, or before when that is planned already. */
  arm(delayMs: number): void;
  /** Looks at an instant, though never later than at the next poll. */
  armAt(atMs: number): void;
  /** Tells only the first of many failures: while a store is away everything fails in the same way. */
  complain(error: unknown, doing: string): void;
  /** Ends it; resolves when no look is under way any more. */
  stop(): Promise<void>;
};

export type LookLoopDeps = {
  readonly clock: Clock;
  readonly store: {
    /** Null where the clock of the store is that of this process. */
    nowMs(): Promise<number | null>;
    listen(wake: () => void): () => void;
  };
  /** Answers when to look again without being told; null: nothing is planned. */
  readonly look: () => Promise<number | null>;
  /** Several wake-ups within it are one. */
  readonly wakeGapMs: () => number;
  /** No look comes sooner than that after it is planned. */
  readonly gapMinMs: number;
  readonly waiting: string;
  readonly log: { warn(fields: object, message: string): void };
};

/** Without being told, a process looks as often as this. */
const POLL_MS = 1_000;
/** How often this process compares its clock with that of the store. */
const CLOCK_CHECK_MS = 60_000;

export function startLookLoop({ clock, store, look, wakeGapMs, gapMinMs, waiting, log }: LookLoopDeps): LookLoop {
  let clockAheadMs = 0;
  let clockCheckedAtMs: number | null = null;
  let timer: NodeJS.Timeout | null = null;
  let timerAtMs = 0;
  let cycle: Promise<void> | null = null;
  let isWoken = false;
  let isStopped = false;
  let isComplaining = false;

  const nowMs = () => clock() - clockAheadMs;
  const unlisten = store.listen(() => arm(wakeGapMs()));

  function complain(error: unknown, doing: string): void {
    if (!isComplaining) log.warn({ err: error }, doing);
    isComplaining = true;
  }

  function arm(delayMs: number): void {
    if (isStopped) return;
    const atMs = performance.now() + delayMs;
    if (timer !== null && timerAtMs <= atMs) return;
    if (timer !== null) clearTimeout(timer);
    timerAtMs = atMs;
    timer = setTimeout(begin, delayMs);
    timer.unref();
  }

  function soon(atMs: number): number {
    return Math.min(Math.max(atMs - nowMs(), gapMinMs), POLL_MS);
  }

  function begin(): void {
    timer = null;
    if (cycle !== null) {
      isWoken = true;
      return;
    }
    cycle = run().then((delayMs) => {
      cycle = null;
      arm(isWoken ? wakeGapMs() : delayMs);
      isWoken = false;
    });
  }

  async function run(): Promise<number> {
    try {
      await checkClock();
      const nextAtMs = await look();
      isComplaining = false;
      return soon(nextAtMs ?? Number.POSITIVE_INFINITY);
    } catch (error) {
      complain(error, waiting);
      return POLL_MS;
    }
  }

  async function checkClock(): Promise<void> {
    const readAtMs = clock();
    if (clockCheckedAtMs !== null && Math.abs(readAtMs - clockCheckedAtMs) < CLOCK_CHECK_MS) return;
    const storeMs = await store.nowMs();
    const answeredAtMs = clock();
    clockCheckedAtMs = readAtMs;
    // The clocks may be the same as far as anybody can tell while it was asked.
    if (storeMs === null || (storeMs >= readAtMs && storeMs <= answeredAtMs)) clockAheadMs = 0;
    else clockAheadMs = (storeMs < readAtMs ? readAtMs : answeredAtMs) - storeMs;
  }

  return {
    nowMs,
    arm,
    armAt: (atMs) => arm(soon(atMs)),
    complain,
    async stop() {
      isStopped = true;
      unlisten();
      if (timer !== null) clearTimeout(timer);
      await cycle;
    },
  };
}
