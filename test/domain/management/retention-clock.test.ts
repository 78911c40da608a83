import { describe, expect, it } from 'vitest';
import type { StoredInstants } from '../../../src/domain/management/clock-store.ts';
import { createRetentionClock, type RetentionClock } from '../../../src/domain/management/retention-clock.ts';

const NOW_MS = Date.UTC(2026, 10, 20, 12);
const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;
const EMPTY: StoredInstants = { trustedAtMs: null, newestAtMs: null, logEndAtMs: null, logResets: 0 };

/** A database that outlives processes, and the clocks that they read. */
function createMachine(stored: Partial<StoredInstants> = {}) {
  const machine = {
    stored: { ...EMPTY, ...stored },
    nowMs: NOW_MS,
    /** That of the database server; null: there is none. */
    storeNowMs: null as number | null,
    passedMs: 0,
    logged: [] as string[],
    pass(ms: number) {
      machine.nowMs += ms;
      machine.passedMs += ms;
    },
    async start(): Promise<RetentionClock> {
      const clock = createRetentionClock({
        store: {
          nowMs: async () => machine.storeNowMs,
          instants: async () => machine.stored,
          trust: async (trustedAtMs) => {
            machine.stored = { ...machine.stored, trustedAtMs };
          },
        },
        clock: () => machine.nowMs,
        monotonicMs: () => machine.passedMs,
        log: { warn: (_, message) => machine.logged.push(message), info: (_, message) => machine.logged.push(message) },
      });
      await clock.check();
      return clock;
    },
    /** Runs for a time, with a check every minute. */
    async run(clock: RetentionClock, ms: number) {
      for (let passed = 0; passed < ms; passed += MINUTE_MS) {
        machine.pass(MINUTE_MS);
        await clock.check();
      }
    },
  };
  return machine;
}

describe('deletions by age', () => {
  it('follow the clock on a new database', async () => {
    const clock = await createMachine().start();
    expect([clock.nowMs(), clock.heldMs()]).toEqual([NOW_MS, 0]);
  });

  it('take whole milliseconds from a clock with fractions', async () => {
    const machine = createMachine({ trustedAtMs: NOW_MS - 10 * DAY_MS });
    const clock = await machine.start();
    machine.passedMs += 0.75;
    await clock.check();
    machine.passedMs += 700_000.5;
    await clock.check();
    expect([clock.nowMs(), machine.stored.trustedAtMs].map(Number.isInteger)).toEqual([true, true]);
  });

  it('know no age until the clock was compared with what is stored', async () => {
    const machine = createMachine();
    const clock = createRetentionClock({
      store: {
        nowMs: async () => null,
        instants: async () => Promise.reject(new Error('away')),
        trust: async () => undefined,
      },
      clock: () => machine.nowMs,
      monotonicMs: () => 0,
      log: { warn: () => undefined, info: () => undefined },
    });
    await expect(clock.check()).rejects.toThrow('away');
    expect(clock.nowMs()).toBe(0);
  });

  it('are held back when the clock is ahead of what is stored by more than a day, and not by a day', async () => {
    const ahead = createMachine({ newestAtMs: NOW_MS - DAY_MS - 1 });
    const clock = await ahead.start();
    expect([clock.nowMs(), clock.heldMs()]).toEqual([NOW_MS - DAY_MS - 1, DAY_MS + 1]);
    expect(ahead.logged).toEqual([expect.stringContaining('nothing is deleted by age')]);
    const near = createMachine({ newestAtMs: NOW_MS - DAY_MS });
    expect((await near.start()).heldMs()).toBe(0);
  });

  it('stay held back over restarts, whatever is stored meanwhile with the wrong clock', async () => {
    const machine = createMachine();
    await machine.start();
    machine.nowMs += 460 * DAY_MS;
    for (let start = 0; start < 5; start += 1) {
      machine.stored = { ...machine.stored, newestAtMs: machine.nowMs, logEndAtMs: machine.nowMs };
      const clock = await machine.start();
      await machine.run(clock, HOUR_MS);
      expect(clock.nowMs()).toBeLessThan(NOW_MS + DAY_MS);
      expect(clock.heldMs()).toBeGreaterThan(450 * DAY_MS);
    }
  });

  it('are held back when the clock jumps in a running process', async () => {
    const machine = createMachine();
    const clock = await machine.start();
    await machine.run(clock, 3 * DAY_MS);
    machine.nowMs += 30 * DAY_MS;
    await machine.run(clock, HOUR_MS);
    expect(clock.nowMs()).toBe(NOW_MS + 3 * DAY_MS + HOUR_MS);
  });

  it('go on when the clock is right again', async () => {
    const machine = createMachine();
    await machine.start();
    machine.nowMs += 460 * DAY_MS;
    const clock = await machine.start();
    machine.nowMs -= 460 * DAY_MS;
    await clock.check();
    expect([clock.nowMs(), clock.heldMs()]).toEqual([NOW_MS, 0]);
    expect(machine.logged.at(-1)).toContain('go on');
  });

  it('go on once a process has run for a day by an even clock: a system may have been off for weeks', async () => {
    const machine = createMachine();
    await machine.start();
    machine.nowMs += 14 * DAY_MS;
    const clock = await machine.start();
    await machine.run(clock, DAY_MS - MINUTE_MS);
    expect(clock.heldMs()).toBeGreaterThan(0);
    await machine.run(clock, MINUTE_MS);
    expect([clock.nowMs(), clock.heldMs()]).toEqual([machine.nowMs, 0]);
    expect((await machine.start()).heldMs()).toBe(0);
  });

  it('go on once an operator has confirmed the clock', async () => {
    const machine = createMachine({ trustedAtMs: NOW_MS - 14 * DAY_MS });
    const clock = await machine.start();
    machine.stored = { ...machine.stored, trustedAtMs: NOW_MS };
    await clock.check();
    expect([clock.nowMs(), clock.heldMs()]).toEqual([NOW_MS, 0]);
  });

  it('are never held back in a system that is switched off every night', async () => {
    const machine = createMachine();
    for (let day = 0; day < 30; day += 1) {
      const clock = await machine.start();
      await machine.run(clock, 10 * MINUTE_MS);
      expect(clock.heldMs()).toBe(0);
      machine.nowMs += DAY_MS - 10 * MINUTE_MS - MINUTE_MS;
    }
  });

  it('follow the earlier of the clocks of process and database', async () => {
    const machine = createMachine();
    machine.storeNowMs = NOW_MS - HOUR_MS;
    expect((await machine.start()).nowMs()).toBe(NOW_MS - HOUR_MS);
    machine.storeNowMs = NOW_MS + 800 * DAY_MS;
    expect((await machine.start()).nowMs()).toBe(NOW_MS);
  });
});

it('a log that ends ahead of the clock, and logs that follow it again, are reported', async () => {
  const machine = createMachine({ logEndAtMs: NOW_MS + 2 * DAY_MS });
  const clock = await machine.start();
  expect(machine.logged).toEqual([expect.stringContaining('ends ahead of the clock')]);
  machine.stored = { ...machine.stored, logResets: 3 };
  await clock.check();
  expect(machine.logged.at(-1)).toContain('follow it again');
  expect(clock.logResets()).toBe(3);
});
