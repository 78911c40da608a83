import { describe, expect, it } from 'vitest';
import type { LogEntry } from '../../../src/domain/webhook-store.ts';
import type { OpenSubject } from './subject.ts';
import { batchOf, cutOf, HOUR_MS, LEASE_MS, NOW_MS, only, type Rig, reasonOf, takeOf, withRig } from './webhook-rig.ts';

/** The work of those who deliver, piece by piece. */
export function webhookWorkConformance(open: OpenSubject): void {
  cutConformance(open);
  claimConformance(open);
}

function cutConformance(open: OpenSubject): void {
  describe('what is cut from the log', () => {
    it(
      'moves the lane on and begins the first attempt, in one piece',
      withRig(open, async (rig) => {
        const endpoint = await rig.addEndpoint();
        const entries = await rig.emit(3);
        const batch = batchOf(endpoint, entries);
        const outcome = only(await rig.apply([cutOf(await rig.read(endpoint.id), [batch])]));
        expect(outcome).toMatchObject({
          kind: 'claimed',
          claimed: {
            dispatchId: batch.dispatchId,
            attempt: 1,
            seqs: batch.seqs,
            created: batch.created,
            replay: false,
          },
          place: { isActive: true, position: entries.at(-1)?.seq, inFlight: 1, consecutiveFailures: 0 },
        });
        expect(await rig.read(endpoint.id)).toMatchObject({ position: entries.at(-1)?.seq, inFlight: 1 });
        expect(await rig.delivery(endpoint, batch.dispatchId)).toMatchObject({
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
        expect(await rig.store.webhooks.attempts(endpoint.number, { after: null, limit: 10 })).toMatchObject([
          { id: batch.attemptId, attempt: 1, outcome: 'pending', firedAtMs: NOW_MS, latencyMs: null },
        ]);
      }),
    );

    it(
      'has parts that wait, and parts that are dead because they are too large',
      withRig(open, async (rig) => {
        const endpoint = await rig.addEndpoint();
        const entries = await rig.emit(3);
        const [first, second, third] = entries.map((entry) => [entry]) as [LogEntry[], LogEntry[], LogEntry[]];
        const sent = batchOf(endpoint, first);
        const waiting = batchOf(endpoint, second, { fate: 'wait' });
        const error = 'message too large: 262145 bytes exceed 262144';
        const large = batchOf(endpoint, third, { fate: 'too_large', error });
        const outcome = only(await rig.apply([cutOf(await rig.read(endpoint.id), [sent, waiting, large])]));
        expect(outcome).toMatchObject({
          kind: 'claimed',
          claimed: { dispatchId: sent.dispatchId },
          place: { inFlight: 1 },
        });
        expect(await rig.delivery(endpoint, waiting.dispatchId)).toMatchObject({
          status: 'queued',
          attempt: 0,
          dueAtMs: NOW_MS,
        });
        expect(await rig.delivery(endpoint, large.dispatchId)).toMatchObject({
          status: 'dead',
          deadReason: 'too_large',
          attempt: 1,
          endedAtMs: NOW_MS,
          error,
        });
        const rows = await rig.store.webhooks.attemptsOf(endpoint.number, large.dispatchId, 10);
        expect(rows).toMatchObject([{ outcome: 'terminal', error, latencyMs: null, responseStatus: null }]);
        expect(await rig.store.webhooks.attemptsOf(endpoint.number, waiting.dispatchId, 10)).toEqual([]);
      }),
    );

    it(
      'MUST be refused when the lane stands elsewhere, or the endpoint is of another version, or not active',
      withRig(open, async (rig) => {
        const endpoint = await rig.read((await rig.addEndpoint()).id);
        const entries = await rig.emit(2);
        const cut = cutOf(endpoint, [batchOf(endpoint, entries)]);
        const refused = await rig.apply([
          { ...cut, fromPosition: endpoint.position + 1 },
          { ...cut, version: endpoint.version + 1 },
          { ...cut, lane: { kind: 'replay', number: 77 } },
          { ...cut, endpointNumber: endpoint.number + 77 },
        ]);
        expect(refused.map(reasonOf)).toEqual(['moved', 'changed', 'moved', 'changed']);
        expect(refused.at(-1)).toMatchObject({ place: null });
        expect(await rig.apply([cut, cut])).toMatchObject([{ kind: 'claimed' }, { kind: 'refused', reason: 'moved' }]);
        const disabled = await rig.patch(endpoint.id, { status: 'disabled', disabledReason: 'manual' });
        const late = { ...cut, fromPosition: cut.toPosition, version: disabled.version };
        expect(only(await rig.apply([late]))).toMatchObject({ reason: 'changed', place: { isActive: false } });
      }),
    );

    it(
      'needs no slot when nothing of it was of its concern',
      withRig(open, async (rig) => {
        const endpoint = await rig.read((await rig.addEndpoint({ maxInFlight: 1 })).id);
        const entries = await rig.emit(2);
        await rig.send(endpoint, entries.slice(0, 1));
        const now = await rig.read(endpoint.id);
        const [second] = entries.slice(1);
        const full = cutOf(now, [batchOf(endpoint, entries.slice(1))]);
        const empty = cutOf(now, [], { toPosition: second?.seq ?? 0 });
        expect(await rig.apply([full, empty])).toMatchObject([
          { kind: 'refused', reason: 'full' },
          { kind: 'claimed', claimed: null, place: { position: second?.seq, inFlight: 1 } },
        ]);
      }),
    );

    it(
      'is cut by one of many who try at once',
      withRig(open, async (rig) => {
        const endpoint = await rig.read((await rig.addEndpoint()).id);
        const entries = await rig.emit(5);
        const tries = Array.from({ length: 10 }, () => rig.apply([cutOf(endpoint, [batchOf(endpoint, entries)])]));
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
      withRig(open, async (rig) => {
        const endpoint = await rig.addEndpoint({ maxInFlight: 3 });
        const waiting = await queue(rig, endpoint.id, 8);
        const tries = await Promise.all(waiting.map(async (delivery) => await rig.take(endpoint, delivery)));
        expect(tries.filter(({ kind }) => kind === 'claimed')).toHaveLength(3);
        expect(tries.map(reasonOf).filter((reason) => reason === 'full')).toHaveLength(5);
        expect(await rig.read(endpoint.id)).toMatchObject({ inFlight: 3 });
      }),
    );

    it(
      'MUST be refused when it is not due, was taken by somebody else, or is another endpoint’s',
      withRig(open, async (rig) => {
        const endpoint = await rig.addEndpoint();
        const other = await rig.addEndpoint();
        const [first, second] = await queue(rig, endpoint.id, 2);
        if (first === undefined || second === undefined) throw new Error('nothing waits');
        expect(reasonOf(await rig.take(endpoint, first))).toBe('claimed');
        expect(reasonOf(await rig.take(endpoint, first))).toBe('taken');
        expect(reasonOf(await rig.take(endpoint, { ...second, fence: second.fence + 1 }))).toBe('taken');
        expect(reasonOf(await rig.take(other, second))).toBe('taken');
        expect(reasonOf(await rig.take(endpoint, second, NOW_MS - 1))).toBe('taken');
        expect(reasonOf(await rig.take({ ...endpoint, version: endpoint.version + 1 }, second))).toBe('changed');
        expect(reasonOf(await rig.take(endpoint, { number: 999_999, fence: 0 }))).toBe('taken');
      }),
    );

    it(
      'is capped by the attempts of the organization in this hour, and free again in the next',
      withRig(open, async (rig) => {
        const [one, other] = [await rig.addEndpoint(), await rig.addEndpoint()];
        const [first, ...rest] = await queue(rig, one.id, 3);
        const [foreign] = await queue(rig, other.id, 1);
        if (first === undefined || foreign === undefined) throw new Error('nothing waits');
        const capped = { attemptsPerHourMax: 2 };
        const work = [takeOf(one, first), takeOf(other, foreign), ...rest.map((delivery) => takeOf(one, delivery))];
        expect((await rig.apply(work, capped)).map(reasonOf)).toEqual(['claimed', 'claimed', 'capped', 'capped']);
        const later = { ...capped, nowMs: NOW_MS + HOUR_MS };
        expect((await rig.apply(work.slice(2), later)).map(reasonOf)).toEqual(['claimed', 'claimed']);
      }),
    );
  });
}

/** Deliveries that wait, one event each. */
async function queue(rig: Rig, endpointId: string, count: number) {
  const entries = await rig.emit(count);
  const endpoint = await rig.read(endpointId);
  const batches = entries.map((entry) => batchOf(endpoint, [entry], { fate: 'wait' }));
  await rig.apply([cutOf(endpoint, batches)]);
  return await Promise.all(batches.map(({ dispatchId }) => rig.delivery(endpoint, dispatchId)));
}
