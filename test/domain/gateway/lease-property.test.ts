import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createLeaseHolder, type LeaseHolder, type Reservation } from '../../../src/domain/gateway/lease-holder.ts';
import { TAKEN_BACK_MS } from '../../../src/domain/gateway/lease-store.ts';
import { runsOf } from '../../support/scenario.ts';
import { bucketOf, createLeaseModel } from './lease-model.ts';

const LIMIT = 500;

const anyStep = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('reserve' as const),
      process: fc.nat(1),
      nanoUsd: fc.integer({ min: 1, max: 120 }),
    }),
  },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('admit' as const), at: fc.nat(20) }) },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('complete' as const),
      at: fc.nat(20),
      share: fc.double({ min: 0, max: 1, noNaN: true }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('cancel' as const), at: fc.nat(20) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('forget' as const), at: fc.nat(20) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('tick' as const), process: fc.nat(1) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('kill' as const), process: fc.nat(1) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('wait' as const), ms: fc.integer({ min: 1, max: 20_000 }) }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'take back' as const }) },
);

type Pending = { readonly holder: LeaseHolder; readonly reservation: Reservation };

it('never spends and leases more than the limit, whatever is reserved, cancelled, forgotten or killed when', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(anyStep, { maxLength: 80 }), async (steps) => {
      let now = 0;
      let started = 0;
      const nowMs = () => now;
      const model = createLeaseModel(nowMs);
      model.addBucket('budget_1', LIMIT);
      const start = () => {
        started += 1;
        return createLeaseHolder({ store: model.store, processId: `process-${started}`, nowMs });
      };
      const holders = [start(), start()];
      const pending: Pending[] = [];
      const admitted: Reservation[] = [];
      const holderOf = (index: number) => holders[index] ?? start();
      const takeOut = <T>(list: T[], at: number): T | undefined => list.splice(at % Math.max(1, list.length), 1)[0];

      const run = {
        async reserve({ process, nanoUsd }: { process: number; nanoUsd: number }) {
          const holder = holderOf(process);
          const result = await holder.reserve([
            { bucket: bucketOf('budget_1', { limitNanoUsd: LIMIT, reserve: 'worst' }), nanoUsd, isLimited: true },
          ]);
          if ('amounts' in result) pending.push({ holder, reservation: result });
        },
        admit({ at }: { at: number }) {
          const each = takeOut(pending, at);
          if (each === undefined) return;
          const isAdmitted = model.admit(each.reservation);
          each.holder.conclude(each.reservation, isAdmitted ? 'admitted' : 'lost');
          if (isAdmitted) admitted.push(each.reservation);
        },
        complete({ at, share }: { at: number; share: number }) {
          const reservation = takeOut(admitted, at);
          const amount = reservation?.amounts[0]?.nanoUsd ?? 0;
          if (reservation !== undefined) model.complete(reservation, Math.floor(amount * share));
        },
        cancel({ at }: { at: number }) {
          const each = takeOut(pending, at);
          each?.holder.conclude(each.reservation, 'cancelled');
        },
        forget({ at }: { at: number }) {
          const each = takeOut(pending, at);
          if (each === undefined) return;
          if (at % 2 === 0 && model.admit(each.reservation)) admitted.push(each.reservation);
          each.holder.conclude(each.reservation, 'unknown');
        },
        tick: ({ process }: { process: number }) => holderOf(process).tick(),
        kill({ process }: { process: number }) {
          const killed = holders[process];
          holders[process] = start();
          for (const each of pending.filter(({ holder }) => holder === killed))
            pending.splice(pending.indexOf(each), 1);
        },
        wait({ ms }: { ms: number }) {
          now += ms;
        },
        'take back': async () => void (await model.store.takeBack(TAKEN_BACK_MS)),
      };

      for (const step of steps) {
        await run[step.kind](step as never);
        const { spent, leased } = model.bucketOf('budget_1');
        expect(spent + leased).toBeLessThanOrEqual(LIMIT);
        const inFlight = admitted.reduce((sum, { amounts }) => sum + (amounts[0]?.nanoUsd ?? 0), 0);
        expect(leased).toBe(model.leasedIn('budget_1') + inFlight);
      }

      for (const { holder, reservation } of pending) holder.conclude(reservation, 'cancelled');
      for (const reservation of admitted) model.complete(reservation, 0);
      for (const holder of holders) await holder.close();
      now += TAKEN_BACK_MS;
      await model.store.takeBack(TAKEN_BACK_MS);
      expect(model.bucketOf('budget_1').leased).toBe(0);
    }),
    { numRuns: runsOf(300) },
  );
});
