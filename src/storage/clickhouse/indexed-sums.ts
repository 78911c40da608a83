/** Sums up traces in ClickHouse. */

import { evenIntervals, intervalAt } from '../../domain/analytics/calendar.ts';
import type { Percentiles } from '../../domain/analytics/distribution.ts';
import { NO_DURATIONS, type Sums, totalsOfSums } from '../../domain/analytics/sums.ts';
import {
  DURATION_COLUMNS,
  DURATIONS_MAX,
  type DurationName,
  type IndexedAnswer,
  type IndexedSums,
  NAMED_MAX,
  type SumsQuery,
} from '../analytics/indexed-sums.ts';
import { type ClickHouse, listOf } from './client.ts';
import { rankGroups, sumNamedGroups } from './indexed-groups.ts';
import { createModelDurations } from './model-durations.ts';
import { SUMS, tracesOf } from './summed-rows.ts';

type OfValue = { readonly number: number | null };
type RankRow = OfValue & {
  readonly traces: number;
  readonly costUsd: number;
  readonly first: number | null;
  readonly last: number | null;
  readonly groups: number;
};
type BucketRow = OfValue & Sums & { readonly startMs: number; readonly totalTimes: Ranks; readonly firstTokens: Ranks };
type StatsRow = Sums & {
  readonly threads: number;
  readonly firstSeenMs: number | null;
  readonly lastSeenMs: number | null;
};
/** The values at the ranks of percentiles; empty: there are none. */
type Ranks = readonly number[];

const SHARES = [0.5, 0.95, 0.99];

/** `isBuilt`: whether the tables have all traces. */
export function createIndexedSums(clickHouse: ClickHouse, isBuilt: () => Promise<boolean>): IndexedSums {
  const { rows } = clickHouse;
  const models = createModelDurations(clickHouse);

  async function whenBuilt<Found>(read: () => Promise<IndexedAnswer<Found>>): Promise<IndexedAnswer<Found>> {
    return (await isBuilt()) ? await read() : null;
  }

  return {
    sumUp: (query, keep) =>
      whenBuilt(async () => {
        if (query.groupBy === null) return (await rows<BucketRow>(bucketsOf(query, null))).map(toBucket(query));
        const ranked = await rows<RankRow>(rankOf(query));
        if (ranked.length > NAMED_MAX) return null;
        const groups = ranked.map(({ first, last, ...group }) => ({
          ...group,
          sequences: [first, last].filter((sequence) => sequence !== null),
        }));
        const kept = await keep({ groups, count: ranked[0]?.groups ?? 0 });
        return kept === null ? null : (await rows<BucketRow>(bucketsOf(query, kept))).map(toBucket(query));
      }),

    statsOf: (query) =>
      whenBuilt(async () => {
        const [row] = await rows<StatsRow>(
          `${tracesOf(query, null)} SELECT ${SUMS}, uniqExact(thread_value) AS threads,
            minOrNull(started_at) AS firstSeenMs, maxOrNull(started_at) AS lastSeenMs FROM summed`,
        );
        if (row === undefined) throw new Error('the query of sums returned no row');
        const { threads, firstSeenMs, lastSeenMs, ...sums } = row;
        return { totals: totalsOfSums(sums, NO_DURATIONS), threads, firstSeenMs, lastSeenMs };
      }),

    // Exact percentiles of all traces take less here than counts would.
    countDurations: async () => null,

    listDurations: (query, known) =>
      whenBuilt(async () => {
        const isKnown = known === null ? 'true' : `${DURATION_COLUMNS[known]} IS NOT NULL`;
        const found = await rows<Readonly<Record<DurationName, number | null>>>(
          `${tracesOf({ ...query, changed: [] }, null)} SELECT total_time_ms AS totalTimeMs, first_token_ms AS firstTokenMs
           FROM summed WHERE ${isKnown} LIMIT ${DURATIONS_MAX + 1}`,
        );
        if (found.length > DURATIONS_MAX) return null;
        return {
          totalTimeMs: found.flatMap(({ totalTimeMs }) => totalTimeMs ?? []),
          firstTokenMs: found.flatMap(({ firstTokenMs }) => firstTokenMs ?? []),
        };
      }),

    modelDurations: {
      count: (query) => whenBuilt(() => models.count(query)),
      list: (query, buckets) => whenBuilt(() => models.list(query, buckets)),
    },

    rankGroups: (query) => whenBuilt(() => rankGroups(clickHouse, query)),
    sumGroups: (query) => whenBuilt(() => sumNamedGroups(clickHouse, query)),
  };
}

function toBucket(query: SumsQuery) {
  return ({ startMs, number, totalTimes, firstTokens, ...sums }: BucketRow) => ({
    ...intervalAt(query, startMs),
    number,
    totals: totalsOfSums(sums, { totalTimeMs: percentilesOf(totalTimes), firstTokenMs: percentilesOf(firstTokens) }),
  });
}

function percentilesOf([p50, p95, p99]: Ranks): Percentiles | null {
  return p50 === undefined || p95 === undefined || p99 === undefined ? null : { p50, p95, p99 };
}

function rankOf(query: SumsQuery): string {
  return `${tracesOf(query, query.groupBy)} SELECT * FROM (SELECT * FROM (
    SELECT number, count() AS traces, toFloat64(sum(ifNull(total_cost_nano_usd, 0))) / 1e9 AS costUsd,
      min(sequence) AS first, max(sequence) AS last, count() OVER () AS groups
    FROM summed GROUP BY number)
    ORDER BY traces DESC, costUsd DESC LIMIT ${query.groupsMax} WITH TIES)
    ORDER BY traces DESC, costUsd DESC LIMIT ${NAMED_MAX + 1}`;
}

/** `kept` null: one group. */
function bucketsOf(query: SumsQuery, kept: readonly (number | null)[] | null): string {
  const numbers = kept?.filter((number) => number !== null) ?? [];
  const isKept = [
    ...(kept === null ? ['true'] : []),
    ...(numbers.length > 0 ? [`number IN ${listOf(numbers)}`] : []),
    ...(kept?.includes(null) ? ['number IS NULL'] : []),
  ];
  const ranksOf = (column: string) => (query.hasPercentiles ? nearestRanks(column) : '[]');
  return `${tracesOf(query, query.groupBy)} SELECT ${startOf(query)} AS startMs, number, ${SUMS},
      ${ranksOf('total_time_ms')} AS totalTimes, ${ranksOf('first_token_ms')} AS firstTokens
    FROM summed WHERE ${isKept.length === 0 ? 'false' : isKept.join(' OR ')}
    GROUP BY startMs, number LIMIT ${query.bucketsMax + 1}`;
}

/** The engine's own percentiles choose other ranks. */
function nearestRanks(column: string): string {
  const sorted = `arraySort(groupArray(${column}))`;
  return `arrayMap(share -> ${sorted}[toUInt64(ceil(share * count(${column})))], if(count(${column}) = 0, [], [${SHARES.join(', ')}]))`;
}

function startOf({ interval, fromMs }: Pick<SumsQuery, 'interval' | 'fromMs'>): string {
  if (interval === 'total') return `toInt64(${fromMs})`;
  if (interval === 'month') {
    return `toInt64(toUnixTimestamp64Milli(toDateTime64(toStartOfMonth(fromUnixTimestamp64Milli(started_at, 'UTC')), 3, 'UTC')))`;
  }
  const { firstMs, lengthMs } = evenIntervals(interval);
  return `started_at - (started_at - ${firstMs}) % ${lengthMs}`;
}
