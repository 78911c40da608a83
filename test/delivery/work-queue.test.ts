import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { createWorkQueue } from '../../src/delivery/work-queue.ts';
import type { WorkItem, WorkOutcome } from '../../src/domain/delivery/webhook-store.ts';
import { unavailableFault } from '../../src/domain/fault.ts';

const itemOf = (number: number): WorkItem => ({ kind: 'lose', endpointNumber: 1, number, fence: 0, random: 0 });
const AWAY = unavailableFault('The store is away.', 1);
const STORED: WorkOutcome = { kind: 'stale' };

/** A queue before a store that remembers the numbers of each commit it was asked for. */
function startWith(commitsMax: number, failureOf: (numbers: readonly number[]) => Error | null) {
  const commits: (readonly number[])[] = [];
  const pausesMs: number[] = [];
  const queue = createWorkQueue({
    nowMs: () => 0,
    attemptsPerHourMax: null,
    commitsMax,
    wait: async (delayMs, signal) => void (signal.aborted || pausesMs.push(delayMs)),
    async apply(work) {
      const numbers = work.map((item) => ('number' in item ? item.number : 0));
      commits.push(numbers);
      const failure = failureOf(numbers);
      if (failure !== null) throw failure;
      return work.map(() => STORED);
    },
  });
  const add = (...numbers: number[]) => Promise.allSettled(numbers.map((number) => queue.add(itemOf(number))));
  return { commits, pausesMs, queue, add };
}

it.each([
  [1, [[1], [2, 3, 4]]],
  [2, [[1], [2], [3, 4]]],
])('%i commits run at once, and the next one takes all that waits', async (commitsMax, expected) => {
  const commits: (readonly number[])[] = [];
  const ends: (() => void)[] = [];
  const queue = createWorkQueue({
    ...{ nowMs: () => 0, attemptsPerHourMax: null, commitsMax, wait: async () => undefined },
    async apply(work) {
      commits.push(work.map((item) => ('number' in item ? item.number : 0)));
      await new Promise<void>((resolve) => ends.push(resolve));
      return work.map(() => STORED);
    },
  });
  const added: Promise<WorkOutcome>[] = [];
  for (const number of [1, 2, 3, 4]) {
    added.push(queue.add(itemOf(number)));
    await setImmediate();
  }
  expect(commits).toEqual(expected.slice(0, commitsMax));
  const drained = queue.drain();
  while (ends.length > 0) {
    for (const end of ends.splice(0)) end();
    await setImmediate();
    await setImmediate();
  }
  await drained;
  expect(commits).toEqual(expected);
  expect(await Promise.all(added)).toHaveLength(4);
});

describe.each([1, 2])('with %i commits at once', (commitsMax) => {
  const start = (failureOf: Parameters<typeof startWith>[1]) => startWith(commitsMax, failureOf);

  describe('an item that cannot be stored', () => {
    it('is rejected alone, and those that share its commit are stored in their order', async () => {
      const bad = new Error('a row cannot be inserted');
      const { commits, pausesMs, add } = start((numbers) => (numbers.includes(5) ? bad : null));
      const results = await add(1, 2, 3, 4, 5, 6, 7, 8);
      expect(results.map(({ status }) => status)).toEqual([
        ...Array.from({ length: 4 }, () => 'fulfilled'),
        'rejected',
        ...Array.from({ length: 3 }, () => 'fulfilled'),
      ]);
      expect(results[4]).toMatchObject({ reason: bad });
      expect(commits.filter((numbers) => !numbers.includes(5)).flat()).toEqual([1, 2, 3, 4, 6, 7, 8]);
      // A division by halves asks for a few commits, not for one per item.
      expect(commits.length).toBeLessThan(9);
      expect(pausesMs).toEqual([]);
    });
  });

  describe('while the store is away', () => {
    it('a commit is not divided', async () => {
      const { commits, add } = start(() => AWAY);
      const results = await add(1, 2, 3, 4);
      expect(results.every(({ status }) => status === 'rejected')).toBe(true);
      expect(commits).toEqual([[1, 2, 3, 4]]);
    });

    it('the pauses between commits grow to five seconds, and begin anew once it serves', async () => {
      let isServing = false;
      const { pausesMs, add } = start(() => (isServing ? null : AWAY));
      for (let commit = 0; commit < 8; commit += 1) await add(commit);
      isServing = true;
      await add(8);
      isServing = false;
      await add(9);
      await add(10);
      expect(pausesMs).toEqual([100, 200, 400, 800, 1600, 3200, 5000, 5000, 100, 200]);
    });

    it('the end of the process waits for no pause', async () => {
      const { pausesMs, queue, add } = start(() => AWAY);
      const added = add(1);
      await queue.drain();
      await added;
      await add(2);
      expect(pausesMs).toEqual([]);
    });
  });
});
