/** What a clock that was wrong, and is right again, leaves behind. */

import { describe, expect, it } from 'vitest';
import type { Delivery } from '../../../src/domain/delivery/delivery.ts';
import type { OpenSubject } from './subject.ts';
import {
  batchOf,
  cutOf,
  FAILURE,
  type Harness,
  LEASE_MS,
  MINUTE_MS,
  NOW_MS,
  SENDER_FAULT,
  withHarness,
} from './webhook-harness.ts';

const DAY_MS = 86_400_000;
const AHEAD_MS = NOW_MS + 2 * DAY_MS;

export function clockConformance(open: OpenSubject): void {
  logConformance(open);
  dueConformance(open);
  trustConformance(open);
}

function logConformance(open: OpenSubject): void {
  describe('a log that ends ahead of the clock', () => {
    it(
      'goes on at the clock if that is more than a minute, without a gap, and the reset is counted',
      withHarness(open, async (harness) => {
        await harness.emit(1);
        await endLogAt(harness, Date.now() + 2 * DAY_MS);
        const startedAtMs = Date.now();
        const entries = [...(await harness.emit(1)), ...(await harness.emit(1))];
        expect(entries.map(({ seq }) => seq)).toEqual([2, 3]);
        for (const { createdAtMs } of entries) {
          expect(createdAtMs).toBeGreaterThanOrEqual(startedAtMs - 1000);
          expect(createdAtMs).toBeLessThanOrEqual(Date.now() + 1000);
        }
        expect((await harness.store.clock.instants()).logResets).toBe(1);
      }),
    );

    it(
      'never goes back if it is less',
      withHarness(open, async (harness) => {
        await harness.emit(1);
        const endMs = Date.now() + 50_000;
        await endLogAt(harness, endMs);
        const [entry] = await harness.emit(1);
        expect(entry?.createdAtMs).toBe(endMs);
        expect((await harness.store.clock.instants()).logResets).toBe(0);
      }),
    );

    it(
      'is read by its positions and by its instants without losing an event',
      withHarness(open, async (harness) => {
        const { store, organizationNumber } = harness;
        await harness.emit(1);
        await endLogAt(harness, Date.now() + 50_000);
        const [ahead] = await harness.emit(1);
        await endLogAt(harness, Date.now() + 2 * DAY_MS);
        const [after] = await harness.emit(1);
        if (ahead === undefined || after === undefined) throw new Error('nothing was emitted');
        expect(after.createdAtMs).toBeLessThan(ahead.createdAtMs);
        const read = await store.deliveries.events(organizationNumber, { afterSeq: 1, limit: 2 });
        expect(read.map(({ seq }) => seq)).toEqual([2, 3]);
        const next = await store.deliveries.events(organizationNumber, { afterSeq: 2, limit: 1 });
        expect(next.map(({ seq }) => seq)).toEqual([3]);
        const window = { fromMs: after.createdAtMs, toMs: after.createdAtMs, sinceMs: 0, mask: 0x7fff_ffff };
        expect(await store.webhookLog.matchEvents(organizationNumber, window)).toMatchObject({
          matched: 1,
          fromSeq: 3,
        });
        const endpoint = await harness.addEndpoint();
        await harness.subject.execute(`UPDATE webhook_states SET position = 1`);
        await harness.subject.execute(`UPDATE webhook_states SET subscriptions = '[{"fromSeq":1,"mask":2147483647}]'`);
        expect(await store.webhookLog.health(endpoint.number, Date.now())).toMatchObject({
          queuedEvents: 2,
          oldestUndeliveredAtMs: after.createdAtMs,
        });
      }),
    );
  });
}

