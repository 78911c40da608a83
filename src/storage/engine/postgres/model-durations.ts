/**
 * Durations of the spans of each model. The database counts those of each day (migration 0034); those of single traces are in
 * their rows, and are found by facets.
 */

import { DAY_MS, dayOf } from '../../../domain/analytics/calendar.ts';
import { bucketOf, greatestOf, leastOf } from '../../../domain/number-buckets.ts';
import { partsBesideDays, type Range, wholeDaysOf } from '../../analytics/day-parts.ts';
import {
  addSpans,
  DURATION_KINDS,
  DURATIONS_MAX,
  durationOfKind,
  type ListedDuration,
  listDurations,
  type ModelBucket,
  type ModelCounts,
  type ModelDurations,
  type ModelDurationsQuery,
} from '../../analytics/indexed-sums.ts';
import { facetNumber } from '../../search/index-plan.ts';
import type { IndexedTrace } from '../../search/trace-index.ts';
import { listOf, type RunPlanned } from './planned-query.ts';
import { SETTINGS } from './summed-rows.ts';
import { BY_TERM, overlaps } from './trace-index.ts';

type Counted = { readonly model: number; readonly kind: number; readonly bucket: number };
type OfDay = Counted & { readonly day: number };
/** `cut`: the bucket is a day that is not counted. `unknown`: there are traces whose durations the index does not have. */
type CountRow = Counted & { readonly name: 'count' | 'cut' | 'unknown'; readonly spans: number };

/** One statement looks for the facets of several days, if these are fewer. */
const FACETS_AT_ONCE = 1_024;
const UNNESTED =
  'CROSS JOIN LATERAL unnest(duration_models, duration_kinds, duration_values) AS durations (model, kind, value)';
const DAY = `floor(started_at / ${DAY_MS}.0)::integer`;

type Timed = Pick<IndexedTrace<unknown>, 'projectNumber' | 'startMs' | 'updatedAtMs' | 'sums'>;

/** What the row of a trace has of its durations, and the facets by which it is found. */
export function durationCellsOf({ projectNumber, startMs, updatedAtMs, sums }: Timed) {
  const durations = listDurations(sums.models);
  const day = dayOf(startMs);
  const facets = durations.map((each) => facetOf(projectNumber, { ...each, day, bucket: bucketOf(each.value) }));
  return {
    durationFacets: new Set(facets),
    durationModels: durations.map(({ model }) => model),
    durationKinds: Int16Array.from(durations, ({ kind }) => kind),
    durationValues: durations.map(({ value }) => value),
    durationsAtMs: updatedAtMs,
  };
}

function facetOf(projectNumber: number, { day, model, kind, bucket }: OfDay): number {
  return facetNumber(projectNumber, `duration ${day} ${model} ${kind} ${bucket}`);
}

export function createModelDurations(run: RunPlanned): ModelDurations {
  return {
    async count(query) {
      const rows = await run<CountRow>(SETTINGS, countsOf(query));
      if (rows.some(({ name }) => name === 'unknown')) return null;
      const cutDays = rows.filter(({ name }) => name === 'cut').map(({ bucket }) => bucket);
      const parts = partsBesideDays(query, cutDays);
      if (query.isOver()) return 'too_long';
      const others = parts.length === 0 ? [] : await run<CountRow>(SETTINGS, countsOfParts(query, parts));
      const counts: ModelCounts = new Map();
      for (const { name, model, kind, bucket, spans } of [...rows, ...others]) {
        if (name !== 'count') continue;
        addSpans(counts, { model, name: durationOfKind(kind), bucket }, spans);
      }
      return query.isOver() ? 'too_long' : counts;
    },

    async list(query, buckets) {
      const found: ListedDuration[] = [];
      for (const some of cutByDay(await run<OfDay>(SETTINGS, daysOf(query, buckets)))) {
        if (query.isOver()) return 'too_long';
        found.push(...(await run<ListedDuration>(BY_TERM, durationsOf(query, buckets, some))));
        if (found.length > DURATIONS_MAX) return null;
      }
      return found;
    },
  };
}

