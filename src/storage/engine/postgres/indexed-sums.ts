/** Sums up the index of traces in the database. */

import { evenIntervals, intervalAt } from '../../../domain/analytics/calendar.ts';
import type { Percentiles } from '../../../domain/analytics/distribution.ts';
import { NO_DURATIONS, type Sums, totalsOfSums } from '../../../domain/analytics/sums.ts';
import type { AnalyticsQuery, UserStats } from '../../../domain/analytics/trace-analytics-store.ts';
import {
  type IndexedAnswer,
  type IndexedBucket,
  type IndexedSums,
  type KeepGroups,
  NAMED_MAX,
  type SumsQuery,
  type TracesQuery,
} from '../../analytics/indexed-sums.ts';
import { countDurations, listDurations } from './durations.ts';
import { rankGroups, sumNamedGroups } from './indexed-groups.ts';
import { createModelDurations } from './model-durations.ts';
import { createRunPlanned, listOf } from './planned-query.ts';
import type { Pool } from './pool.ts';
import { SETTINGS, SUMS, tracesOf } from './summed-rows.ts';

type OfValue = { readonly number: number | null };
type RankRow = OfValue & {
  readonly traces: number;
  readonly costUsd: number;
  readonly first: number | null;
  readonly last: number | null;
  readonly count: number;
};
type BucketRow = OfValue & Sums & { readonly startMs: number } & Readonly<Record<DurationColumn, number | null>>;
type StatsRow = Sums & {
  readonly threads: number;
  readonly firstSeenMs: number | null;
  readonly lastSeenMs: number | null;
};

/** `isOwn`: whether the index has what is stored. */
export function createIndexedSums(pool: Pool, isOwn: () => Promise<boolean>): IndexedSums {
  const run = createRunPlanned(pool);
  const models = createModelDurations(run);

  async function whenOwn<Found>(read: () => Promise<IndexedAnswer<Found>>): Promise<IndexedAnswer<Found>> {
    return (await isOwn()) ? await read() : null;
  }

  async function sumUp(query: SumsQuery, keep: KeepGroups): Promise<IndexedAnswer<readonly IndexedBucket[]>> {
    if (query.groupBy === null) return (await run<BucketRow>(SETTINGS, bucketsOf(query, null))).map(toBucket(query));
    const ranked = await run<RankRow>(SETTINGS, rankOf(query));
    if (ranked.length > NAMED_MAX) return null;
    const groups = ranked.map(({ first, last, ...group }) => ({
      ...group,
      sequences: [first, last].filter((sequence) => sequence !== null),
    }));
    const kept = await keep({ groups, count: ranked[0]?.count ?? 0 });
    return kept === null ? null : (await run<BucketRow>(SETTINGS, bucketsOf(query, kept))).map(toBucket(query));
  }

  async function statsOf(query: TracesQuery): Promise<UserStats> {
    const [row] = await run<StatsRow>(SETTINGS, statsText(query));
    if (row === undefined) throw new Error('the query of sums returned no row');
    const { threads, firstSeenMs, lastSeenMs, ...sums } = row;
    return { totals: totalsOfSums(sums, NO_DURATIONS), threads, firstSeenMs, lastSeenMs };
  }

  return {
    sumUp: (query, keep) => whenOwn(() => sumUp(query, keep)),
    statsOf: (query) => whenOwn(() => statsOf(query)),
    countDurations: async (query) => ((await isOwn()) ? await countDurations(run, query) : null),
    listDurations: (query, known) => whenOwn(() => listDurations(run, query, known)),
    modelDurations: {
      count: (query) => whenOwn(() => models.count(query)),
      list: (query, buckets) => whenOwn(() => models.list(query, buckets)),
    },
    rankGroups: (query) => whenOwn(() => rankGroups(run, query)),
    sumGroups: (query) => whenOwn(() => sumNamedGroups(run, query)),
  };
}

function toBucket(query: SumsQuery) {
  return ({ startMs, number, totalP50, totalP95, totalP99, firstP50, firstP95, firstP99, ...sums }: BucketRow) => ({
    ...intervalAt(query, startMs),
    number,
    totals: totalsOfSums(sums, {
      totalTimeMs: percentilesOf(totalP50, totalP95, totalP99),
      firstTokenMs: percentilesOf(firstP50, firstP95, firstP99),
    }),
  });
}

function percentilesOf(p50: number | null, p95: number | null, p99: number | null): Percentiles | null {
  return p50 === null || p95 === null || p99 === null ? null : { p50, p95, p99 };
}

const DURATIONS = {
  totalP50: 'percentile_disc(0.5) WITHIN GROUP (ORDER BY total_time_ms)',
  totalP95: 'percentile_disc(0.95) WITHIN GROUP (ORDER BY total_time_ms)',
  totalP99: 'percentile_disc(0.99) WITHIN GROUP (ORDER BY total_time_ms)',
  firstP50: 'percentile_disc(0.5) WITHIN GROUP (ORDER BY first_token_ms)',
  firstP95: 'percentile_disc(0.95) WITHIN GROUP (ORDER BY first_token_ms)',
  firstP99: 'percentile_disc(0.99) WITHIN GROUP (ORDER BY first_token_ms)',
};
type DurationColumn = keyof typeof DURATIONS;

function rankOf(query: SumsQuery): string {
  return `${tracesOf(query, query.groupBy)} SELECT * FROM (
    SELECT number, count(*) AS "traces", coalesce(sum(total_cost_nano_usd), 0)::float8 / 1e9 AS "costUsd",
      min(sequence) AS first, max(sequence) AS last, count(*) OVER () AS count
    FROM traces GROUP BY number ORDER BY 2 DESC, 3 DESC FETCH FIRST ${query.groupsMax} ROWS WITH TIES
  ) AS ranked LIMIT ${NAMED_MAX + 1}`;
}

/** `kept` null: one group. */
function bucketsOf(query: SumsQuery, kept: readonly (number | null)[] | null): string {
  const durations = Object.entries(DURATIONS).map(
    ([name, percentile]) => `${query.hasPercentiles ? percentile : 'NULL'} AS "${name}"`,
  );
  const numbers = kept?.filter((number) => number !== null) ?? [];
  const isKept = kept === null ? 'true' : `number = ANY (${listOf(numbers, 'bigint')})`;
  return `${tracesOf(query, query.groupBy)} SELECT ${startOf(query)} AS "startMs", number, ${SUMS}, ${durations.join(', ')}
    FROM traces WHERE ${isKept} ${kept?.includes(null) ? 'OR number IS NULL' : ''}
    GROUP BY 1, 2 LIMIT ${query.bucketsMax + 1}`;
}

function statsText(query: TracesQuery): string {
  return `${tracesOf(query, null)} SELECT ${SUMS}, count(DISTINCT thread_value) AS "threads",
    min(started_at) AS "firstSeenMs", max(started_at) AS "lastSeenMs" FROM traces`;
}

function startOf({ interval, fromMs }: Pick<AnalyticsQuery, 'interval' | 'fromMs'>): string {
  if (interval === 'total') return `${fromMs}::bigint`;
  if (interval === 'month') {
    const month = `date_trunc('month', to_timestamp(started_at / 1000) AT TIME ZONE 'UTC')`;
    return `(extract(epoch FROM ${month}) * 1000)::bigint`;
  }
  const { firstMs, lengthMs } = evenIntervals(interval);
  return `started_at - (started_at - ${firstMs}) % ${lengthMs}`;
}
