import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { expect, it, vi } from 'vitest';
import { shareReadiness } from '../../src/transport/health.ts';

function createStore() {
  const store = { checks: 0, nowMs: 0, answer: (): Promise<void> => Promise.resolve() };
  const readiness = shareReadiness(
    () => {
      store.checks += 1;
      return store.answer();
    },
    () => store.nowMs,
  );
  return { store, isReady: async () => (await readiness()).isReady };
}

it('reads the store once for all checks within a moment', async () => {
  const { store, isReady } = createStore();
  expect(await Promise.all(Array.from({ length: 100 }, isReady))).toEqual(Array.from({ length: 100 }, () => true));
  store.answer = () => Promise.reject(new Error('away'));
  store.nowMs = 249;
  expect(await isReady()).toBe(true);
  expect(store.checks).toBe(1);
  store.nowMs = 250;
  expect(await isReady()).toBe(false);
  store.nowMs = 500;
  store.answer = () => Promise.resolve();
  expect(await isReady()).toBe(true);
  expect(store.checks).toBe(3);
});

it('treats a store that does not answer as unavailable, and starts no second read', async () => {
  const { store, isReady } = createStore();
  store.answer = () => new Promise(() => undefined);
  vi.useFakeTimers();
  const answered = isReady();
  await vi.advanceTimersByTimeAsync(1_000);
  vi.useRealTimers();
  expect(await Promise.race([answered, yieldToEventLoop('later than a second')])).toBe(false);
  store.nowMs = 10_000;
  void isReady();
  expect(store.checks).toBe(1);
});