function countsOf({ projectNumber, fromMs, toMs, receivedFromMs, leftOut }: ModelDurationsQuery): string {
  const { firstDay, lastDay } = wholeDaysOf({ fromMs, toMs });
  return `WITH counted AS (
    SELECT * FROM indexed_model_durations WHERE project_number = ${projectNumber} AND day BETWEEN ${firstDay} AND ${lastDay}),
  cut AS (SELECT DISTINCT day FROM counted WHERE inserted_from < ${receivedFromMs}),
  left_out AS (
    SELECT model, kind, value, count(*) AS spans FROM indexed_traces ${UNNESTED}
    WHERE project_number = ${projectNumber} AND trace_sequence = ANY (${listOf(leftOut, 'bigint')})
      AND ${DAY} BETWEEN ${firstDay} AND ${lastDay} AND ${DAY} NOT IN (SELECT day FROM cut) GROUP BY 1, 2, 3)
  SELECT 'count' AS name, model, kind, bucket, sum(spans)::bigint AS spans FROM (
    SELECT model, is_first_token::integer AS kind, bucket, spans FROM counted WHERE day NOT IN (SELECT day FROM cut)
    UNION ALL SELECT model, kind, bucket_of(value), -spans FROM left_out) AS parts GROUP BY 2, 3, 4
  UNION ALL SELECT 'cut', NULL, NULL, day, NULL FROM cut
  UNION ALL SELECT 'unknown', NULL, NULL, NULL, NULL WHERE EXISTS (
    SELECT FROM indexed_traces WHERE project_number = ${projectNumber} AND durations_at IS DISTINCT FROM updated_at)`;
}

function countsOfParts(
  { projectNumber, receivedFromMs, leftOut }: ModelDurationsQuery,
  parts: readonly Range[],
): string {
  const isInPart = parts.map(({ fromMs, toMs }) => `started_at BETWEEN ${fromMs} AND ${toMs}`);
  return `SELECT 'count' AS name, model, kind, bucket_of(value) AS bucket, sum(spans)::bigint AS spans FROM (
    SELECT model, kind, value, count(*) AS spans FROM indexed_traces ${UNNESTED}
    WHERE project_number = ${projectNumber} AND (${isInPart.join(' OR ')}) AND ${isCounted({ receivedFromMs, leftOut })}
    GROUP BY 1, 2, 3) AS of_values GROUP BY 2, 3, 4`;
}

function isCounted({ receivedFromMs, leftOut }: Pick<ModelDurationsQuery, 'receivedFromMs' | 'leftOut'>): string {
  return `inserted_at >= ${receivedFromMs} AND trace_sequence NOT IN (SELECT unnest(${listOf(leftOut, 'bigint')}))`;
}

/** The days that have durations in the buckets, and maybe more: of traces that are left out, or began outside of the range. */
function daysOf({ projectNumber, fromMs, toMs }: ModelDurationsQuery, buckets: readonly ModelBucket[]): string {
  const lists = [
    listOf(
      buckets.map(({ model }) => model),
      'bigint',
    ),
    listOf(
      buckets.map(({ name }) => DURATION_KINDS[name]),
      'smallint',
    ),
    listOf(
      buckets.map(({ bucket }) => bucket),
      'int',
    ),
  ];
  return `SELECT day, model, kind, bucket
    FROM unnest(${lists.join(', ')}) AS wanted (model, kind, bucket) JOIN indexed_model_durations AS known USING (model, bucket)
    WHERE project_number = ${projectNumber} AND day BETWEEN ${dayOf(fromMs)} AND ${dayOf(toMs)}
      AND is_first_token = (kind = ${DURATION_KINDS.firstTokenMs}) ORDER BY day`;
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

function durationsOf(query: ModelDurationsQuery, buckets: readonly ModelBucket[], some: readonly OfDay[]): string {
  const { projectNumber, fromMs, toMs } = query;
  const lists = [
    listOf(
      buckets.map(({ model }) => model),
      'bigint',
    ),
    listOf(
      buckets.map(({ name }) => DURATION_KINDS[name]),
      'smallint',
    ),
    listOf(
      buckets.map(({ bucket }) => leastOf(bucket)),
      'bigint',
    ),
    listOf(
      buckets.map(({ bucket }) => greatestOf(bucket)),
      'bigint',
    ),
  ];
  // The addition keeps the planner from reading the whole project instead.
  return `SELECT place - 1 AS place, value, count(*) AS spans FROM indexed_traces ${UNNESTED}
    JOIN unnest(${lists.join(', ')}) WITH ORDINALITY AS wanted (model, kind, least, greatest, place) USING (model, kind)
    WHERE project_number + 0 = ${projectNumber} AND ${overlaps(some.map((each) => facetOf(projectNumber, each)))}
      AND started_at BETWEEN ${fromMs} AND ${toMs} AND ${isCounted(query)} AND value BETWEEN least AND greatest GROUP BY 1, 2`;
}
