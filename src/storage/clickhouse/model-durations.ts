/** Durations of the spans of each model, from the rows of their traces. */

import {
  addSpans,
  DURATION_KINDS,
  DURATIONS_MAX,
  durationOfKind,
  type ListedDuration,
  type ModelBucket,
  type ModelCounts,
  type ModelDurations,
  type ModelDurationsQuery,
} from '../analytics/indexed-sums.ts';
import type { ClickHouse } from './client.ts';
import { LACKS_DURATIONS } from './schema.ts';
import { boundsOf } from './summed-rows.ts';

type Counted = { readonly model: number; readonly kind: number; readonly bucket: number; readonly spans: number };

/** As bucketOf of domain/number-buckets.ts; none of the durations is negative. */
const BUCKET = `if(value < 128, value,
  (toInt64(round(log2(roundToExp2(value)))) - 6) * 64 + intDiv(value, intDiv(roundToExp2(greatest(value, 128)), 64)))`;
const DURATIONS = 'duration_models AS model, duration_kinds AS kind, duration_values AS value';

export function createModelDurations({ rows }: ClickHouse): ModelDurations {
  return {
    async count(query) {
      const bounds = tracesOf(query);
      const lacking = await rows(`SELECT 1 ${bounds} AND ${LACKS_DURATIONS} LIMIT 1`);
      if (lacking.length > 0) return null;
      const counts: ModelCounts = new Map();
      const counted = `SELECT model, kind, ${BUCKET} AS bucket, count() AS spans ${tracesOf(query, DURATIONS)} GROUP BY model, kind, bucket`;
      for (const { spans, kind, ...of } of await rows<Counted>(counted)) {
        addSpans(counts, { ...of, name: durationOfKind(kind) }, spans);
      }
      return query.isOver() ? 'too_long' : counts;
    },

    async list(query, buckets) {
      const places = new Map(buckets.map((bucket, place) => [keyOf(bucket), place]));
      const found = await rows<Counted & Pick<ListedDuration, 'value'>>(
        `SELECT model, kind, ${BUCKET} AS bucket, value, count() AS spans ${tracesOf(query, DURATIONS)}
         AND ${isAmong(buckets)} GROUP BY model, kind, bucket, value LIMIT ${DURATIONS_MAX + 1}`,
      );
      if (found.length > DURATIONS_MAX) return null;
      if (query.isOver()) return 'too_long';
      return found.flatMap(({ kind, value, spans, ...of }) => {
        const place = places.get(keyOf({ ...of, name: durationOfKind(kind) }));
        return place === undefined ? [] : [{ place, value, spans }];
      });
    },
  };
}

function tracesOf(query: ModelDurationsQuery, unfolded: string | null = null): string {
  const join = unfolded === null ? '' : `ARRAY JOIN ${unfolded}`;
  return `FROM traces FINAL ${join} WHERE ${boundsOf({ ...query, conditions: [] }).join(' AND ')}`;
}

function isAmong(buckets: readonly ModelBucket[]): string {
  const wanted = buckets.map(({ model, name, bucket }) => `(${model}, ${DURATION_KINDS[name]}, ${bucket})`);
  return `(model, kind, bucket) IN (${wanted.join(', ')})`;
}

function keyOf({ model, name, bucket }: ModelBucket): string {
  return `${model} ${name} ${bucket}`;
}
