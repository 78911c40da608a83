import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { NewTest } from '../../../src/domain/delivery/webhook-store.ts';
import type { OpenSubject } from './subject.ts';
import {
  batchOf,
  cutOf,
  FAILURE,
  GONE,
  type Harness,
  HOUR_MS,
  LEASE_MS,
  MINUTE_MS,
  NOW_MS,
  SENDER_FAULT,
  SUCCESS,
  withHarness,
} from './webhook-harness.ts';

const EMPTY_HEALTH = {
  oldestUndeliveredAtMs: null,
  dead: 0,
  finished: 0,
  succeeded: 0,
  latenciesMs: [],
  queuedEvents: 0,
  retrying: 0,
  held: 0,
  inFlight: 0,
};
const LIMIT = { startsMax: 3, windowMs: MINUTE_MS };

export function webhookLogConformance(open: OpenSubject): void {
  pageConformance(open);
  healthConformance(open);
  testConformance(open);
}

function pageConformance(open: OpenSubject): void {
  describe('the log of deliveries', () => {
    it(
      'is listed newest first by (fired, id), each attempt once, even when many began at the same instant',
      withHarness(open, async (harness) => {
        const endpoint = await harness.addEndpoint();
        const entries = await harness.emit(11);
        const batches = entries.map((entry) =>
          batchOf(endpoint, [entry], { disposition: 'too_large', error: 'too large' }),
        );
        const [first, ...rest] = batches;
        if (first === undefined) throw new Error('nothing was emitted');
        await harness.apply([cutOf(endpoint, rest, { toPosition: 11 })], { nowMs: NOW_MS });
        const now = await harness.read(endpoint.id);
        await harness.apply([cutOf(now, [first])], { nowMs: NOW_MS + 1 });
        const expected = [first, ...rest.toSorted((one, other) => (one.attemptId < other.attemptId ? 1 : -1))];
        const walked: string[] = [];
        for (let after: { atMs: number; id: string } | null = null; ; ) {
          const page = await harness.store.webhooks.attempts(endpoint.number, { after, limit: 3 });
          walked.push(...page.map(({ id }) => id));
          const last = page.at(-1);
          if (last === undefined) break;
          after = { atMs: last.firedAtMs, id: last.id };
        }
        expect(walked).toEqual(expected.map(({ attemptId }) => attemptId));
        const [newest] = await harness.store.webhooks.attempts(endpoint.number, { after: null, limit: 1 });
        expect(newest).toEqual({
          id: first.attemptId,
          dispatchId: first.dispatchId,
          attempt: 1,
          eventIds: first.eventIds,
          outcome: 'terminal',
          responseStatus: null,
          latencyMs: null,
          error: 'too large',
          firedAtMs: NOW_MS + 1,
          responseBody: null,
          test: false,
          terminalHint: false,
        });
      }),
    );

    it(
      'has dead letters, last ended first by (ended, dispatch id), without tests',
      withHarness(open, async (harness) => {
        const endpoint = await harness.addEndpoint();
        const entries = await harness.emit(7);
        const batches = entries.map((entry) =>
          batchOf(endpoint, [entry], { disposition: 'too_large', error: 'too large' }),
        );
        await harness.apply([cutOf(endpoint, batches)]);
        const test = sampleTest(endpoint.number);
        await harness.store.webhookLog.beginTest(test, LIMIT);
        await harness.store.webhookLog.endTest(test, FAILURE, NOW_MS + 5);
        const expected = batches.map(({ dispatchId }) => dispatchId).toSorted((one, other) => (one < other ? 1 : -1));
        const walked: string[] = [];
        for (let after: { atMs: number; id: string } | null = null; ; ) {
          const page = await harness.store.webhooks.deadLetters(endpoint.number, { after, limit: 2 });
          walked.push(...page.map(({ dispatchId }) => dispatchId));
          const last = page.at(-1);
          if (last === undefined) break;
          after = { atMs: last.endedAtMs ?? 0, id: last.dispatchId };
        }
        expect(walked).toEqual(expected);
        expect(await harness.store.webhooks.delivery(endpoint.number + 1, expected[0] ?? '')).toBeNull();
      }),
    );
  });
}

