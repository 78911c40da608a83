/** Durations of the spans of each model: how many of each day are of which size, and those of single traces. */

import { DAY_MS, dayOf } from '../../../domain/analytics/calendar.ts';
import { bucketOf, greatestOf, leastOf } from '../../../domain/number-buckets.ts';
import { partsBesideDays, wholeDaysOf } from '../../analytics/day-parts.ts';
import {
  addSpans,
  DURATIONS_MAX,
  type ListedDuration,
  type ModelBucket,
  type ModelCounts,
  type ModelDurations,
  type ModelDurationsQuery,
  type TimeRange,
} from '../../analytics/indexed-sums.ts';
import type { Database } from './connection.ts';
import { BLOCK_CHUNKS, blockOf } from './search-file.ts';
import { createYieldWhenDue, type YieldWhenDue } from './yield-when-due.ts';

type CountRow = [model: number, isFirstToken: number, bucket: number, spans: number];
type ValueRow = [
  ...[model: number, isFirstToken: number, value: number],
  ...[spans: number, sequence: number, startMs: number],
];
type ListedRow = [place: number, value: number, spans: number, sequence: number];

/** Buckets are looked up in so many blocks at once. */
const LOOKUPS_AT_ONCE = 1_024;

/** Prepares the statements once for all intervals of a query: that takes as long as running them. */
export function prepareModelDurations(file: Database): ModelDurations {
  const blocks = file
    .prepare<number[], number>(
      `SELECT DISTINCT chunk / ${BLOCK_CHUNKS} FROM chunks
       WHERE project_number = ? AND started_to >= ? AND started_from <= ? ORDER BY chunk`,
    )
    .pluck();
  const ofDays = 'FROM model_durations WHERE project_number = ? AND day BETWEEN ? AND ?';
  const cutDays = file.prepare<number[], number>(`SELECT DISTINCT day ${ofDays} AND inserted_from < ?`).pluck();
  const isWhole = 'AND day NOT IN (SELECT value FROM json_each(?))';
  const days = file
    .prepare<[...number[], string], CountRow>(
      `SELECT model, is_first_token, bucket, sum(spans) ${ofDays} ${isWhole} GROUP BY 1, 2, 3`,
    )
    .raw();
  // One day needs no sum, and no sort for it.
  const day = file
    .prepare<[...number[], string], CountRow>(`SELECT model, is_first_token, bucket, spans ${ofDays} ${isWhole}`)
    .raw();
  const ofBlock = `SELECT model, is_first_token, value, spans, sequence, started_at FROM span_durations
    WHERE project_number = ? AND block = ? AND started_at BETWEEN ? AND ?`;
  const ofTraces = file
    .prepare<[...number[], string], ValueRow>(`${ofBlock} AND sequence IN (SELECT value FROM json_each(?))`)
    .raw();
  const received = file.prepare<number[], ValueRow>(`${ofBlock} AND inserted_at >= ?`).raw();
  const places = file
    .prepare<[string, string, ...number[]], ListedRow>(
      `WITH places AS MATERIALIZED (
         SELECT key AS place, value ->> 0 AS model, value ->> 1 AS is_first_token, value ->> 2 AS least, value ->> 3 AS greatest
         FROM json_each(?))
       SELECT place, spans.value, spans, sequence
       FROM json_each(?) AS blocks CROSS JOIN places CROSS JOIN span_durations AS spans
         ON project_number = ? AND block = blocks.value AND spans.model = places.model
         AND spans.is_first_token = places.is_first_token AND spans.value BETWEEN least AND greatest
       WHERE started_at BETWEEN ? AND ? AND inserted_at >= ?`,
    )
    .raw();

  /** The blocks that may have traces of the range. */
  const blocksOf = ({ projectNumber, fromMs, toMs }: Pick<OfRange, 'projectNumber' | 'fromMs' | 'toMs'>) =>
    blocks.all(projectNumber, fromMs, toMs);

  /** Counts the whole days, and returns those that it left out: the term of some of their traces is over. */
  function addDays(query: OfRange, counts: ModelCounts): readonly number[] {
    const { projectNumber, receivedFromMs, leftOut } = query;
    const { firstDay, lastDay } = wholeDaysOf(query);
    if (firstDay > lastDay) return [];
    const cut = cutDays.all(projectNumber, firstDay, lastDay, receivedFromMs);
    const counted = firstDay === lastDay ? day : days;
    for (const row of counted.all(projectNumber, firstDay, lastDay, JSON.stringify(cut))) count(counts, row);
    if (leftOut.length === 0) return cut;
    // What the days have of the traces that are left out.
    const [fromMs, toMs] = [firstDay * DAY_MS, (lastDay + 1) * DAY_MS - 1];
    const known = new Set(blocksOf({ projectNumber, fromMs, toMs }));
    for (const [block, sequences] of Map.groupBy(leftOut, blockOf)) {
      if (!known.has(block)) continue;
      for (const row of ofTraces.all(projectNumber, block, fromMs, toMs, JSON.stringify(sequences))) {
        if (!cut.includes(dayOf(row[5]))) count(counts, [row[0], row[1], bucketOf(row[2]), -row[3]]);
      }
    }
    return cut;
  }

  /** Null: the time is over. */
  async function countRange(query: OfRange, yieldWhenDue: YieldWhenDue): Promise<ModelCounts | null> {
    const { projectNumber, receivedFromMs } = query;
    const counts: ModelCounts = new Map();
    // Of one state of the file.
    const cut = file.transaction(() => addDays(query, counts)).deferred();
    const leftOut = new Set(query.leftOut);
    for (const { fromMs, toMs } of partsBesideDays(query, cut)) {
      for (const block of blocksOf({ projectNumber, fromMs, toMs })) {
        for (const row of received.all(projectNumber, block, fromMs, toMs, receivedFromMs)) {
          if (!leftOut.has(row[4])) count(counts, [row[0], row[1], bucketOf(row[2]), row[3]]);
        }
        await yieldWhenDue();
        if (query.isOver()) return null;
      }
    }
    return counts;
  }

  return {
    async count({ ranges, ...query }) {
      const yieldWhenDue = createYieldWhenDue();
      const all: ModelCounts[] = [];
      for (const range of ranges) {
        const counts = await countRange({ ...query, ...range }, yieldWhenDue);
        if (counts === null) return 'too_long';
        all.push(counts);
      }
      return all;
    },

    async list({ ranges, ...query }, buckets) {
      const { projectNumber, receivedFromMs } = query;
      const leftOut = new Set(query.leftOut);
      const yieldWhenDue = createYieldWhenDue();
      const found: ListedDuration[] = [];
      const placed = buckets.map((bucket, place) => ({ ...bucket, place }));
      for (const [range, ofRange] of Map.groupBy(placed, (bucket) => bucket.range)) {
        const { fromMs, toMs } = ranges[range] ?? NO_RANGE;
        const wanted = JSON.stringify(ofRange.map(boundsOf));
        const all = blocksOf({ projectNumber, fromMs, toMs });
        const blocksAtOnce = Math.ceil(LOOKUPS_AT_ONCE / ofRange.length);
        for (let first = 0; first < all.length; first += blocksAtOnce) {
          const some = JSON.stringify(all.slice(first, first + blocksAtOnce));
          for (const row of places.all(wanted, some, projectNumber, fromMs, toMs, receivedFromMs)) {
            if (!leftOut.has(row[3])) found.push({ place: ofRange[row[0]]?.place ?? 0, value: row[1], spans: row[2] });
          }
          if (found.length > DURATIONS_MAX) return null;
          await yieldWhenDue();
          if (query.isOver()) return 'too_long';
        }
      }
      return found;
    },
  };
}

type OfRange = Omit<ModelDurationsQuery, 'ranges'> & TimeRange;

const NO_RANGE: TimeRange = { fromMs: 0, toMs: -1 };

function boundsOf({ model, name, bucket }: ModelBucket): readonly number[] {
  return [model, Number(name === 'firstTokenMs'), leastOf(bucket), greatestOf(bucket)];
}

function count(counts: ModelCounts, [model, isFirstToken, bucket, spans]: CountRow): void {
  addSpans(counts, { model, name: isFirstToken === 1 ? 'firstTokenMs' : 'totalTimeMs', bucket }, spans);
}
