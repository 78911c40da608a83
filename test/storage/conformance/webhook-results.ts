import { describe, expect, it } from 'vitest';
import type { OpenSubject } from './subject.ts';
import {
  batchOf,
  cutOf,
  FAILURE,
  finishOf,
  LIVE,
  loseOf,
  MINUTE_MS,
  NOW_MS,
  only,
  reasonOf,
  SENDER_FAULT,
  SUCCESS,
  withHarness,
} from './webhook-harness.ts';

export function webhookResultConformance(open: OpenSubject): void {
  describe('the result of an attempt', () => {
    it(
      'MUST be void unless its fence is the delivery’s own',
      withHarness(open, async (harness) => {
        const endpoint = await harness.read((await harness.addEndpoint()).id);
        const claimed = await harness.send(endpoint, await harness.emit(1));
        const foreign = finishOf(endpoint, { ...claimed, fence: claimed.fence + 1 }, SUCCESS);
        expect(only(await harness.apply([foreign]))).toEqual({ kind: 'stale' });
        expect(await harness.apply([loseOf(endpoint, claimed), finishOf(endpoint, claimed, SUCCESS)])).toMatchObject([
          { kind: 'recorded', outcome: 'retryable', nextAtMs: NOW_MS },
          { kind: 'stale' },
        ]);
        expect(await harness.delivery(endpoint, claimed.dispatchId)).toMatchObject({
          status: 'queued',
          error: 'sender_lost',
        });
        expect(await harness.read(endpoint.id)).toMatchObject({
          inFlight: 0,
          lastSuccessAtMs: null,
          failingSinceMs: null,
        });
      }),
    );

    it(
      'is recorded once, releases the slot, and updates the endpoint',
      withHarness(open, async (harness) => {
        const endpoint = await harness.read((await harness.addEndpoint()).id);
        const [one, two] = await harness.emit(2);
        if (one === undefined || two === undefined) throw new Error('nothing was emitted');
        const failed = await harness.send(endpoint, [one]);
        expect(await harness.finish(endpoint, failed, FAILURE, NOW_MS + 50)).toMatchObject({
          kind: 'recorded',
          outcome: 'retryable',
          nextAtMs: NOW_MS + 50 + MINUTE_MS,
          disabled: null,
          deadReason: null,
          snapshot: { inFlight: 0, consecutiveFailures: 1 },
        });
        expect(await harness.finish(endpoint, failed, FAILURE)).toEqual({ kind: 'stale' });
        expect(await harness.read(endpoint.id)).toMatchObject({ failingSinceMs: NOW_MS + 50, consecutiveFailures: 1 });
        const sent = await harness.send(await harness.read(endpoint.id), [two]);
        expect(await harness.finish(endpoint, sent, SUCCESS, NOW_MS + 90)).toMatchObject({
          outcome: 'success',
          nextAtMs: null,
        });
        expect(await harness.read(endpoint.id)).toMatchObject({
          failingSinceMs: null,
          lastFailureAtMs: NOW_MS + 50,
          lastSuccessAtMs: NOW_MS + 90,
          consecutiveFailures: 0,
          version: endpoint.version,
          updatedAtMs: endpoint.updatedAtMs,
        });
        expect(await harness.store.webhooks.attemptsOf(endpoint.number, failed.dispatchId, 5)).toMatchObject([
          {
            outcome: 'retryable',
            responseStatus: 500,
            latencyMs: 12,
            error: 'HTTP 500',
            responseBody: 'out of order ✓',
          },
        ]);
        expect(await harness.delivery(endpoint, sent.dispatchId)).toMatchObject({
          status: 'delivered',
          endedAtMs: NOW_MS + 90,
        });
      }),
    );

    it(
      'does not count for the endpoint when it is a sender fault, or when the destination has changed',
      withHarness(open, async (harness) => {
        const endpoint = await harness.read((await harness.addEndpoint()).id);
        const [one, two] = await harness.emit(2);
        if (one === undefined || two === undefined) throw new Error('nothing was emitted');
        const ours = await harness.send(endpoint, [one]);
        expect(await harness.finish(endpoint, ours, SENDER_FAULT)).toMatchObject({
          outcome: 'retryable',
          disabled: null,
        });
        const sent = await harness.send(await harness.read(endpoint.id), [two]);
        await harness.patch(endpoint.id, { url: 'https://other.example', destinationVersion: 2 }, true);
        await harness.finish(endpoint, sent, FAILURE);
        expect(await harness.read(endpoint.id)).toMatchObject({
          failingSinceMs: null,
          consecutiveFailures: 0,
          inFlight: 0,
        });
        expect(await harness.delivery(endpoint, sent.dispatchId)).toMatchObject({
          status: 'retrying',
          error: 'HTTP 500',
        });
      }),
    );

    it(
      'leaves other pieces of the same transaction alone when it is void',
      withHarness(open, async (harness) => {
        const endpoint = await harness.read((await harness.addEndpoint()).id);
        const [one, two] = await harness.emit(2);
        if (one === undefined || two === undefined) throw new Error('nothing was emitted');
        const first = await harness.send(endpoint, [one]);
        const second = cutOf(await harness.read(endpoint.id), [batchOf(endpoint, [two])], { source: LIVE });
        const outcomes = await harness.apply([
          finishOf(endpoint, { number: 123_456, fence: 1 }, SUCCESS),
          second,
          finishOf(endpoint, first, SUCCESS),
          { ...second, version: 99 },
        ]);
        expect(outcomes.map(reasonOf)).toEqual(['stale', 'claimed', 'recorded', 'changed']);
        expect(await harness.read(endpoint.id)).toMatchObject({ position: two.seq, inFlight: 1 });
      }),
    );
  });
}
