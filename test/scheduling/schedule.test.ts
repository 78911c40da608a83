import { describe, expect, it } from 'vitest';
import { startLoop, startSchedule, type Wait, waitUnref } from '../../src/scheduling/schedule.ts';
import { until } from '../support/temp.ts';

/** A time that passes when the test says so. */
function createWaits() {
  const waits: { readonly delayMs: number; readonly pass: () => void }[] = [];
  const wait: Wait = (delayMs, signal) =>
    new Promise((resolve) => {
      waits.push({ delayMs, pass: resolve });
      if (signal.aborted) resolve();
      else signal.addEventListener('abort', () => resolve());
    });
  return { wait, waits };
}

const DELAYS = { firstDelayMs: 1, intervalMs: 2, retryDelayMs: 3 };

it('runs a while after the start, and again and again, and sooner after a failure', async () => {
  const { wait, waits } = createWaits();
  const errors: unknown[] = [];
  let runs = 0;
  const run = async () => {
    runs += 1;
    if (runs === 2) throw new Error('the disk is full');
  };
  const schedule = startSchedule({ ...DELAYS, wait, run, onError: (error) => errors.push(error) });
  for (let count = 1; count <= 4; count += 1) {
    await until(() => waits.length === count);
    expect(runs).toBe(count - 1);
    waits.at(-1)?.pass();
  }
  await until(() => waits.length === 5);
  expect(waits.map((each) => each.delayMs)).toEqual([1, 2, 3, 2, 2]);
  expect(errors).toHaveLength(1);
  await schedule.stop();
  expect(runs).toBe(4);
});

it('a stop ends the wait, aborts the run, and waits for it', async () => {
  const { wait, waits } = createWaits();
  const idle = startSchedule({ ...DELAYS, wait, run: () => Promise.reject(new Error('not yet')), onError: () => {} });
  await idle.stop();
  let finish = () => {};
  const run = (signal: AbortSignal) =>
    new Promise<void>((resolve) => {
      signal.addEventListener('abort', () => {
        finish = resolve;
      });
    });
  const busy = startSchedule({ ...DELAYS, wait, run, onError: () => {} });
  waits.at(-1)?.pass();
  await until(() => waits.length === 2);
  let stopped = false;
  const stop = busy.stop().then(() => {
    stopped = true;
  });
  await new Promise((resolve) => setImmediate(resolve));
  expect(stopped).toBe(false);
  finish();
  await stop;
  expect(waits).toHaveLength(3);
});

describe('a loop', () => {
  it('begins at once, and each run says how long it waits for the next', async () => {
    const { wait, waits } = createWaits();
    const delays = [7, 0, 5];
    const loop = startLoop({ retryDelayMs: 3, wait, run: async () => delays.shift() ?? 1, onError: () => {} });
    for (let count = 1; count <= 3; count += 1) {
      await until(() => waits.length === count);
      waits.at(-1)?.pass();
    }
    await until(() => waits.length === 4);
    expect(waits.map((each) => each.delayMs)).toEqual([7, 0, 5, 1]);
    await loop.stop();
  });

  it('that is woken runs again at once, also where the call came during a run, and only once', async () => {
    const { wait, waits } = createWaits();
    let runs = 0;
    const loop = startLoop({
      ...{ retryDelayMs: 3, wait },
      async run() {
        runs += 1;
        if (runs === 2) loop.wake();
        return 3_600_000;
      },
      onError: () => {},
    });
    await until(() => waits.length === 1);
    loop.wake();
    await until(() => waits.length === 3);
    expect(runs).toBe(3);
    await loop.stop();
    expect(runs).toBe(3);
  });

  it('that is woken ends a wait of its run', async () => {
    const { wait, waits } = createWaits();
    const never = new AbortController();
    const loop = startLoop({
      ...{ retryDelayMs: 3, wait },
      async run(_, wakeableWait) {
        await wakeableWait(20, never.signal);
        return 30;
      },
      onError: () => {},
    });
    await until(() => waits.length === 1);
    loop.wake();
    await until(() => waits.length === 2);
    expect(waits.map((each) => each.delayMs)).toEqual([20, 30]);
    loop.wake();
    await until(() => waits.length === 3);
    const stop = loop.stop();
    waits.at(-1)?.pass();
    await stop;
  });
});

it('real waits end with their delay or their signal', async () => {
  const stopping = new AbortController();
  const startedAtMs = performance.now();
  await waitUnref(20, stopping.signal);
  expect(performance.now() - startedAtMs).toBeGreaterThan(15);
  const long = waitUnref(3_600_000, stopping.signal);
  stopping.abort();
  await long;
  await waitUnref(3_600_000, stopping.signal);
});
