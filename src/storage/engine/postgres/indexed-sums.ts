/** Sums up the index of traces in the database. */

import { EVEN_INTERVALS, intervalAt } from '../../../domain/analytics/calendar.ts';
import type { Percentiles } from '../../../domain/analytics/distribution.ts';
import { NO_DURATIONS, type Sums, totalsOfSums } from '../../../domain/analytics/sums.ts';
import type { AnalyticsQuery } from '../../../domain/analytics/trace-analytics-store.ts';
import {
  type ChangedTrace,
  type Dimension,
  type IndexedSums,
  NAMED_MAX,
  type SumsQuery,
  type TracesQuery,
} from '../../analytics/indexed-sums.ts';
import { createRunPlanned, listOf } from './planned-query.ts';
import type { Pool } from './pool.ts';

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

/** Groups are counted in memory, and values sorted in it. */
const SETTINGS = `SET LOCAL jit = off; SET LOCAL work_mem = '64MB'`;

export function createIndexedSums(pool: Pool): IndexedSums {
  const run = createRunPlanned(pool);

  return {
    async sumUp(query, keep) {
      if (query.groupBy === null) return (await run<BucketRow>(SETTINGS, bucketsOf(query, null))).map(toBucket(query));
      const ranked = await run<RankRow>(SETTINGS, rankOf(query));
      if (ranked.length > NAMED_MAX) return null;
      const groups = ranked.map(({ first, last, ...group }) => ({
        ...group,
        sequences: [first, last].filter((sequence) => sequence !== null),
      }));
      const kept = await keep({ groups, count: ranked[0]?.count ?? 0 });
      return kept === null ? null : (await run<BucketRow>(SETTINGS, bucketsOf(query, kept))).map(toBucket(query));
    },

    async statsOf(query) {
      const [row] = await run<StatsRow>(SETTINGS, statsOf(query));
      if (row === undefined) throw new Error('the query of sums returned no row');
      const { threads, firstSeenMs, lastSeenMs, ...sums } = row;
      return { totals: totalsOfSums(sums, NO_DURATIONS), threads, firstSeenMs, lastSeenMs };
    },
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

const SUMS = `count(*) AS "traces", coalesce(sum(span_count), 0)::bigint AS "spans",
  count(*) FILTER (WHERE has_error) AS "errors",
  coalesce(sum(prompt_tokens), 0)::float8 AS "promptTokens", count(prompt_tokens) AS "promptKnown",
  coalesce(sum(completion_tokens), 0)::float8 AS "completionTokens", count(completion_tokens) AS "completionKnown",
  coalesce(sum(total_cost_nano_usd / 1000000000), 0)::bigint AS "costUsd",
  coalesce(sum(total_cost_nano_usd % 1000000000), 0)::bigint AS "costRestNanoUsd",
  count(total_cost_nano_usd) AS "costKnown"`;

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

function statsOf(query: TracesQuery): string {
  return `${tracesOf(query, null)} SELECT ${SUMS}, count(DISTINCT thread_value) AS "threads",
    min(started_at) AS "firstSeenMs", max(started_at) AS "lastSeenMs" FROM traces`;
}

function startOf({ interval, fromMs }: Pick<AnalyticsQuery, 'interval' | 'fromMs'>): string {
  if (interval === 'total') return `${fromMs}::bigint`;
  if (interval === 'month') {
    const month = `date_trunc('month', to_timestamp(started_at / 1000) AT TIME ZONE 'UTC')`;
    return `(extract(epoch FROM ${month}) * 1000)::bigint`;
  }
  const { firstMs, lengthMs } = EVEN_INTERVALS[interval];
  return `started_at - (started_at - ${firstMs}) % ${lengthMs}`;
}

/** Columns of traces, by what a changed trace has in them. */
const COLUMNS: Readonly<Record<string, (trace: ChangedTrace) => number | boolean | null>> = {
  started_at: ({ startMs }) => startMs,
  span_count: ({ spanCount }) => spanCount,
  has_error: ({ hasError }) => hasError,
  prompt_tokens: ({ promptTokens }) => promptTokens,
  completion_tokens: ({ completionTokens }) => completionTokens,
  total_cost_nano_usd: ({ totalCostNanoUsd }) => totalCostNanoUsd,
  total_time_ms: ({ totalTimeMs }) => totalTimeMs,
  first_token_ms: ({ firstTokenMs }) => firstTokenMs,
  thread_value: ({ thread }) => thread,
};
const VALUES = { user: 'user_value', customer: 'customer_value', thread: 'thread_value' } as const;

/** The traces of a query as a table: one row for each group that a trace is in. */
function tracesOf(
  { projectNumber, fromMs, toMs, receivedFromMs, conditions, changed, leftOut }: TracesQuery,
  groupBy: Dimension | null,
): string {
  const names = Object.keys(COLUMNS);
  const labels = groupBy === 'label' ? 'LEFT JOIN LATERAL unnest(labels) AS of_label (number) ON true' : '';
  const number = groupBy === null ? 'NULL::bigint' : groupBy === 'label' ? 'of_label.number' : VALUES[groupBy];
  const fits = [
    `project_number = ${projectNumber} AND started_at BETWEEN ${fromMs} AND ${toMs} AND inserted_at >= ${receivedFromMs}`,
    `trace_sequence NOT IN (SELECT unnest(${listOf(leftOut, 'bigint')}))`,
    ...conditions.map((condition) =>
      condition.dimension === 'label'
        ? `${condition.number} = ANY (labels)`
        : `${VALUES[condition.dimension]} = ${condition.number}`,
    ),
  ];
  const rows = changed.flatMap((trace) => trace.groups.map((group) => ({ trace, group })));
  const lists = Object.entries(COLUMNS).map(([name, of]) => {
    const values = rows.map(({ trace }) => of(trace));
    return listOf(values, name === 'has_error' ? 'boolean' : 'bigint');
  });
  const numbers = listOf(
    rows.map(({ group }) => group),
    'bigint',
  );
  return `WITH traces AS (
    SELECT trace_sequence AS sequence, ${number} AS number, ${names.join(', ')} FROM indexed_traces ${labels}
    WHERE ${fits.join(' AND ')}
    UNION ALL SELECT NULL::bigint, * FROM unnest(${[numbers, ...lists].join(', ')}))`;
}
