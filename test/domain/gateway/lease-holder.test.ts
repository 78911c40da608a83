import { describe, expect, it } from 'vitest';
import type { BudgetDemand } from '../../../src/domain/gateway/budget-demands.ts';
import { createLeaseHolder, type Reservation } from '../../../src/domain/gateway/lease-holder.ts';
import { TAKEN_BACK_MS, TRUSTED_MS, UNUSED_MS } from '../../../src/domain/gateway/lease-store.ts';
import type { GatewayRefusal } from '../../../src/domain/gateway/refusal.ts';
import { bucketOf, createLeaseModel } from './lease-model.ts';

const LIMIT = 1000;

function open({ limit = LIMIT, processes = 1 } = {}) {
  let now = 0;
  const nowMs = () => now;
  const model = createLeaseModel(nowMs);
  model.addBucket('budget_1', limit);
  const holders = Array.from({ length: processes }, (_, index) =>
    createLeaseHolder({ store: model.store, processId: `process-${index}`, nowMs }),
  );
  const [holder, other] = holders;
  if (holder === undefined) throw new Error('no process');
  return {
    model,
    holder,
    other: other ?? holder,
    pass: (ms: number) => {
      now += ms;
    },
  };
}

type Opened = ReturnType<typeof open>;

function demand(nanoUsd: number, of: Parameters<typeof bucketOf>[1] = {}): readonly BudgetDemand[] {
  return [{ bucket: bucketOf('budget_1', of), nanoUsd, isLimited: true }];
}

function reservedIn(result: Reservation | GatewayRefusal): Reservation {
  if (!('amounts' in result)) throw new Error(`refused: ${result.code}`);
  return result;
}

/** Reserves and commits the admission. */
async function admit({ model, holder }: Pick<Opened, 'model' | 'holder'>, nanoUsd: number): Promise<Reservation> {
  const reservation = reservedIn(await holder.reserve(demand(nanoUsd)));
  expect(model.admit(reservation)).toBe(true);
  holder.conclude(reservation, 'admitted');
  return reservation;
}

