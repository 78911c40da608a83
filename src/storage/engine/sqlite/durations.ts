/** Durations of traces: how many of each day have which, and those of single traces. */

import {
  DURATION_COLUMNS,
  DURATIONS_MAX,
  type DurationCount,
  type DurationCounts,
  type DurationCountsQuery,
  type DurationName,
  type Durations,
  type IndexedAnswer,
  type TimedTrace,
} from '../../analytics/indexed-sums.ts';
import type { Database } from './connection.ts';
import type { SummedRows } from './summed-rows.ts';

/** Of one state of the file. */
export function countDurations(file: Database, query: DurationCountsQuery): DurationCounts {
  return file.transaction(() => readCounts(file, query)).deferred();
}

function readCounts(file: Database, { projectNumber, receivedFromMs, ranges, leftOut }: DurationCountsQuery) {
  const places = JSON.stringify(ranges.map(({ firstDay, lastDay }) => [firstDay, lastDay]));
  const cutDays = file
    .prepare<[string, number, number], number>(
      `SELECT DISTINCT day FROM ${OF_RANGES} WHERE project_number = ? AND inserted_from < ? ORDER BY day`,
    )
    .pluck()
    .all(places, projectNumber, receivedFromMs);
  const counts = file
    .prepare<[string, number, string], Omit<DurationCount, 'name'> & { readonly name: string }>(
      `SELECT ranges.key AS place, name, bucket, sum(traces) AS traces FROM ${OF_RANGES}
       WHERE project_number = ? AND day NOT IN (SELECT value FROM json_each(?)) GROUP BY 1, 2, 3`,
    )
    .all(places, projectNumber, JSON.stringify(cutDays))
    .map((row) => ({ ...row, name: row.name === DURATION_COLUMNS.totalTimeMs ? TOTAL : FIRST }));
  const left = file
    .prepare<[string, number], TimedTrace>(
      `SELECT started_at AS startMs, total_time_ms AS totalTimeMs, first_token_ms AS firstTokenMs
       FROM indexed_traces WHERE sequence IN (SELECT value FROM json_each(?)) AND project_number = ?`,
    )
    .all(JSON.stringify(leftOut), projectNumber);
  return { counts, cutDays, leftOut: left };
}

const TOTAL: DurationName = 'totalTimeMs';
const FIRST: DurationName = 'firstTokenMs';
const OF_RANGES = `json_each(?) AS ranges CROSS JOIN durations
  ON day BETWEEN json_extract(ranges.value, '$[0]') AND json_extract(ranges.value, '$[1]')`;

export async function listDurations(rows: SummedRows, known: DurationName | null): Promise<IndexedAnswer<Durations>> {
  const totalTimeMs: number[] = [];
  const firstTokenMs: number[] = [];
  const isFull = () => totalTimeMs.length + firstTokenMs.length > DURATIONS_MAX;
  const columns = Object.values(DURATION_COLUMNS);
  const selected = { columns, values: null, known: known === null ? null : DURATION_COLUMNS[known] };
  const isInTime = await rows.forEach(selected, ([total, first]) => {
    if (typeof total === 'number') totalTimeMs.push(total);
    if (typeof first === 'number') firstTokenMs.push(first);
    return isFull();
  });
  if (!isInTime) return 'too_long';
  return isFull() ? null : { totalTimeMs, firstTokenMs };
}
