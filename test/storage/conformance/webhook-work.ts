import { describe, expect, it } from 'vitest';
import type { LogEntry } from '../../../src/domain/delivery/webhook-store.ts';
import type { OpenSubject } from './subject.ts';
import {
  batchOf,
  cutOf,
  type Harness,
  HOUR_MS,
  LEASE_MS,
  NOW_MS,
  only,
  reasonOf,
  takeOf,
  withHarness,
} from './webhook-harness.ts';

/** Rules of work items. */
export function webhookWorkConformance(open: OpenSubject): void {
  cutConformance(open);
  claimConformance(open);
}

function cutConformance(open: OpenSubject): void {
  describe('what is cut from the log', () => {
    it(
      'moves the source on and begins the first attempt, in one piece',
      withHarness(open, async (harness) => {
        const endpoint = await harness.addEndpoint();
        const entries = await harness.emit(3);
        const batch = batchOf(endpoint, entries);
        const outcome = only(await harness.apply([cutOf(await harness.read(endpoint.id), [batch])]));
        expect(outcome).toMatchObject({
          kind: 'claimed',
          claimed: {
            dispatchId: batch.dispatchId,
            attempt: 1,
            seqs: batch.seqs,
            created: batch.created,
            replay: false,
          },
          snapshot: { isActive: true, position: entries.at(-1)?.seq, inFlight: 1, consecutiveFailures: 0 },
        });
        expect(await harness.read(endpoint.id)).toMatchObject({ position: entries.at(-1)?.seq, inFlight: 1 });
        expect(await harness.delivery(endpoint, batch.dispatchId)).toMatchObject({
          status: 'sending',
          eventIds: entries.map(({ id }) => id),
          attempt: 1,
          createdAtMs: NOW_MS,
          firstAttemptAtMs: NOW_MS,
          lastAttemptAtMs: NOW_MS,
          dueAtMs: NOW_MS + LEASE_MS,
          replayId: null,
          test: false,
        });
        expect(await harness.store.webhooks.attempts(endpoint.number, { after: null, limit: 10 })).toMatchObject([
          { id: batch.attemptId, attempt: 1, outcome: 'pending', firedAtMs: NOW_MS, latencyMs: null },
        ]);
      }),
    );

    it(
      'has parts that wait, and parts that are dead because they are too large',
      withHarness(open, async (harness) => {
        const endpoint = await harness.addEndpoint();
        const entries = await harness.emit(3);
        const [first, second, third] = entries.map((entry) => [entry]) as [LogEntry[], LogEntry[], LogEntry[]];
        const sent = batchOf(endpoint, first);
        const waiting = batchOf(endpoint, second, { disposition: 'wait' });
        const error = 'message too large: 262145 bytes exceed 262144';
        const large = batchOf(endpoint, third, { disposition: 'too_large', error });
        const outcome = only(await harness.apply([cutOf(await harness.read(endpoint.id), [sent, waiting, large])]));
        expect(outcome).toMatchObject({
          kind: 'claimed',
          claimed: { dispatchId: sent.dispatchId },
          snapshot: { inFlight: 1 },
        });
        expect(await harness.delivery(endpoint, waiting.dispatchId)).toMatchObject({
          status: 'queued',
          attempt: 0,
          dueAtMs: NOW_MS,
        });
        expect(await harness.delivery(endpoint, large.dispatchId)).toMatchObject({
          status: 'dead',
          deadReason: 'too_large',
          attempt: 1,
          endedAtMs: NOW_MS,
          error,
        });
        const rows = await harness.store.webhooks.attemptsOf(endpoint.number, large.dispatchId, 10);
        expect(rows).toMatchObject([{ outcome: 'terminal', error, latencyMs: null, responseStatus: null }]);
        expect(await harness.store.webhooks.attemptsOf(endpoint.number, waiting.dispatchId, 10)).toEqual([]);
      }),
    );

    it(
      'MUST get another id where another delivery of the endpoint has its id, and disturbs no neighbour',
      withHarness(open, async (harness) => {
        const [{ id }, { id: neighbour }] = [await harness.addEndpoint(), await harness.addEndpoint()];
        const entries = await harness.emit(4);
        const [one, two, three, four] = entries.map((entry) => [entry]) as [
          LogEntry[],
          LogEntry[],
          LogEntry[],
          LogEntry[],
        ];
        const endpoint = await harness.read(id);
        const dispatchId = `${id}:0123456789abcdef`;
        const batches = (...many: LogEntry[][]) => many.map((each) => batchOf(endpoint, each, { dispatchId }));
        const waiting = (batch: LogEntry[]) => batchOf(endpoint, batch, { dispatchId, disposition: 'wait' });
        expect(only(await harness.apply([cutOf(endpoint, batches(one))]))).toMatchObject({ claimed: { dispatchId } });
        const beside = await harness.read(neighbour);
        const other = batchOf(beside, two);
        const outcomes = await harness.apply([
          cutOf(await harness.read(id), [...batches(two), waiting(three)]),
          cutOf(beside, [other]),
        ]);
        expect(outcomes).toMatchObject([
          { kind: 'claimed', claimed: { dispatchId: expect.stringMatching(/:0123456789abcdef-n\d+$/) } },
          { kind: 'claimed', claimed: { dispatchId: other.dispatchId } },
        ]);
        await harness.apply([cutOf(await harness.read(id), batches(four))]);
        const sent = await harness.store.webhooks.attempts(endpoint.number, { after: null, limit: 10 });
        expect(new Set(sent.map((attempt) => attempt.dispatchId)).size).toBe(3);
        const [due] = await harness.store.deliveries.due([endpoint.number], { nowMs: NOW_MS, perEndpointMax: 9 });
        expect(due?.waiting).toHaveLength(1);
        expect(await harness.delivery(endpoint, dispatchId)).toMatchObject({ eventIds: one.map((entry) => entry.id) });
      }),
    );

    it(
      'MUST be refused when the source stands elsewhere, or the endpoint is of another version, or not active',
      withHarness(open, async (harness) => {
        const endpoint = await harness.read((await harness.addEndpoint()).id);
        const entries = await harness.emit(2);
        const cut = cutOf(endpoint, [batchOf(endpoint, entries)]);
        const refused = await harness.apply([
          { ...cut, fromPosition: endpoint.position + 1 },
          { ...cut, version: endpoint.version + 1 },
          { ...cut, source: { kind: 'replay', number: 77 } },
          { ...cut, endpointNumber: endpoint.number + 77 },
        ]);
        expect(refused.map(reasonOf)).toEqual(['moved', 'changed', 'moved', 'changed']);
        expect(refused.at(-1)).toMatchObject({ snapshot: null });
        expect(await harness.apply([cut, cut])).toMatchObject([
          { kind: 'claimed' },
          { kind: 'refused', reason: 'moved' },
        ]);
        const disabled = await harness.patch(endpoint.id, { status: 'disabled', disabledReason: 'manual' });
        const late = { ...cut, fromPosition: cut.toPosition, version: disabled.version };
        expect(only(await harness.apply([late]))).toMatchObject({ reason: 'changed', snapshot: { isActive: false } });
      }),
    );

    it(
      'needs no slot when nothing of it was of its concern',
      withHarness(open, async (harness) => {
        const endpoint = await harness.read((await harness.addEndpoint({ maxInFlight: 1 })).id);
        const entries = await harness.emit(2);
        await harness.send(endpoint, entries.slice(0, 1));
        const now = await harness.read(endpoint.id);
        const [second] = entries.slice(1);
        const full = cutOf(now, [batchOf(endpoint, entries.slice(1))]);
        const empty = cutOf(now, [], { toPosition: second?.seq ?? 0 });
        expect(await harness.apply([full, empty])).toMatchObject([
          { kind: 'refused', reason: 'full' },
          { kind: 'claimed', claimed: null, snapshot: { position: second?.seq, inFlight: 1 } },
        ]);
      }),
    );

    it(
      'is cut by one of many who try at once',
      withHarness(open, async (harness) => {
        const endpoint = await harness.read((await harness.addEndpoint()).id);
        const entries = await harness.emit(5);
        const tries = Array.from({ length: 10 }, () => harness.apply([cutOf(endpoint, [batchOf(endpoint, entries)])]));
        const outcomes = (await Promise.all(tries)).map(only).map(reasonOf);
        expect(outcomes.filter((outcome) => outcome === 'claimed')).toHaveLength(1);
        expect(outcomes.filter((outcome) => outcome === 'moved')).toHaveLength(9);
      }),
    );
  });
}

