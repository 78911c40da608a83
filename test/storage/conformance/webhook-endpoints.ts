import { describe, expect, it } from 'vitest';
import type { EndpointRecord } from '../../../src/domain/endpoints/endpoint.ts';
import { maskOfSelectors } from '../../../src/domain/events/event-type.ts';
import type { OpenSubject } from './subject.ts';
import { batchOf, cutOf, type Harness, headOf, NOW_MS, SUCCESS, withHarness } from './webhook-harness.ts';

const ALL = maskOfSelectors(['*']);
const DISABLED = { status: 'disabled', disabledReason: 'manual', disabledAtMs: NOW_MS } as const;
const ENABLED = { status: 'active', disabledReason: null, disabledAtMs: null } as const;

export function webhookEndpointConformance(open: OpenSubject): void {
  recordConformance(open);
  subscriptionConformance(open);
}

function recordConformance(open: OpenSubject): void {
  describe('webhook endpoints', () => {
    it(
      'are archived for ever: hidden, silent, their replays cancelled, their waiting deliveries cancelled by maintenance',
      withHarness(open, async (harness) => {
        const { store, organizationId } = harness;
        const endpoint = await harness.addEndpoint();
        const [one, two] = await harness.emit(2);
        if (one === undefined || two === undefined) throw new Error('nothing was emitted');
        const waiting = batchOf(endpoint, [one], { disposition: 'wait' });
        const sending = batchOf(endpoint, [two]);
        const claimed = await harness.claim(cutOf(endpoint, [waiting, sending]));
        await harness.commit({ replays: [replayOf(endpoint.number, one.seq, two.seq)] });
        const archived = await harness.patch(endpoint.id, {
          archivedAtMs: NOW_MS + 1,
          secret: Buffer.alloc(0),
          updatedAtMs: NOW_MS + 1,
        });
        expect(archived).toMatchObject({ archivedAtMs: NOW_MS + 1, replays: [], secret: Buffer.alloc(0) });
        expect(archived.subscriptions.at(-1)).toEqual({ fromSeq: two.seq + 1, mask: 0 });
        expect(await store.webhooks.endpoint(organizationId, endpoint.id)).toBeNull();
        expect(await store.webhooks.endpoints(organizationId, { after: null, limit: null })).toEqual([]);
        expect(await store.webhooks.countEndpoints(organizationId)).toBe(0);
        expect((await store.deliveries.changes(0)).endpoints).toEqual([]);
        expect(await store.webhooks.replay(endpoint.number, 'replay_1')).toMatchObject({ status: 'cancelled' });
        // A delivery that is being sent ends with the result of its attempt.
        expect(await harness.finish(endpoint, claimed, SUCCESS)).toMatchObject({
          kind: 'recorded',
          outcome: 'success',
        });
        await maintainAll(harness);
        expect(await harness.delivery(endpoint, waiting.dispatchId)).toMatchObject({
          status: 'cancelled',
          dueAtMs: null,
        });
        expect(await harness.delivery(endpoint, sending.dispatchId)).toMatchObject({ status: 'delivered' });
      }),
    );

    it(
      'that are archived end what a lost sender had in hand, once its lease is over',
      withHarness(open, async (harness) => {
        const endpoint = await harness.addEndpoint();
        const [one] = await harness.emit(1);
        if (one === undefined) throw new Error('nothing was emitted');
        const sending = batchOf(endpoint, [one]);
        await harness.claim(cutOf(endpoint, [sending]));
        await harness.patch(endpoint.id, { archivedAtMs: NOW_MS, secret: Buffer.alloc(0) });
        await maintainAll(harness);
        expect(await harness.delivery(endpoint, sending.dispatchId)).toMatchObject({ status: 'sending' });
        await maintainAll(harness, NOW_MS + LEASES_OVER_MS);
        expect(await harness.delivery(endpoint, sending.dispatchId)).toMatchObject({
          status: 'cancelled',
          error: 'sender_lost',
        });
      }),
    );
  });
}

