import { expect, it } from 'vitest';
import type {
  SearchPosition,
  SearchQuery,
  TraceSearch,
} from '../../../../src/domain/traces/search/trace-search-store.ts';
import { createChangePoll } from '../../../../src/domain/traces/tail/change-poll.ts';

const OPENED_AT_MS = 1_800_000_000_000;

/** A project whose traces other processes change. */
function createFixture() {
  let nowMs = OPENED_AT_MS;
  const rows = new Map<string, number>();
  let findsLeft = Number.POSITIVE_INFINITY;
  const search: Pick<TraceSearch, 'find'> = {
    async find({ updated, after, limit }: SearchQuery) {
      findsLeft -= 1;
      if (findsLeft < 0) throw new Error('The store is away.');
      const found = [...rows]
        .map(([traceId, key]) => ({ traceId, key }))
        .filter((row) => row.key >= updated.fromMs && (after === null || compare(row, after) > 0))
        .toSorted(compare);
      const traces = found.slice(0, limit);
      return { traces, next: found.length > limit ? (traces.at(-1) ?? null) : null, total: null };
    },
  };
  return {
    poll: createChangePoll({ projectNumber: 7, search, clock: () => nowMs }),
    commit: (traceId: string, agoMs: number) => void rows.set(traceId, OPENED_AT_MS - agoMs),
    commitMany(count: number) {
      for (let index = 0; index < count; index += 1) rows.set(`many-${index}`, OPENED_AT_MS - (index % 4_000));
    },
    pass(ms: number) {
      nowMs += ms;
    },
    failAfter(finds: number) {
      findsLeft = finds;
    },
  };
}

/** The newest first. */
function compare(one: SearchPosition, other: SearchPosition): number {
  return other.key - one.key || (one.traceId < other.traceId ? 1 : -1);
}

it('a trace received before the opening and committed after it is reported, one committed before is not', async () => {
  const { poll, commit, pass } = createFixture();
  commit('before', 100);
  await poll.begin();
  commit('late', 3_000);
  pass(500);
  expect(await poll.next()).toEqual({ traceIds: ['late'], isShort: false });
  pass(500);
  expect(await poll.next()).toEqual({ traceIds: [], isShort: false });
});

it('when the store is unavailable at the opening, more changes are reported rather than fewer', async () => {
  const { poll, commit, failAfter, pass } = createFixture();
  commit('before', 100);
  failAfter(0);
  expect(poll.isDue()).toBe(false);
  await expect(poll.begin()).rejects.toThrow('away');
  pass(500);
  expect(poll.isDue()).toBe(true);
  failAfter(1);
  expect((await poll.next()).traceIds).toEqual(['before']);
});

it('a trace that is committed late after thousands of others is reported', async () => {
  const { poll, commit, commitMany } = createFixture();
  commitMany(9_000);
  await poll.begin();
  commit('late', 4_500);
  expect(await poll.next()).toEqual({ traceIds: ['late'], isShort: false });
});

it('it reports that it is short when there are more than it reads, even when none it read is new', async () => {
  const { poll, commit, commitMany } = createFixture();
  commitMany(10_000);
  await poll.begin();
  commit('late', 4_500);
  expect(await poll.next()).toEqual({ traceIds: [], isShort: true });
});

it('a poll that fails halfway misses nothing', async () => {
  const { poll, commit, commitMany, failAfter } = createFixture();
  await poll.begin();
  commitMany(3_000);
  failAfter(1);
  await expect(poll.next()).rejects.toThrow('away');
  failAfter(10);
  commit('another', 1);
  expect((await poll.next()).traceIds).toHaveLength(3_001);
});
