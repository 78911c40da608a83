import { describe, expect, it } from 'vitest';
import type { NewReplay } from '../../../src/domain/delivery/delivery.ts';
import type {
  ClaimedDelivery,
  DispatchEndpoint,
  LogEntry,
  RunningReplay,
} from '../../../src/domain/delivery/webhook-store.ts';
import { maskOfSelectors } from '../../../src/domain/events/event-type.ts';
import type { ManagementChange } from '../../../src/domain/management/management.ts';
import { foundAnother } from './management-samples.ts';
import type { OpenSubject } from './subject.ts';
import {
  batchOf,
  cutOf,
  FAILURE,
  FOR_EVER_MS,
  GONE,
  type Harness,
  HOUR_MS,
  MINUTE_MS,
  NOW_MS,
  only,
  recordOf,
  SUCCESS,
  withHarness,
} from './webhook-harness.ts';

const ALL = maskOfSelectors(['*']);
const EVERYTHING = { fromMs: 0, toMs: FOR_EVER_MS, sinceMs: 0, mask: ALL };

export function webhookReplayConformance(open: OpenSubject): void {
  matchConformance(open);
  replayConformance(open);
  redeliveryConformance(open);
}

function matchConformance(open: OpenSubject): void {
  describe('the events of a time range', () => {
    it(
      'are those created in it, both ends included, and none before the oldest kept event',
      withHarness(open, async (harness) => {
        const entries = await harness.emit(5);
        const { matchEvents } = harness.store.webhookLog;
        const match = (question: Partial<typeof EVERYTHING>) => matchEvents(1, { ...EVERYTHING, ...question });
        expect(await match({})).toEqual({ fromSeq: 1, toSeq: 5, matched: 5 });
        const atMs = entries[2]?.createdAtMs ?? 0;
        const within = entries.filter(({ createdAtMs }) => createdAtMs >= atMs);
        const [first] = within;
        const expected = { fromSeq: first?.seq, toSeq: 5, matched: within.length };
        expect(await match({ fromMs: atMs })).toEqual(expected);
        expect(await match({ sinceMs: atMs })).toEqual(expected);
        const same = entries.filter(({ createdAtMs }) => createdAtMs === atMs);
        expect(await match({ fromMs: atMs, toMs: atMs })).toMatchObject({ matched: same.length });
        expect(await match({ mask: maskOfSelectors(['gateway.request.settled']) })).toMatchObject({ matched: 0 });
        for (const empty of [{ fromMs: FOR_EVER_MS }, { toMs: 0 }, { sinceMs: FOR_EVER_MS }]) {
          const nothing = await match(empty);
          expect(nothing.matched).toBe(0);
          expect(nothing.fromSeq).toBeGreaterThan(nothing.toSeq);
        }
        expect(await matchEvents(77, EVERYTHING)).toMatchObject({ matched: 0 });
      }),
    );

    it(
      'are of all families, whether the log lists them or not',
      withHarness(open, async (harness) => {
        await harness.emit(2);
        await harness.store.requests.reportGovernance({
          kind: 'governance',
          organizationNumber: harness.organizationNumber,
          events: [
            { id: 'vk_1:created:1', type: 'gateway.virtual_key.created', dataJson: '{"a":"ä"}' },
            { id: 'b:s:breached:1', type: 'gateway.budget.breached', dataJson: '{}' },
          ],
        });
        const count = async (...selectors: string[]) =>
          (await harness.store.webhookLog.matchEvents(1, { ...EVERYTHING, mask: maskOfSelectors(selectors) })).matched;
        expect(await count('*')).toBe(4);
        expect(await count('gateway.request.*')).toBe(2);
        expect(await count('gateway.virtual_key.created')).toBe(1);
        expect(await count('gateway.budget.*', 'gateway.request.completed')).toBe(3);
        const entries = await harness.store.deliveries.events(1, { afterSeq: 2, limit: 10 });
        expect(entries).toMatchObject([
          { seq: 3, id: 'vk_1:created:1', type: 'gateway.virtual_key.created' },
          { seq: 4, id: 'b:s:breached:1', type: 'gateway.budget.breached' },
        ]);
        for (const { envelope, ...entry } of entries) {
          const { id, type, created } = JSON.parse(envelope);
          expect(entry).toMatchObject({ id, type, createdAtMs: Date.parse(created) });
        }
        const span = { firstMs: entries[0]?.createdAtMs ?? 0, lastMs: entries[1]?.createdAtMs ?? 0 };
        expect(await harness.store.deliveries.envelopes(1, [4, 3], span)).toEqual(entries);
      }),
    );
  });
}

