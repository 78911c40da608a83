import { expect, it } from 'vitest';
import type { FoundTraces, SearchQuery } from '../../src/domain/traces/search/trace-search-store.ts';
import { createExperimentStore, type ExperimentRoom } from '../../src/storage/experiments/experiments.ts';
import { createSearchLimit, createTraceLimit } from '../../src/storage/long-reads.ts';

const EVER = { fromMs: 0, toMs: Number.MAX_SAFE_INTEGER };
const NONE: FoundTraces = { traces: [], next: null, total: null };

function queryOf(projectNumber: number): SearchQuery {
  return {
    projectNumber,
    expiredBeforeMs: null,
    started: EVER,
    updated: EVER,
    sort: 'started_at',
    isAscending: true,
    traceIds: null,
    filter: { conditions: [], isNegated: false, text: '' },
    after: null,
    limit: 10,
    countMax: null,
  };
}

/** Searches that run until the test ends them, oldest first. */
function createSearches() {
  const running: { readonly projectNumber: number; readonly end: (isOk: boolean) => void }[] = [];
  // Projects 1 to 9 are of one organization, all others each of their own.
  const limit = createSearchLimit(async (projectNumber) => (projectNumber < 10 ? 0 : projectNumber));
  const find = limit(
    ({ projectNumber }: SearchQuery) =>
      new Promise<FoundTraces>((resolve, reject) => {
        running.push({ projectNumber, end: (isOk) => (isOk ? resolve(NONE) : reject(new Error('lost'))) });
      }),
  );
  return { running, find: (projectNumber: number) => find(queryOf(projectNumber)) };
}

const soon = () => new Promise((resolve) => setImmediate(resolve));

it('one project gets a part of the slots and is refused beyond it, another gets its own', async () => {
  const { running, find } = createSearches();
  const begun = Array.from({ length: 18 }, () => find(1));
  await expect(find(1)).rejects.toMatchObject({
    code: 'unavailable',
    message: 'Too many searches of this organization at once; try again.',
  });
  begun.push(find(20));
  await soon();
  expect(running.map(({ projectNumber }) => projectNumber)).toEqual([1, 1, 20]);
  const ends = Promise.allSettled(begun);
  for (let ended = 0; ended < begun.length; ended += 1) {
    running.shift()?.end(ended % 3 !== 0);
    await soon();
    expect(running.filter(({ projectNumber }) => projectNumber === 1).length).toBeLessThanOrEqual(2);
  }
  expect((await ends).filter(({ status }) => status === 'rejected')).toHaveLength(7);
  // All permits are free again, also those of failed searches.
  const again = [find(1), find(1), find(20), find(20)];
  await soon();
  expect(running).toHaveLength(4);
  for (const { end } of running) end(true);
  await Promise.all(again);
});

it('all projects together have a limited number of slots', async () => {
  const { running, find } = createSearches();
  const begun = Array.from({ length: 68 }, (_, index) => find(index + 10));
  await soon();
  expect(running).toHaveLength(4);
  await expect(find(1_000)).rejects.toMatchObject({
    code: 'unavailable',
    message: 'Too many searches at once; try again.',
  });
  for (let ended = 0; ended < begun.length; ended += 1) {
    running.shift()?.end(true);
    await soon();
  }
  await Promise.all(begun);
});

it('one organization leaves a slot and half of the queue to others, whatever its projects are', async () => {
  const { running, find } = createSearches();
  const begun = [1, 2, 3, 4, 5].map(find);
  await soon();
  expect(running.map(({ projectNumber }) => projectNumber)).toEqual([1, 2, 3]);
  begun.push(...Array.from({ length: 30 }, (_, index) => find(1 + (index % 5))));
  await expect(find(6)).rejects.toMatchObject({
    message: 'Too many searches of this organization at once; try again.',
  });
  begun.push(find(20), find(30));
  await soon();
  expect(running.map(({ projectNumber }) => projectNumber)).toEqual([1, 2, 3, 20]);
  // Organizations take turns, and then the projects of each.
  for (const ended of [0, 0]) {
    running.splice(ended, 1)[0]?.end(true);
    await soon();
  }
  expect(running.map(({ projectNumber }) => projectNumber)).toEqual([3, 20, 4, 30]);
  for (let ended = 0; ended < begun.length; ended += 1) {
    running.shift()?.end(true);
    await soon();
  }
  await Promise.all(begun);
});

it('whole traces are read one after the other, and so many wait of a project, of an organization and of all', async () => {
  const read = createTraceLimit(1, async (projectNumber) => (projectNumber < 10 ? 0 : projectNumber))(
    async (_: { readonly projectNumber: number }) => await soon(),
  );
  const counts = await Promise.all(
    [1, 2, 3, 20, 30, 40].map(async (projectNumber) => {
      const outcomes = await Promise.allSettled(Array.from({ length: 100 }, () => read({ projectNumber })));
      return outcomes.filter(({ status }) => status === 'fulfilled').length;
    }),
  );
  expect(counts).toEqual([49, 48, 0, 48, 48, 0]);
});

it('an organization reads one run at a time, whatever project asks, and leaves the other read to others', async () => {
  const running: { readonly projectId: string; readonly end: () => void }[] = [];
  const room = {
    figuresAfter: ({ projectId }: { readonly projectId: string }) =>
      new Promise<readonly never[]>((resolve) => running.push({ projectId, end: () => resolve([]) })),
  };
  const { figures } = createExperimentStore(room as Partial<ExperimentRoom> as ExperimentRoom);
  const read = (organizationId: string, projectId: string) => figures({ organizationId, projectId }, 'run', () => {});
  const reads = [read('1', 'a'), read('1', 'b'), read('2', 'c')];
  await soon();
  expect(running.map(({ projectId }) => projectId)).toEqual(['a', 'c']);
  running.shift()?.end();
  await reads[0];
  await soon();
  expect(running.map(({ projectId }) => projectId)).toEqual(['c', 'b']);
  for (const { end } of running) end();
  await Promise.all(reads);
});
