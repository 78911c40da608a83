/**
 * Sums traces up by the index. Traces that changed since they were indexed are read from their tables, and left out of the
 * index. Groups get their names from the metadata of their traces.
 */

import { type Dimensions, groupsOfTrace, matchTrace, readDimensions } from '../../domain/analytics/dimensions.ts';
import { compareRanks } from '../../domain/analytics/group-ranking.ts';
import type { GroupBy } from '../../domain/analytics/query.ts';
import { compareNames, inOrder } from '../../domain/analytics/tallies.ts';
import {
  ANY_TRACE,
  type AnalyticsAnswer,
  type AnalyticsQuery,
  type TraceConditions,
  type TraceRange,
  type UserStatsAnswer,
  type UserStatsQuery,
} from '../../domain/analytics/trace-analytics-store.ts';
import { dimensionNumber } from '../search/index-plan.ts';
import type { ChangedTrace, Dimension, IndexedSums, Ranking, TracesQuery } from './indexed-sums.ts';
import { type AnalyticsRunner, readTraces } from './trace-scan.ts';

export type IndexReading = {
  readonly runner: AnalyticsRunner;
  readonly index: IndexedSums;
  readonly isOver: () => boolean;
};

/** With more traces that are not indexed, scanning all traces is better. */
const CHANGED_MAX = 20_000;
/** The same of large traces whose totals an append left out. */
const OUTDATED_MAX = 100;
/** The same of traces that changed, and have so many groups together. */
const CHANGED_GROUPS_MAX = 20_000;
const NEEDS = { metadata: true, spans: false };

type Grouping = Exclude<GroupBy, 'model'>;

const DIMENSIONS: Readonly<Record<Grouping, Dimension | null>> = {
  none: null,
  user_id: 'user',
  customer_id: 'customer',
  thread_id: 'thread',
  label: 'label',
  prompt_id: 'prompt',
  prompt_version: 'promptVersion',
};

/** Null: the index cannot answer. */
export async function summariseByIndex(reading: IndexReading, query: AnalyticsQuery): Promise<AnalyticsAnswer | null> {
  const { groupBy, conditions, groupsMax, bucketsMax } = query;
  if (groupBy === 'model' || conditions.model !== null) return null;
  const names = createNames(reading, query.projectNumber, groupBy);
  const traces = await readQuery(reading, query, { conditions, names });
  if (traces === null) return null;
  let isTruncated = false;
  const found = await reading.index.sumUp({ ...query, ...traces, groupBy: DIMENSIONS[groupBy] }, async (ranking) => {
    isTruncated = ranking.count > groupsMax;
    return await names.first(ranking, groupsMax);
  });
  if (found === null) return null;
  if (found === 'too_long') return { kind: 'too_long' };
  if (found.length > bucketsMax) return { kind: 'too_many_buckets' };
  const buckets = found.map(({ number, ...bucket }) => ({ ...bucket, group: names.of(number) }));
  return { kind: 'buckets', buckets: inOrder(buckets), isTruncated };
}

/** Null: the index cannot answer. */
export async function statsByIndex(
  reading: IndexReading,
  { userId, ...query }: UserStatsQuery,
): Promise<UserStatsAnswer | null> {
  const names = createNames(reading, query.projectNumber, 'none');
  const conditions = { ...ANY_TRACE, userId };
  const traces = await readQuery(reading, query, { conditions, names });
  const stats = traces === null ? null : await reading.index.statsOf(traces);
  if (stats === null) return null;
  return stats === 'too_long' ? { kind: 'too_long' } : { kind: 'stats', stats };
}

type Asked = { readonly conditions: TraceConditions; readonly names: Names };

/** The sequences of the traces that changed since they were indexed. Null: there are too many. */
export async function listChanged(
  { queries, runQuery }: AnalyticsRunner,
  projectNumber: number,
): Promise<readonly number[] | null> {
  // Before the pending traces, which have those that were completed meanwhile; and those before the index, so that a
  // trace that is indexed meanwhile is known.
  const outdated = await runQuery(queries.listOutdated, { projectNumber, limit: OUTDATED_MAX + 1 });
  const pending = await runQuery(queries.listPending, { projectNumber, limit: CHANGED_MAX + 1 });
  if (outdated.length > OUTDATED_MAX || pending.length > CHANGED_MAX) return null;
  return [...new Set([...outdated, ...pending].map(({ sequence }) => sequence))];
}

