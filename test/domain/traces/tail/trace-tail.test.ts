import { expect, it } from 'vitest';
import { Fault } from '../../../../src/domain/fault.ts';
import type { Matched, MatchQuery, TraceSearch } from '../../../../src/domain/traces/search/trace-search-store.ts';
import { createChangeFeed } from '../../../../src/domain/traces/tail/change-feed.ts';
import { createTraceTails, type TailCall, type TailMessage } from '../../../../src/domain/traces/tail/trace-tail.ts';
import { until } from '../../../support/port.ts';

const REQUEST = {
  query: '',
  filters: [],
  negateFilters: false,
  traceIds: [],
  includeSpans: false,
  lastEventId: '',
};
const NOW_MS = 1_800_000_000_000;
const DAY_MS = 86_400_000;
const NO_FILTER = { conditions: [], isNegated: false, text: '' };

type Answer = (question: MatchQuery) => Promise<Matched>;

/** Each trace matches any filter. */
const matchAll: Answer = async ({ filters, traceIds }) => ({
  traces: traceIds.map((traceId) => ({ traceId, updatedAtMs: 1, fits: filters.map((_, index) => index) })),
  left: [],
});

/** Tails over a store with set answers; ticks run on demand. */
function createFixture({ tailsMax = 10, tailsPerCredentialMax = 10 } = {}) {
  const feed = createChangeFeed();
  const matched: MatchQuery[] = [];
  const read: string[] = [];
  const ticks: (() => void)[] = [];
  let match = matchAll;
  let traceRetentionDays: number | null = null;
  const search: Pick<TraceSearch, 'find' | 'match'> = {
    find: async () => ({ traces: [], next: null, total: null }),
    match: async (question) => {
      matched.push(question);
      return await match(question);
    },
  };
  const tails = createTraceTails({
    search,
    searches: { filterOf: () => ({ filter: NO_FILTER, traceIds: null }) },
    traces: {
      get: async (project, { traceId, countResponseBytes }) => {
        if (project.traceRetentionDays === 1) throw new Fault('trace_not_found', 'Trace not found.');
        read.push(traceId);
        countResponseBytes(10);
        return { record: { traceId, updatedAtMs: 1 } } as never;
      },
    },
    keys: { findProject: async () => ({ number: 7, traceRetentionDays }) as never },
    feed,
    isSingleProcess: true,
    clock: () => NOW_MS,
    wait: () => new Promise((resolve) => ticks.push(resolve)),
    pause: async () => {},
    limits: { tailsMax, tailsPerProjectMax: tailsMax, tailsPerCredentialMax },
    traceDefaultDays: null,
    onError: () => {},
  });
  const open = async (call: Partial<TailCall> = {}, number = 7) => {
    const leaving = new AbortController();
    const { signal } = leaving;
    const project = { number, traceRetentionDays: null } as never;
    const whole = { project, nowMs: 0, countResponseBytes: () => {}, credential: 'one', signal, ...call };
    const stream = await tails.open(REQUEST, whole);
    expect((await stream.next()).value).toEqual({ kind: 'idle' });
    return { next: () => stream.next() as Promise<{ value: TailMessage }>, leave: () => leaving.abort() };
  };
  const tick = async () => {
    await until(() => ticks.length > 0, 'it waits for a tick');
    ticks.shift()?.();
    await until(() => ticks.length > 0, 'the tick is over');
  };
  const change = (traceId: string, projectNumber = 7) => feed.publish({ projectNumber, traceId });
  return {
    open,
    tick,
    change,
    matched,
    read,
    answerWith: (answer: Answer) => (match = answer),
    keepDays: (days: number) => (traceRetentionDays = days),
  };
}

const idOf = ({ value }: { value: TailMessage }) => (value.kind === 'trace' ? value.view.record.traceId : value);

it('a trace that changes several times before it is sent is sent once', async () => {
  const { open, tick, change, read } = createFixture();
  const follower = await open();
  for (const id of ['a', 'b', 'a', 'a']) change(id);
  const first = follower.next();
  await tick();
  expect([idOf(await first), idOf(await follower.next())]).toEqual(['a', 'b']);
  expect(read).toEqual(['a', 'b']);
});

it('changes and their rows are read once for all tails', async () => {
  const { open, tick, change, matched, read } = createFixture();
  const followers = [await open(), await open(), await open()];
  change('a');
  const messages = followers.map((follower) => follower.next());
  await tick();
  for (const each of messages) expect(idOf(await each)).toBe('a');
  expect(matched.map(({ filters, traceIds }) => [filters.length, traceIds])).toEqual([[1, ['a']]]);
  expect(read).toEqual(['a']);
});

