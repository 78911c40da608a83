/** Assembles the delivery of events to endpoints and runs it until it is stopped. */

import type { Clock, RandomBytes } from '../domain/clock.ts';
import type { DeliveryStore } from '../domain/delivery/webhook-store.ts';
import { startPollLoop } from '../scheduling/poll-loop.ts';
import { waitUnref } from '../scheduling/schedule.ts';
import type { MakeAttempt } from './attempt.ts';
import { createClaims, type SplitBatch } from './claims.ts';
import { createDispatcher } from './dispatcher.ts';
import type { DeliveryMeter } from './meter.ts';
import { createSender, type SenderLog } from './sender.ts';
import { createWorkQueue } from './work-queue.ts';

export type DeliveryDeps = {
  readonly store: DeliveryStore;
  readonly attempt: MakeAttempt;
  readonly split: SplitBatch;
  readonly clock: Clock;
  /** The present for what is too old to be kept. */
  readonly retentionNowMs: () => number;
  readonly random: RandomBytes;
  readonly concurrency: number;
  readonly attemptsPerHourMax: number | null;
  readonly meter: DeliveryMeter;
  readonly log: SenderLog;
};

/** Wake-ups within this time cause one poll, which costs as much as storing a few traces. */
const WAKE_GAP_MS = 4;
/** The same while there is no active endpoint. */
const IDLE_WAKE_GAP_MS = 50;
/** The share of the stop that is reserved for storing the last results. */
const RECORD_MS = 500;
const RANDOM_BYTES = 4;

export function createDelivery(deps: DeliveryDeps) {
  const { store, clock, meter, log } = deps;
  const loop = startPollLoop({
    clock,
    store,
    async poll() {
      await dispatcher.refresh();
      return dispatcher.nextPollAtMs();
    },
    wakeGapMs: () => (dispatcher.hasActiveEndpoints() ? WAKE_GAP_MS : IDLE_WAKE_GAP_MS),
    gapMinMs: WAKE_GAP_MS,
    waiting: 'deliveries wait for the store',
    log,
  });
  const { nowMs } = loop;
  const randomBytes = poolRandom(deps.random);
  const random = () => randomBytes(RANDOM_BYTES).readUInt32LE() / 2 ** 32;
  const { attemptsPerHourMax } = deps;
  const commitsMax = store.isSingleProcess ? 2 : 1;
  const queue = createWorkQueue({ apply: store.apply, nowMs, attemptsPerHourMax, commitsMax, wait: waitUnref });
  const pause = (delayMs: number) => new Promise<void>((resolve) => setTimeout(resolve, delayMs).unref());
  const sender = createSender({ store, attempt: deps.attempt, add: queue.add, nowMs, random, pause, meter, log });
  const dispatcher = createDispatcher({
    store,
    prepare: createClaims({ random: randomBytes, split: deps.split }),
    queue,
    sender,
    nowMs,
    retentionNowMs: deps.retentionNowMs,
    pause,
    random,
    concurrency: deps.concurrency,
    onCapped: meter.capped,
    onLeaseLost: meter.leaseLost,
    onPlan: loop.scheduleAt,
    onError: loop.reportError,
  });
  loop.schedule(0);
  return {
    /** Attempts of this process in progress. */
    inFlight: dispatcher.inFlight,
    /** The clock that decides about leases. */
    nowMs,
    /** Starts no further attempts, and resolves when the results of all others are stored. */
    async stop(drainMs: number): Promise<void> {
      const stopped = loop.stop();
      dispatcher.stop();
      await stopped;
      await queue.drain();
      await dispatcher.drain(Math.max(0, drainMs - RECORD_MS));
      await queue.drain();
    },
  };
}

const POOL_BYTES = 8_192;

/**
 * Draws random bytes in bulk, because drawing a few costs as much as drawing thousands. No byte is used twice. Not for secrets: used
 * bytes stay readable in the pool.
 */
function poolRandom(random: RandomBytes): RandomBytes {
  let pool: Buffer = Buffer.alloc(0);
  let used = 0;
  return (count) => {
    if (count > POOL_BYTES) return random(count);
    if (used + count > pool.length) {
      pool = random(POOL_BYTES);
      used = 0;
    }
    used += count;
    return pool.subarray(used - count, used);
  };
}
