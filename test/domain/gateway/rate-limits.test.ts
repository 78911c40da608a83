import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { unavailableFault } from '../../../src/domain/fault.ts';
import { createRateLimiter, type RateLimit, type RateSliceStore } from '../../../src/domain/gateway/rate-limits.ts';
import { runsOf } from '../../support/scenario.ts';

/** A model of the stored buckets: what every store must do, in memory. */
function createSliceModel(nowMs: () => number) {
  const levels = new Map<string, { units: number; atMs: number }>();
  let calls = 0;
  let isAway = false;
  const store: RateSliceStore = {
    async takeSlice({ virtualKeyId, dimension, limit, windowMs, wanted, atLeast }) {
      calls += 1;
      await Promise.resolve();
      if (isAway) throw unavailableFault('The store is away.', 1);
      const name = `${virtualKeyId} ${dimension}`;
      const full = limit * windowMs;
      const known = levels.get(name) ?? { units: full, atMs: nowMs() };
      const units = Math.min(full, known.units + (nowMs() - known.atMs) * limit);
      const there = Math.floor(units / windowMs);
      const granted = there >= atLeast ? Math.min(there, wanted) : 0;
      levels.set(name, { units: units - granted * windowMs, atMs: nowMs() });
      return { granted, available: units / windowMs - granted };
    },
  };
  return {
    store,
    calls: () => calls,
    setAway: (away: boolean) => {
      isAway = away;
    },
  };
}

function open() {
  let now = 0;
  const nowMs = () => now;
  const model = createSliceModel(nowMs);
  return {
    model,
    start: () => createRateLimiter({ store: model.store, nowMs }),
    pass: (ms: number) => {
      now += ms;
    },
  };
}

function requestOf(limits: readonly RateLimit[], tokens = 0) {
  return { key: { organizationNumber: 1, virtualKeyId: 'vk_1' }, limits, tokens };
}

const RPM = requestOf([{ dimension: 'rpm', limit: 100 }]);

describe('a rate limit', () => {
  it('holds for the sum of two processes', async () => {
    const { start } = open();
    const [one, other] = [start(), start()];
    const results = await Promise.all(Array.from({ length: 300 }, (_, index) => (index % 2 ? one : other).pass(RPM)));
    expect(results.filter((result) => result === null)).toHaveLength(100);
    expect(results.find((result) => result !== null)).toEqual({
      code: 'rate_limited',
      httpStatus: 429,
      dimension: 'rpm',
      retryAfterSeconds: 1,
    });
  });

  it('of a day keeps what it took for requests that come now and then', async () => {
    const { start, pass } = open();
    const limiter = start();
    const rpd = requestOf([{ dimension: 'rpd', limit: 1_000 }]);
    for (let request = 0; request < 20; request += 1) {
      expect(await limiter.pass(rpd)).toBeNull();
      limiter.sweep();
      pass(120_000);
    }
    const burst = await Promise.all(Array.from({ length: 900 }, () => limiter.pass(rpd)));
    expect(burst.filter((refusal) => refusal !== null)).toEqual([]);
  });

  it('asks the store once for many requests', async () => {
    const { model, start } = open();
    const limiter = start();
    for (let request = 0; request < 5; request += 1) expect(await limiter.pass(RPM)).toBeNull();
    expect(model.calls()).toBe(1);
  });

  it('says when the next request passes', async () => {
    const { start, pass } = open();
    const limiter = start();
    const daily = requestOf([{ dimension: 'rpd', limit: 1 }]);
    expect(await limiter.pass(daily)).toBeNull();
    pass(3_600_000);
    expect(await limiter.pass(daily)).toMatchObject({ dimension: 'rpd', retryAfterSeconds: 23 * 3600 });
    pass(23 * 3_600_000);
    expect(await limiter.pass(daily)).toBeNull();
  });

  it('counts are not lost at a restart: what a process did not use is lost, and nothing is gained', async () => {
    const { start } = open();
    let passed = 0;
    for (let restart = 0; restart < 50; restart += 1) if ((await start().pass(RPM)) === null) passed += 1;
    expect(passed).toBe(20);
  });

  it('is 503 when the store is away and the slice is empty', async () => {
    const { model, start } = open();
    const limiter = start();
    expect(await limiter.pass(RPM)).toBeNull();
    model.setAway(true);
    for (let request = 0; request < 4; request += 1) expect(await limiter.pass(RPM)).toBeNull();
    expect(await limiter.pass(RPM)).toMatchObject({ code: 'unavailable', httpStatus: 503 });
  });

  it('of tokens counts what a request reserves, and is corrected afterwards', async () => {
    const { start } = open();
    const limiter = start();
    const request = requestOf([{ dimension: 'tpm', limit: 1000 }], 600);
    expect(await limiter.pass(request)).toBeNull();
    expect(await limiter.pass(request)).toMatchObject({ code: 'rate_limited', dimension: 'tpm' });
    limiter.correct(request, 100);
    expect(await limiter.pass(request)).toBeNull();
    limiter.correct(request, 5000);
    expect(await limiter.pass(requestOf(request.limits, 1))).toMatchObject({ code: 'rate_limited' });
  });

  it('of tokens lets a request of more tokens than the limit pass when nothing is used', async () => {
    const { start } = open();
    expect(await start().pass(requestOf([{ dimension: 'tpm', limit: 1000 }], 5000))).toBeNull();
  });

  it('never lets more pass than one full bucket and what has filled since, over all processes and restarts', async () => {
    const anyStep = fc.record({ process: fc.nat(2), restart: fc.boolean(), ms: fc.integer({ min: 0, max: 2000 }) });
    await fc.assert(
      fc.asyncProperty(
        fc.array(anyStep, { maxLength: 200 }),
        fc.integer({ min: 1, max: 300 }),
        async (steps, limit) => {
          const { start, pass } = open();
          const limiters = [start(), start(), start()];
          const request = requestOf([{ dimension: 'rpm', limit }]);
          let [passed, elapsedMs] = [0, 0];
          for (const { process, restart, ms } of steps) {
            pass(ms);
            elapsedMs += ms;
            if (restart) limiters[process] = start();
            if ((await limiters[process]?.pass(request)) === null) passed += 1;
            expect(passed).toBeLessThanOrEqual(limit + (elapsedMs * limit) / 60_000);
          }
        },
      ),
      { numRuns: runsOf(100) },
    );
  });
});