it('a slow tail has a limited queue, and gets the number of dropped changes', async () => {
  const { open, tick, change } = createFixture();
  const slow = await open();
  for (let round = 0; round < 10; round += 1) {
    for (let index = 0; index < 300; index += 1) change(`${round}-${index}`);
    await tick();
  }
  const messages: TailMessage[] = [];
  while (messages.at(-1)?.kind !== 'lagged') {
    const next = slow.next();
    await tick();
    messages.push((await next).value);
  }
  expect(messages.at(-1)).toEqual({ kind: 'lagged', dropped: 2_500 });
});

it('rows without room are reported as dropped', async () => {
  const { open, tick, change } = createFixture();
  const countResponseBytes = () => {
    throw new Fault('unavailable', 'Too many answers wait to be taken.');
  };
  const crowded = await open({ countResponseBytes });
  change('a');
  const first = crowded.next();
  await tick();
  expect((await first).value).toEqual({ kind: 'lagged', dropped: 1 });
});

const fail: Answer = async () => {
  throw new Fault('unavailable', 'The store is closed.');
};

it('changes that cannot be read for a while are sent later, and none is reported as dropped', async () => {
  const { open, tick, change, answerWith } = createFixture();
  const follower = await open();
  answerWith(fail);
  change('a');
  const next = follower.next();
  await tick();
  change('b');
  await tick();
  answerWith(matchAll);
  await tick();
  expect([idOf(await next), idOf(await follower.next())]).toEqual(['a', 'b']);
});

it('what can never be read is left out in the end, as many as they were', async () => {
  const { open, tick, change, answerWith } = createFixture();
  const follower = await open();
  answerWith((question) => (question.traceIds.includes('bad') ? fail(question) : matchAll(question)));
  for (const id of ['bad', 'worse', 'worst']) change(id);
  const next = follower.next();
  for (let attempt = 0; attempt < 20; attempt += 1) await tick();
  expect((await next).value).toEqual({ kind: 'lagged', dropped: 3 });
});

it('what there was no time for comes first the next time', async () => {
  const { open, tick, change, matched, answerWith } = createFixture();
  const follower = await open();
  answerWith(async (question) => {
    const { traces } = await matchAll(question);
    return { traces: traces.slice(0, 1), left: question.traceIds.slice(1) };
  });
  for (const id of ['a', 'b']) change(id);
  const next = follower.next();
  await tick();
  expect(idOf(await next)).toBe('a');
  change('c');
  const later = follower.next();
  await tick();
  expect(idOf(await later)).toBe('b');
  expect(matched.map(({ traceIds }) => traceIds)).toEqual([
    ['a', 'b'],
    ['b', 'c'],
  ]);
});

it('a project that takes long to read holds up no other', async () => {
  const { open, tick, change, answerWith } = createFixture();
  const [slow, quick] = [await open(), await open({}, 8)];
  const reading = Promise.withResolvers<Matched>();
  answerWith((question) => (question.projectNumber === 7 ? reading.promise : matchAll(question)));
  change('a');
  change('b', 8);
  const [first, second] = [slow.next(), quick.next()];
  await tick();
  expect(idOf(await second)).toBe('b');
  change('c', 8);
  const third = quick.next();
  await tick();
  expect(idOf(await third)).toBe('c');
  reading.resolve({ traces: [{ traceId: 'a', updatedAtMs: 1, fits: [0] }], left: [] });
  expect(idOf(await first)).toBe('a');
});

it('a new retention of the project applies to open tails', async () => {
  const { open, tick, change, matched, read, keepDays } = createFixture();
  const follower = await open();
  change('a');
  const message = follower.next();
  await tick();
  expect(idOf(await message)).toBe('a');
  keepDays(1);
  change('b');
  void follower.next();
  await tick();
  expect(matched.map(({ expiredBeforeMs }) => expiredBeforeMs)).toEqual([null, NOW_MS - DAY_MS]);
  expect(read).toEqual(['a']);
});

it('no credential holds more than its share, and has room again when one leaves', async () => {
  const { open } = createFixture({ tailsPerCredentialMax: 1 });
  const only = await open();
  await expect(open()).rejects.toMatchObject({ code: 'rate_limited' });
  await open({ credential: 'another' });
  only.leave();
  await open();
});

it('nothing is read without tails, and a closed tail makes room', async () => {
  const { open, tick, change, matched } = createFixture({ tailsMax: 1 });
  const only = await open();
  await expect(open()).rejects.toMatchObject({ code: 'rate_limited' });
  only.leave();
  change('a');
  const next = await open();
  const message = next.next();
  await tick();
  expect(matched).toEqual([]);
  change('b');
  await tick();
  expect(idOf(await message)).toBe('b');
});
