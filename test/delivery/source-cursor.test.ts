import { expect, it } from 'vitest';
import { maskAt, maskFrom, wantedFrom } from '../../src/delivery/endpoint-state.ts';
import type { LogPages } from '../../src/delivery/log-pages.ts';
import { createCursor, endAdvance, resetCursor, scanLog, shiftPending } from '../../src/delivery/source-cursor.ts';
import type { DispatchEndpoint, LogEntry } from '../../src/domain/delivery/webhook-store.ts';

const TYPE = 'gateway.request.completed';
const PAGE = 10;

const entryOf = (seq: number): LogEntry => ({ seq, id: `event-${seq}`, type: TYPE, createdAtMs: seq, envelope: '{}' });

/** A log that has an event at every position, and remembers which pages it was asked for. */
function createLog() {
  const requested: number[] = [];
  const pages: Pick<LogPages, 'find'> = {
    find(_organizationNumber, seq, headSeq) {
      const first = Math.floor(seq / PAGE) * PAGE;
      requested.push(first);
      const entries = Array.from({ length: PAGE }, (_, index) => entryOf(first + index));
      return { entries: entries.filter((entry) => entry.seq <= headSeq), coveredTo: first + PAGE - 1, types: 1 };
    },
  };
  return { requested, pages };
}

function subscribed(subscriptions: DispatchEndpoint['subscriptions']) {
  const endpoint = { subscriptions } as DispatchEndpoint;
  return {
    maskOf: ({ seq }: { readonly seq: number }) => maskAt(endpoint, seq),
    wantedFrom: (seq: number) => wantedFrom(endpoint, seq),
    maskFrom: (seq: number) => maskFrom(endpoint, seq),
  };
}

it('the time in which an endpoint was disabled is passed over without being read', () => {
  const { requested, pages } = createLog();
  const cursor = createCursor(0);
  const masks = subscribed([
    { fromSeq: 1, mask: 1 },
    { fromSeq: 6, mask: 0 },
    { fromSeq: 100_001, mask: 1 },
  ]);
  const scan = { pages, organizationNumber: 1, toSeq: 100_003, ...masks, enough: { events: 100, characters: 1_000 } };
  expect(scanLog(cursor, scan)).toBe(true);
  expect(cursor.pending.map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5, 100_001, 100_002, 100_003]);
  expect(cursor.scanned).toBe(100_003);
  expect(requested).toEqual([0, 100_000]);
});

it('an endpoint that gets nothing more is at the end of the log', () => {
  const { requested, pages } = createLog();
  const cursor = createCursor(5);
  scanLog(cursor, {
    pages,
    organizationNumber: 1,
    toSeq: 90,
    ...subscribed([{ fromSeq: 1, mask: 0 }]),
    enough: { events: 10, characters: 1_000 },
  });
  expect(cursor).toMatchObject({ scanned: 90, pending: [] });
  expect(requested).toEqual([]);
});

it('a page without its types is skipped without reading its events', () => {
  const pages: Pick<LogPages, 'find'> = {
    find: (_organizationNumber, seq) => ({
      get entries(): never {
        throw new Error('the events were looked at');
      },
      coveredTo: seq + PAGE,
      types: 1,
    }),
  };
  const cursor = createCursor(0);
  const masks = subscribed([
    { fromSeq: 1, mask: 2 },
    { fromSeq: 900, mask: 4 },
  ]);
  expect(
    scanLog(cursor, { pages, organizationNumber: 1, toSeq: 1000, ...masks, enough: { events: 10, characters: 1_000 } }),
  ).toBe(true);
  expect(cursor).toMatchObject({ scanned: 1000, pending: [] });
});

it('an endpoint that will get a type only later gets it from there on', () => {
  const { pages } = createLog();
  const cursor = createCursor(0);
  const masks = subscribed([
    { fromSeq: 1, mask: 2 },
    { fromSeq: 8, mask: 1 },
  ]);
  scanLog(cursor, { pages, organizationNumber: 1, toSeq: 12, ...masks, enough: { events: 100, characters: 1_000 } });
  expect(cursor.pending.map(({ seq }) => seq)).toEqual([8, 9, 10, 11, 12]);
});

it('a batch moves the source to its last event, and to the end of the scan when nothing is left', () => {
  const { pages } = createLog();
  const cursor = createCursor(0);
  const masks = subscribed([{ fromSeq: 1, mask: 1 }]);
  scanLog(cursor, { pages, organizationNumber: 1, toSeq: 25, ...masks, enough: { events: 100, characters: 1_000 } });
  expect(shiftPending(cursor, { events: 20, characters: 1_000 })).toMatchObject({
    toPosition: 20,
    taken: { length: 20 },
  });
  expect(shiftPending(cursor, { events: 20, characters: 1_000 })).toMatchObject({
    toPosition: 25,
    taken: { length: 5 },
  });
});

it('a source restarts only when no advance of it is in flight', () => {
  const cursor = createCursor(7);
  cursor.advancing = 2;
  cursor.pending = [entryOf(9)];
  resetCursor(cursor, 3);
  endAdvance(cursor);
  expect(cursor).toMatchObject({ position: 7, resetTo: 3, pending: { length: 1 } });
  endAdvance(cursor);
  expect(cursor).toMatchObject({ position: 3, saved: 3, scanned: 3, resetTo: null, pending: [] });
});

it('a batch has as many events as fit into its characters, and at least one', () => {
  const sizes = [400, 700, 2_500, 300, 300, 300, 300];
  const entries = sizes.map((size, index) => ({ ...entryOf(index + 1), envelope: 'x'.repeat(size) }));
  const cursor = createCursor(0);
  const pages = { find: () => ({ entries, coveredTo: 7, types: 1 }) };
  const enough = { events: 3, characters: 1_000 };
  const masks = subscribed([{ fromSeq: 1, mask: 1 }]);
  const batches: { sizes: number[]; toPosition: number }[] = [];
  while (cursor.pending.length > 0 || cursor.scanned < 7) {
    scanLog(cursor, { pages, organizationNumber: 1, toSeq: 7, ...masks, enough });
    const { taken, toPosition } = shiftPending(cursor, enough);
    batches.push({ sizes: taken.map(({ envelope }) => envelope.length), toPosition });
  }
  expect(batches).toEqual([
    { sizes: [400], toPosition: 1 },
    { sizes: [700], toPosition: 2 },
    { sizes: [2_500], toPosition: 3 },
    { sizes: [300, 300, 300], toPosition: 6 },
    { sizes: [300], toPosition: 7 },
  ]);
  expect(cursor.characters).toBe(0);
});
