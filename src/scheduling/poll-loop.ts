/**
 * Polls for work: when the store notifies it, when work is due, and at an interval because notifications can be lost.
 * One poll runs at a time. Deliveries and evaluations use it.
 */

import type { Clock } from '../domain/clock.ts';

type PollLoopDeps = {
  readonly clock: Clock;
  readonly store: {
    /** Null where the store uses the clock of this process. */
    nowMs(): Promise<number | null>;
    listen(wake: () => void): () => void;
  };
  /** Resolves to the instant at which work will be due; null: none is known. */
  readonly poll: () => Promise<number | null>;
  /** Wake-ups within this time cause one poll. */
  readonly wakeGapMs: () => number;
  /** The shortest delay of a scheduled poll. */
  readonly gapMinMs: number;
  readonly waiting: string;
  readonly log: { warn(fields: object, message: string): void };
};

/** The longest time between polls. */
const POLL_MS = 1_000;
/** How often this process compares its clock with the store's. */
const CLOCK_CHECK_MS = 60_000;

export function startPollLoop({ clock, store, poll, wakeGapMs, gapMinMs, waiting, log }: PollLoopDeps) {
  let clockAheadMs = 0;
  let clockCheckedAtMs: number | null = null;
  let timer: NodeJS.Timeout | null = null;
  let timerAtMs = 0;
  let cycle: Promise<void> | null = null;
  let isWoken = false;
  let isStopped = false;
  let hasReported = false;

  /** The clock that decides about leases. */
  const nowMs = () => clock() - clockAheadMs;
  const unlisten = store.listen(() => schedule(wakeGapMs()));

  /** Logs only the first failure in a row, because everything fails alike while a store is unavailable. */
  function reportError(error: unknown, doing: string): void {
    if (!hasReported) log.warn({ err: error }, doing);
    hasReported = true;
  }

  /** Polls after the delay, or earlier if that is scheduled already. */
  function schedule(delayMs: number): void {
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
      schedule(isWoken ? wakeGapMs() : delayMs);
      isWoken = false;
    });
  }

  async function run(): Promise<number> {
    try {
      await checkClock();
      const nextAtMs = await poll();
      hasReported = false;
      return soon(nextAtMs ?? Number.POSITIVE_INFINITY);
    } catch (error) {
      reportError(error, waiting);
      return POLL_MS;
    }
  }

  async function checkClock(): Promise<void> {
    const readAtMs = clock();
    if (clockCheckedAtMs !== null && Math.abs(readAtMs - clockCheckedAtMs) < CLOCK_CHECK_MS) return;
    const storeMs = await store.nowMs();
    const answeredAtMs = clock();
    clockCheckedAtMs = readAtMs;
    // The difference may be zero if the store's time lies within the call.
    if (storeMs === null || (storeMs >= readAtMs && storeMs <= answeredAtMs)) clockAheadMs = 0;
    else clockAheadMs = (storeMs < readAtMs ? readAtMs : answeredAtMs) - storeMs;
  }

  return {
    nowMs,
    schedule,
    /** Polls at an instant, or at the next interval if that is earlier. */
    scheduleAt: (atMs: number) => schedule(soon(atMs)),
    reportError,
    /** Stops polling; resolves when no poll is running. */
    async stop(): Promise<void> {
      isStopped = true;
      unlisten();
      if (timer !== null) clearTimeout(timer);
      await cycle;
    },
  };
}
