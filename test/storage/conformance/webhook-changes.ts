import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { maskOfSelectors } from '../../../src/domain/event-type.ts';
import type { DispatchEndpoint } from '../../../src/domain/webhook-store.ts';
import type { OpenSubject } from './subject.ts';
import { GONE, NOW_MS, withRig } from './webhook-rig.ts';

const ALL = maskOfSelectors(['*']);
const DISABLED = { status: 'disabled', disabledReason: 'manual', disabledAtMs: NOW_MS } as const;

export function webhookChangeConformance(open: OpenSubject): void {
  describe('changes of endpoints', () => {
    it(
      'MUST all be told to whoever asks for those after the last he knows',
      withRig(open, async (rig) => {
        const { deliveries } = rig.store;
        const one = await rig.addEndpoint();
        const other = await rig.addEndpoint();
        const first = await deliveries.changes(0);
        expect(first.endpoints).toHaveLength(2);
        expect((await deliveries.changes(first.change)).endpoints).toEqual([]);
        const steps = [
          async () => void (await rig.patch(one.id, { description: 'x' })),
          async () => void (await rig.patch(one.id, DISABLED)),
          async () => void (await rig.commit({ replays: [replayOf(one.number, 1, 1)] })),
          async () => void (await rig.patch(one.id, { archivedAtMs: NOW_MS })),
        ];
        let { change } = first;
        for (const step of steps) {
          await step();
          const told = await deliveries.changes(change);
          expect(told.endpoints.map(({ id }) => id)).toEqual([one.id]);
          expect(told.change).toBeGreaterThan(change);
          ({ change } = told);
        }
        // A delivery changes nothing that others have to know.
        const entries = await rig.emit(1);
        await rig.send(other, entries);
        expect((await deliveries.changes(change)).endpoints).toEqual([]);
      }),
    );

    it(
      'MUST all be told to whoever follows them, in whatever order they commit',
      withRig(open, async (rig) => {
        const owned = await rig.addEndpoint();
        const failing: DispatchEndpoint[] = [];
        for (let index = 0; index < 8; index += 1) failing.push(await rig.addEndpoint());
        const entries = await rig.emit(1);
        const claims = await Promise.all(failing.map((endpoint) => rig.send(endpoint, entries)));
        let change = 0;
        let isOver = false;
        const known = new Map<string, number>();
        const follow = async () => {
          const told = await rig.store.deliveries.changes(change);
          ({ change } = told);
          for (const { id, version } of told.endpoints) known.set(id, version);
        };
        const following = (async () => {
          for (; !isOver; await turn()) await follow();
        })();
        const writing = [
          ...failing.map((endpoint, index) => rig.finish(endpoint, claims[index] ?? missing(), GONE)),
          (async () => {
            for (let round = 0; round < 8; round += 1) await rig.patch(owned.id, { description: `${round}` });
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
      'and new events wake whoever listens, until he stops',
      withRig(open, async (rig) => {
        const wait = () =>
          new Promise<() => void>((resolve) => {
            const stop = rig.store.deliveries.listen(() => resolve(stop));
          });
        const emitted = wait();
        await rig.emit(1);
        (await emitted)();
        const changed = wait();
        const { id } = await rig.addEndpoint();
        (await changed)();
        let calls = 0;
        rig.store.deliveries.listen(() => {
          calls += 1;
        })();
        const again = wait();
        await rig.patch(id, { description: 'x' });
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
