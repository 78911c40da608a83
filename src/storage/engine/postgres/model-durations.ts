/**
 * Durations of the spans of each model. The database counts those of each day (migration 0034); those of single traces are in
 * their rows, and are found by facets.
 */

import { DAY_MS, dayOf } from '../../../domain/analytics/calendar.ts';
import { bucketOf } from '../../../domain/number-buckets.ts';
import { partsBesideDays, wholeDaysOf } from '../../analytics/day-parts.ts';
import {
  addSpans,
  type DayRange,
  DURATION_KINDS,
  DURATIONS_MAX,
  durationOfKind,
  type ListedDuration,
  listDurations,
  type ModelCounts,
  type ModelDurations,
  type ModelDurationsQuery,
  type RangeBucket,
  type TimeRange,
} from '../../analytics/indexed-sums.ts';
import { facetNumber } from '../../search/index-plan.ts';
import type { IndexedTrace } from '../../search/trace-index.ts';
import { listOf, type RunPlanned } from './planned-query.ts';
import { SETTINGS } from './summed-rows.ts';
import { BY_TERM, overlaps } from './trace-index.ts';

type Counted = { readonly model: number; readonly kind: number; readonly bucket: number };
type OfDay = Counted & { readonly day: number };
/** `cut`: the bucket is a day that is not counted. `place`: that of the range. */
type CountRow = Counted & { readonly name: 'count' | 'cut'; readonly place: number; readonly spans: number };
type Part = TimeRange & { readonly place: number };

/** More ranges without a whole day, such as hours, take longer than reading all spans. */
const SHORT_RANGES_MAX = 2;
/** One statement looks for the facets of several days, if these are fewer. */
const FACETS_AT_ONCE = 1_024;
const UNNESTED =
  'CROSS JOIN LATERAL unnest(duration_models, duration_kinds, duration_values) AS durations (model, kind, value)';
const DAY = `floor(started_at / ${DAY_MS}.0)::integer`;
/** The planner expects few durations where there are many, and would compare each with each bucket. */
const BY_FACET = `${BY_TERM}; SET LOCAL enable_nestloop = off`;
/** The planner expects most rows to lack their durations, and would read the whole table to find one. */
const BY_INDEX = `${SETTINGS}; SET LOCAL enable_seqscan = off`;

type Timed = Pick<IndexedTrace<unknown>, 'projectNumber' | 'startMs' | 'updatedAtMs' | 'sums'>;

/** What the row of a trace has of its durations, and the facets by which it is found. */
export function durationCellsOf({ projectNumber, startMs, updatedAtMs, sums }: Timed) {
  const durations = listDurations(sums.models);
  const day = dayOf(startMs);
  const names = new Set(durations.map(({ value, ...of }) => nameOf({ ...of, day, bucket: bucketOf(value) })));
  return {
    durationFacets: [...names].map((name) => facetNumber(projectNumber, name)),
    durationModels: durations.map(({ model }) => model),
    durationKinds: Int16Array.from(durations, ({ kind }) => kind),
    durationValues: durations.map(({ value }) => value),
    durationsAtMs: updatedAtMs,
  };
}

function nameOf({ day, model, kind, bucket }: OfDay): string {
  return `duration ${day} ${model} ${kind} ${bucket}`;
}

export function createModelDurations(run: RunPlanned): ModelDurations {
  return {
    async count(query) {
      const days = query.ranges.map((range, place) => ({ ...wholeDaysOf(range), place })).filter(hasDays);
      if (days.length === 0 && query.ranges.length > SHORT_RANGES_MAX) return null;
      if ((await run(BY_INDEX, unknownOf(query))).length > 0) return null;
      const rows = days.length === 0 ? [] : await run<CountRow>(SETTINGS, countsOf(query, days));
      const cutDays = rows.filter(({ name }) => name === 'cut').map(({ bucket }) => bucket);
      const parts = query.ranges.flatMap((range, place) =>
        partsBesideDays(range, cutDays).map((part) => ({ ...part, place })),
      );
      if (query.isOver()) return 'too_long';
      const others = parts.length === 0 ? [] : await run<CountRow>(SETTINGS, countsOfParts(query, parts));
      const counts = query.ranges.map((): ModelCounts => new Map());
      for (const { name, place, kind, spans, ...of } of [...rows, ...others]) {
        const ofRange = counts[place];
        if (name === 'count' && ofRange !== undefined) addSpans(ofRange, { ...of, name: durationOfKind(kind) }, spans);
      }
      return query.isOver() ? 'too_long' : counts;
    },

    async list(query, buckets) {
      const found: ListedDuration[] = [];
      for (const some of cutByDay(await run<OfDay>(SETTINGS, daysOf(query, buckets)))) {
        if (query.isOver()) return 'too_long';
        found.push(...(await run<ListedDuration>(BY_FACET, durationsOf(query, buckets, some))));
        if (found.length > DURATIONS_MAX) return null;
      }
      return found;
    },
  };
}

