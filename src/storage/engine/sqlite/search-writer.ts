/** Writes traces to the file of the index. The caller has begun a transaction. */

import { dayOf } from '../../../domain/analytics/calendar.ts';
import { bucketOf } from '../../../domain/number-buckets.ts';
import { DURATION_COLUMNS, type DurationName } from '../../analytics/indexed-sums.ts';
import type { RangedNumber } from '../../search/index-plan.ts';
import type { IndexedTrace } from '../../search/trace-index.ts';
import { packId } from './compact-ids.ts';
import type { Database } from './connection.ts';
import { prepareModelDurationsWriter } from './model-durations-writer.ts';
import { chunkOf, INTEGER } from './search-file.ts';
import { bucketsOf, tokensOf } from './search-tokens.ts';

type Indexed = IndexedTrace<string>;
type Stored = Pick<Indexed, 'projectNumber' | 'startMs' | 'insertedAtMs'> &
  Readonly<Record<RangedNumber, number | null>>;
type Bucket = [projectNumber: number, number: string, bucket: number, traces: number];
type DurationKey = [projectNumber: number, day: number, name: string, bucket: number];
type Duration = { readonly key: DurationKey; traces: number; insertedFrom: number };
type Chunk = [
  ...[projectNumber: number, chunk: number],
  ...[startedFrom: number, startedTo: number, updatedFrom: number, updatedTo: number, insertedFrom: number],
];

export type SearchWriter = ReturnType<typeof prepareSearchWriter>;

export function prepareSearchWriter(db: Database) {
  const find = db.prepare<[number], Stored>(
    `SELECT project_number AS projectNumber, started_at AS startMs, inserted_at AS insertedAtMs, total_time_ms AS totalTimeMs, total_cost_nano_usd AS totalCostNanoUsd,
       total_tokens AS totalTokens, first_token_ms AS firstTokenMs FROM indexed_traces WHERE sequence = ?`,
  );
  const removals = ['indexed_traces WHERE sequence', 'facets WHERE rowid', 'texts WHERE rowid'].map((row) =>
    db.prepare<[number]>(`DELETE FROM ${row} = ${INTEGER}`),
  );
  const insertTrace = db.prepare<unknown[]>(`INSERT INTO indexed_traces VALUES (${'?, '.repeat(20)}?)`);
  const insertFacets = db.prepare<[number, string]>(`INSERT INTO facets (rowid, t) VALUES (${INTEGER}, ?)`);
  const insertText = db.prepare<[number, string]>(`INSERT INTO texts (rowid, t) VALUES (${INTEGER}, ?)`);
  const addToBucket = db.prepare<Bucket>(
    `INSERT INTO buckets VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET traces = traces + excluded.traces`,
  );
  const addDurations = db.prepare<[...DurationKey, number, number]>(
    `INSERT INTO durations VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET
       traces = traces + excluded.traces, inserted_from = min(inserted_from, excluded.inserted_from)`,
  );
  const removeEmpty = db.prepare<DurationKey>(
    'DELETE FROM durations WHERE project_number = ? AND day = ? AND name = ? AND bucket = ? AND traces = 0',
  );
  const widenChunk = db.prepare<Chunk>(
    `INSERT INTO chunks VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET
       started_from = min(started_from, excluded.started_from), started_to = max(started_to, excluded.started_to),
       updated_from = min(updated_from, excluded.updated_from), updated_to = max(updated_to, excluded.updated_to),
       inserted_from = min(inserted_from, excluded.inserted_from)`,
  );
  const modelDurations = prepareModelDurationsWriter(db);
  const buckets = new Map<string, Bucket>();
  const durations = new Map<string, Duration>();
  const chunks = new Map<string, Chunk>();

  function count(trace: Stored, traces: number): void {
    for (const { number, bucket } of bucketsOf(trace)) {
      const name = `${trace.projectNumber} ${number} ${bucket}`;
      const counted = buckets.get(name) ?? [trace.projectNumber, number, bucket, 0];
      counted[3] += traces;
      buckets.set(name, counted);
    }
  }

  function countDurations(trace: Stored, traces: number): void {
    for (const [name, column] of Object.entries(DURATION_COLUMNS) as [DurationName, string][]) {
      if (trace[name] === null) continue;
      const key: DurationKey = [trace.projectNumber, dayOf(trace.startMs), column, bucketOf(trace[name])];
      const counted = durations.get(key.join(' ')) ?? { key, traces: 0, insertedFrom: trace.insertedAtMs };
      counted.traces += traces;
      counted.insertedFrom = Math.min(counted.insertedFrom, trace.insertedAtMs);
      durations.set(key.join(' '), counted);
    }
  }

  function widen({ projectNumber, sequence, startMs, updatedAtMs, insertedAtMs }: Indexed): void {
    const chunk = chunkOf(sequence);
    const name = `${projectNumber} ${chunk}`;
    const known = chunks.get(name);
    if (known === undefined) {
      chunks.set(name, [projectNumber, chunk, startMs, startMs, updatedAtMs, updatedAtMs, insertedAtMs]);
      return;
    }
    known[2] = Math.min(known[2], startMs);
    known[3] = Math.max(known[3], startMs);
    known[4] = Math.min(known[4], updatedAtMs);
    known[5] = Math.max(known[5], updatedAtMs);
    known[6] = Math.min(known[6], insertedAtMs);
  }

  function remove(sequence: number): void {
    const stored = find.get(sequence);
    if (stored === undefined) return;
    count(stored, -1);
    countDurations(stored, -1);
    modelDurations.remove({ ...stored, sequence });
    for (const removal of removals) removal.run(sequence);
  }

  function settle(): void {
    for (const { key, traces, insertedFrom } of durations.values()) {
      addDurations.run(...key, traces, insertedFrom);
      if (traces <= 0) removeEmpty.run(...key);
    }
    durations.clear();
  }

  return {
    remove,
    /** Call before anything reads what is not committed yet: counts of durations are those of the rows from then on. */
    settle,
    /** Replaces the trace that the index has. */
    put(trace: Indexed): void {
      const { sequence, text } = trace;
      remove(sequence);
      insertTrace.run(...cellsOf(trace));
      insertFacets.run(sequence, tokensOf(trace));
      insertText.run(sequence, text);
      count(trace, 1);
      countDurations(trace, 1);
      modelDurations.put(trace);
      widen(trace);
    },
    /** Call before the commit, and after a transaction that failed. */
    end(isCommitted: boolean): void {
      if (isCommitted) {
        for (const bucket of buckets.values()) addToBucket.run(...bucket);
        settle();
        for (const chunk of chunks.values()) widenChunk.run(...chunk);
      }
      modelDurations.end(isCommitted);
      buckets.clear();
      durations.clear();
      chunks.clear();
    },
  };
}

function cellsOf(trace: Indexed): readonly unknown[] {
  const { sums } = trace;
  return [
    ...[trace.sequence, trace.projectNumber, packId(trace.traceId)],
    ...[trace.startMs, trace.updatedAtMs, trace.insertedAtMs],
    ...[trace.totalTimeMs, trace.totalCostNanoUsd, trace.totalTokens, trace.firstTokenMs],
    ...[sums.spanCount, Number(sums.hasError), sums.promptTokens, sums.completionTokens],
    ...[sums.user, sums.customer, sums.thread],
    listText(sums.labels),
    ...[listText(sums.prompts?.names), listText(sums.prompts?.prompts), listText(sums.prompts?.versions)],
  ];
}

function listText(numbers: readonly number[] = []): string | null {
  return numbers.length === 0 ? null : JSON.stringify(numbers);
}
