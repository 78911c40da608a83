import { expect, it } from 'vitest';
import { createBacklog } from '../../src/storage/evaluations/backlog.ts';
import { openStore } from '../../src/storage/open.ts';
import { expectBoundedBacklog, SMALL_BACKLOG } from './conformance/bounded-backlog.ts';
import { quietLog } from './quiet-log.ts';

const PROJECT = 7;

it('jobs are counted the more often the less room there is, and a full project once a second', () => {
  let nowMs = 0;
  const backlog = createBacklog(1_000, () => nowMs);
  expect([backlog.isToCount(PROJECT), backlog.isFull(PROJECT)]).toEqual([true, false]);
  const jobsUntilCount = (count: number) => {
    backlog.noteCount(PROJECT, count);
    let jobs = 0;
    for (; !backlog.isToCount(PROJECT); jobs += 1) backlog.note(PROJECT, { made: 1, refused: 0 });
    return jobs;
  };
  expect([0, 800, 960, 997].map(jobsUntilCount)).toEqual([125, 25, 10, 3]);
  backlog.noteCount(PROJECT, 1_000);
  expect([backlog.isToCount(PROJECT), backlog.isFull(PROJECT)]).toEqual([false, true]);
  backlog.note(PROJECT, { made: 0, refused: 2 });
  expect(backlog.refused()).toBe(2);
  nowMs += 1_000;
  expect(backlog.isToCount(PROJECT)).toBe(true);
  backlog.noteCount(PROJECT, 10);
  expect(backlog.isFull(PROJECT)).toBe(false);
});

it('SQLite stores no more jobs than may wait', async () => {
  const store = await openStore({
    url: 'sqlite::memory:',
    queueMaxBytes: 1024 * 1024,
    log: quietLog,
    settle: SMALL_BACKLOG,
  });
  try {
    await expectBoundedBacklog(store);
  } finally {
    await store.close();
  }
});
