/**
 * Sums and counts by whole hours, where nothing else is asked for. What the hours do not hold is gone through: the ends of
 * the range that begin or end within an hour, traces that came in during the hour in which the term begins, and large ones.
 */

import { HOUR_MS } from '../../domain/analytics/calendar.ts';
import type { Entry } from '../../domain/analytics/tallies.ts';
import type { AnalyticsQuestion } from '../../domain/trace-analytics-store.ts';
import type { RowOf } from '../questions.ts';
import { GROUPINGS, hourOf } from './hour-changes.ts';
import type { AnalyticsAsking, AnalyticsQuestions, Stretch } from './trace-pages.ts';

type HourRow = RowOf<AnalyticsQuestions['listHours']>;

export type HourPlan = {
  readonly groupings: readonly number[];
  readonly firstHour: number;
  readonly lastHour: number;
  /** Traces that came in during this hour are told apart one by one; null: all of an hour count. */
  readonly cutHour: number | null;
};

const ROWS_AT_ONCE = 2_000;
/** No trace begins later, and the database counts no further. */
const HOUR_MAX = 2_000_000_000;
const LAST_RECEIPT_MS = Number.MAX_SAFE_INTEGER;

/** Null where the hours cannot tell. */
export function planHours(question: AnalyticsQuestion): HourPlan | null {
  const { interval, groupBy, conditions, hasPercentiles, goneBeforeMs } = question;
  const { model, ...ofTrace } = conditions;
  const isByHours = interval !== 'minute' && !hasPercentiles && (groupBy === 'none' || groupBy === 'model');
  if (!isByHours || Object.values(ofTrace).some((value) => value !== null)) return null;
  const firstHour = Math.ceil(question.fromMs / HOUR_MS);
  const lastHour = Math.min(HOUR_MAX, hourOf(question.toMs + 1) - 1);
  if (firstHour > lastHour) return null;
  const isCut = goneBeforeMs !== null && goneBeforeMs % HOUR_MS !== 0;
  return {
    groupings: groupingsOf(groupBy === 'model', model),
    firstHour,
    lastHour,
    cutHour: isCut ? hourOf(goneBeforeMs) : null,
  };
}

function groupingsOf(isByModel: boolean, model: string | null): readonly number[] {
  if (model !== null) return [GROUPINGS.models];
  return isByModel ? [GROUPINGS.models, GROUPINGS.withoutModel] : [GROUPINGS.traces];
}

/** The rows of the hours, some at a time. Those of the hour of the cut are answered with no more than when they began. */
export async function* readHours(
  { questions, ask }: AnalyticsAsking,
  { projectNumber, goneBeforeMs, groupBy, conditions }: AnalyticsQuestion,
  { groupings, firstHour, lastHour, cutHour }: HourPlan,
): AsyncGenerator<{ readonly counted: readonly (readonly [number, Entry])[]; readonly cutHours: readonly number[] }> {
  const firstReceivedHour = goneBeforeMs === null ? 0 : hourOf(goneBeforeMs);
  const toEntry = (row: HourRow, grouping: number): readonly [number, Entry] => {
    const group = groupBy === 'model' && grouping === GROUPINGS.models ? row.model : null;
    return [row.hour * HOUR_MS, { group, sums: row, firstTokensMs: [], totalTimesMs: [] }];
  };
  for (const grouping of groupings) {
    let after = { afterHour: firstHour, afterReceivedHour: -1, afterModel: '', afterWriter: -1 };
    for (;;) {
      const given = { projectNumber, grouping, lastHour, firstReceivedHour, ...after, limit: ROWS_AT_ONCE };
      const rows: readonly HourRow[] = await ask(questions.listHours, given);
      const isAsked = ({ model }: HourRow) => conditions.model === null || model === conditions.model;
      const whole = rows.filter((row) => isAsked(row) && row.receivedHour !== cutHour);
      const cut = rows.filter((row) => isAsked(row) && row.receivedHour === cutHour);
      yield { counted: whole.map((row) => toEntry(row, grouping)), cutHours: cut.map(({ hour }) => hour) };
      const last = rows.at(-1);
      if (last === undefined || rows.length < ROWS_AT_ONCE) break;
      after = {
        afterHour: last.hour,
        afterReceivedHour: last.receivedHour,
        afterModel: last.model,
        afterWriter: last.writer,
      };
    }
  }
}

/** What has to be gone through beside the hours. */
export function stretchesBeside(
  question: AnalyticsQuestion,
  { firstHour, lastHour, cutHour }: HourPlan,
  cutHours: ReadonlySet<number>,
): readonly Stretch[] {
  const { projectNumber, goneBeforeMs, fromMs, toMs } = question;
  const receivedFromMs = goneBeforeMs ?? Number.MIN_SAFE_INTEGER;
  const small = { projectNumber, receivedFromMs, receivedToMs: LAST_RECEIPT_MS, size: 'small' } as const;
  const stretches: Stretch[] = [
    { ...small, fromMs, toMs: firstHour * HOUR_MS - 1 },
    { ...small, fromMs: (lastHour + 1) * HOUR_MS, toMs },
    { ...small, fromMs, toMs, size: 'large' },
  ];
  if (cutHour !== null) {
    for (const [first, last] of inRuns(cutHours)) {
      const receivedToMs = (cutHour + 1) * HOUR_MS - 1;
      stretches.push({ ...small, receivedToMs, fromMs: first * HOUR_MS, toMs: (last + 1) * HOUR_MS - 1 });
    }
  }
  return stretches.filter((stretch) => stretch.fromMs <= stretch.toMs);
}

/** Numbers as runs without gaps. */
function inRuns(numbers: ReadonlySet<number>): readonly (readonly [number, number])[] {
  const runs: [number, number][] = [];
  for (const number of [...numbers].sort((one, other) => one - other)) {
    const run = runs.at(-1);
    if (run !== undefined && run[1] === number - 1) run[1] = number;
    else runs.push([number, number]);
  }
  return runs;
}
