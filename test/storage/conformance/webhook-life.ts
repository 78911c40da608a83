import { describe, expect, it } from 'vitest';
import type {
  ClaimedDelivery,
  DispatchEndpoint,
  MaintenanceRequest,
  MaintenanceResult,
} from '../../../src/domain/delivery/webhook-store.ts';
import { finish, NO_LOG_CUTS } from './retention-walk.ts';
import type { OpenSubject } from './subject.ts';
import {
  batchOf,
  cutOf,
  FAILURE,
  finishOf,
  GONE,
  type Harness,
  HOUR_MS,
  headOf,
  LEASE_MS,
  loseOf,
  MINUTE_MS,
  NOW_MS,
  only,
  SUCCESS,
  takeOf,
  withHarness,
} from './webhook-harness.ts';

const DAYS_3_MS = 72 * HOUR_MS;
const DAYS_30_MS = 720 * HOUR_MS;
const DISABLED = { status: 'disabled', disabledReason: 'manual', disabledAtMs: NOW_MS } as const;
const ENABLED = { status: 'active', disabledReason: null, disabledAtMs: null } as const;
const MAINTENANCE: MaintenanceRequest = { nowMs: NOW_MS, endedBeforeMs: 0, eventsBeforeMs: 0, rowsMax: 100 };

export function webhookLifeConformance(open: OpenSubject): void {
  disableConformance(open);
  waitConformance(open);
  maintenanceConformance(open);
}

function disableConformance(open: OpenSubject): void {
  describe('an endpoint that fails', () => {
    it(
      'is disabled at once by a response 410, with the same effects as by its owner',
      withHarness(open, async (harness) => {
        const endpoint = await harness.addEndpoint();
        const { change } = await harness.store.deliveries.changes(0);
        const claimed = await harness.send(endpoint, await harness.emit(1));
        const seq = await headOf(harness.store, harness.organizationNumber);
        const late = { ...cutOf(await harness.read(endpoint.id), []), toPosition: seq };
        expect(await harness.apply([finishOf(endpoint, claimed, GONE), late])).toMatchObject([
          {
            outcome: 'terminal',
            disabled: 'receiver_gone',
            deadReason: 'receiver_gone',
            nextAtMs: null,
            snapshot: { isActive: false, version: endpoint.version + 1 },
          },
          { kind: 'refused', reason: 'changed' },
        ]);
        const changes = await harness.store.deliveries.changes(change);
        expect(changes.endpoints).toMatchObject([
          {
            id: endpoint.id,
            status: 'disabled',
            disabledReason: 'receiver_gone',
            disabledAtMs: NOW_MS,
            updatedAtMs: NOW_MS,
            version: endpoint.version + 1,
          },
        ]);
        expect(changes.endpoints[0]?.subscriptions.at(-1)).toEqual({ fromSeq: seq + 1, mask: 0 });
        expect(await harness.delivery(endpoint, claimed.dispatchId)).toMatchObject({
          status: 'dead',
          deadReason: 'receiver_gone',
        });
        // A commit that read the endpoint earlier is stale.
        const endpoints = [{ record: endpoint, expectedVersion: endpoint.version, clearsStreak: false }];
        expect(await harness.commit({ endpoints })).toBe('stale');
      }),
    );

    it(
      'is disabled exactly once after 72 hours of failures, when several are recorded at once',
      withHarness(open, async (harness) => {
        const endpoint = await harness.addEndpoint({ maxInFlight: 8 });
        const claims = await sendEach(harness, endpoint, 8);
        const [first, ...others] = claims;
        if (first === undefined) throw new Error('nothing was sent');
        await harness.finish(endpoint, first, FAILURE);
        const atMs = NOW_MS + DAYS_3_MS;
        const outcomes = await Promise.all(others.map((claimed) => harness.finish(endpoint, claimed, FAILURE, atMs)));
        const disabled = outcomes.filter((outcome) => outcome.kind === 'recorded' && outcome.disabled !== null);
        expect(disabled).toHaveLength(1);
        expect(await harness.read(endpoint.id)).toMatchObject({
          status: 'disabled',
          disabledReason: 'auto_failures_72h',
          disabledAtMs: atMs,
          version: endpoint.version + 1,
          consecutiveFailures: 8,
          inFlight: 0,
        });
      }),
    );

    it(
      'is disabled by maintenance too, but not while an attempt that decides is due',
      withHarness(open, async (harness) => {
        const endpoint = await harness.addEndpoint();
        const [claimed] = await sendEach(harness, endpoint, 1);
        if (claimed === undefined) throw new Error('nothing was sent');
        await harness.finish(endpoint, claimed, FAILURE);
        expect(await maintain(harness, { nowMs: NOW_MS + DAYS_3_MS - 1 })).toEqual([]);
        // The second attempt is overdue.
        expect(await maintain(harness, { nowMs: NOW_MS + DAYS_3_MS })).toEqual([]);
        const delivery = await harness.delivery(endpoint, claimed.dispatchId);
        const again = await harness.take(endpoint, delivery, NOW_MS + DAYS_3_MS);
        expect(again).toMatchObject({ kind: 'claimed' });
        expect(await maintain(harness, { nowMs: NOW_MS + DAYS_3_MS })).toEqual([]);
        const ended = { ...claimed, fence: delivery.fence + 1 };
        await harness.apply([finishOf({ ...endpoint, destinationVersion: 0 }, ended, FAILURE)], {
          nowMs: NOW_MS + DAYS_3_MS,
        });
        expect(await maintain(harness, { nowMs: NOW_MS + DAYS_3_MS })).toEqual([endpoint.id]);
        expect(await harness.read(endpoint.id)).toMatchObject({ disabledReason: 'auto_failures_72h' });
        expect(await maintain(harness, { nowMs: NOW_MS + DAYS_3_MS })).toEqual([]);
      }),
    );
  });
}