function subscriptionConformance(open: OpenSubject): void {
  describe('what an endpoint gets of the log', () => {
    it(
      'begins at the end of the log as it is when the endpoint comes into being',
      withHarness(open, async (harness) => {
        await harness.emit(3);
        const seq = await headOf(harness.store, harness.organizationNumber);
        const endpoint = await harness.addEndpoint({ enabledEvents: ['gateway.request.settled'] });
        const { position: _, inFlight: _i, subscriptions: _s, replays: _r, ...record } = endpoint;
        expect(await harness.store.webhooks.endpoint(harness.organizationId, endpoint.id)).toEqual(record);
        expect(endpoint).toMatchObject({
          position: seq,
          inFlight: 0,
          subscriptions: [{ fromSeq: seq + 1, mask: maskOfSelectors(['gateway.request.settled']) }],
        });
      }),
    );

    it(
      'follows its owner’s decisions from the event on that was committed after each of them',
      withHarness(open, async (harness) => {
        const { id } = await harness.addEndpoint({ enabledEvents: ['*'] });
        const expected = [{ fromSeq: 1, mask: ALL }];
        const step = async (changes: Partial<EndpointRecord>, mask: number) => {
          await harness.emit(2);
          const fromSeq = (await headOf(harness.store, harness.organizationNumber)) + 1;
          await harness.patch(id, changes);
          expected.push({ fromSeq, mask });
        };
        await step(DISABLED, 0);
        await step({ ...ENABLED, run: 2 }, ALL);
        await step({ enabledEvents: ['gateway.budget.*'] }, maskOfSelectors(['gateway.budget.*']));
        // Equivalent selectors, or none, add no subscription.
        await harness.patch(id, { enabledEvents: ['gateway.budget.breached', 'gateway.budget.threshold_crossed'] });
        await harness.patch(id, { description: 'new', maxBatchSize: 1 });
        expect((await harness.read(id)).subscriptions).toEqual(expected);
        // Of two changes at one log position only the last counts.
        await harness.emit(1);
        await harness.patch(id, DISABLED);
        await harness.patch(id, { ...ENABLED, enabledEvents: ['gateway.request.*'] });
        const fromSeq = (await headOf(harness.store, harness.organizationNumber)) + 1;
        const last = { fromSeq, mask: maskOfSelectors(['gateway.request.*']) };
        expect((await harness.read(id)).subscriptions).toEqual([...expected, last]);
      }),
    );

    it(
      'removes decisions that apply to no remaining event',
      withHarness(open, async (harness) => {
        const endpoint = await harness.addEndpoint({ enabledEvents: ['*'] });
        const entries = await harness.emit(4);
        await harness.patch(endpoint.id, { enabledEvents: ['gateway.request.*'] });
        const now = await harness.read(endpoint.id);
        expect(now.subscriptions).toHaveLength(2);
        await harness.apply([cutOf(now, [batchOf(now, entries.slice(0, 2))])]);
        expect((await harness.read(endpoint.id)).subscriptions).toHaveLength(2);
        const later = await harness.read(endpoint.id);
        await harness.apply([cutOf(later, [batchOf(later, entries.slice(2))])]);
        expect((await harness.read(endpoint.id)).subscriptions).toEqual([
          { fromSeq: 5, mask: maskOfSelectors(['gateway.request.*']) },
        ]);
      }),
    );

    it(
      'MUST miss no event and get none too many, however events and decisions come at once',
      withHarness(open, async (harness) => {
        const { id } = await harness.addEndpoint({ enabledEvents: ['*'] });
        const emitted = harness.emit(30);
        for (let round = 0; round < 6; round += 1) await harness.patch(id, round % 2 === 0 ? DISABLED : ENABLED);
        await emitted;
        const { subscriptions } = await harness.read(id);
        const seqs = subscriptions.map(({ fromSeq }) => fromSeq);
        expect(seqs).toEqual(seqs.toSorted((one, other) => one - other));
        expect(new Set(seqs).size).toBe(seqs.length);
        for (const [index, { mask }] of subscriptions.entries()) expect(mask).not.toBe(subscriptions[index - 1]?.mask);
        expect(subscriptions.at(-1)?.mask).toBe(ALL);
      }),
    );

    it(
      'refuses a change when there are too many to remember',
      withHarness(open, async (harness) => {
        const endpoint = await harness.addEndpoint({ enabledEvents: ['*'] });
        const many = Array.from({ length: 1000 }, (_, index) => ({
          fromSeq: index + 1,
          mask: index % 2 === 0 ? 0 : ALL,
        }));
        await harness.emit(1);
        await harness.subject.execute(
          `UPDATE webhook_states SET subscriptions = '${JSON.stringify(many)}' WHERE endpoint_number = ${endpoint.number}`,
        );
        await harness.subject.execute(`UPDATE log_heads SET seq = 2000 WHERE organization_number = 1`);
        const before = await harness.read(endpoint.id);
        await expect(harness.patch(endpoint.id, { enabledEvents: ['gateway.budget.*'] })).rejects.toMatchObject({
          code: 'rate_limited',
        });
        expect(await harness.read(endpoint.id)).toEqual(before);
        expect(await harness.patch(endpoint.id, { description: 'still' })).toMatchObject({ description: 'still' });
        // The server still accepts a change to no events.
        const silent = await harness.patch(endpoint.id, { status: 'disabled' });
        expect(silent.subscriptions.at(-1)).toEqual({ fromSeq: 2001, mask: 0 });
        await harness.subject.execute(`UPDATE log_heads SET seq = 3000 WHERE organization_number = 1`);
        await expect(harness.patch(endpoint.id, { status: 'active' })).rejects.toMatchObject({ code: 'rate_limited' });
      }),
    );
  });
}

function replayOf(endpointNumber: number, fromSeq: number, toSeq: number) {
  const span = { fromMs: 0, toMs: NOW_MS, fromSeq, toSeq };
  return { id: 'replay_1', endpointNumber, ...span, type: null, mask: ALL, matched: 1, createdAtMs: NOW_MS };
}

const LEASES_OVER_MS = 3_600_000;

async function maintainAll(harness: Harness, nowMs = NOW_MS + 2): Promise<void> {
  const question = { nowMs, endedBeforeMs: 0, eventsBeforeMs: 0, rowsMax: 10 };
  while ((await harness.store.deliveries.maintain(question)).more);
}
