import { expect, it } from 'vitest';
import type { SearchFilter } from '../../src/domain/traces/search/trace-filter.ts';
import type { MatchQuery } from '../../src/domain/traces/search/trace-search-store.ts';
import { keepFilters, sendFiltersOnce } from '../../src/storage/engine/sqlite/kept-filters.ts';

const listOf = (length: number): readonly SearchFilter[] =>
  Array.from({ length }, (_, index) => ({ conditions: [], isNegated: false, text: `${index}` }));

it('filters go to the thread that reads once, and again when it has dropped them or is a new one', async () => {
  const asked: MatchQuery[] = [];
  const start = () =>
    keepFilters(async (query) => {
      asked.push(query);
      return { traces: [], left: [] };
    }, 5);
  let thread = start();
  let sent = 0;
  const match = sendFiltersOnce(async (query) => {
    sent += query.filters?.length ?? 0;
    return await thread(structuredClone(query));
  });
  const ask = (filters: readonly SearchFilter[]) =>
    match({ projectNumber: 1, expiredBeforeMs: null, traceIds: ['a'], filters });
  const [first, second] = [listOf(3), listOf(4)];
  await ask(first);
  await ask(first);
  expect(sent).toBe(3);
  expect(asked[1]?.filters).toBe(asked[0]?.filters);
  // Both together are more than the thread keeps.
  await ask(second);
  await ask(first);
  expect(sent).toBe(3 + 4 + 3);
  thread = start();
  await ask(first);
  expect(sent).toBe(3 + 4 + 3 + 3);
  expect(asked.map(({ filters }) => filters.length)).toEqual([3, 3, 4, 3, 3]);
});
