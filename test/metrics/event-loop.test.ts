import { afterEach, expect, it } from 'vitest';
import { type EventLoopWatch, watchEventLoop } from '../../src/metrics/process.ts';
import { createRegistry } from '../../src/metrics/registry.ts';
import { until } from '../support/temp.ts';

const NAME = 'spandrel_event_loop_delay';
const STALL_MS = 350;

let watch: EventLoopWatch;
afterEach(() => watch.stop());

function start() {
  const registry = createRegistry();
  watch = watchEventLoop(registry);
  const read = async (sample: string) => {
    const line = (await registry.text()).split('\n').find((each) => each.startsWith(`${sample} `));
    return Number(line?.slice(sample.length + 1));
  };
  return { read, count: () => read(`${NAME}_seconds_count`), longest: () => read(`${NAME}_max_seconds`) };
}

function holdTheLoop(durationMs: number): void {
  const endMs = performance.now() + durationMs;
  while (performance.now() < endMs);
}

it('reports a stall at once, and still after its second is over', async () => {
  const { read, count, longest } = start();
  await until(async () => (await count()) > 0);
  const shortBefore = (await count()) - (await read(`${NAME}_seconds_bucket{le="0.3"}`));
  holdTheLoop(STALL_MS);
  // The watch itself has to get its turn first.
  await until(async () => (await longest()) >= (STALL_MS - 20) / 1000);
  const counted = await count();
  await until(async () => (await count()) > counted);
  expect(await longest()).toBeGreaterThanOrEqual((STALL_MS - 20) / 1000);
  expect((await count()) - (await read(`${NAME}_seconds_bucket{le="0.3"}`))).toBeGreaterThan(shortBefore);
});

it('has one delay for each second, for any number of readers', async () => {
  const startedMs = performance.now();
  const { count, longest } = start();
  await until(async () => {
    await longest();
    return (await count()) >= 2;
  });
  expect(await count()).toBeLessThanOrEqual((performance.now() - startedMs) / 1000);
});