/** Null: too many traces changed since they were indexed. */
export async function readQuery(
  { runner, isOver }: IndexReading,
  { projectNumber, fromMs, toMs, expiredBeforeMs }: TraceRange,
  { conditions, names }: Asked,
): Promise<TracesQuery | null> {
  const leftOut = await listChanged(runner, projectNumber);
  if (leftOut === null) return null;
  const receivedFromMs = expiredBeforeMs ?? Number.MIN_SAFE_INTEGER;
  const changed: ChangedTrace[] = [];
  let groups = 0;
  for await (const part of readTraces(runner, projectNumber, { sequences: leftOut, needs: NEEDS })) {
    for (const { trace, metadataJson } of part) {
      if (trace.startMs < fromMs || trace.startMs > toMs || trace.insertedAtMs < receivedFromMs) continue;
      const dimensions = readDimensions(metadataJson ?? '{}');
      if (!matchTrace(dimensions, conditions)) continue;
      const { durationMs, ...rest } = trace;
      const totalTimeMs = durationMs === null ? null : Math.max(0, durationMs);
      const numbers = names.numbersOf(dimensions);
      groups += numbers.groups.length;
      changed.push({ ...rest, totalTimeMs, ...numbers });
    }
    if (groups > CHANGED_GROUPS_MAX) return null;
  }
  return {
    ...{ projectNumber, fromMs, toMs, receivedFromMs, changed, leftOut, isOver },
    conditions: numbersOf(projectNumber, conditions),
  };
}

function numbersOf(
  projectNumber: number,
  { userId, customerId, threadId, label, promptId, promptVersion }: TraceConditions,
): TracesQuery['conditions'] {
  const values: readonly (readonly [Dimension, string | null])[] = [
    ...([
      ['user', userId],
      ['customer', customerId],
      ['thread', threadId],
      ['label', label],
    ] as const),
    ...([
      ['promptName', promptId],
      ['promptName', promptVersion],
    ] as const),
  ];
  return values.flatMap(([dimension, value]) =>
    value === null ? [] : [{ dimension, number: dimensionNumber(projectNumber, value) }],
  );
}

type Names = ReturnType<typeof createNames>;

/** The names of the groups, by their numbers. */
export function createNames({ runner }: IndexReading, projectNumber: number, groupBy: Grouping) {
  const names = new Map<number, string>();
  const numbers = new Map<string, number>();
  /** Whether two names have the same number. */
  let isMixed = false;

  function learn(name: string): number {
    const number = numbers.get(name) ?? dimensionNumber(projectNumber, name);
    isMixed ||= names.has(number) && names.get(number) !== name;
    names.set(number, name);
    numbers.set(name, number);
    return number;
  }

  function namesIn(dimensions: Dimensions): readonly (string | null)[] {
    return groupBy === 'none' ? [null] : groupsOfTrace(dimensions, groupBy);
  }

  const nameOf = (number: number | null) => (number === null ? null : (names.get(number) ?? null));

  return {
    of: nameOf,
    numbersOf: (dimensions: Dimensions) => ({
      groups: namesIn(dimensions).map((name) => (name === null ? null : learn(name))),
      thread: dimensions.threadId === null ? null : dimensionNumber(projectNumber, dimensions.threadId),
    }),
    /** Null where a name is unknown or unsure: a trace changed meanwhile, or two names have the same number. */
    async first({ groups }: Ranking, groupsMax: number): Promise<readonly (number | null)[] | null> {
      const sequences = [...new Set(groups.flatMap((group) => group.sequences))];
      const wanted = new Set(groups.map(({ number }) => number));
      for await (const part of readTraces(runner, projectNumber, { sequences, needs: NEEDS })) {
        // A trace may have a thousand names that nobody asked for.
        for (const name of part.flatMap(({ metadataJson }) => namesIn(readDimensions(metadataJson ?? '{}')))) {
          if (name !== null && wanted.has(dimensionNumber(projectNumber, name))) learn(name);
        }
      }
      if (isMixed || groups.some(({ number }) => number !== null && !names.has(number))) return null;
      return groups
        .toSorted((one, other) => compareRanks(one, other) || compareNames(nameOf(one.number), nameOf(other.number)))
        .slice(0, groupsMax)
        .map(({ number }) => number);
    },
  };
}
