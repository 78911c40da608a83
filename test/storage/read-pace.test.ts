import { expect, it } from 'vitest';
import { paceReads } from '../../src/storage/engine/sqlite/read-pace.ts';

/** Reads that take `readMs` of a clock that only they and the rests move. */
function createPaced(isBusy: () => boolean, readMs: number) {
  let nowMs = 0;
  const rests: number[] = [];
  const turnsAtMs: number[] = [];
  const lane = paceReads({
    lane: async (read) => {
      nowMs += readMs;
      return read();
    },
    isBusy,
    nowMs: () => nowMs,
    wait: async (delayMs) => {
      rests.push(delayMs);
      nowMs += delayMs;
    },
    nextTurn: async () => void turnsAtMs.push(nowMs),
  });
  return { lane, rests, turnsAtMs };
}

it('reads while appends are on their way take a small share of the time, in the order they came', async () => {
  const { lane, rests } = createPaced(() => true, 1);
  const answers: number[] = [];
  await Promise.all([1, 2, 3].map((each) => lane(() => answers.push(each))));
  expect(answers).toEqual([1, 2, 3]);
  expect(rests).toEqual([4, 4]);
});

it('no rest is longer than a few milliseconds', async () => {
  const { lane, rests } = createPaced(() => true, 1000);
  await Promise.all([lane(() => 1), lane(() => 2)]);
  expect(rests).toEqual([10]);
});

it('reads do not wait when nothing is to be appended', async () => {
  const { lane, rests } = createPaced(() => false, 1);
  await Promise.all([lane(() => 1), lane(() => 2)]);
  expect(rests).toEqual([]);
});

it('reads that wait for one another leave turns of the event loop to others', async () => {
  const { lane, turnsAtMs } = createPaced(() => false, 2);
  await Promise.all(Array.from({ length: 8 }, () => lane(() => 1)));
  expect(turnsAtMs).toEqual([6, 12]);
});

it('a read that fails fails alone', async () => {
  const { lane } = createPaced(() => true, 1);
  const failing = lane(() => {
    throw new Error('no such row');
  });
  const following = lane(() => 'found');
  await expect(failing).rejects.toThrow('no such row');
  expect(await following).toBe('found');
});
