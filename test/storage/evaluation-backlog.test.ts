import { expect, it } from 'vitest';
import { createBacklog, type SomeJobs } from '../../src/domain/evaluations/backlog.ts';
import { openStore } from '../../src/storage/open.ts';
import { expectBoundedBacklog, SMALL_BACKLOG } from './conformance/bounded-backlog.ts';
import { quietLog } from './quiet-log.ts';

const PROJECT = 7;

/** A backlog over a fake store with one job per trace. */
function createCounted(waitingMax: number) {
  const stored = { jobs: 0, nowMs: 0, queries: [] as SomeJobs[], answer: Promise.resolve() };
  const backlog = createBacklog({
    waitingMax,
    nowMs: () => stored.nowMs,
    async countSome(some) {
      stored.queries.push(some);
      await stored.answer;
      const count = Math.min(some.countMax, stored.jobs - some.afterSequence - 1);
      return { count, lastSequence: count === 0 ? null : some.afterSequence + count };
    },
  });
  const make = async (jobs: number) => {
    stored.jobs += jobs;
    backlog.note(PROJECT, { made: jobs, refused: 0 });
    await settle();
  };
  /** Lets pending work finish, unless it waits for `answer`. */
  const settle = () => new Promise((resolve) => setImmediate(resolve));
  return { stored, backlog, make, settle };
}

it('jobs are counted the more often the less room there is, and at most once a second', async () => {
  const { stored, backlog, make } = createCounted(1_000);
  await make(1);
  expect([stored.queries.length, backlog.isFull(PROJECT)]).toEqual([1, false]);
  const jobsUntilCount = async (jobs: number) => {
    stored.nowMs += 60_000;
    stored.jobs = jobs;
    await make(1_000 - jobs);
    stored.nowMs += 1_000;
    stored.jobs = jobs;
    await make(0);
    stored.nowMs += 60_000;
    const before = stored.queries.length;
    for (let made = 0; ; made += 1, await make(1)) if (stored.queries.length > before) return made;
  };
  expect([await jobsUntilCount(0), await jobsUntilCount(800), await jobsUntilCount(960)]).toEqual([125, 25, 10]);
  // Workers free jobs and new ones follow: this must not cause a count per batch.
  const before = stored.queries.length;
  for (let batch = 0; batch < 100; batch += 1) {
    stored.jobs = 996;
    await make(2);
  }
  expect([stored.queries.length, backlog.isFull(PROJECT)]).toEqual([before, true]);
  backlog.note(PROJECT, { made: 0, refused: 2 });
  expect([
    stored.queries.length,
    backlog.refused(null),
    backlog.refused(PROJECT),
    backlog.refused(PROJECT + 1),
  ]).toEqual([...[before, 2, 2, 0]]);
  stored.nowMs += 1_000;
  stored.jobs = 10;
  await make(0);
  expect([stored.queries.length, backlog.isFull(PROJECT)]).toEqual([before + 1, false]);
});

it('a count blocks no caller: one runs at a time, in steps, and jobs stored meanwhile are limited', async () => {
  const { stored, backlog, make, settle } = createCounted(25_000);
  let end = () => {};
  stored.answer = new Promise((resolve) => {
    end = resolve;
  });
  for (let batch = 0; batch < 24; batch += 1) await make(1_000);
  expect([stored.queries.length, backlog.isFull(PROJECT)]).toEqual([1, false]);
  await make(1_000);
  expect([stored.queries.length, backlog.isFull(PROJECT)]).toEqual([1, true]);
  stored.jobs = 500;
  end();
  await settle();
  expect(stored.queries).toEqual([{ projectNumber: PROJECT, afterSequence: -1, countMax: 10_000 }]);
  stored.jobs = 24_749;
  stored.nowMs += 1_000;
  await make(250);
  expect(stored.queries.slice(1).map(({ afterSequence, countMax }) => [afterSequence, countMax])).toEqual([
    [-1, 10_000],
    [9_999, 10_000],
    [19_999, 5_000],
  ]);
});

it('a count that fails leaves the last answer, is tried less and less often, and no old answer refuses anything', async () => {
  const { stored, backlog, make } = createCounted(100);
  await make(100);
  expect([stored.queries.length, backlog.isFull(PROJECT)]).toEqual([1, true]);
  stored.answer = Promise.reject(new Error('canceling statement due to statement timeout'));
  for (let second = 0; second < 30; second += 1) {
    stored.nowMs += 1_000;
    await make(0);
    expect(backlog.isFull(PROJECT)).toBe(true);
  }
  // Counts after 1, 2, 4, 8 and 16 seconds.
  expect(stored.queries.length).toBe(1 + 4);
  stored.nowMs += 3_600_000;
  expect(backlog.isFull(PROJECT)).toBe(false);
});

it('SQLite stores no more jobs than may wait', async () => {
  const store = await openStore({
    url: 'sqlite::memory:',
    queueMaxBytes: 1024 * 1024,
    log: quietLog,
    jobQueue: SMALL_BACKLOG,
  });
  try {
    await expectBoundedBacklog(store);
  } finally {
    await store.close();
  }
});