describe('a lease', () => {
  it('admits many requests from memory after one slice of 5 % of the limit', async () => {
    const opened = open();
    await admit(opened, 10);
    const asked = opened.model.calls();
    for (let request = 0; request < 4; request += 1) await admit(opened, 10);
    expect(opened.model.calls()).toBe(asked);
    expect(opened.model.bucketOf('budget_1').leased).toBe(50);
  });

  it('is at least one estimate', async () => {
    const opened = open();
    await admit(opened, 400);
    expect(opened.model.bucketOf('budget_1').leased).toBe(400);
  });

  it('grants a concurrent burst what it needs in a few calls, and never more than the limit', async () => {
    const { model, holder } = open();
    const results = await Promise.all(Array.from({ length: 200 }, () => holder.reserve(demand(10))));
    expect(results.filter((result) => 'amounts' in result)).toHaveLength(100);
    expect(new Set(results.flatMap((result) => ('code' in result ? [result.code] : [])))).toEqual(
      new Set(['budget_reserved']),
    );
    expect(model.calls()).toBeLessThan(10);
    expect(model.bucketOf('budget_1').leased).toBe(LIMIT);
  });

  it('serves small requests although a larger one that waits with them is refused', async () => {
    const { holder } = open();
    const [large, small] = await Promise.all([
      holder.reserve(demand(1001, { reserve: 'worst' })),
      holder.reserve(demand(10)),
    ]);
    expect(large).toMatchObject({ code: 'budget_exceeded' });
    expect(small).toHaveProperty('amounts');
  });

  it('admits nothing 15 s after its last renewal until it is renewed', async () => {
    const opened = open();
    const { model, holder, pass } = opened;
    await admit(opened, 10);
    pass(TRUSTED_MS);
    const asked = model.calls();
    await admit(opened, 10);
    expect(model.calls()).toBe(asked);
    pass(TRUSTED_MS + 1);
    model.setAway(true);
    expect(await holder.reserve(demand(10))).toMatchObject({ code: 'unavailable' });
    model.setAway(false);
    await admit(opened, 10);
    expect(model.countLeases()).toBe(1);
  });

  it('goes back after 5 s without use', async () => {
    const opened = open();
    const { model, holder, pass } = opened;
    await admit(opened, 10);
    await holder.tick();
    expect(model.leasedIn('budget_1')).toBe(40);
    pass(UNUSED_MS);
    await holder.tick();
    expect(model.countLeases()).toBe(0);
    expect(model.bucketOf('budget_1').leased).toBe(10);
  });

  it('goes back at a stop, when the admissions under way have ended', async () => {
    const { model, holder } = open();
    const reservation = reservedIn(await holder.reserve(demand(10)));
    await holder.close();
    expect(model.leasedIn('budget_1')).toBe(50);
    expect(model.admit(reservation)).toBe(true);
    holder.conclude(reservation, 'admitted');
    await holder.close();
    expect(model.countLeases()).toBe(0);
    expect(model.bucketOf('budget_1').leased).toBe(10);
    expect(await holder.reserve(demand(1))).toMatchObject({ code: 'unavailable' });
  });

  it('is taken back 30 s after its last renewal, less what its admitted requests have reserved', async () => {
    const opened = open({ processes: 2 });
    const { model, holder, pass } = opened;
    const admitted = await admit(opened, 10);
    const late = reservedIn(await holder.reserve(demand(10)));
    pass(TAKEN_BACK_MS);
    expect(await model.store.takeBack(TAKEN_BACK_MS)).toBe(1);
    expect(model.bucketOf('budget_1').leased).toBe(10);
    // The process goes on after a pause: what it reserved before cannot commit.
    expect(model.admit(late)).toBe(false);
    holder.conclude(late, 'lost');
    await admit(opened, 10);
    model.complete(admitted, 7);
    expect(model.bucketOf('budget_1')).toMatchObject({ spent: 7 });
  });

  it('goes back whole when the store did not say whether an admission was committed', async () => {
    const { model, holder } = open();
    const reservation = reservedIn(await holder.reserve(demand(10)));
    model.admit(reservation);
    holder.conclude(reservation, 'unknown');
    await holder.tick();
    expect(model.countLeases()).toBe(0);
    expect(model.bucketOf('budget_1').leased).toBe(10);
  });

  it('is reserved from again when an admission is cancelled', async () => {
    const { model, holder } = open();
    holder.conclude(reservedIn(await holder.reserve(demand(50))), 'cancelled');
    const asked = model.calls();
    expect(await holder.reserve(demand(50))).toHaveProperty('amounts');
    expect(model.calls()).toBe(asked);
  });

  it('goes back when a lowered limit has left more spent and leased than it allows', async () => {
    const opened = open();
    const { model, holder } = opened;
    await admit(opened, 10);
    model.bucketOf('budget_1').limit = 20;
    await holder.tick();
    expect(model.countLeases()).toBe(0);
  });

  it('admits nothing with the next request after a lowered limit has left nothing', async () => {
    const opened = open();
    const { model, holder } = opened;
    await admit(opened, 10);
    model.bucketOf('budget_1').limit = 10;
    const lowered = demand(10, { limitNanoUsd: 10 });
    expect(await holder.reserve(lowered)).toMatchObject({ code: 'budget_reserved' });
    model.bucketOf('budget_1').limit = LIMIT;
    await admit(opened, 10);
  });
});

