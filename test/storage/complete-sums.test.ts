import { expect, it, vi } from 'vitest';
import type { AppendTables } from '../../src/domain/events/append-tables.ts';
import { NOTHING_SENT, type TraceRecord } from '../../src/domain/traces/trace.ts';
import { NO_AGGREGATES, outdatedAggregates, SPANS_READ_THROUGH_MAX } from '../../src/domain/traces/trace-aggregates.ts';
import { sumUp } from '../../src/domain/traces/trace-growth.ts';
import { totalsOf } from '../../src/domain/traces/trace-totals.ts';
import { completeSums } from '../../src/storage/traces/trace-finder.ts';
import { summary } from '../domain/traces/summaries.ts';

const SPANS = SPANS_READ_THROUGH_MAX + 1;
const TRACE = { projectNumber: 1, traceId: 't', sequence: 7 };
const STATE = { totals: { ...totalsOf([]), spanCount: SPANS, promptTokens: 5 }, aggregates: NO_AGGREGATES };
const AGGREGATES_JSON = JSON.stringify(NO_AGGREGATES);

function record(changes: Partial<TraceRecord> = {}): TraceRecord {
  const own = {
    traceId: 't',
    sequence: 7,
    insertedAtMs: 1,
    updatedAtMs: 1,
    anchorAtMs: 1,
    metadataJson: '{}',
    ...NOTHING_SENT,
  };
  return { ...totalsOf([]), ...own, spanCount: SPANS, aggregatesJson: outdatedAggregates('change', false), ...changes };
}

function setUp(found: TraceRecord | null) {
  const deps = { sums: vi.fn(async () => STATE), keep: vi.fn(async () => undefined) };
  const finder = { find: async () => found, listOutdated: async () => [] };
  return { ...deps, complete: completeSums({ ...deps, finder, nowMs: () => 0 }).find };
}

it('computes what an append left open, and keeps it for the trace as it was found', async () => {
  const outdated = record();
  const { complete, keep } = setUp(outdated);
  const kept = { ...STATE.totals, aggregatesJson: AGGREGATES_JSON };
  expect(await complete(1, 't')).toEqual({ ...outdated, ...kept });
  const trace = { ...TRACE, spanCount: SPANS, aggregatesJson: outdated.aggregatesJson };
  expect(keep.mock.calls).toEqual([[trace, { totals: STATE.totals, aggregatesJson: AGGREGATES_JSON }]]);
});

it.each([
  ['a trace that is not there', null],
  ['a large trace that keeps them', record({ aggregatesJson: AGGREGATES_JSON })],
  ['a small trace', record({ spanCount: SPANS - 1, aggregatesJson: null })],
])('computes nothing for %s', async (_, found) => {
  const { complete, sums } = setUp(found);
  expect(await complete(1, 't')).toEqual(found);
  expect(sums).not.toHaveBeenCalled();
});

it('computes once for all concurrent readers, and again for later ones', async () => {
  const { complete, sums } = setUp(record());
  await Promise.all([complete(1, 't'), complete(1, 't'), complete(1, 't')]);
  expect(sums).toHaveBeenCalledTimes(1);
  await complete(1, 't');
  expect(sums).toHaveBeenCalledTimes(2);
});

it('answers although what it computed cannot be kept, and fails where it cannot be computed', async () => {
  const { complete, keep, sums } = setUp(record());
  keep.mockRejectedValue(new Error('the disk is full'));
  expect(await complete(1, 't')).toMatchObject({ promptTokens: 5 });
  sums.mockRejectedValueOnce(new Error('too much is being read'));
  await expect(complete(1, 't')).rejects.toThrow('too much is being read');
  expect(await complete(1, 't')).toMatchObject({ promptTokens: 5 });
});

it('stores the sums of each outdated trace of a project, but stops after a second', async () => {
  const outdated = [1, 2, 3].map((sequence) => ({ ...TRACE, sequence, spanCount: SPANS, aggregatesJson: null }));
  const kept: number[] = [];
  let nowMs = 0;
  const { completeTotals } = completeSums({
    finder: { find: async () => null, listOutdated: async () => outdated },
    sums: async () => STATE,
    keep: async ({ sequence }) => {
      nowMs += 600;
      kept.push(sequence);
    },
    nowMs: () => nowMs,
  });
  await completeTotals(1);
  expect(kept).toEqual([1, 2]);
});

it('an append reads no other span of a large trace, even when it replaces some', () => {
  const old = summary({ spanId: 'a', startedAtMs: 1 });
  const next = { ...old, startedAtMs: 2 };
  const queries: string[] = [];
  const stored = new Set<string | null>();
  const tables = {
    summaries: () => queries.push('summaries'),
    hasSpan: () => true,
    newChangeId: () => `${stored.size}`,
  } as unknown as AppendTables;
  let before = record({ startedAtMs: 1, aggregatesJson: AGGREGATES_JSON });
  for (const change of [
    { replaced: [{ old, next }], added: [] },
    { replaced: [], added: [summary({ spanId: 'b' })] },
  ]) {
    const { totals, aggregatesJson } = sumUp(tables, TRACE, { record: before, ...change });
    expect(totals.spanCount).toBe(before.spanCount + change.added.length);
    expect(aggregatesJson).toMatch(/^\{"outdated":/);
    stored.add(aggregatesJson);
    before = { ...before, ...totals, aggregatesJson };
  }
  expect(queries).toEqual([]);
  expect(stored.size).toBe(2);
});