function replayConformance(open: OpenSubject): void {
  describe('a replay', () => {
    it(
      'is a separate source, and complete when all of it is delivered or dead',
      withHarness(open, async (harness) => {
        const { endpoint, entries, replay } = await begin(harness, 4);
        expect(replay).toMatchObject({ id: 'replay_1', position: 0, toSeq: 4, mask: ALL, createdAtMs: NOW_MS });
        expect(await progress(harness, endpoint)).toMatchObject({ status: 'running', matched: 4, enqueued: 0 });
        expect(await harness.store.webhooks.countUnfinishedReplays(endpoint.number)).toBe(1);
        const one = await sendPart(harness, endpoint, entries.slice(0, 1));
        const rest = await sendPart(harness, endpoint, entries.slice(1));
        expect(one.replay).toBe(true);
        expect(await progress(harness, endpoint)).toMatchObject({ enqueued: 4, delivered: 0, dead: 0 });
        expect(await harness.read(endpoint.id)).toMatchObject({
          position: endpoint.position,
          replays: [{ position: 4 }],
        });
        await harness.finish(endpoint, one, SUCCESS);
        expect(await progress(harness, endpoint)).toMatchObject({
          status: 'running',
          delivered: 1,
          completedAtMs: null,
        });
        await harness.finish({ ...endpoint, destinationVersion: 0 }, rest, FAILURE);
        const { dispatchId } = rest;
        await failThrough(harness, endpoint, dispatchId);
        expect(await progress(harness, endpoint)).toMatchObject({ status: 'completed', delivered: 1, dead: 3 });
        expect(await harness.store.webhooks.countUnfinishedReplays(endpoint.number)).toBe(0);
        expect((await harness.read(endpoint.id)).replays).toEqual([]);
        expect(await harness.delivery(endpoint, dispatchId)).toMatchObject({ replayId: 'replay_1', status: 'dead' });
      }),
    );

    it(
      'MUST be cut once by position, and by nobody once it is over',
      withHarness(open, async (harness) => {
        const { endpoint, entries, replay } = await begin(harness, 2);
        const source = { kind: 'replay', number: replay.number } as const;
        const cut = cutOf(endpoint, [batchOf(endpoint, entries)], { source, fromPosition: 0, toPosition: 2 });
        expect(await harness.apply([cut, cut])).toMatchObject([
          { kind: 'claimed' },
          { kind: 'refused', reason: 'moved' },
        ]);
        const other = await harness.addEndpoint();
        const foreign = { ...cut, endpointNumber: other.number, version: other.version, fromPosition: 2 };
        expect(only(await harness.apply([foreign]))).toMatchObject({ reason: 'moved' });
        const claimed = await harness.store.webhooks.attempts(endpoint.number, { after: null, limit: 1 });
        const delivery = await harness.delivery(endpoint, claimed[0]?.dispatchId ?? '');
        await harness.finish(
          endpoint,
          { ...delivery, seqs: [], created: { firstMs: 0, lastMs: 0 }, replay: true },
          SUCCESS,
        );
        expect(await progress(harness, endpoint)).toMatchObject({ status: 'completed', completedAtMs: NOW_MS });
        expect(only(await harness.apply([{ ...cut, fromPosition: 2 }]))).toMatchObject({ reason: 'moved' });
      }),
    );

    it(
      'without any events is complete at once, and one with removed events when its range was scanned',
      withHarness(open, async (harness) => {
        const { endpoint, replay } = await begin(harness, 2);
        const empty = { ...newReplay(endpoint, 0), id: 'replay_2', fromSeq: 1, toSeq: 0 };
        expect(await harness.commit({ replays: [empty] })).toBe('stored');
        expect(await harness.store.webhooks.replay(endpoint.number, 'replay_2')).toMatchObject({
          status: 'completed',
          completedAtMs: NOW_MS,
        });
        const source = { kind: 'replay', number: replay.number } as const;
        await harness.apply([cutOf(endpoint, [], { source, fromPosition: 0, toPosition: 2 })]);
        expect(await progress(harness, endpoint)).toMatchObject({ status: 'completed', matched: 2, enqueued: 0 });
      }),
    );

    it(
      'is refused for an endpoint that is archived, or not of the organization',
      withHarness(open, async (harness) => {
        const endpoint = await harness.addEndpoint();
        await harness.emit(1);
        expect(await harness.commit({ replays: [{ ...newReplay(endpoint, 1), endpointNumber: 999 }] })).toBe('stale');
        await harness.patch(endpoint.id, { archivedAtMs: NOW_MS });
        expect(await harness.commit({ replays: [newReplay(endpoint, 1)] })).toBe('stale');
        expect(await harness.store.webhooks.replay(endpoint.number, 'replay_1')).toBeNull();
      }),
    );
  });
}

