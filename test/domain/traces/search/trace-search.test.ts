import { randomBytes } from 'node:crypto';
import { expect, it } from 'vitest';
import { createCursorCodec } from '../../../../src/domain/cursor.ts';
import { createTraceSearches } from '../../../../src/domain/traces/search/trace-search.ts';
import type { FoundTraces } from '../../../../src/domain/traces/search/trace-search-store.ts';

const REQUEST = {
  startMs: null,
  endMs: null,
  query: 'refund',
  filters: [],
  negateFilters: false,
  traceIds: [],
  isByUpdate: false,
  pageSize: 10,
  sortBy: null,
  isAscending: false,
  includeSpans: false,
  cursor: '',
};

/** Searches a store that finds this. */
async function search(found: FoundTraces) {
  const searches = createTraceSearches({
    store: { find: async () => found },
    traces: { get: () => Promise.reject(new Error('no trace is read')) },
    rows: { read: async () => new Map() },
    cursors: createCursorCodec(randomBytes(32)),
    traceDefaultDays: null,
  });
  const project = { id: 'project_1', number: 1, traceRetentionDays: null } as never;
  return await searches.search(REQUEST, { project, nowMs: Date.now(), countResponseBytes: () => undefined });
}

it('an answer for which time ran out says that it is partial, counts no total, and goes on from there', async () => {
  const cutShort = { traces: [], next: { key: 1, traceId: 't' }, total: { count: 0, isExact: true } };
  const page = await search(cutShort);
  expect(page).toMatchObject({ isPartial: true, total: { isExact: false } });
  expect(page.nextCursor).not.toBeNull();
});

it('an answer that found everything is not partial, however little that is', async () => {
  const whole = { traces: [], next: null, total: { count: 0, isExact: true } };
  expect(await search(whole)).toMatchObject({ isPartial: false, total: { isExact: true }, nextCursor: null });
});
