import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { EndpointRecord } from '../../../src/domain/endpoints/endpoint.ts';
import { maskOfSelectors } from '../../../src/domain/events/event-type.ts';
import { foundAnother, sampleAudit } from './management-samples.ts';
import type { OpenSubject } from './subject.ts';
import {
  batchOf,
  cutOf,
  type Harness,
  headOf,
  NOW_MS,
  recordOf,
  SUCCESS,
  sampleEndpoint,
  withHarness,
} from './webhook-harness.ts';

const ALL = maskOfSelectors(['*']);
const DISABLED = { status: 'disabled', disabledReason: 'manual', disabledAtMs: NOW_MS } as const;
const ENABLED = { status: 'active', disabledReason: null, disabledAtMs: null } as const;
const STREAKLESS = { failingSinceMs: null, lastSuccessAtMs: null, lastFailureAtMs: null, consecutiveFailures: 0 };

export function webhookEndpointConformance(open: OpenSubject): void {
  recordConformance(open);
  subscriptionConformance(open);
}

function recordConformance(open: OpenSubject): void {
  describe('webhook endpoints', () => {
    it(
      'are stored as decided, bytes included, and read back whole',
      withHarness(open, async ({ store, organizationId, addEndpoint }) => {
        const http = await addEndpoint({ previousSecret: randomBytes(78), previousSecretUntilMs: NOW_MS + 5 });
        const sqs = await addEndpoint({
          destinationKind: 'sqs',
          url: null,
          sqs: {
            queueUrl: 'https://sqs.eu-central-1.amazonaws.com/123456789012/queue',
            roleArn: 'arn:aws:iam::123456789012:role/sender',
            externalId: null,
            accessKeyId: 'AKIA1',
            secretAccessKey: randomBytes(60),
          },
          description: null,
          createdAtMs: NOW_MS + 1,
        });
        for (const endpoint of [http, sqs]) {
          const { position, inFlight, subscriptions, replays, ...rest } = endpoint;
          expect(rest).toMatchObject({ version: 1, ...STREAKLESS });
          expect(await store.webhooks.endpoint(organizationId, endpoint.id)).toEqual(rest);
        }
        expect(Buffer.isBuffer(sqs.sqs?.secretAccessKey)).toBe(true);
        expect(sqs.number).toBeGreaterThan(http.number);
        expect(await store.webhooks.countEndpoints(organizationId)).toBe(2);
      }),
    );

    it(
      'are listed by (created, id), a page at a time or all, and found in their own organization only',
      withHarness(open, async ({ store, subject, organizationId, commit }) => {
        const records = Array.from({ length: 7 }, (_, index) =>
          sampleEndpoint({ organizationId, createdAtMs: NOW_MS - (index % 3) }),
        );
        const endpoints = records.map((record) => ({ record, expectedVersion: 0, clearsStreak: false }));
        expect(await commit({ endpoints })).toBe('stored');
        const expected = records
          .toSorted((one, other) => one.createdAtMs - other.createdAtMs || (one.id < other.id ? -1 : 1))
          .map(({ id }) => id);
        const all = await store.webhooks.endpoints(organizationId, { after: null, limit: null });
        expect(all.map(({ id }) => id)).toEqual(expected);
        const walked: string[] = [];
        for (let after: { createdAtMs: number; id: string } | null = null; ; ) {
          const page: readonly EndpointRecord[] = await store.webhooks.endpoints(organizationId, { after, limit: 2 });
          walked.push(...page.map(({ id }) => id));
          const last = page.at(-1);
          if (last === undefined) break;
          after = last;
        }
        expect(walked).toEqual(expected);
        const others = await foundAnother(subject);
        expect(await store.webhooks.endpoint(others, expected[0] ?? '')).toBeNull();
        expect(await store.webhooks.endpoint(organizationId, 'x\u0000')).toBeNull();
        expect(await store.webhooks.endpoints(others, { after: null, limit: null })).toEqual([]);
        expect(await store.webhooks.countEndpoints(others)).toBe(0);
      }),
    );

    it(
      'MUST be stale, and nothing is stored, when an endpoint is of another version than it was read with',
      withHarness(open, async (harness) => {
        const { store, organizationId } = harness;
        const endpoint = await harness.addEndpoint();
        const version = await store.management.version(organizationId);
        const record = { ...recordOf(endpoint), description: 'another' };
        const audit = [sampleAudit(organizationId)];
        for (const expectedVersion of [endpoint.version - 1, endpoint.version + 1]) {
          const endpoints = [{ record, expectedVersion, clearsStreak: true }];
          expect(await harness.commit({ endpoints, audit })).toBe('stale');
        }
        const isNew = [{ record: sampleEndpoint({ organizationId }), expectedVersion: 1, clearsStreak: false }];
        expect(await harness.commit({ endpoints: isNew, audit })).toBe('stale');
        expect(await store.management.version(organizationId)).toBe(version);
        expect(await harness.read(endpoint.id)).toEqual(endpoint);
        expect(await store.webhooks.countEndpoints(organizationId)).toBe(1);
      }),
    );

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
