import { expect, it } from 'vitest';
import type { FoundTraces, SearchQuery } from '../../src/domain/traces/search/trace-search-store.ts';
import { limitSearches } from '../../src/storage/long-reads.ts';

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
  const find = limitSearches(
    ({ projectNumber }) =>
      new Promise((resolve, reject) => {
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
    message: 'Too many searches of this project at once; try again.',
  });
  begun.push(find(2));
  await soon();
  expect(running.map(({ projectNumber }) => projectNumber)).toEqual([1, 1, 2]);
  const ends = Promise.allSettled(begun);
  for (let ended = 0; ended < begun.length; ended += 1) {
    running.shift()?.end(ended % 3 !== 0);
    await soon();
    expect(running.filter(({ projectNumber }) => projectNumber === 1).length).toBeLessThanOrEqual(2);
  }
  expect((await ends).filter(({ status }) => status === 'rejected')).toHaveLength(7);
  // All permits are free again, also those of failed searches.
  const again = [find(1), find(1), find(2), find(2)];
  await soon();
  expect(running).toHaveLength(4);
  for (const { end } of running) end(true);
  await Promise.all(again);
});

it('all projects together have a limited number of slots', async () => {
  const { running, find } = createSearches();
  const begun = Array.from({ length: 68 }, (_, index) => find(index));
  await soon();
  expect(running).toHaveLength(4);
  await expect(find(100)).rejects.toMatchObject({
    code: 'unavailable',
    message: 'Too many searches at once; try again.',
  });
  for (let ended = 0; ended < begun.length; ended += 1) {
    running.shift()?.end(true);
    await soon();
  }
  await Promise.all(begun);
});
