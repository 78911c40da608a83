/** The delivery of events to endpoints: follows the log from start to stop, and keeps house. */

import type { Clock, RandomBytes } from '../domain/clock.ts';
import type { DeliveryStore } from '../domain/webhook-store.ts';
import { startLookLoop } from '../queue/look-loop.ts';
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

/** Several wake-ups within it are one. Each look costs as much as storing a few traces. */
const WAKE_GAP_MS = 4;
/** The same, as long as there is nobody to send to. */
const IDLE_WAKE_GAP_MS = 50;
/** So much of the time of a stop is left for storing what came of the last attempts. */
const RECORD_MS = 500;
const RANDOM_BYTES = 4;

export function createDelivery(deps: DeliveryDeps): Delivery {
  const { store, clock, meter, log } = deps;
  const loop = startLookLoop({
    clock,
    store,
    async look() {
      await dispatcher.refresh();
      return dispatcher.nextLookAtMs();
    },
    wakeGapMs: () => (dispatcher.hasReceivers() ? WAKE_GAP_MS : IDLE_WAKE_GAP_MS),
    gapMinMs: WAKE_GAP_MS,
    waiting: 'deliveries wait for the store',
    log,
  });
  const { nowMs } = loop;
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
    onPlan: loop.armAt,
    onError: loop.complain,
  });
  loop.arm(0);
  return {
    inFlight: () => dispatcher.inFlight(),
    nowMs,
    async stop(drainMs) {
      const stopped = loop.stop();
      dispatcher.stop();
      await stopped;
      await queue.drain();
      await sender.end(Math.max(0, drainMs - RECORD_MS));
      await queue.drain();
    },
  };
}