function column<Row>(rows: readonly Row[], of: (row: Row) => number, type: string): string {
  return listOf(rows.map(of), type);
}

type Days = DayRange & { readonly place: number };

function hasDays({ firstDay, lastDay }: DayRange): boolean {
  return firstDay <= lastDay;
}

/** Traces whose durations the index does not have. */
function unknownOf({ projectNumber }: ModelDurationsQuery): string {
  return `SELECT 1 FROM indexed_traces
    WHERE project_number = ${projectNumber} AND durations_at IS DISTINCT FROM updated_at LIMIT 1`;
}

/** `days`: the whole days of each range; at least one. */
function countsOf({ projectNumber, receivedFromMs, leftOut }: ModelDurationsQuery, days: readonly Days[]): string {
  const ascending = days.toSorted((one, other) => one.firstDay - other.firstDay);
  const firsts = column(ascending, ({ firstDay }) => firstDay, 'int');
  const lasts = column(ascending, ({ lastDay }) => lastDay, 'int');
  const places = column(ascending, ({ place }) => place, 'int');
  const bounds = `BETWEEN ${ascending[0]?.firstDay ?? 0} AND ${ascending.at(-1)?.lastDay ?? -1}`;
  const placed = (day: string) => `(${places})[width_bucket(${day}, ${firsts})]`;
  const isWithin = (day: string) => `${day} ${bounds} AND ${day} <= (${lasts})[width_bucket(${day}, ${firsts})]`;
  return `WITH counted AS MATERIALIZED (
    SELECT * FROM indexed_model_durations WHERE project_number = ${projectNumber} AND ${isWithin('day')}),
  cut AS MATERIALIZED (SELECT DISTINCT day FROM counted WHERE inserted_from < ${receivedFromMs}),
  left_out AS (
    SELECT ${DAY} AS day, model, kind, value, count(*) AS spans FROM indexed_traces ${UNNESTED}
    WHERE project_number = ${projectNumber} AND trace_sequence = ANY (${listOf(leftOut, 'bigint')})
      AND ${isWithin(DAY)} AND ${DAY} NOT IN (SELECT day FROM cut) GROUP BY 1, 2, 3, 4)
  SELECT 'count' AS name, place, model, kind, bucket, sum(spans)::bigint AS spans FROM (
    SELECT ${placed('day')} AS place, model, is_first_token::integer AS kind, bucket, spans FROM counted
    WHERE day NOT IN (SELECT day FROM cut)
    UNION ALL SELECT ${placed('day')}, model, kind, bucket_of(value), -spans FROM left_out) AS parts GROUP BY 2, 3, 4, 5
  UNION ALL SELECT 'cut', NULL, NULL, NULL, day, NULL FROM cut`;
}

function countsOfParts(
  { projectNumber, receivedFromMs, leftOut }: ModelDurationsQuery,
  parts: readonly Part[],
): string {
  const isInPart = parts.map(({ fromMs, toMs }) => `started_at BETWEEN ${fromMs} AND ${toMs}`);
  const { rangeAt, places } = findRange(parts);
  return `SELECT 'count' AS name, place, model, kind, bucket_of(value) AS bucket, sum(spans)::bigint AS spans FROM (
    SELECT (${places})[${rangeAt}] AS place, model, kind, value, count(*) AS spans FROM indexed_traces ${UNNESTED}
    WHERE project_number = ${projectNumber} AND (${isInPart.join(' OR ')}) AND ${isCounted({ receivedFromMs, leftOut })}
    GROUP BY 1, 2, 3, 4) AS of_values GROUP BY 2, 3, 4, 5`;
}

