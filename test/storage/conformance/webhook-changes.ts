import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { DispatchEndpoint } from '../../../src/domain/delivery/webhook-store.ts';
import { maskOfSelectors } from '../../../src/domain/events/event-type.ts';
import type { OpenSubject } from './subject.ts';
import { GONE, NOW_MS, withHarness } from './webhook-harness.ts';

const ALL = maskOfSelectors(['*']);
const DISABLED = { status: 'disabled', disabledReason: 'manual', disabledAtMs: NOW_MS } as const;

export function webhookChangeConformance(open: OpenSubject): void {
  describe('changes of endpoints', () => {
    it(
      'MUST all be returned after the last known change number',
      withHarness(open, async (harness) => {
        const { deliveries } = harness.store;
        const one = await harness.addEndpoint();
        const other = await harness.addEndpoint();
        const first = await deliveries.changes(0);
        expect(first.endpoints).toHaveLength(2);
        expect((await deliveries.changes(first.change)).endpoints).toEqual([]);
        const steps = [
          async () => void (await harness.patch(one.id, { description: 'x' })),
          async () => void (await harness.patch(one.id, DISABLED)),
          async () => void (await harness.commit({ replays: [replayOf(one.number, 1, 1)] })),
          async () => void (await harness.patch(one.id, { archivedAtMs: NOW_MS })),
        ];
        let { change } = first;
        for (const step of steps) {
          await step();
          const changes = await deliveries.changes(change);
          expect(changes.endpoints.map(({ id }) => id)).toEqual([one.id]);
          expect(changes.change).toBeGreaterThan(change);
          ({ change } = changes);
        }
        // A delivery changes nothing that other processes must know.
        const entries = await harness.emit(1);
        await harness.send(other, entries);
        expect((await deliveries.changes(change)).endpoints).toEqual([]);
      }),
    );

    it(
      'MUST NOT be missed by a reader that follows them, in any order of commits',
      withHarness(open, async (harness) => {
        const owned = await harness.addEndpoint();
        const failing: DispatchEndpoint[] = [];
        for (let index = 0; index < 8; index += 1) failing.push(await harness.addEndpoint());
        const entries = await harness.emit(1);
        const claims = await Promise.all(failing.map((endpoint) => harness.send(endpoint, entries)));
        let change = 0;
        let isOver = false;
        const known = new Map<string, number>();
        const follow = async () => {
          const changes = await harness.store.deliveries.changes(change);
          ({ change } = changes);
          for (const { id, version } of changes.endpoints) known.set(id, version);
        };
        const following = (async () => {
          for (; !isOver; await turn()) await follow();
        })();
        const writing = [
          ...failing.map((endpoint, index) => harness.finish(endpoint, claims[index] ?? missing(), GONE)),
          (async () => {
            for (let round = 0; round < 8; round += 1) await harness.patch(owned.id, { description: `${round}` });
          })(),
        ];
        await Promise.all(writing);
        isOver = true;
        await following;
        await follow();
        expect(known.get(owned.id)).toBe(owned.version + 8);
        for (const { id, version } of failing) expect(known.get(id)).toBe(version + 1);
      }),
    );

    it(
      'and new events notify listeners until they stop',
      withHarness(open, async (harness) => {
        const wait = () =>
          new Promise<() => void>((resolve) => {
            const stop = harness.store.deliveries.listen(() => resolve(stop));
          });
        const emitted = wait();
        await harness.emit(1);
        (await emitted)();
        const changed = wait();
        const { id } = await harness.addEndpoint();
        (await changed)();
        let calls = 0;
        harness.store.deliveries.listen(() => {
          calls += 1;
        })();
        const again = wait();
        await harness.patch(id, { description: 'x' });
        (await again)();
        expect(calls).toBe(0);
      }),
    );
  });
}

function missing(): never {
  throw new Error('nothing was sent');
}

function replayOf(endpointNumber: number, fromSeq: number, toSeq: number) {
  const span = { fromMs: 0, toMs: NOW_MS, fromSeq, toSeq };
  return { id: 'replay_1', endpointNumber, ...span, type: null, mask: ALL, matched: 1, createdAtMs: NOW_MS };
}
