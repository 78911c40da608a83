/** Durations of the spans of each model, from the rows of their traces. */

import {
  addSpans,
  DURATION_KINDS,
  DURATIONS_MAX,
  durationOfKind,
  type ListedDuration,
  type ModelCounts,
  type ModelDurations,
  type ModelDurationsQuery,
  type RangeBucket,
} from '../analytics/indexed-sums.ts';
import { type ClickHouse, listOf } from './client.ts';
import { boundsOf } from './summed-rows.ts';

type Counted = {
  readonly place: number;
  readonly model: number;
  readonly kind: number;
  readonly bucket: number;
  readonly spans: number;
};

/** As bucketOf of domain/number-buckets.ts; none of the durations is negative. */
const BUCKET = `if(value < 128, value,
  (toInt64(round(log2(roundToExp2(value)))) - 6) * 64 + intDiv(value, intDiv(roundToExp2(greatest(value, 128)), 64)))`;

export function createModelDurations({ rows }: ClickHouse): ModelDurations {
  return {
    async count(query) {
      const counts = query.ranges.map((): ModelCounts => new Map());
      const counted = `SELECT place, model, kind, ${BUCKET} AS bucket, count() AS spans ${durationsOf(query)}
        GROUP BY place, model, kind, bucket`;
      for (const { place, spans, kind, ...of } of await rows<Counted>(counted)) {
        const ofRange = counts[place];
        if (ofRange !== undefined) addSpans(ofRange, { ...of, name: durationOfKind(kind) }, spans);
      }
      return query.isOver() ? 'too_long' : counts;
    },

    async list(query, buckets) {
      const places = new Map(buckets.map((bucket, place) => [keyOf(bucket), place]));
      const found = await rows<Counted & Pick<ListedDuration, 'value'>>(
        `SELECT place, model, kind, ${BUCKET} AS bucket, value, count() AS spans ${durationsOf(query)}
         AND ${isAmong(buckets)} GROUP BY place, model, kind, bucket, value LIMIT ${DURATIONS_MAX + 1}`,
      );
      if (found.length > DURATIONS_MAX) return null;
      if (query.isOver()) return 'too_long';
      return found.flatMap(({ place: range, kind, value, spans, ...of }) => {
        const place = places.get(keyOf({ ...of, range, name: durationOfKind(kind) }));
        return place === undefined ? [] : [{ place, value, spans }];
      });
    },
  };
}

/** Each duration, with the place of its range from 0 on. The ranges ascend, and may have gaps. */
function durationsOf({ ranges, ...query }: ModelDurationsQuery): string {
  const ascending = ranges.map((range, place) => ({ ...range, place })).sort((one, other) => one.fromMs - other.fromMs);
  const [fromMs = 0, toMs = -1] = [ascending[0]?.fromMs, ascending.at(-1)?.toMs];
  const ends = listOf(ascending.map((range) => range.toMs));
  const starts = listOf(ascending.map((range) => range.fromMs));
  const places = listOf(ascending.map(({ place }) => place));
  const index = `arrayFirstIndex(end -> end >= started_at, ${ends})`;
  return `FROM (
    SELECT ${places}[${index}] AS place, started_at >= ${starts}[${index}] AS is_within, model, kind, value FROM traces FINAL
    ARRAY JOIN duration_models AS model, duration_kinds AS kind, duration_values AS value
    WHERE ${boundsOf({ ...query, fromMs, toMs, conditions: [] }).join(' AND ')}) WHERE is_within`;
}

function isAmong(buckets: readonly RangeBucket[]): string {
  const wanted = buckets.map(
    ({ range, model, name, bucket }) => `(${range}, ${model}, ${DURATION_KINDS[name]}, ${bucket})`,
  );
  return `(place, model, kind, bucket) IN (${wanted.join(', ')})`;
}

function keyOf({ range, model, name, bucket }: RangeBucket): string {
  return `${range} ${model} ${name} ${bucket}`;
}