function waitConformance(open: OpenSubject): void {
  describe('a delivery that waits', () => {
    it(
      'is held while its endpoint is disabled, and due at once with its ladder afresh when it is enabled again',
      withHarness(open, async (harness) => {
        const endpoint = await harness.addEndpoint();
        const [claimed] = await sendEach(harness, endpoint, 1);
        if (claimed === undefined) throw new Error('nothing was sent');
        await harness.finish(endpoint, claimed, FAILURE);
        const disabled = await harness.patch(endpoint.id, DISABLED);
        const atMs = NOW_MS + HOUR_MS;
        const delivery = await harness.delivery(endpoint, claimed.dispatchId);
        expect(delivery).toMatchObject({ status: 'retrying', failures: 1, dueAtMs: NOW_MS + MINUTE_MS });
        expect(await harness.take(disabled, delivery, atMs)).toMatchObject({ reason: 'changed' });
        const enabled = await harness.patch(endpoint.id, { ...ENABLED, run: endpoint.run + 1 }, true);
        const [list] = await harness.store.deliveries.due([endpoint.number], { nowMs: NOW_MS + 1, perEndpointMax: 5 });
        expect(list?.waiting).toEqual([{ number: delivery.number, fence: delivery.fence, isReplay: false }]);
        expect(await harness.take(enabled, delivery, NOW_MS + 1)).toMatchObject({
          kind: 'claimed',
          claimed: { attempt: 2 },
        });
        expect(await harness.delivery(endpoint, claimed.dispatchId)).toMatchObject({
          failures: 0,
          backoffStartedAtMs: NOW_MS + 1,
          run: endpoint.run + 1,
        });
      }),
    );

    it(
      'are listed by due time, the longest due first, with lost ones and the next due time',
      withHarness(open, async (harness) => {
        const [one, idle] = [await harness.addEndpoint({ maxInFlight: 8 }), await harness.addEndpoint()];
        const claims = await sendEach(harness, one, 4);
        for (const [index, claimed] of claims.slice(0, 3).entries()) {
          await harness.finish(one, claimed, FAILURE, NOW_MS - index);
        }
        const [first, second, third, sending] = claims;
        const due = async (nowMs: number, perEndpointMax = 10) =>
          await harness.store.deliveries.due([one.number, idle.number], { nowMs, perEndpointMax });
        const nothing = { endpointNumber: idle.number, waiting: [], lost: [], nextAtMs: null };
        expect(await due(NOW_MS)).toEqual([
          { endpointNumber: one.number, waiting: [], lost: [], nextAtMs: NOW_MS + LEASE_MS },
          nothing,
        ]);
        const [list] = await due(NOW_MS + MINUTE_MS - 1);
        expect(list).toMatchObject({ nextAtMs: NOW_MS + MINUTE_MS, lost: [{ number: sending?.number, fence: 1 }] });
        expect(list?.waiting.map(({ number }) => number)).toEqual([third?.number, second?.number]);
        const [fewer] = await due(NOW_MS + MINUTE_MS, 2);
        expect(fewer?.waiting.map(({ number }) => number)).toEqual([third?.number, second?.number]);
        const [all] = await due(NOW_MS + MINUTE_MS);
        expect(all?.waiting.map(({ number }) => number)).toEqual([third?.number, second?.number, first?.number]);
        expect(all?.nextAtMs).toBeNull();
      }),
    );

    it(
      'uses a step only from the fourth lost sender in a row on',
      withHarness(open, async (harness) => {
        const endpoint = await harness.addEndpoint();
        const [claimed] = await sendEach(harness, endpoint, 1);
        if (claimed === undefined) throw new Error('nothing was sent');
        let { fence } = claimed;
        for (let round = 1; round <= 4; round += 1) {
          await harness.apply([loseOf(endpoint, { ...claimed, fence })]);
          const delivery = await harness.delivery(endpoint, claimed.dispatchId);
          expect(delivery).toMatchObject({ attempt: round, failures: round < 4 ? 0 : 1, error: 'sender_lost' });
          if (round === 4) break;
          await harness.take(endpoint, delivery);
          fence = delivery.fence + 1;
        }
        expect(await harness.read(endpoint.id)).toMatchObject({ failingSinceMs: null, inFlight: 0 });
        const rows = await harness.store.webhooks.attemptsOf(endpoint.number, claimed.dispatchId, 10);
        expect(rows.map(({ attempt, outcome, error }) => ({ attempt, outcome, error }))).toEqual(
          [4, 3, 2, 1].map((attempt) => ({ attempt, outcome: 'retryable', error: 'sender_lost' })),
        );
      }),
    );
  });
}

