import { describe, expect, it } from 'vitest';
import type { RunningReplay } from '../../src/domain/delivery/webhook-store.ts';
import { ALL_EVENTS } from '../../src/domain/events/event-type.ts';
import { retentionStartMs } from '../../src/domain/retention-terms.ts';
import { newDispatchEndpoint } from '../support/deliveries.ts';
import { startDispatching } from '../support/dispatching.ts';

describe('a claim that the store cannot store, though it is not away', () => {
  it('pauses its endpoint longer each time, up to five seconds, and no other one', () => {
    const endpoints = [newDispatchEndpoint(1, { maxInFlight: 2, maxBatchSize: 1 }), newDispatchEndpoint(2)];
    const { time, step, grant, claimAll } = startDispatching({ endpoints, headSeq: 3, concurrency: 8 });
    const begun = time.nowMs;
    const triedAtMs: number[] = [];
    for (; time.nowMs < begun + 20_000; time.nowMs += 100) {
      step({ kind: 'polled' });
      const claims = claimAll();
      const bad = claims.filter(({ state }) => state.endpoint.number === 1);
      for (const start of bad) step({ kind: 'claim_failed', start, isAway: false });
      for (const start of claims) if (!bad.includes(start)) grant(start);
      if (time.nowMs === begun) expect(claims.map(({ state }) => state.endpoint.number)).toEqual([1, 2, 1]);
      if (bad.length > 0) triedAtMs.push(time.nowMs - begun);
    }
    expect(triedAtMs).toEqual([0, 200, 600, 1400, 3000, 6200, 11_200, 16_200]);
  });

  it('is tried again at once while the store is away, because the queue pauses for all', () => {
    const { state, step, claimAll } = startDispatching({ endpoints: [newDispatchEndpoint(1)], headSeq: 1 });
    const [start] = claimAll();
    if (start === undefined) throw new Error('there is no claim');
    step({ kind: 'claim_failed', start, isAway: true });
    expect(state.slots.total()).toBe(0);
    expect(claimAll()).toHaveLength(1);
  });
});

describe('an event that has left retention', () => {
  const BEGUN_MS = Date.UTC(2026, 5, 30);
  const NOW_MS = Date.UTC(2026, 6, 1);
  /** Two of them were kept when the replay began, and the month has changed since. */
  const createdAtMs = (seq: number) => (seq <= 2 ? retentionStartMs(NOW_MS) - 3 + seq : retentionStartMs(NOW_MS));
  const entryOf = (seq: number) => ({ createdAtMs: createdAtMs(seq) });

  it('is not sent from the log, though it waited long', () => {
    const { claimAll } = startDispatching({ endpoints: [newDispatchEndpoint(1)], headSeq: 4, entryOf, nowMs: NOW_MS });
    const [claim] = claimAll();
    expect(claim?.claim.entries?.map(({ seq }) => seq)).toEqual([3, 4]);
    expect(claim?.claim.item).toMatchObject({ fromPosition: 0, toPosition: 4 });
  });

  it('is not sent by a replay that began when it was kept', () => {
    const range = { fromMs: 0, toMs: NOW_MS, toSeq: 4, position: 0 };
    const replay: RunningReplay = { id: 'replay_1', number: 1, mask: ALL_EVENTS, createdAtMs: BEGUN_MS, ...range };
    const endpoint = newDispatchEndpoint(1, { replays: [replay], position: 4 });
    const { claimAll } = startDispatching({ endpoints: [endpoint], headSeq: 4, entryOf, nowMs: NOW_MS });
    expect(claimAll().map(({ claim }) => claim.entries?.map(({ seq }) => seq))).toEqual([[3, 4]]);
  });
});

describe('organizations', () => {
  const endpointsOf = (organizationNumber: number, count: number, maxInFlight = 1) =>
    Array.from({ length: count }, (_, index) =>
      newDispatchEndpoint(organizationNumber * 100 + index, { organizationNumber, maxInFlight, maxBatchSize: 1 }),
    );

  it('take turns, however many endpoints one of them has', () => {
    const endpoints = [...endpointsOf(1, 8), ...endpointsOf(2, 2)];
    const { claimAll } = startDispatching({ endpoints, headSeq: 1, concurrency: 100 });
    const numbers = claimAll().map(({ state }) => state.endpoint.number);
    expect(numbers).toEqual([100, 200, 101, 201, 102, 103, 104, 105, 106, 107]);
  });

  it('with receivers that answer late leave slots to the others', () => {
    const [late, other] = [endpointsOf(1, 40), endpointsOf(2, 1)];
    const { step, claimAll } = startDispatching({ endpoints: [...late, ...other], headSeq: 1, concurrency: 16 });
    // The other one has no event yet.
    step({
      kind: 'heads',
      heads: [
        { organizationNumber: 1, seq: 1 },
        { organizationNumber: 2, seq: 0 },
      ],
    });
    expect(claimAll().filter(({ state }) => late.includes(state.endpoint))).toHaveLength(14);
    step({
      kind: 'heads',
      heads: [
        { organizationNumber: 1, seq: 2 },
        { organizationNumber: 2, seq: 1 },
      ],
    });
    expect(claimAll().map(({ state }) => state.endpoint)).toEqual(other);
  });

  it('use every slot when no other one has events', () => {
    const { claimAll, state } = startDispatching({ endpoints: endpointsOf(1, 40), headSeq: 1, concurrency: 16 });
    expect(claimAll()).toHaveLength(16);
    expect(state.slots.of(1)).toBe(16);
  });
});

