/** The delivery of events to endpoints: follows the log from start to stop, and keeps house. */

import type { Clock, RandomBytes } from '../domain/clock.ts';
import type { DeliveryStore } from '../domain/webhook-store.ts';
import type { MakeAttempt } from './attempt.ts';
import { createClaims, type Split } from './claims.ts';
import { createDispatcher } from './dispatcher.ts';
import type { DeliveryMeter } from './meter.ts';
import { poolRandom } from './pooled-random.ts';
import { createSender, type SenderLog } from './sender.ts';
import { createWorkQueue } from './work-queue.ts';

export type Delivery = {
  /** Attempts of this process that are under way. */
  inFlight(): number;
  /** The time by which leases are judged. */
  nowMs(): number;
  /** Begins nothing any more, and resolves when what was under way is stored. */
  stop(drainMs: number): Promise<void>;
};

export type DeliveryDeps = {
  readonly store: DeliveryStore;
  readonly attempt: MakeAttempt;
  readonly split: Split;
  readonly clock: Clock;
  readonly random: RandomBytes;
  readonly concurrency: number;
  readonly attemptsPerHourMax: number | null;
  readonly meter: DeliveryMeter;
  readonly log: SenderLog;
};

/** Without being told, a process looks as often as this. */
const POLL_MS = 1_000;
/** Several wake-ups within it are one. Each look costs as much as storing a few traces. */
const WAKE_GAP_MS = 4;
/** The same, as long as there is nobody to send to. */
const IDLE_WAKE_GAP_MS = 50;
/** So much of the time of a stop is left for storing what came of the last attempts. */
const RECORD_MS = 500;
/** How often this process compares its clock with that of the store. */
const CLOCK_CHECK_MS = 60_000;
const RANDOM_BYTES = 4;

export function createDelivery(deps: DeliveryDeps): Delivery {
  const { store, clock, meter, log } = deps;
  let clockAheadMs = 0;
  let clockCheckedAtMs: number | null = null;
  let timer: NodeJS.Timeout | null = null;
  let timerAtMs = 0;
  let cycle: Promise<void> | null = null;
  let isWoken = false;
  let isStopped = false;
  let isComplaining = false;

  const nowMs = () => clock() - clockAheadMs;
  const randomBytes = poolRandom(deps.random);
  const random = () => randomBytes(RANDOM_BYTES).readUInt32LE() / 2 ** 32;
  const queue = createWorkQueue({ apply: store.apply, nowMs, attemptsPerHourMax: deps.attemptsPerHourMax });
  const pause = (delayMs: number) => new Promise<void>((resolve) => setTimeout(resolve, delayMs).unref());
  const sender = createSender({ store, attempt: deps.attempt, add: queue.add, nowMs, random, pause, meter, log });
  const dispatcher = createDispatcher({
    store,
    prepare: createClaims({ random: randomBytes, split: deps.split }),
    queue,
    send: sender.send,
    nowMs,
    random,
    concurrency: deps.concurrency,
    onCapped: meter.capped,
    onLeaseLost: meter.leaseLost,
    onPlan: (atMs) => arm(soon(atMs)),
    onError: complain,
  });
  const unlisten = store.listen(() => arm(wakeGapMs()));

  /** Only the first of many: while a store is away everything fails in the same way. */
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
    timer = setTimeout(look, delayMs);
    timer.unref();
  }

  function wakeGapMs(): number {
    return dispatcher.hasReceivers() ? WAKE_GAP_MS : IDLE_WAKE_GAP_MS;
  }

  /** How long until an instant, though never longer than until the next poll. */
  function soon(atMs: number): number {
    return Math.min(Math.max(atMs - nowMs(), WAKE_GAP_MS), POLL_MS);
  }

  function look(): void {
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

  /** Answers when to look again without being told. */
  async function run(): Promise<number> {
    try {
      await checkClock();
      await dispatcher.refresh();
      isComplaining = false;
      return soon(dispatcher.nextLookAtMs() ?? Number.POSITIVE_INFINITY);
    } catch (error) {
      complain(error, 'deliveries wait for the store');
      return POLL_MS;
    }
  }

  async function checkClock(): Promise<void> {
    const readAtMs = clock();
    if (clockCheckedAtMs !== null && Math.abs(readAtMs - clockCheckedAtMs) < CLOCK_CHECK_MS) return;
    const storeMs = await store.nowMs();
    clockCheckedAtMs = readAtMs;
    clockAheadMs = storeMs === null ? 0 : readAtMs - storeMs;
  }

  arm(0);
  return {
    inFlight: () => dispatcher.inFlight(),
    nowMs,
    async stop(drainMs) {
      isStopped = true;
      unlisten();
      if (timer !== null) clearTimeout(timer);
      dispatcher.stop();
      await cycle;
      await queue.drain();
      await sender.end(Math.max(0, drainMs - RECORD_MS));
      await queue.drain();
    },
  };
}
