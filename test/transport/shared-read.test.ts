import { afterEach, expect, it, vi } from 'vitest';
import { shareRead } from '../../src/transport/shared-read.ts';

afterEach(() => vi.useRealTimers());

it('serves everybody for five seconds with what was read once', async () => {
  let nowMs = 0;
  let reads = 0;
  const read = shareRead(
    async () => ++reads,
    () => nowMs,
  );
  expect(await Promise.all([read(), read(), read()])).toEqual([1, 1, 1]);
  nowMs = 4_999;
  expect(await read()).toBe(1);
  nowMs = 5_000;
  expect(await read()).toBe(2);
});

it('starts no second read during the first, and every caller waits a limited time', async () => {
  vi.useFakeTimers();
  let reads = 0;
  const read = shareRead(
    () => {
      reads += 1;
      return new Promise<never>(() => {});
    },
    () => 0,
  );
  for (let scrape = 0; scrape < 3; scrape += 1) {
    const waiting = expect(read()).rejects.toThrow('too long');
    await vi.advanceTimersByTimeAsync(2_000);
    await waiting;
  }
  expect(reads).toBe(1);
});

it('needs one timer however many wait, and answers again once a late read has ended', async () => {
  vi.useFakeTimers();
  const late = Promise.withResolvers<number>();
  const read = shareRead(
    () => late.promise,
    () => 0,
  );
  const waiting = Array.from({ length: 100 }, () => expect(read()).rejects.toThrow('too long'));
  expect(vi.getTimerCount()).toBe(1);
  await vi.advanceTimersByTimeAsync(2_000);
  await Promise.all(waiting);
  await expect(read()).rejects.toThrow('too long');
  expect(vi.getTimerCount()).toBe(0);
  late.resolve(1);
  await late.promise;
  expect(await read()).toBe(1);
});

it('tries again at once after a failure', async () => {
  let reads = 0;
  const read = shareRead(
    async () => {
      reads += 1;
      if (reads === 1) throw new Error('away');
      return reads;
    },
    () => 0,
  );
  await expect(read()).rejects.toThrow('away');
  expect(await read()).toBe(2);
});
