/** Writes how long the spans of each model took to the file of the index. The caller has begun a transaction. */

import { dayOf } from '../../../domain/analytics/calendar.ts';
import { bucketOf } from '../../../domain/number-buckets.ts';
import type { IndexedTrace } from '../../search/trace-index.ts';
import type { Database } from './connection.ts';
import { blockOf } from './search-file.ts';

type Indexed = IndexedTrace<unknown>;
type Known = Pick<Indexed, 'projectNumber' | 'sequence'>;
/** Spans of a trace that take equally long, or wait equally long for their first token. */
type SpanDuration = {
  readonly model: number;
  readonly isFirstToken: number;
  readonly value: number;
  readonly spans: number;
  readonly startMs: number;
  readonly insertedAtMs: number;
};
type CountKey = [projectNumber: number, day: number, model: number, isFirstToken: number, bucket: number];
type Count = { readonly key: CountKey; spans: number; insertedFrom: number };

/**
 * Everything is written at the end, in one go: what reads the file in between finds the counts and the durations that they
 * count.
 */
export function prepareModelDurationsWriter(db: Database) {
  // The durations of a trace lie near each other; its sequence is not what they are ordered by.
  const removeOf = db.prepare<[number, number, string], SpanDuration>(
    `DELETE FROM span_durations WHERE project_number = ? AND block = ? AND sequence IN (SELECT value FROM json_each(?))
     RETURNING model, is_first_token AS isFirstToken, value, spans, started_at AS startMs, inserted_at AS insertedAtMs`,
  );
  const insert = db.prepare<number[]>(`INSERT INTO span_durations VALUES (${'?, '.repeat(8)}?)`);
  const addCount = db.prepare<[...CountKey, number, number]>(
    `INSERT INTO model_durations VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET
       spans = spans + excluded.spans, inserted_from = min(inserted_from, excluded.inserted_from)`,
  );
  const removeEmpty = db.prepare<CountKey>(
    `DELETE FROM model_durations
     WHERE project_number = ? AND day = ? AND model = ? AND is_first_token = ? AND bucket = ? AND spans = 0`,
  );
  let removed: Known[] = [];
  let added: Indexed[] = [];
  const counts = new Map<string, Count>();

  function count(
    projectNumber: number,
    { model, isFirstToken, value, startMs, insertedAtMs }: SpanDuration,
    spans: number,
  ) {
    const key: CountKey = [projectNumber, dayOf(startMs), model, isFirstToken, bucketOf(value)];
    const name = key.join(' ');
    const counted = counts.get(name) ?? { key, spans: 0, insertedFrom: insertedAtMs };
    counted.spans += spans;
    counted.insertedFrom = Math.min(counted.insertedFrom, insertedAtMs);
    counts.set(name, counted);
  }

  function removeAll(): void {
    for (const [projectNumber, ofProject] of Map.groupBy(removed, (each) => each.projectNumber)) {
      for (const [block, traces] of Map.groupBy(ofProject, ({ sequence }) => blockOf(sequence))) {
        const sequences = JSON.stringify(traces.map(({ sequence }) => sequence));
        for (const row of removeOf.all(projectNumber, block, sequences)) count(projectNumber, row, -row.spans);
      }
    }
  }

  function add(trace: Indexed): void {
    const { projectNumber, sequence, startMs, insertedAtMs } = trace;
    for (const row of rowsOf(trace)) {
      const { model, isFirstToken, value, spans } = row;
      insert.run(
        ...[projectNumber, blockOf(sequence), model, isFirstToken, value, sequence],
        ...[spans, startMs, insertedAtMs],
      );
      count(projectNumber, row, spans);
    }
  }

  return {
    /** Of a trace that the index has. */
    remove(trace: Known): void {
      removed.push(trace);
    },
    put(trace: Indexed): void {
      if (trace.sums.models.length > 0) added.push(trace);
    },
    /** Call before the commit, and after a transaction that failed. */
    end(isCommitted: boolean): void {
      if (isCommitted) {
        removeAll();
        for (const trace of added) add(trace);
        for (const { key, spans, insertedFrom } of counts.values()) {
          addCount.run(...key, spans, insertedFrom);
          if (spans <= 0) removeEmpty.run(...key);
        }
      }
      removed = [];
      added = [];
      counts.clear();
    },
  };
}

/** Equal durations of a model are one row. */
function rowsOf({ startMs, insertedAtMs, sums: { models } }: Indexed): readonly SpanDuration[] {
  const rows = new Map<string, SpanDuration & { spans: number }>();
  for (const { model, totalTimesMs, firstTokensMs } of models) {
    for (const [isFirstToken, values] of [totalTimesMs, firstTokensMs].entries()) {
      for (const value of values) {
        const name = `${model} ${isFirstToken} ${value}`;
        const row = rows.get(name) ?? { model, isFirstToken, value, spans: 0, startMs, insertedAtMs };
        row.spans += 1;
        rows.set(name, row);
      }
    }
  }
  return [...rows.values()];
}