function claimConformance(open: OpenSubject): void {
  describe('the claim of a delivery', () => {
    it(
      'MUST be refused when as many sends are in progress as the endpoint allows',
      withHarness(open, async (harness) => {
        const endpoint = await harness.addEndpoint({ maxInFlight: 3 });
        const waiting = await queue(harness, endpoint.id, 8);
        const tries = await Promise.all(waiting.map(async (delivery) => await harness.take(endpoint, delivery)));
        expect(tries.filter(({ kind }) => kind === 'claimed')).toHaveLength(3);
        expect(tries.map(reasonOf).filter((reason) => reason === 'full')).toHaveLength(5);
        expect(await harness.read(endpoint.id)).toMatchObject({ inFlight: 3 });
      }),
    );

    it(
      'MUST be refused when it is not due, was taken by somebody else, or is another endpoint’s',
      withHarness(open, async (harness) => {
        const endpoint = await harness.addEndpoint();
        const other = await harness.addEndpoint();
        const [first, second] = await queue(harness, endpoint.id, 2);
        if (first === undefined || second === undefined) throw new Error('nothing waits');
        expect(reasonOf(await harness.take(endpoint, first))).toBe('claimed');
        expect(reasonOf(await harness.take(endpoint, first))).toBe('taken');
        expect(reasonOf(await harness.take(endpoint, { ...second, fence: second.fence + 1 }))).toBe('taken');
        expect(reasonOf(await harness.take(other, second))).toBe('taken');
        expect(reasonOf(await harness.take(endpoint, second, NOW_MS - 1))).toBe('taken');
        expect(reasonOf(await harness.take({ ...endpoint, version: endpoint.version + 1 }, second))).toBe('changed');
        expect(reasonOf(await harness.take(endpoint, { number: 999_999, fence: 0 }))).toBe('taken');
      }),
    );

    it(
      'is capped by the attempts of the organization in this hour, and free again in the next',
      withHarness(open, async (harness) => {
        const [one, other] = [await harness.addEndpoint(), await harness.addEndpoint()];
        const [first, ...rest] = await queue(harness, one.id, 3);
        const [foreign] = await queue(harness, other.id, 1);
        if (first === undefined || foreign === undefined) throw new Error('nothing waits');
        const capped = { attemptsPerHourMax: 2 };
        const work = [takeOf(one, first), takeOf(other, foreign), ...rest.map((delivery) => takeOf(one, delivery))];
        expect((await harness.apply(work, capped)).map(reasonOf)).toEqual(['claimed', 'claimed', 'capped', 'capped']);
        const later = { ...capped, nowMs: NOW_MS + HOUR_MS };
        expect((await harness.apply(work.slice(2), later)).map(reasonOf)).toEqual(['claimed', 'claimed']);
      }),
    );
  });
}

/** Adds waiting deliveries of one event each. */
async function queue(harness: Harness, endpointId: string, count: number) {
  const entries = await harness.emit(count);
  const endpoint = await harness.read(endpointId);
  const batches = entries.map((entry) => batchOf(endpoint, [entry], { disposition: 'wait' }));
  await harness.apply([cutOf(endpoint, batches)]);
  return await Promise.all(batches.map(({ dispatchId }) => harness.delivery(endpoint, dispatchId)));
}
