/** The traces that sums are made of, as a table of the index of traces. */

import { type ChangedTrace, type Dimension, isListed, type TracesQuery } from '../../analytics/indexed-sums.ts';
import { listOf } from './planned-query.ts';

/** Groups are counted in memory, and values sorted in it. */
export const SETTINGS = `SET LOCAL jit = off; SET LOCAL work_mem = '64MB'`;

export const SUMS = `count(*) AS "traces", coalesce(sum(span_count), 0)::bigint AS "spans",
  count(*) FILTER (WHERE has_error) AS "errors",
  coalesce(sum(prompt_tokens), 0)::float8 AS "promptTokens", count(prompt_tokens) AS "promptKnown",
  coalesce(sum(completion_tokens), 0)::float8 AS "completionTokens", count(completion_tokens) AS "completionKnown",
  coalesce(sum(total_cost_nano_usd / 1000000000), 0)::bigint AS "costUsd",
  coalesce(sum(total_cost_nano_usd % 1000000000), 0)::bigint AS "costRestNanoUsd",
  count(total_cost_nano_usd) AS "costKnown"`;

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
const VALUES: Readonly<Record<Dimension, string>> = {
  ...{ user: 'user_value', customer: 'customer_value', thread: 'thread_value' },
  ...{ label: 'labels', prompt: 'prompts', promptVersion: 'prompt_versions', promptName: 'prompt_names' },
};

/** The traces of a query as a table: one row for each group that a trace is in. */
export function tracesOf(
  { projectNumber, fromMs, toMs, receivedFromMs, conditions, changed, leftOut }: TracesQuery,
  groupBy: Dimension | null,
): string {
  const names = Object.keys(COLUMNS);
  const isOfList = groupBy !== null && isListed(groupBy);
  const items = isOfList ? `LEFT JOIN LATERAL unnest(${VALUES[groupBy]}) AS of_list (number) ON true` : '';
  const number = groupBy === null ? 'NULL::bigint' : isOfList ? 'of_list.number' : VALUES[groupBy];
  const fits = [
    `project_number = ${projectNumber} AND started_at BETWEEN ${fromMs} AND ${toMs} AND inserted_at >= ${receivedFromMs}`,
    `trace_sequence NOT IN (SELECT unnest(${listOf(leftOut, 'bigint')}))`,
    ...conditions.map((condition) =>
      isListed(condition.dimension)
        ? `${condition.number} = ANY (${VALUES[condition.dimension]})`
        : `${VALUES[condition.dimension]} = ${condition.number}`,
    ),
  ];
  const rows = changed.flatMap((trace) => trace.groups.map((group) => ({ trace, group })));
  const lists = Object.entries(COLUMNS).map(([name, of]) => {
    const values = rows.map(({ trace }) => of(trace));
    return listOf(values, name === 'has_error' ? 'boolean' : 'bigint');
  });
  const sequences = listOf(
    rows.map(({ trace }) => trace.sequence),
    'bigint',
  );
  const numbers = listOf(
    rows.map(({ group }) => group),
    'bigint',
  );
  return `WITH traces AS (
    SELECT trace_sequence AS sequence, ${number} AS number, ${names.join(', ')} FROM indexed_traces ${items}
    WHERE ${fits.join(' AND ')}
    UNION ALL SELECT * FROM unnest(${[sequences, numbers, ...lists].join(', ')}))`;
}