function redeliveryConformance(open: OpenSubject): void {
  describe('a redelivery', () => {
    it(
      'is refused like any change, where the endpoint is of another organization, and leaves it as it was',
      withHarness(open, async (harness) => {
        const endpoint = await harness.addEndpoint();
        const claimed = await harness.send(endpoint, await harness.emit(1));
        await harness.finish(endpoint, claimed, SUCCESS);
        const delivery = await harness.delivery(endpoint, claimed.dispatchId);
        const before = await harness.read(endpoint.id);
        const organizationId = await foundAnother(harness.subject);
        const { number, fence } = delivery;
        const record = { ...recordOf(before), url: 'https://others.example/' };
        const parts: readonly Partial<ManagementChange>[] = [
          { redeliveries: [{ endpointNumber: endpoint.number, number, fence, atMs: NOW_MS }] },
          { replays: [newReplay(endpoint, 1)] },
          { endpoints: [{ record, expectedVersion: before.version, clearsStreak: false }] },
        ];
        for (const part of parts) {
          const expectedVersion = await harness.store.management.version(organizationId);
          expect(await harness.commit({ organizationId, expectedVersion, ...part })).toBe('stale');
        }
        expect(await harness.read(endpoint.id)).toEqual(before);
        expect(await harness.delivery(endpoint, claimed.dispatchId)).toEqual(delivery);
        expect(await harness.store.webhooks.replay(endpoint.number, 'replay_1')).toBeNull();
      }),
    );

    it(
      'sends what is dead or delivered once more, if it still is as it was read',
      withHarness(open, async (harness) => {
        const endpoint = await harness.addEndpoint();
        const claimed = await harness.send(endpoint, await harness.emit(1));
        await harness.finish(endpoint, claimed, SUCCESS);
        const { change } = await harness.store.deliveries.changes(0);
        const delivery = await harness.delivery(endpoint, claimed.dispatchId);
        const again = { endpointNumber: endpoint.number, number: delivery.number, fence: delivery.fence };
        const atMs = NOW_MS + HOUR_MS;
        expect(await harness.commit({ redeliveries: [{ ...again, fence: 77, atMs }] })).toBe('stale');
        expect(await harness.commit({ redeliveries: [{ ...again, atMs }] })).toBe('stored');
        expect(await harness.commit({ redeliveries: [{ ...again, atMs }] })).toBe('stale');
        expect(await harness.delivery(endpoint, claimed.dispatchId)).toMatchObject({
          status: 'retrying',
          attempt: 1,
          failures: 0,
          dueAtMs: atMs,
          endedAtMs: null,
          fence: delivery.fence + 1,
        });
        expect((await harness.store.deliveries.changes(change)).endpoints.map(({ id }) => id)).toEqual([endpoint.id]);
        const waiting = { number: delivery.number, fence: delivery.fence + 1 };
        expect(await harness.take(endpoint, waiting, atMs)).toMatchObject({ kind: 'claimed', claimed: { attempt: 2 } });
        // No other sender may claim a delivery that is being sent.
        const sending = { ...again, fence: delivery.fence + 2, atMs };
        expect(await harness.commit({ redeliveries: [sending] })).toBe('stale');
      }),
    );

    it(
      'of what was dead moves it from the dead to the delivered in its replay, and never back',
      withHarness(open, async (harness) => {
        const { endpoint, entries } = await begin(harness, 2);
        const claimed = await sendPart(harness, endpoint, entries);
        await harness.finish(endpoint, claimed, GONE);
        expect(await progress(harness, endpoint)).toMatchObject({ status: 'completed', delivered: 0, dead: 2 });
        await harness.patch(endpoint.id, { status: 'active', disabledReason: null, disabledAtMs: null, run: 2 });
        const resend = async (verdict: typeof SUCCESS) => {
          const { number, fence } = await harness.delivery(endpoint, claimed.dispatchId);
          await harness.commit({ redeliveries: [{ endpointNumber: endpoint.number, number, fence, atMs: NOW_MS }] });
          const now = await harness.read(endpoint.id);
          await harness.take(now, { number, fence: fence + 1 });
          await harness.finish(now, { ...claimed, fence: fence + 2 }, verdict);
        };
        await resend(GONE);
        expect(await progress(harness, endpoint)).toMatchObject({ delivered: 0, dead: 2 });
        await harness.patch(endpoint.id, { status: 'active', disabledReason: null, disabledAtMs: null, run: 3 });
        await resend(SUCCESS);
        expect(await progress(harness, endpoint)).toMatchObject({ delivered: 2, dead: 0 });
        await resend(GONE);
        expect(await progress(harness, endpoint)).toMatchObject({ status: 'completed', delivered: 2, dead: 0 });
      }),
    );
  });
}

