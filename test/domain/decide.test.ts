import { setImmediate } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { decide } from '../../src/domain/decide.ts';
import { createFakeManagementStore } from '../support/management-store.ts';

const ORGANIZATION = 'organization';
const CROWD = 200;

/** Thinks for so many turns of the event loop, then changes something. */
function decideSlowly(store: ReturnType<typeof createFakeManagementStore>, turns: number): Promise<number> {
  return decide(store, ORGANIZATION, {
    async take() {
      for (let turn = 0; turn < turns; turn++) await setImmediate();
      return { result: turns, change: { audit: [] } };
    },
  });
}

it('a decision that takes long is made although quick ones keep coming', async () => {
  const store = createFakeManagementStore();
  const slow = decideSlowly(store, 20);
  let isMade = false;
  void slow.then(() => {
    isMade = true;
  });
  let quick = 0;
  const keepComing = Array.from({ length: 4 }, async () => {
    while (!isMade && quick < CROWD) {
      quick += 1;
      await decideSlowly(store, 1);
    }
  });
  expect(await slow).toBe(20);
  await Promise.all(keepComing);
  expect(store.changes).toHaveLength(quick + 1);
  expect(quick).toBeLessThan(CROWD);
});

it('of many at once none is sent away, and a failed one holds up nobody', async () => {
  const store = createFakeManagementStore();
  const failing = decide(store, ORGANIZATION, {
    take: () => Promise.reject(new Error('cannot decide')),
  }).catch((error: Error) => error.message);
  const decided = await Promise.all(Array.from({ length: CROWD }, (_, index) => decideSlowly(store, index % 3)));
  expect(decided).toHaveLength(CROWD);
  expect(await failing).toBe('cannot decide');
  expect(await decideSlowly(store, 1)).toBe(1);
});
