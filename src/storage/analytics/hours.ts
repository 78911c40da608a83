/**
 * Returns sums from the hourly sums where these suffice. The rest is scanned: partial hours at both ends of the range,
 * traces received in the hour in which retention begins, and large traces.
 */

import { HOUR_MS, isOfWholeHours } from '../../domain/analytics/calendar.ts';
import type { Entry } from '../../domain/analytics/tallies.ts';
import type { AnalyticsQuery } from '../../domain/analytics/trace-analytics-store.ts';
import { readPages } from '../long-reads.ts';
import type { RowOf } from '../statements/statement.ts';
import { GROUPINGS } from './groupings.ts';
import { hourOf } from './hour-changes.ts';
import { type AnalyticsQueries, type AnalyticsRunner, type ScanRange, wholeRange } from './trace-scan.ts';

type HourRow = RowOf<AnalyticsQueries['listHours']>;

export type HourPlan = {
  readonly groupings: readonly number[];
  readonly firstHour: number;
  readonly lastHour: number;
  /** Traces received in this hour are partly expired, and are scanned; null: no such hour. */
  readonly cutHour: number | null;
};

const ROWS_AT_ONCE = 2_000;
/** No trace starts later, and it fits the column. */
const HOUR_MAX = 2_000_000_000;

/** Null: the hours cannot answer the query. */
export function planHours(query: AnalyticsQuery): HourPlan | null {
  const { interval, groupBy, conditions, hasPercentiles, expiredBeforeMs } = query;
  const { model, ...ofTrace } = conditions;
  const isByHours = isOfWholeHours(interval) && !hasPercentiles && (groupBy === 'none' || groupBy === 'model');
  if (!isByHours || Object.values(ofTrace).some((value) => value !== null)) return null;
  const firstHour = Math.ceil(query.fromMs / HOUR_MS);
  const lastHour = Math.min(HOUR_MAX, hourOf(query.toMs + 1) - 1);
  if (firstHour > lastHour) return null;
  const isCut = expiredBeforeMs !== null && expiredBeforeMs % HOUR_MS !== 0;
  return {
    groupings: groupingsOf(groupBy === 'model', model),
    firstHour,
    lastHour,
    cutHour: isCut ? hourOf(expiredBeforeMs) : null,
  };
}

function groupingsOf(isByModel: boolean, model: string | null): readonly number[] {
  if (model !== null) return [GROUPINGS.models];
  return isByModel ? [GROUPINGS.models, GROUPINGS.withoutModel] : [GROUPINGS.traces];
}

/** Reads the hours page by page. Of rows received in `cutHour` only the hour of their start is returned. */
export async function* readHours(
  { queries, runQuery }: AnalyticsRunner,
  { projectNumber, expiredBeforeMs, groupBy, conditions }: AnalyticsQuery,
  { groupings, firstHour, lastHour, cutHour }: HourPlan,
): AsyncGenerator<{ readonly counted: readonly (readonly [number, Entry])[]; readonly cutHours: readonly number[] }> {
  const firstReceivedHour = expiredBeforeMs === null ? 0 : hourOf(expiredBeforeMs);
  const toEntry = (row: HourRow, grouping: number): readonly [number, Entry] => {
    const group = groupBy === 'model' && grouping === GROUPINGS.models ? row.model : null;
    return [row.hour * HOUR_MS, { group, sums: row, firstTokensMs: [], totalTimesMs: [] }];
  };
  for (const grouping of groupings) {
    const pages = readPages<HourRow>(ROWS_AT_ONCE, (last) =>
      runQuery(queries.listHours, {
        ...{ projectNumber, grouping, lastHour, firstReceivedHour, limit: ROWS_AT_ONCE },
        afterHour: last?.hour ?? firstHour,
        afterReceivedHour: last?.receivedHour ?? -1,
        afterModel: last?.model ?? '',
        afterWriter: last?.writer ?? -1,
      }),
    );
    for await (const rows of pages) {
      const matching = rows.filter(({ model }) => conditions.model === null || model === conditions.model);
      const whole = matching.filter((row) => row.receivedHour !== cutHour);
      const cut = matching.filter((row) => row.receivedHour === cutHour);
      yield { counted: whole.map((row) => toEntry(row, grouping)), cutHours: cut.map(({ hour }) => hour) };
    }
  }
}

/** The ranges to scan beside the hours. */
export function rangesBesideHours(
  query: AnalyticsQuery,
  { firstHour, lastHour, cutHour }: HourPlan,
  cutHours: ReadonlySet<number>,
): readonly ScanRange[] {
  const small: ScanRange = { ...wholeRange(query), size: 'small' };
  const ranges: ScanRange[] = [
    { ...small, toMs: firstHour * HOUR_MS - 1 },
    { ...small, fromMs: (lastHour + 1) * HOUR_MS },
    { ...small, size: 'large' },
  ];
  if (cutHour !== null) {
    for (const [first, last] of inRuns(cutHours)) {
      const receivedToMs = (cutHour + 1) * HOUR_MS - 1;
      ranges.push({ ...small, receivedToMs, fromMs: first * HOUR_MS, toMs: (last + 1) * HOUR_MS - 1 });
    }
  }
  return ranges.filter((range) => range.fromMs <= range.toMs);
}

/** Groups numbers into runs without gaps. */
function inRuns(numbers: ReadonlySet<number>): readonly (readonly [number, number])[] {
  const runs: [number, number][] = [];
  for (const number of [...numbers].sort((one, other) => one - other)) {
    const run = runs.at(-1);
    if (run !== undefined && run[1] === number - 1) run[1] = number;
    else runs.push([number, number]);
  }
  return runs;
}
