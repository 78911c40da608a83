import { expect, it } from 'vitest';
import { dayOf } from '../../src/domain/analytics/calendar.ts';
import { bucketOf } from '../../src/domain/number-buckets.ts';
import type { KeepGroups, Ranking, SumsQuery } from '../../src/storage/analytics/indexed-sums.ts';
import { countGroups } from '../../src/storage/engine/sqlite/group-counts.ts';
import { createIndexedSums } from '../../src/storage/engine/sqlite/indexed-sums.ts';
import { openSearchFile } from '../../src/storage/engine/sqlite/search-file.ts';
import { collectText } from '../../src/storage/engine/sqlite/search-texts.ts';
import { prepareSearchWriter } from '../../src/storage/engine/sqlite/search-writer.ts';
import { createSummedRows } from '../../src/storage/engine/sqlite/summed-rows.ts';

const START_MS = 1_760_000_000_000;
const QUERY: SumsQuery = {
  projectNumber: 1,
  fromMs: 0,
  toMs: Number.MAX_SAFE_INTEGER,
  receivedFromMs: Number.MIN_SAFE_INTEGER,
  conditions: [],
  changed: [],
  leftOut: [],
  isOver: () => false,
  interval: 'total',
  hasPercentiles: false,
  groupsMax: 10,
  bucketsMax: 10_000,
  groupBy: 'thread',
};

/** Traces of two projects in turns; of each thread there are a few. */
function openFile(traces: number, labels: readonly number[] = []) {
  const file = openSearchFile(':memory:');
  const writer = prepareSearchWriter(file);
  file.transaction(() => {
    for (let sequence = 1; sequence <= traces; sequence += 1) writer.put(makeTrace(sequence, labels));
    writer.end(true);
  })();
  return { file, writer, sums: createIndexedSums({ searchedFile: async () => file, noteFailure: () => false }) };
}

function makeTrace(sequence: number, labels: readonly number[]) {
  const instant = START_MS + sequence * 1_000;
  return {
    ...{
      projectNumber: 1 + (sequence % 2),
      sequence,
      traceId: String(sequence),
      facets: [],
      text: collectText().end(),
    },
    ...{ startMs: instant, updatedAtMs: instant, insertedAtMs: instant },
    ...{ totalTimeMs: sequence, totalCostNanoUsd: sequence * 1_000, totalTokens: null, firstTokenMs: null },
    sums: {
      ...{ spanCount: 1, hasError: false, promptTokens: null, completionTokens: null },
      ...{ user: null, customer: null, thread: threadOf(sequence), labels, prompts: null, models: [] },
    },
  };
}

/** Thread 0 has the most traces, and each other one more than the next. */
function threadOf(sequence: number): number {
  return Math.floor(((sequence % 3_000) * (sequence % 2_999)) / 3_000);
}

function keepAll(seen: Ranking[]): KeepGroups {
  return async (ranking) => {
    seen.push(ranking);
    return ranking.groups.map(({ number }) => number);
  };
}

it('finds the first of many groups in one pass or in several, with the traces that changed', async () => {
  const { file, sums } = openFile(9_000);
  const changed = [{ ...makeTrace(1, []), ...makeTrace(1, []).sums, groups: [77, null], thread: 77 }];
  const query = { ...QUERY, changed, leftOut: [2, 4, 9_000] };
  const counts = new Map<number | null, number>([
    [77, 1],
    [null, 1],
  ]);
  for (let sequence = 6; sequence < 9_000; sequence += 2) {
    const thread = threadOf(sequence);
    counts.set(thread, (counts.get(thread) ?? 0) + 1);
  }
  const traces = [...counts.values()].sort((one, other) => other - one).slice(0, 10);
  expect(counts.size).toBeGreaterThan(1_000);

  const rows = createSummedRows(file, query);
  const count = async (countedMax?: number) => {
    const counted = await countGroups(rows, query, { dimension: 'thread', countedMax });
    if (counted === null || counted === 'too_long') return counted;
    // Which slices there are depends on the time that they take.
    return { ...counted, groups: counted.groups.map(({ first, last, ...group }) => group) };
  };
  const atOnce = await count();
  expect(atOnce).toMatchObject({ count: counts.size });
  expect(await count(300)).toEqual(atOnce);
  expect(await count(3)).toBeNull();

  const seen: Ranking[] = [];
  const buckets = await sums.sumUp(query, keepAll(seen));
  const [ranking] = seen;
  expect(ranking?.groups.slice(0, 10).map((group) => group.traces)).toEqual(traces);
  for (const { number, sequences } of ranking?.groups ?? []) {
    for (const sequence of sequences) expect([threadOf(sequence), sequence % 2]).toEqual([number, 0]);
  }
  if (!Array.isArray(buckets)) throw new Error('the index does not answer');
  for (const { number, totals } of buckets) expect(totals.traces).toBe(counts.get(number));
});

it('lets other reads have their turn, also while each trace has a thousand labels', async () => {
  const labels = Array.from({ length: 1_000 }, (_, index) => 2 ** 51 + index);
  const { sums } = openFile(6_000, labels);
  let turns = 0;
  let isOver = false;
  const count = () => {
    turns += 1;
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  const buckets = await sums.sumUp({ ...QUERY, groupBy: 'label', groupsMax: 1_000 }, keepAll([]));
  isOver = true;
  expect(Array.isArray(buckets) && buckets.map(({ totals }) => totals.traces)).toEqual(labels.map(() => 3_000));
  expect(turns).toBeGreaterThan(5);
});

it('ends when the time is over', async () => {
  const { sums } = openFile(100);
  expect(await sums.sumUp({ ...QUERY, isOver: () => true }, keepAll([]))).toBe('too_long');
  expect(await sums.statsOf({ ...QUERY, isOver: () => true })).toBe('too_long');
});

it('counts, while a step is being written, the durations that it says the traces have', async () => {
  const { file, writer, sums } = openFile(100);
  const ranges = [{ firstDay: dayOf(START_MS), lastDay: dayOf(START_MS) + 1 }];
  file.exec('BEGIN');
  writer.put({ ...makeTrace(2, []), totalTimeMs: 50_000 });
  writer.remove(4);
  writer.settle();
  const { projectNumber, receivedFromMs } = QUERY;
  const counted = await sums.countDurations({ projectNumber, receivedFromMs, leftOut: [2, 4], ranges });
  const others = new Map<number, number>();
  const add = (bucket: number, traces: number) => others.set(bucket, (others.get(bucket) ?? 0) + traces);
  for (const { bucket, traces } of counted?.counts ?? []) add(bucket, traces);
  for (const { totalTimeMs } of counted?.leftOut ?? []) add(bucketOf(totalTimeMs ?? 0), -1);
  const expected = new Map<number, number>([[bucketOf(50_000), 0]]);
  for (let sequence = 6; sequence <= 100; sequence += 2) expected.set(bucketOf(sequence), 1);
  expect(others).toEqual(expected);
  file.exec('ROLLBACK');
});