function dueConformance(open: OpenSubject): void {
  describe('deliveries that were begun by a clock two days ahead', () => {
    it(
      'are retried after the wait of their step once it is right',
      withHarness(open, async (harness) => {
        const endpoint = await harness.addEndpoint();
        const [one, two] = await harness.emit(2);
        if (one === undefined || two === undefined) throw new Error('nothing was emitted');
        const failed = await harness.send(endpoint, [one], AHEAD_MS);
        await harness.finish(endpoint, failed, FAILURE, AHEAD_MS + 200);
        const faulty = await harness.send(await harness.read(endpoint.id), [two], AHEAD_MS + 1000);
        await harness.finish(endpoint, faulty, SENDER_FAULT, AHEAD_MS + 1200);
        await maintain(harness);
        const retried = await harness.delivery(endpoint, failed.dispatchId);
        expect(waitOf(retried)).toBeGreaterThanOrEqual(0.9 * MINUTE_MS);
        expect(waitOf(retried)).toBeLessThanOrEqual(1.1 * MINUTE_MS + 200);
        expect(waitOf(await harness.delivery(endpoint, faulty.dispatchId))).toBeLessThanOrEqual(5_200);
        await maintain(harness, NOW_MS + 10_000);
        expect(waitOf(await harness.delivery(endpoint, failed.dispatchId))).toBe(waitOf(retried));
      }),
    );

    it(
      'wait as long as the receiver asked, however often they are corrected',
      withHarness(open, async (harness) => {
        const endpoint = await harness.addEndpoint();
        const aheadMs = NOW_MS + 5 * MINUTE_MS;
        const failed = await harness.send(endpoint, await harness.emit(1), aheadMs);
        await harness.finish(endpoint, failed, { ...FAILURE, retryAfterMs: 10 * MINUTE_MS }, aheadMs);
        await maintain(harness);
        const waitMs = waitOf(await harness.delivery(endpoint, failed.dispatchId));
        expect(waitMs).toBeGreaterThanOrEqual(10 * MINUTE_MS);
        expect(waitMs).toBeLessThan(12 * MINUTE_MS);
        for (let minutes = 1; minutes < 4; minutes += 1) await maintain(harness, NOW_MS + minutes * MINUTE_MS);
        expect(waitOf(await harness.delivery(endpoint, failed.dispatchId))).toBe(waitMs);
      }),
    );

    it(
      'are retried too where a later event of theirs has an earlier instant',
      withHarness(open, async (harness) => {
        const endpoint = await harness.addEndpoint();
        const [one, two] = await harness.emit(2);
        if (one === undefined || two === undefined) throw new Error('nothing was emitted');
        const createdAtMs = one.createdAtMs - 1_000;
        await harness.subject.execute(`UPDATE events SET created_at = ${createdAtMs} WHERE seq = ${two.seq}`);
        const sent = await harness.send(endpoint, [one, { ...two, createdAtMs }]);
        await harness.finish(endpoint, sent, FAILURE);
        const { number, fence, dueAtMs } = await harness.delivery(endpoint, sent.dispatchId);
        const { version } = await harness.read(endpoint.id);
        const retry = { kind: 'claim', endpointNumber: endpoint.number, version, number, fence } as const;
        const claimed = await harness.claim(
          { ...retry, attemptId: 'webhookattempt_again', leaseMs: LEASE_MS },
          (dueAtMs ?? 0) + 1,
        );
        expect(claimed.seqs).toEqual([one.seq, two.seq]);
      }),
    );

    it(
      'are taken over from a lost sender within the time of a lease',
      withHarness(open, async (harness) => {
        const endpoint = await harness.addEndpoint();
        const sent = await harness.send(endpoint, await harness.emit(1), AHEAD_MS);
        await maintain(harness);
        expect(waitOf(await harness.delivery(endpoint, sent.dispatchId))).toBe(LEASE_MS);
        const lists = await harness.store.deliveries.due([endpoint.number], {
          nowMs: NOW_MS + LEASE_MS,
          perEndpointMax: 1,
        });
        expect(lists[0]?.lost).toHaveLength(1);
      }),
    );

    it(
      'are sent at once if they were never tried, and their age is told from now on',
      withHarness(open, async (harness) => {
        const endpoint = await harness.addEndpoint();
        const entries = await harness.emit(1);
        const ahead = entries.map((entry) => ({ ...entry, createdAtMs: AHEAD_MS }));
        const batch = batchOf(endpoint, ahead, { disposition: 'wait' });
        await harness.apply([cutOf(endpoint, [batch])], { nowMs: AHEAD_MS });
        await maintain(harness);
        expect(waitOf(await harness.delivery(endpoint, batch.dispatchId))).toBe(0);
        const { oldestUndeliveredAtMs } = await harness.store.webhookLog.health(endpoint.number, NOW_MS);
        expect(oldestUndeliveredAtMs).toBe(NOW_MS);
        expect((await harness.store.deliveries.counts()).oldestUndeliveredAtMs).toBe(NOW_MS);
      }),
    );

    it(
      'start the streak and the backoff of a failure no later than now',
      withHarness(open, async (harness) => {
        const endpoint = await harness.addEndpoint();
        const [one] = await harness.emit(1);
        if (one === undefined) throw new Error('nothing was emitted');
        const first = await harness.send(endpoint, [one], AHEAD_MS);
        await harness.finish(endpoint, first, FAILURE, AHEAD_MS);
        await maintain(harness);
        const atMs = NOW_MS + 2 * MINUTE_MS;
        const { number, fence } = await harness.delivery(endpoint, first.dispatchId);
        const { version } = await harness.read(endpoint.id);
        const again = await harness.claim(
          {
            kind: 'claim',
            endpointNumber: endpoint.number,
            version,
            number,
            fence,
            attemptId: 'webhookattempt_again',
            leaseMs: LEASE_MS,
          },
          atMs,
        );
        await harness.finish(endpoint, again, FAILURE, atMs);
        expect((await harness.read(endpoint.id)).failingSinceMs).toBe(atMs);
        expect((await harness.delivery(endpoint, first.dispatchId)).backoffStartedAtMs).toBe(atMs);
      }),
    );
  });
}

function trustConformance(open: OpenSubject): void {
  describe('the instant that is certain to have come', () => {
    it(
      'is stored, and only then',
      withHarness(open, async ({ store }) => {
        expect((await store.clock.instants()).trustedAtMs).toBeNull();
        await store.clock.trust(NOW_MS);
        expect((await store.clock.instants()).trustedAtMs).toBe(NOW_MS);
      }),
    );

    it(
      'is at least the newest event of a database that never stored one',
      withHarness(open, async (harness) => {
        expect((await harness.store.clock.instants()).newestAtMs).toBeNull();
        const [event] = await harness.emit(1);
        expect((await harness.store.clock.instants()).newestAtMs).toBe(event?.createdAtMs);
      }),
    );
  });
}

async function endLogAt({ subject }: Harness, atMs: number): Promise<void> {
  await subject.execute(`UPDATE log_heads SET created_at = ${atMs}`);
}

async function maintain({ store }: Harness, nowMs = NOW_MS): Promise<void> {
  const query = { nowMs, endedBeforeMs: 0, eventsBeforeMs: 0, rowsMax: 500 };
  while ((await store.deliveries.maintain(query)).more);
}

function waitOf({ dueAtMs }: Delivery): number {
  return (dueAtMs ?? Number.NaN) - NOW_MS;
}
