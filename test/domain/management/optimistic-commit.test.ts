import { setImmediate } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { commitOptimistically } from '../../../src/domain/management/optimistic-commit.ts';
import { createFakeManagementStore } from '../../support/management-store.ts';

const ORGANIZATION = 'organization';
const CROWD = 200;

/** Thinks for so many turns of the event loop, then changes something. */
function commitSlowly(store: ReturnType<typeof createFakeManagementStore>, turns: number): Promise<number> {
  return commitOptimistically(store, ORGANIZATION, {
    async attempt() {
      for (let turn = 0; turn < turns; turn++) await setImmediate();
      return { result: turns, change: { audit: [] } };
    },
  });
}

it('a decision that takes long is made although quick ones keep coming', async () => {
  const store = createFakeManagementStore();
  const slow = commitSlowly(store, 20);
  let isMade = false;
  void slow.then(() => {
    isMade = true;
  });
  let quick = 0;
  const keepComing = Array.from({ length: 4 }, async () => {
    while (!isMade && quick < CROWD) {
      quick += 1;
      await commitSlowly(store, 1);
    }
  });
  expect(await slow).toBe(20);
  await Promise.all(keepComing);
  expect(store.changes).toHaveLength(quick + 1);
  expect(quick).toBeLessThan(CROWD);
});

it('of many concurrent ones none is refused, and a failed one delays no other', async () => {
  const store = createFakeManagementStore();
  const failing = commitOptimistically(store, ORGANIZATION, {
    attempt: () => Promise.reject(new Error('no proposal')),
  }).catch((error: Error) => error.message);
  const committed = await Promise.all(Array.from({ length: CROWD }, (_, index) => commitSlowly(store, index % 3)));
  expect(committed).toHaveLength(CROWD);
  expect(await failing).toBe('no proposal');
  expect(await commitSlowly(store, 1)).toBe(1);
});