/** Finds the range of a trace among some that do not overlap: its place by their starts, from 1 on. */
function findRange(ranges: readonly Part[]) {
  const ascending = ranges.toSorted((one, other) => one.fromMs - other.fromMs);
  const starts = column(ascending, ({ fromMs }) => fromMs, 'bigint');
  return {
    rangeAt: `width_bucket(started_at, ${starts})`,
    places: column(ascending, ({ place }) => place, 'int'),
    ends: column(ascending, ({ toMs }) => toMs, 'bigint'),
  };
}

function isCounted({ receivedFromMs, leftOut }: Pick<ModelDurationsQuery, 'receivedFromMs' | 'leftOut'>): string {
  return `inserted_at >= ${receivedFromMs} AND trace_sequence NOT IN (SELECT unnest(${listOf(leftOut, 'bigint')}))`;
}

/** The days that have durations in the buckets, and maybe more: of traces that are left out, or began outside of the ranges. */
function daysOf({ projectNumber, ranges }: ModelDurationsQuery, buckets: readonly RangeBucket[]): string {
  const of = ({ range }: RangeBucket) => ranges[range] ?? NO_RANGE;
  const lists = [
    column(buckets, (bucket) => dayOf(of(bucket).fromMs), 'int'),
    column(buckets, (bucket) => dayOf(of(bucket).toMs), 'int'),
  ];
  return `SELECT DISTINCT day, model, kind, bucket
    FROM unnest(${[...lists, ...bucketLists(buckets)].join(', ')}) AS wanted (first_day, last_day, model, kind, bucket)
    JOIN indexed_model_durations AS known USING (model, bucket)
    WHERE project_number = ${projectNumber} AND is_first_token = (kind = ${DURATION_KINDS.firstTokenMs})
      AND day BETWEEN first_day AND last_day ORDER BY day`;
}

const NO_RANGE: TimeRange = { fromMs: 0, toMs: -1 };

function bucketLists(buckets: readonly RangeBucket[]): readonly string[] {
  return [
    column(buckets, ({ model }) => model, 'bigint'),
    column(buckets, ({ name }) => DURATION_KINDS[name], 'smallint'),
    column(buckets, ({ bucket }) => bucket, 'int'),
  ];
}

/** Parts of the list, each of whole days: a trace is in one of them. */
function cutByDay(list: readonly OfDay[]): readonly (readonly OfDay[])[] {
  const parts: OfDay[][] = [];
  for (const ofDay of Map.groupBy(list, ({ day }) => day).values()) {
    const last = parts.at(-1);
    if (last === undefined || last.length + ofDay.length > FACETS_AT_ONCE) parts.push([...ofDay]);
    else last.push(...ofDay);
  }
  return parts;
}

function durationsOf(query: ModelDurationsQuery, buckets: readonly RangeBucket[], some: readonly OfDay[]): string {
  const { projectNumber, ranges } = query;
  const facets = some.map((each) => facetNumber(projectNumber, nameOf(each)));
  const [first = 0, last = 0] = [some[0]?.day, some.at(-1)?.day];
  const { rangeAt, places, ends } = findRange(ranges.map((range, place) => ({ ...range, place })));
  const lists = [column(buckets, ({ range }) => range, 'int'), ...bucketLists(buckets)];
  // The addition keeps the planner from reading the whole project instead.
  return `WITH found AS MATERIALIZED (
    SELECT (${places})[${rangeAt}] AS range, model, kind, bucket_of(value) AS bucket, value FROM indexed_traces ${UNNESTED}
    WHERE project_number + 0 = ${projectNumber} AND ${overlaps(facets)} AND ${DAY} BETWEEN ${first} AND ${last}
      AND started_at <= (${ends})[${rangeAt}] AND ${isCounted(query)}),
  wanted AS MATERIALIZED (
    SELECT * FROM unnest(${lists.join(', ')}) WITH ORDINALITY AS wanted (range, model, kind, bucket, ordinal))
  SELECT ordinal - 1 AS place, value, count(*) AS spans
  FROM found JOIN wanted USING (range, model, kind, bucket) GROUP BY 1, 2`;
}