function newReplay(endpoint: DispatchEndpoint, matched: number): NewReplay {
  return {
    id: 'replay_1',
    endpointNumber: endpoint.number,
    fromMs: 0,
    toMs: FOR_EVER_MS,
    type: 'gateway.*',
    matched,
    createdAtMs: NOW_MS,
    fromSeq: 1,
    toSeq: matched,
    mask: ALL,
  };
}

/** Starts a replay of events older than their endpoint. */
async function begin(harness: Harness, count: number) {
  const entries = await harness.emit(count);
  const endpoint = await harness.addEndpoint();
  expect(await harness.commit({ replays: [newReplay(endpoint, count)] })).toBe('stored');
  return { endpoint, entries, replay: await running(harness, endpoint) };
}

async function running(harness: Harness, { id }: DispatchEndpoint): Promise<RunningReplay> {
  const [replay] = (await harness.read(id)).replays;
  if (replay === undefined) throw new Error('no replay is running');
  return replay;
}

async function sendPart(
  harness: Harness,
  endpoint: DispatchEndpoint,
  entries: readonly LogEntry[],
): Promise<ClaimedDelivery> {
  const { number, position } = await running(harness, endpoint);
  const toPosition = entries.at(-1)?.seq ?? position;
  const moves = { source: { kind: 'replay', number } as const, fromPosition: position, toPosition };
  return await harness.claim(cutOf(endpoint, [batchOf(endpoint, entries)], moves));
}

async function progress(harness: Harness, { number }: DispatchEndpoint) {
  return await harness.store.webhooks.replay(number, 'replay_1');
}

/** Fails all remaining attempts, as if to an old destination, which does not affect the endpoint. */
async function failThrough(harness: Harness, endpoint: DispatchEndpoint, dispatchId: string): Promise<void> {
  for (let round = 0; round < 12; round += 1) {
    const {
      number,
      fence,
      status,
      dueAtMs,
      seqs: _,
      ...rest
    } = { seqs: [], ...(await harness.delivery(endpoint, dispatchId)) };
    if (status !== 'retrying') return;
    const atMs = dueAtMs ?? NOW_MS + MINUTE_MS;
    await harness.take(endpoint, { number, fence }, atMs);
    const claimed = { ...rest, number, fence: fence + 1, seqs: [], created: { firstMs: 0, lastMs: 0 }, replay: true };
    await harness.finish({ ...endpoint, destinationVersion: 0 }, claimed, FAILURE, atMs);
  }
}