function healthConformance(open: OpenSubject): void {
  describe('the health of an endpoint', () => {
    it(
      'reports what waits, since when, and the outcomes of the last hour',
      withHarness(open, async (harness) => {
        const endpoint = await harness.addEndpoint({ enabledEvents: ['gateway.request.*'], maxInFlight: 8 });
        const health = async (nowMs = NOW_MS + 10) => await harness.store.webhookLog.health(endpoint.number, nowMs);
        expect(await health()).toEqual(EMPTY_HEALTH);
        const entries = await harness.emit(5);
        const [first, second, third, fourth] = entries;
        if (!first || !second || !third || !fourth) throw new Error('nothing was emitted');
        expect(await health()).toMatchObject({ queuedEvents: 5, oldestUndeliveredAtMs: first.createdAtMs });
        const failed = await harness.send(endpoint, [first]);
        expect(await health()).toMatchObject({
          queuedEvents: 4,
          inFlight: 1,
          oldestUndeliveredAtMs: first.createdAtMs,
        });
        await harness.finish(endpoint, failed, { ...FAILURE, latencyMs: 7 });
        expect(await health()).toMatchObject({ retrying: 1, inFlight: 0, finished: 1, succeeded: 0, latenciesMs: [7] });
        const sent = await harness.send(await harness.read(endpoint.id), [second], NOW_MS + 1);
        await harness.finish(endpoint, sent, { ...SUCCESS, latencyMs: 9 }, NOW_MS + 2);
        const ours = await harness.send(await harness.read(endpoint.id), [third], NOW_MS + 3);
        await harness.finish(endpoint, ours, { ...SENDER_FAULT, latencyMs: null }, NOW_MS + 4);
        expect(await health()).toEqual({
          ...EMPTY_HEALTH,
          oldestUndeliveredAtMs: first.createdAtMs,
          finished: 2,
          succeeded: 1,
          latenciesMs: [9, 7],
          queuedEvents: 2,
          retrying: 1,
        });
        const seen = { nowMs: NOW_MS + MINUTE_MS };
        const [due] = await harness.store.deliveries.due([endpoint.number], { ...seen, perEndpointMax: 9 });
        for (const delivery of due?.waiting ?? []) await harness.take(endpoint, delivery, seen.nowMs);
        expect(await health(seen.nowMs)).toMatchObject({ inFlight: 2, oldestUndeliveredAtMs: first.createdAtMs });
        expect(await health(NOW_MS + 2 * HOUR_MS)).toMatchObject({ finished: 0, succeeded: 0, latenciesMs: [] });
        const last = await harness.send(await harness.read(endpoint.id), [fourth], NOW_MS + 5);
        await harness.finish(endpoint, last, GONE, NOW_MS + 6);
        expect(await health()).toMatchObject({ dead: 1, finished: 3, queuedEvents: 1 });
      }),
    );

    it(
      'of a disabled one reports held deliveries, and events from before it was disabled, not after',
      withHarness(open, async (harness) => {
        const endpoint = await harness.addEndpoint();
        const [first, second] = await harness.emit(3);
        if (!first || !second) throw new Error('nothing was emitted');
        const failed = await harness.send(endpoint, [first]);
        await harness.finish(endpoint, failed, FAILURE);
        await harness.patch(endpoint.id, { status: 'disabled', disabledReason: 'manual', disabledAtMs: NOW_MS });
        await harness.emit(4);
        expect(await harness.store.webhookLog.health(endpoint.number, NOW_MS)).toMatchObject({
          queuedEvents: 2,
          held: 1,
          retrying: 0,
          oldestUndeliveredAtMs: first.createdAtMs,
        });
        expect(await harness.store.deliveries.counts()).toMatchObject({
          deliveries: { queued: 0, sending: 0, retrying: 0, held: 1, dead: 0 },
          endpoints: { active: 0, disabled: 1 },
          outboxEvents: 0,
          oldestUndeliveredAtMs: null,
        });
        await harness.patch(endpoint.id, { status: 'active', disabledReason: null, disabledAtMs: null, run: 2 });
        expect(await harness.store.webhookLog.health(endpoint.number, NOW_MS)).toMatchObject({ retrying: 1, held: 0 });
        expect(await harness.store.deliveries.counts()).toMatchObject({
          deliveries: { retrying: 1, held: 0 },
          endpoints: { active: 1, disabled: 0 },
          outboxEvents: 6,
          oldestUndeliveredAtMs: first.createdAtMs,
        });
      }),
    );
  });
}

