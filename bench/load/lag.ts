import { createHistogram, performance } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import { createOpenLoop } from './open-loop.ts';
import { openReceiver } from './receiver.ts';
import { recordRequests } from './records.ts';

/** A receiver that measures the time from the commit of events to their arrival. */
export type LagReceiver = {
  readonly port: number;
  /** Reports requests at an even rate, waits until all events arrived, and returns their lags. */
  measure(server: { readonly port: number; readonly projectKey: string }, seconds: number): Promise<Lags>;
  close(): void;
};

export type Lags = { readonly events: number; readonly p50Ms: number; readonly p99Ms: number };

const createdMember = Buffer.from('"created":"');
const isoLength = '2026-07-27T14:03:11.482Z'.length;
const microseconds = { lowest: 1, highest: 120_000_000, figures: 3 };
const paceMs = 10;
const recordsPerCall = 2;
const arriveMs = 30_000;

export async function openLagReceiver(): Promise<LagReceiver> {
  let lags = createHistogram(microseconds);
  const receiver = await openReceiver({ countEvents });

  function countEvents(body: Buffer): number {
    const now = performance.timeOrigin + performance.now();
    let events = 0;
    for (let at = body.indexOf(createdMember); at >= 0; at = body.indexOf(createdMember, at + isoLength)) {
      const start = at + createdMember.length;
      const lagMs = now - Date.parse(body.toString('latin1', start, start + isoLength));
      lags.record(Math.max(1, Math.round(lagMs * 1000)));
      events += 1;
    }
    return events;
  }

  return {
    port: receiver.port,
    async measure({ port, projectKey }, seconds) {
      const before = receiver.counts().events;
      const loop = createOpenLoop(port, recordRequests(projectKey, recordsPerCall)());
      lags = createHistogram(microseconds);
      const calls = Math.ceil((seconds * 1000) / paceMs);
      const startedAt = performance.now();
      const answers: Promise<void>[] = [];
      for (let index = 0; index < calls; index += 1) {
        const dueInMs = startedAt + index * paceMs - performance.now();
        if (dueInMs > 0) await delay(dueInMs);
        // Does not wait for answers: a slow server must not get fewer events.
        answers.push(loop.send());
      }
      await Promise.all(answers);
      loop.close();
      const sent = calls * recordsPerCall;
      for (const sentAt = performance.now(); receiver.counts().events - before < sent; await delay(paceMs)) {
        if (performance.now() - sentAt > arriveMs) throw new Error('Not all events came in time.');
      }
      return { events: sent, p50Ms: lags.percentile(50) / 1000, p99Ms: lags.percentile(99) / 1000 };
    },
    close: () => receiver.close(),
  };
}