describe('the events in attempts', () => {
  const MIB = 1024 * 1024;
  const entryOf = () => ({ envelope: 'x'.repeat(MIB / 4) });
  const endpointsOf = (organizationNumber: number, parts = {}) =>
    Array.from({ length: 100 }, (_, index) =>
      newDispatchEndpoint(organizationNumber * 100 + index, { organizationNumber, ...parts }),
    );

  it('are at most a mebibyte in a batch, 64 in all, and half of that for one organization beside others', () => {
    const endpoints = [...endpointsOf(1), ...endpointsOf(2), ...endpointsOf(3)];
    const { state, grant, accept, claimAll } = startDispatching({
      endpoints,
      headSeq: 100,
      concurrency: 9999,
      entryOf,
    });
    const claims = claimAll();
    for (const { claim } of claims) expect(claim.entries).toHaveLength(4);
    expect([1, 2, 3].reduce((sum, number) => sum + state.bodies.of(number), 0)).toBe(64 * MIB);
    for (const start of claims) grant(start);
    expect(claimAll()).toEqual([]);
    const [first] = claims;
    if (first === undefined) throw new Error('there is no claim');
    accept(first);
    expect(claimAll()).toHaveLength(1);
    const alone = startDispatching({ endpoints: endpointsOf(1), headSeq: 100, concurrency: 9999, entryOf });
    expect(alone.claimAll()).toHaveLength(64);
  });

  it('leave half of the room of their organization to endpoints that do not fail', () => {
    const failing = endpointsOf(1, { consecutiveFailures: 3 });
    const [healthy] = endpointsOf(1, { number: 5 });
    if (healthy === undefined) throw new Error('there is no endpoint');
    const options = { headSeq: 4, concurrency: 9999, entryOf };
    const { claimAll } = startDispatching({ endpoints: [...failing, healthy], ...options });
    const claims = claimAll().map(({ state: { endpoint } }) => endpoint);
    expect(claims.filter((endpoint) => endpoint !== healthy)).toHaveLength(32);
    expect(claims).toContain(healthy);
  });

  it('leave room to failing endpoints, whatever those that do not fail hold', () => {
    const [failing] = endpointsOf(1, { number: 5, consecutiveFailures: 3 });
    if (failing === undefined) throw new Error('there is no endpoint');
    const healthy = endpointsOf(1).slice(0, 40);
    const options = { headSeq: 4, concurrency: 9999, entryOf };
    const { claimAll } = startDispatching({ endpoints: [...healthy, failing], ...options });
    expect(claimAll().map(({ state: { endpoint } }) => endpoint)).toContain(failing);
  });

  it('count as a mebibyte until they were read, and then for what they are', () => {
    const endpoints = endpointsOf(1, { subscriptions: [] });
    const { state, step, grant, claimAll } = startDispatching({ endpoints, concurrency: 9999 });
    const waiting = [{ number: 7, fence: 1, isReplay: false }];
    const due = endpoints.map(({ number }) => ({ endpointNumber: number, waiting, lost: [], nextAtMs: null }));
    step({ kind: 'due', lists: due, asOfMs: 0 });
    const claims = claimAll();
    expect(claims).toHaveLength(64);
    const envelope = 'x'.repeat(1_000);
    const entries = [{ seq: 1, id: 'event', type: 'gateway.request.completed', createdAtMs: 0, envelope }];
    for (const start of claims) {
      grant(start);
      step({ kind: 'events_read', start, entries });
    }
    expect(state.bodies.total()).toBe(64_000);
    for (const start of claims) step({ kind: 'attempt_ended', start, outcome: null, wasReached: true });
    expect(state.bodies.total()).toBe(0);
    expect(claims.every((start) => start.state.readCharacters === 1_000)).toBe(true);
  });
});

it('after the log was replaced, its events are found again from the stored position', () => {
  const ids = ['first', 'lost'];
  const { step, grant, claimAll } = startDispatching({
    endpoints: [newDispatchEndpoint(1, { maxBatchSize: 1, maxInFlight: 1 })],
    headSeq: 2,
    entryOf: (seq) => ({ id: ids[seq - 1] ?? '' }),
  });
  const [start] = claimAll();
  if (start === undefined) throw new Error('there is no claim');
  grant(start);
  step({ kind: 'slot_freed', start });
  expect(start.claim.entries?.map(({ id }) => id)).toEqual(['first']);
  step({ kind: 'logs_replaced' });
  expect(start.state.live).toMatchObject({ scanned: 1, pending: [], resetTo: null });
  step({ kind: 'heads', heads: [{ organizationNumber: 1, seq: 2 }] });
  expect(claimAll().map(({ claim }) => claim.item)).toMatchObject([{ fromPosition: 1, toPosition: 2 }]);
});