function testConformance(open: OpenSubject): void {
  describe('a test of an endpoint', () => {
    it(
      'is one delivery with one attempt, and counts nowhere',
      withHarness(open, async (harness) => {
        const endpoint = await harness.addEndpoint();
        const test = sampleTest(endpoint.number);
        expect(await harness.store.webhookLog.beginTest(test, LIMIT)).toBeNull();
        const attempts = async () => await harness.store.webhooks.attempts(endpoint.number, { after: null, limit: 9 });
        expect(await attempts()).toMatchObject([
          { id: test.attemptId, dispatchId: test.dispatchId, eventIds: [test.eventId], outcome: 'pending', test: true },
        ]);
        await expectUncounted(harness, endpoint.number);
        await harness.store.webhookLog.endTest(test, FAILURE, NOW_MS + 5);
        expect(await attempts()).toMatchObject([
          {
            outcome: 'terminal',
            responseStatus: 500,
            error: 'HTTP 500',
            responseBody: 'out of order ✓',
            latencyMs: 12,
          },
        ]);
        await expectUncounted(harness, endpoint.number);
        expect(await harness.read(endpoint.id)).toEqual(endpoint);
        expect(await harness.delivery(endpoint, test.dispatchId)).toMatchObject({ test: true, attempt: 1 });
        const { number, fence } = await harness.delivery(endpoint, test.dispatchId);
        const again = { endpointNumber: endpoint.number, number, fence, atMs: NOW_MS };
        expect(await harness.commit({ redeliveries: [again] })).toBe('stale');
        // A late result of a lost attempt changes nothing.
        await harness.store.webhookLog.endTest(test, SUCCESS, NOW_MS + 6);
        expect(await attempts()).toMatchObject([{ outcome: 'terminal' }]);
      }),
    );

    it(
      'MUST not begin when as many have begun within the window, whoever asks, and says when one may',
      withHarness(open, async (harness) => {
        const endpoint = await harness.addEndpoint();
        const other = await harness.addEndpoint();
        const begin = (firedAtMs: number, number = endpoint.number) =>
          harness.store.webhookLog.beginTest({ ...sampleTest(number), firedAtMs }, LIMIT);
        const tries = await Promise.all(Array.from({ length: 9 }, (_, index) => begin(NOW_MS + index)));
        expect(tries.filter((waitMs) => waitMs === null)).toHaveLength(3);
        expect(await begin(NOW_MS, other.number)).toBeNull();
        const fired = await harness.store.webhooks.attempts(endpoint.number, { after: null, limit: 9 });
        expect(fired).toHaveLength(3);
        const oldestMs = fired.at(-1)?.firedAtMs ?? 0;
        expect(await begin(oldestMs + MINUTE_MS - 1)).toBe(1);
        expect(await begin(oldestMs + MINUTE_MS)).toBeNull();
      }),
    );

    it(
      'that was lost with its process is ended by maintenance',
      withHarness(open, async (harness) => {
        const endpoint = await harness.addEndpoint();
        const test = sampleTest(endpoint.number);
        await harness.store.webhookLog.beginTest(test, LIMIT);
        const question = { nowMs: NOW_MS + 10 * LEASE_MS, endedBeforeMs: 0, eventsBeforeMs: 0, rowsMax: 10 };
        while ((await harness.store.deliveries.maintain(question)).more);
        expect(await harness.store.webhooks.attempts(endpoint.number, { after: null, limit: 9 })).toMatchObject([
          { outcome: 'terminal', error: 'sender_lost', test: true },
        ]);
      }),
    );
  });
}

async function expectUncounted(harness: Harness, endpointNumber: number): Promise<void> {
  expect(await harness.store.webhookLog.health(endpointNumber, NOW_MS + 10)).toEqual(EMPTY_HEALTH);
  const [list] = await harness.store.deliveries.due([endpointNumber], { nowMs: NOW_MS + HOUR_MS, perEndpointMax: 9 });
  expect(list).toEqual({ endpointNumber, waiting: [], lost: [], nextAtMs: null });
  const { deliveries } = await harness.store.deliveries.counts();
  expect(deliveries).toEqual({ queued: 0, sending: 0, retrying: 0, held: 0, dead: 0 });
}

function sampleTest(endpointNumber: number): NewTest {
  return {
    endpointNumber,
    dispatchId: `test:${randomUUID()}`,
    attemptId: randomUUID(),
    eventId: `evt_test_${randomUUID()}`,
    firedAtMs: NOW_MS,
  };
}
