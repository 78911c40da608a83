/** The traces that sums are made of, as a table of a statement. */

import { type ChangedTrace, type Dimension, isListed, type TracesQuery } from '../analytics/indexed-sums.ts';
import { listOf, quote } from './client.ts';

export const SUMS = `count() AS traces, sum(span_count) AS spans, countIf(has_error = 1) AS errors,
  toFloat64(sum(ifNull(prompt_tokens, 0))) AS promptTokens, count(prompt_tokens) AS promptKnown,
  toFloat64(sum(ifNull(completion_tokens, 0))) AS completionTokens, count(completion_tokens) AS completionKnown,
  sum(intDiv(ifNull(total_cost_nano_usd, 0), 1000000000)) AS costUsd,
  sum(ifNull(total_cost_nano_usd, 0) % 1000000000) AS costRestNanoUsd, count(total_cost_nano_usd) AS costKnown`;

/** Columns with their types, and what a changed trace has in them. */
const COLUMNS: readonly (readonly [name: string, type: string, of: (trace: ChangedTrace) => number | null])[] = [
  ['started_at', 'Int64', ({ startMs }) => startMs],
  ['span_count', 'UInt32', ({ spanCount }) => spanCount],
  ['has_error', 'UInt8', ({ hasError }) => Number(hasError)],
  ['prompt_tokens', 'Nullable(Int64)', ({ promptTokens }) => promptTokens],
  ['completion_tokens', 'Nullable(Int64)', ({ completionTokens }) => completionTokens],
  ['total_cost_nano_usd', 'Nullable(Int64)', ({ totalCostNanoUsd }) => totalCostNanoUsd],
  ['total_time_ms', 'Nullable(Int64)', ({ totalTimeMs }) => totalTimeMs],
  ['first_token_ms', 'Nullable(Int64)', ({ firstTokenMs }) => firstTokenMs],
  ['thread_value', 'Nullable(UInt64)', ({ thread }) => thread],
];
const NAMES = COLUMNS.map(([name]) => name).join(', ');
const STRUCTURE = ['sequence UInt64', 'number Nullable(UInt64)', ...COLUMNS.map(([name, type]) => `${name} ${type}`)];

const VALUES: Readonly<Record<Dimension, string>> = {
  ...{ user: 'user_value', customer: 'customer_value', thread: 'thread_value' },
  ...{ label: 'labels', prompt: 'prompts', promptVersion: 'prompt_versions', promptName: 'prompt_names' },
};

/** The traces of a query as a table `summed`: one row for each group that a trace is in. */
export function tracesOf(query: TracesQuery, groupBy: Dimension | null): string {
  const isOfList = groupBy !== null && isListed(groupBy);
  // A trace without a value of the list has one row.
  const items = isOfList ? `ARRAY JOIN if(empty(${VALUES[groupBy]}), [NULL], ${VALUES[groupBy]}) AS number` : '';
  const number = groupBy === null ? 'NULL' : isOfList ? 'number' : VALUES[groupBy];
  const stored = `SELECT sequence, CAST(${number}, 'Nullable(UInt64)') AS number, ${NAMES} FROM traces FINAL ${items}
    WHERE ${boundsOf(query).join(' AND ')}`;
  const changed = changedRows(query.changed);
  return `WITH summed AS (${changed === '' ? stored : `${stored} UNION ALL ${changed}`})`;
}

export function boundsOf({
  projectNumber,
  fromMs,
  toMs,
  receivedFromMs,
  conditions,
  leftOut,
}: Omit<TracesQuery, 'changed' | 'isOver'>): readonly string[] {
  return [
    `project_number = ${projectNumber} AND started_at BETWEEN ${fromMs} AND ${toMs} AND inserted_at >= ${receivedFromMs}`,
    ...(leftOut.length > 0 ? [`sequence NOT IN ${listOf(leftOut)}`] : []),
    ...conditions.map(({ dimension, number }) =>
      isListed(dimension) ? `has(${VALUES[dimension]}, ${number})` : `${VALUES[dimension]} = ${number}`,
    ),
  ];
}

function changedRows(changed: readonly ChangedTrace[]): string {
  const rows = changed.flatMap((trace) =>
    trace.groups.map((group) => JSON.stringify([trace.sequence, group, ...COLUMNS.map(([, , of]) => of(trace))])),
  );
  if (rows.length === 0) return '';
  return `SELECT * FROM format(JSONCompactEachRow, ${quote(STRUCTURE.join(', '))}, ${quote(rows.join('\n'))})`;
}