describe('a refusal', () => {
  it('is 429 budget_reserved with Retry-After 1 while others in flight have reserved what is left', async () => {
    const opened = open({ processes: 2 });
    await admit(opened, 950);
    expect(await opened.other.reserve(demand(100))).toMatchObject({
      code: 'budget_reserved',
      httpStatus: 429,
      retryAfterSeconds: 1,
      budget: { id: 'budget_1' },
    });
  });

  it('is 402 budget_exceeded when the budget is really spent', async () => {
    const opened = open();
    opened.model.complete(await admit(opened, 1000), 1000);
    expect(await opened.holder.reserve(demand(1))).toMatchObject({
      code: 'budget_exceeded',
      httpStatus: 402,
      reason: 'spent',
      budget: { id: 'budget_1', scope: { kind: 'virtual_key', id: 'vk_1' }, window: 'day' },
    });
  });

  it('is 402 with estimate_exceeds_budget for `worst` when the estimate alone is above what is left', async () => {
    const { holder } = open();
    expect(await holder.reserve(demand(1001, { reserve: 'worst' }))).toMatchObject({
      code: 'budget_exceeded',
      reason: 'estimate_exceeds_budget',
    });
  });

  it('is 503 when the store is away and the lease is empty: never open', async () => {
    const opened = open();
    opened.model.setAway(true);
    expect(await opened.holder.reserve(demand(10))).toMatchObject({ code: 'unavailable', httpStatus: 503 });
    opened.model.setAway(false);
    await admit(opened, 40);
    opened.model.setAway(true);
    await admit(opened, 10);
    expect(await opened.holder.reserve(demand(10))).toMatchObject({ code: 'unavailable' });
  });
});

describe('an `expected` estimate above what is left', () => {
  it('leases all that is left where nothing is in flight', async () => {
    const opened = open();
    const { model, holder } = opened;
    model.complete(await admit(opened, 900), 900);
    const reservation = reservedIn(await holder.reserve(demand(5000)));
    expect(reservation.amounts[0]?.nanoUsd).toBe(100);
    expect(model.bucketOf('budget_1')).toEqual({ limit: LIMIT, spent: 900, leased: 100 });
  });

  it('also where this process holds an unused lease', async () => {
    const opened = open();
    const { model, holder } = opened;
    model.complete(await admit(opened, 10), 10);
    const reservation = reservedIn(await holder.reserve(demand(5000)));
    expect(reservation.amounts[0]?.nanoUsd).toBe(990);
    expect(model.admit(reservation)).toBe(true);
  });

  it('is 429 budget_reserved while anything is leased', async () => {
    const opened = open({ processes: 2 });
    await admit(opened, 10);
    expect(await opened.other.reserve(demand(5000))).toMatchObject({ code: 'budget_reserved' });
    expect(await opened.holder.reserve(demand(5000))).toMatchObject({ code: 'budget_reserved' });
  });
});

describe('several budgets', () => {
  it('are reserved together or not at all', async () => {
    const { model, holder } = open();
    model.addBucket('budget_2', 5);
    const both = (nanoUsd: number): readonly BudgetDemand[] => [
      { bucket: bucketOf('budget_1'), nanoUsd, isLimited: true },
      { bucket: bucketOf('budget_2', { limitNanoUsd: 5, reserve: 'worst' }), nanoUsd, isLimited: true },
    ];
    expect(await holder.reserve(both(10))).toMatchObject({ budget: { id: 'budget_2' } });
    expect(reservedIn(await holder.reserve(both(5))).amounts).toHaveLength(2);
    await holder.tick();
    expect(model.leasedIn('budget_1')).toBe(50);
  });

  it('that limit nothing are counted without a lease', async () => {
    const { model, holder } = open();
    const result = await holder.reserve([{ bucket: bucketOf('budget_9'), nanoUsd: 10, isLimited: false }]);
    expect(reservedIn(result).amounts).toMatchObject([{ budgetId: 'budget_9', nanoUsd: 10, fence: null }]);
    expect(model.calls()).toBe(0);
  });

  it('that were archived meanwhile limit nothing', async () => {
    const { holder } = open();
    const result = await holder.reserve([{ bucket: bucketOf('budget_9'), nanoUsd: 10, isLimited: true }]);
    expect(reservedIn(result).amounts).toMatchObject([{ budgetId: 'budget_9', fence: null }]);
  });
});
