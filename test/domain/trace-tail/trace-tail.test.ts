import { expect, it } from 'vitest';
import { Fault } from '../../../src/domain/fault.ts';
import type { MatchQuestion, TraceSearch } from '../../../src/domain/trace-search-store.ts';
import { createChangeFeed } from '../../../src/domain/trace-tail/change-feed.ts';
import { createTraceTails, type TailCall, type Told } from '../../../src/domain/trace-tail/trace-tail.ts';
import { until } from '../../support/port.ts';

const REQUEST = {
  query: '',
  filtersJson: null,
  negateFilters: false,
  traceIds: [],
  includeSpans: false,
  lastEventId: '',
};
const NO_FILTER = { conditions: [], isNegated: false, text: '' };

/** Tails over a store in which every trace fits every filter; ticks when it is told to. */
function createWorld({ tailsMax = 10 } = {}) {
  const feed = createChangeFeed();
  const asked: MatchQuestion[] = [];
  const read: string[] = [];
  const ticks: (() => void)[] = [];
  let isBroken = false;
  const search: TraceSearch = {
    find: async () => ({ traces: [], next: null, total: null }),
    match: async (question) => {
      if (isBroken) throw new Fault('unavailable', 'The store is closed.');
      asked.push(question);
      const fits = question.filters.map((_, place) => place);
      return question.traceIds.map((traceId) => ({ traceId, updatedAtMs: 1, fits }));
    },
  };
  const tails = createTraceTails({
    search,
    searches: { filterOf: () => ({ filter: NO_FILTER, traceIds: null }) },
    traces: {
      get: async (_project, { traceId, countAnswer }) => {
        read.push(traceId);
        countAnswer(10);
        return { record: { traceId, updatedAtMs: 1 } } as never;
      },
    },
    feed,
    isShared: false,
    clock: () => 1_800_000_000_000,
    wait: () => new Promise((resolve) => ticks.push(resolve)),
    limits: { tailsMax, tailsPerProjectMax: tailsMax },
    traceDefaultDays: null,
    onError: () => {},
  });
  const open = async (countAnswer: TailCall['countAnswer'] = () => {}) => {
    const leaving = new AbortController();
    const project = { number: 7, traceRetentionDays: undefined } as never;
    const told = await tails.open(REQUEST, { project, nowMs: 0, countAnswer, signal: leaving.signal });
    expect((await told.next()).value).toEqual({ kind: 'idle' });
    return { next: () => told.next() as Promise<{ value: Told }>, leave: () => leaving.abort() };
  };
  const tick = async () => {
    await until(() => ticks.length > 0, 'it waits for a tick');
    ticks.shift()?.();
    await until(() => ticks.length > 0, 'the tick is over');
  };
  const change = (traceId: string) => feed.note({ projectNumber: 7, traceId });
  return { open, tick, change, asked, read, setBroken: (value: boolean) => (isBroken = value) };
}

const idOf = ({ value }: { value: Told }) => (value.kind === 'trace' ? value.view.record.traceId : value);

it('what changes several times before it is told is told once', async () => {
  const { open, tick, change, read } = createWorld();
  const follower = await open();
  for (const id of ['a', 'b', 'a', 'a']) change(id);
  const first = follower.next();
  await tick();
  expect([idOf(await first), idOf(await follower.next())]).toEqual(['a', 'b']);
  expect(read).toEqual(['a', 'b']);
});

it('changes are read once for all who follow, and the rows they are told are too', async () => {
  const { open, tick, change, asked, read } = createWorld();
  const followers = [await open(), await open(), await open()];
  change('a');
  const told = followers.map((follower) => follower.next());
  await tick();
  for (const each of told) expect(idOf(await each)).toBe('a');
  expect(asked.map(({ filters, traceIds }) => [filters.length, traceIds])).toEqual([[1, ['a']]]);
  expect(read).toEqual(['a']);
});

it('one who does not take what changes is kept so much and no more, and is told how many were left out', async () => {
  const { open, tick, change } = createWorld();
  const slow = await open();
  for (let round = 0; round < 10; round += 1) {
    for (let index = 0; index < 300; index += 1) change(`${round}-${index}`);
    await tick();
  }
  const told: Told[] = [];
  while (told.at(-1)?.kind !== 'lagged') {
    const next = slow.next();
    await tick();
    told.push((await next).value);
  }
  expect(told.at(-1)).toEqual({ kind: 'lagged', dropped: 2_500 });
});

it('rows for which there is no room, and changes that cannot be read, are told as left out', async () => {
  const { open, tick, change, setBroken } = createWorld();
  const crowded = await open(() => {
    throw new Fault('unavailable', 'Too many answers wait to be taken.');
  });
  change('a');
  const first = crowded.next();
  await tick();
  expect((await first).value).toEqual({ kind: 'lagged', dropped: 1 });
  setBroken(true);
  change('b');
  const next = crowded.next();
  await tick();
  expect((await next).value).toEqual({ kind: 'lagged', dropped: 1 });
});

it('nothing is read for nobody, and whoever leaves makes room', async () => {
  const { open, tick, change, asked } = createWorld({ tailsMax: 1 });
  const only = await open();
  await expect(open()).rejects.toMatchObject({ code: 'rate_limited' });
  only.leave();
  change('a');
  const next = await open();
  const told = next.next();
  await tick();
  expect(asked).toEqual([]);
  change('b');
  await tick();
  expect(idOf(await told)).toBe('b');
});
