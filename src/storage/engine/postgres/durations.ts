/** Durations of traces: how many of each day have which, and those of single traces. The database counts them (migration 0032). */

import {
  DURATION_COLUMNS,
  DURATIONS_MAX,
  type DurationCounts,
  type DurationCountsQuery,
  type DurationName,
  type Durations,
  type TracesQuery,
} from '../../analytics/indexed-sums.ts';
import { listOf, type RunPlanned } from './planned-query.ts';
import { SETTINGS, tracesOf } from './summed-rows.ts';

type CountRow = { readonly place: number; readonly name: string; readonly bucket: number; readonly traces: number };
type CutRow = { readonly name: 'cut'; readonly bucket: number };
type LeftRow = {
  readonly name: 'left';
  readonly traces: number;
  readonly totalTimeMs: number | null;
  readonly firstTokenMs: number | null;
};
type Row = CountRow | CutRow | LeftRow;

/** One statement sees one state. */
export async function countDurations(run: RunPlanned, query: DurationCountsQuery): Promise<DurationCounts> {
  const rows = await run<Row>(SETTINGS, countsOf(query));
  const isCut = (row: Row): row is CutRow => row.name === 'cut';
  const isLeft = (row: Row): row is LeftRow => row.name === 'left';
  const isCount = (row: Row): row is CountRow => !isCut(row) && !isLeft(row);
  return {
    counts: rows.filter(isCount).map(({ place, name, bucket, traces }) => ({
      ...{ place, bucket, traces },
      name: name === DURATION_COLUMNS.totalTimeMs ? 'totalTimeMs' : 'firstTokenMs',
    })),
    cutDays: rows.filter(isCut).map(({ bucket }) => bucket),
    leftOut: rows
      .filter(isLeft)
      .map(({ traces: startMs, totalTimeMs, firstTokenMs }) => ({ startMs, totalTimeMs, firstTokenMs })),
  };
}

function countsOf({ projectNumber, receivedFromMs, ranges, leftOut }: DurationCountsQuery): string {
  const firstDays = listOf(
    ranges.map(({ firstDay }) => firstDay),
    'int',
  );
  const lastDays = listOf(
    ranges.map(({ lastDay }) => lastDay),
    'int',
  );
  return `WITH counted AS (
    SELECT place - 1 AS place, known.* FROM unnest(${firstDays}, ${lastDays}) WITH ORDINALITY AS ranges (first_day, last_day, place)
    JOIN indexed_durations AS known ON project_number = ${projectNumber} AND day BETWEEN first_day AND last_day),
  cut AS (SELECT DISTINCT day FROM counted WHERE inserted_from < ${receivedFromMs})
  SELECT place, name, bucket, sum(traces)::bigint AS traces, NULL::bigint AS "totalTimeMs", NULL::bigint AS "firstTokenMs"
    FROM counted WHERE day NOT IN (SELECT day FROM cut) GROUP BY 1, 2, 3
  UNION ALL SELECT NULL, 'cut', day, NULL, NULL, NULL FROM cut
  UNION ALL SELECT NULL, 'left', NULL, started_at, total_time_ms, first_token_ms FROM indexed_traces
    WHERE project_number = ${projectNumber} AND trace_sequence = ANY (${listOf(leftOut, 'bigint')})`;
}

/** Null: there are too many. */
export async function listDurations(
  run: RunPlanned,
  query: TracesQuery,
  known: DurationName | null,
): Promise<Durations | null> {
  const isKnown = known === null ? 'true' : `${DURATION_COLUMNS[known]} IS NOT NULL`;
  const rows = await run<Readonly<Record<DurationName, number | null>>>(
    SETTINGS,
    `${tracesOf({ ...query, changed: [] }, null)} SELECT total_time_ms AS "totalTimeMs", first_token_ms AS "firstTokenMs"
     FROM traces WHERE ${isKnown} LIMIT ${DURATIONS_MAX + 1}`,
  );
  if (rows.length > DURATIONS_MAX) return null;
  return {
    totalTimeMs: rows.flatMap(({ totalTimeMs }) => totalTimeMs ?? []),
    firstTokenMs: rows.flatMap(({ firstTokenMs }) => firstTokenMs ?? []),
  };
}
