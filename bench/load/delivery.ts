import { createHistogram, performance } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import type { LoadResult } from './meter.ts';
import { countEnvelopes, openReceiver, type Receiver } from './receiver.ts';

/** A receiver that measures its senders in rounds and holds its answers between them. */
export type Deliveries = {
  readonly receiver: Receiver;
  /** Answers at once for a time or until a number of events arrived. */
  measure(stop: { readonly seconds: number; readonly eventsMax: number }): Promise<LoadResult>;
};

const microseconds = { lowest: 1, highest: 120_000_000, figures: 3 };
const pollMs = 5;

export async function openDeliveries(): Promise<Deliveries> {
  let turns = createHistogram(microseconds);
  const receiver = await openReceiver({
    countEvents: countEnvelopes,
    onTurn: (tookMs) => turns.record(Math.max(1, Math.round(tookMs * 1000))),
  });
  receiver.hold();

  return {
    receiver,
    async measure({ seconds, eventsMax }) {
      turns = createHistogram(microseconds);
      const before = receiver.counts().events;
      const idleBefore = performance.eventLoopUtilization();
      const startedAt = performance.now();
      receiver.release();
      const secondsTaken = () => (performance.now() - startedAt) / 1000;
      while (secondsTaken() < seconds && receiver.counts().events - before < eventsMax) await delay(pollMs);
      const events = receiver.counts().events - before;
      const took = secondsTaken();
      receiver.hold();
      return {
        requests: events,
        seconds: took,
        perSecond: events / took,
        p50Ms: turns.percentile(50) / 1000,
        p99Ms: turns.percentile(99) / 1000,
        generatorBusy: performance.eventLoopUtilization(idleBefore).utilization,
        firstBody: Buffer.alloc(0),
      };
    },
  };
}