function maintenanceConformance(open: OpenSubject): void {
  describe('maintenance of deliveries', () => {
    it(
      'removes what ended long enough ago, a few rows at a time, and nothing that has not',
      withHarness(open, async (harness) => {
        const endpoint = await harness.addEndpoint({ maxInFlight: 8 });
        const claims = await sendEach(harness, endpoint, 6);
        const [kept, waiting, ...old] = claims;
        if (kept === undefined || waiting === undefined) throw new Error('nothing was sent');
        for (const claimed of old) await harness.finish(endpoint, claimed, SUCCESS, NOW_MS + 1);
        await harness.finish(endpoint, kept, SUCCESS, NOW_MS + 3);
        await harness.finish(endpoint, waiting, FAILURE, NOW_MS + 1);
        const question = { nowMs: NOW_MS + DAYS_30_MS, endedBeforeMs: NOW_MS + 2, rowsMax: 3 };
        let steps = 0;
        for (let more = true; more; steps += 1)
          ({ more } = await harness.store.deliveries.maintain({ ...MAINTENANCE, ...question }));
        expect(steps).toBeGreaterThan(1);
        for (const { dispatchId } of old) {
          expect(await harness.store.webhooks.delivery(endpoint.number, dispatchId)).toBeNull();
          expect(await harness.store.webhooks.attemptsOf(endpoint.number, dispatchId, 5)).toEqual([]);
        }
        expect(await harness.delivery(endpoint, kept.dispatchId)).toMatchObject({ status: 'delivered' });
        expect(await harness.delivery(endpoint, waiting.dispatchId)).toMatchObject({ status: 'retrying' });
      }),
    );

    it(
      'expires deliveries whose events retention removed, and those that are claimed meanwhile',
      withHarness(open, async (harness) => {
        const endpoint = await harness.addEndpoint({ maxInFlight: 8 });
        const [one, other] = await sendEach(harness, endpoint, 2);
        if (one === undefined || other === undefined) throw new Error('nothing was sent');
        await harness.finish(endpoint, one, FAILURE);
        await harness.finish(endpoint, other, FAILURE);
        const cutMs = monthStartMs(one.created.lastMs, 1);
        expect(await maintain(harness, { eventsBeforeMs: one.created.firstMs })).toEqual([]);
        expect(await harness.delivery(endpoint, one.dispatchId)).toMatchObject({ status: 'retrying' });
        await finish(harness.store.logRetention.begin({ ...NO_LOG_CUTS, eventsBeforeMs: cutMs }), 100);
        expect(await harness.store.deliveries.envelopes(harness.organizationNumber, one.seqs, one.created)).toEqual([]);
        const taken = takeOf(endpoint, await harness.delivery(endpoint, one.dispatchId));
        const outcome = only(await harness.apply([taken], { nowMs: NOW_MS + MINUTE_MS }));
        expect(outcome).toMatchObject({ kind: 'refused', reason: 'expired', snapshot: { inFlight: 0 } });
        expect((await maintainAll(harness, { eventsBeforeMs: cutMs })).expired).toBe(1);
        for (const { dispatchId } of [one, other]) {
          expect(await harness.delivery(endpoint, dispatchId)).toMatchObject({ status: 'dead', deadReason: 'expired' });
        }
      }),
    );
  });
}

/** Sends `count` batches of one event each. */
async function sendEach(
  harness: Harness,
  { id }: DispatchEndpoint,
  count: number,
): Promise<readonly ClaimedDelivery[]> {
  const claims: ClaimedDelivery[] = [];
  for (const entry of await harness.emit(count)) {
    const endpoint = await harness.read(id);
    claims.push(await harness.claim(cutOf(endpoint, [batchOf(endpoint, [entry])])));
  }
  return claims;
}

/** Returns the disabled endpoints. */
async function maintain(harness: Harness, question: Partial<MaintenanceRequest>): Promise<readonly string[]> {
  return (await maintainAll(harness, question)).disabled;
}

async function maintainAll(
  harness: Harness,
  question: Partial<MaintenanceRequest>,
): Promise<Omit<MaintenanceResult, 'more'>> {
  const disabled: string[] = [];
  let expired = 0;
  for (let more = true; more; ) {
    const step = await harness.store.deliveries.maintain({ ...MAINTENANCE, ...question });
    disabled.push(...step.disabled);
    expired += step.expired;
    ({ more } = step);
  }
  return { disabled, expired };
}

function monthStartMs(atMs: number, monthsLater: number): number {
  const at = new Date(atMs);
  return Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + monthsLater);
}
