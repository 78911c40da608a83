import { expect, it } from 'vitest';
import { paceReads } from '../../src/storage/engine/sqlite/read-pace.ts';

/** Reads that take `readMs` on a clock that only reads, rests and `passTime` advance. */
function createThrottled(isBusy: () => boolean, readMs: number) {
  let nowMs = 0;
  const rests: number[] = [];
  const turnsAtMs: number[] = [];
  const runPaced = paceReads({
    runRead: async (read) => {
      nowMs += readMs;
      return read();
    },
    isBusy,
    nowMs: () => nowMs,
    wait: async (delayMs) => {
      rests.push(delayMs);
      nowMs += delayMs;
    },
    yieldToEventLoop: async () => void turnsAtMs.push(nowMs),
  });
  const passTime = (ms: number) => {
    nowMs += ms;
  };
  return { runPaced, rests, turnsAtMs, passTime };
}

it('reads while appends are on their way take a small share of the time, in the order they came', async () => {
  const { runPaced, rests } = createThrottled(() => true, 0.5);
  const answers: number[] = [];
  await Promise.all([1, 2, 3, 4, 5].map((each) => runPaced(() => answers.push(each))));
  expect(answers).toEqual([1, 2, 3, 4, 5]);
  // A rest of three milliseconds is too short to wait for: it adds to the next one.
  expect(rests).toEqual([5.5, 5.5]);
});

it('rests of short reads end while nothing is read', async () => {
  const { runPaced, rests, passTime } = createThrottled(() => true, 0.5);
  for (const each of [1, 2, 3]) {
    await runPaced(() => each);
    passTime(4);
  }
  expect(rests).toEqual([]);
});

it('no rest is longer than a few milliseconds', async () => {
  const { runPaced, rests } = createThrottled(() => true, 1000);
  await Promise.all([runPaced(() => 1), runPaced(() => 2)]);
  expect(rests).toEqual([10]);
});

it('reads do not wait when nothing is to be appended', async () => {
  const { runPaced, rests } = createThrottled(() => false, 1);
  await Promise.all([runPaced(() => 1), runPaced(() => 2)]);
  expect(rests).toEqual([]);
});

it('reads that wait for one another leave turns of the event loop to others', async () => {
  const { runPaced, turnsAtMs } = createThrottled(() => false, 2);
  await Promise.all(Array.from({ length: 8 }, () => runPaced(() => 1)));
  expect(turnsAtMs).toEqual([6, 12]);
});

it('a read that fails fails alone', async () => {
  const { runPaced } = createThrottled(() => true, 1);
  const failing = runPaced(() => {
    throw new Error('no such row');
  });
  const following = runPaced(() => 'found');
  await expect(failing).rejects.toThrow('no such row');
  expect(await following).toBe('found');
});
