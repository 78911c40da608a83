/**
 * The file beside the database that has the index of traces. Everything in it is made of the database, so a file that is
 * missing, damaged or of another time of the database is made anew (see search/index-steps.ts).
 */

import { realpathSync, rmSync } from 'node:fs';
import { dayOf } from '../../../domain/analytics/calendar.ts';
import { bucketOf } from '../../../domain/number-buckets.ts';
import { DURATION_COLUMNS } from '../../analytics/indexed-sums.ts';
import { codeOf } from '../../errors.ts';
import type { IndexState } from '../../search/index-steps.ts';
import { type Database, openWriteHandle } from './connection.ts';

/** Files with another number are made anew. No other program is likely to use this one. */
const LAYOUT = 130_003;
/** Files of this one get the columns and the durations that they lack. */
const FORMER_LAYOUT = 130_002;
/** A parameter of FTS5, which ignores bounds that are not stored as whole numbers: the driver passes large ones as fractions. */
export const INTEGER = 'CAST(? AS INTEGER)';
/** Sequences of a chunk. */
export const CHUNK_TRACES = 1024;

// `facets` has the tokens of search-tokens.ts, `texts` folded texts; the row ids of both are sequences. Without their
// content and the positions of tokens they take little room. Merged eight at a time, their parts are written less often;
// search-merges.ts does it.
const DURATIONS = `
  -- How many traces of a project that began on a day have a duration in a bucket (number-buckets.ts), and when the first
  -- of them was received: it may be one that is gone.
  CREATE TABLE durations (
    project_number integer, day integer, name text, bucket integer, traces integer NOT NULL, inserted_from integer NOT NULL,
    PRIMARY KEY (project_number, day, name, bucket)) WITHOUT ROWID;
  PRAGMA user_version = ${LAYOUT};
`;
const TABLES = `
  CREATE TABLE state (
    step text NOT NULL, previous text, sequences text NOT NULL, walked_to integer NOT NULL, walk_end integer NOT NULL);
  CREATE TABLE indexed_traces (
    sequence integer PRIMARY KEY, project_number integer NOT NULL, trace_id blob NOT NULL,
    started_at integer NOT NULL, updated_at integer NOT NULL, inserted_at integer NOT NULL,
    total_time_ms integer, total_cost_nano_usd integer, total_tokens integer, first_token_ms integer,
    span_count integer NOT NULL, has_error integer NOT NULL, prompt_tokens integer, completion_tokens integer,
    user_value integer, customer_value integer, thread_value integer, labels text,
    prompt_names text, prompts text, prompt_versions text);
  CREATE VIRTUAL TABLE facets USING fts5(t, content='', contentless_delete=1, detail=none, tokenize='ascii');
  CREATE VIRTUAL TABLE texts USING fts5(
    t, content='', contentless_delete=1, detail=none, tokenize='trigram case_sensitive 1');
  INSERT INTO facets (facets, rank) VALUES ('automerge', 0), ('usermerge', 8);
  INSERT INTO texts (texts, rank) VALUES ('automerge', 0), ('usermerge', 8);
  -- The bounds of the traces of a project among some sequences. They only widen.
  CREATE TABLE chunks (
    project_number integer, chunk integer, started_from integer NOT NULL, started_to integer NOT NULL,
    updated_from integer NOT NULL, updated_to integer NOT NULL, inserted_from integer NOT NULL,
    PRIMARY KEY (project_number, chunk)) WITHOUT ROWID;
  -- How many traces of a project have a number in a bucket (search-tokens.ts).
  CREATE TABLE buckets (
    project_number integer, number text, bucket integer, traces integer NOT NULL,
    PRIMARY KEY (project_number, number, bucket)) WITHOUT ROWID;
  ${DURATIONS}
`;

const ADDED_COLUMNS = ['prompt_names', 'prompts', 'prompt_versions'];

const MEMORY = ':memory:';

/** The path of the index of a database. Links lead to the same database, so they must lead to the same index. */
export function searchPathOf(file: string): string {
  return file === MEMORY ? MEMORY : `${realpathSync(file)}.search`;
}

/** Opens the file, or makes it anew. */
export function openSearchFile(path: string): Database {
  try {
    return openAsIs(path);
  } catch (error) {
    if (codeOf(error) === 'SQLITE_FULL') throw error;
    removeSearchFile(path);
    return openAsIs(path);
  }
}

export function removeSearchFile(path: string): void {
  if (path !== MEMORY) for (const end of ['', '-wal', '-shm']) rmSync(`${path}${end}`, { force: true });
}

function openAsIs(path: string): Database {
  const db = openWriteHandle(path, () => undefined);
  try {
    const layout = db.pragma('user_version', { simple: true });
    const isEmpty = db.prepare('SELECT 1 FROM sqlite_schema').get() === undefined;
    if (isEmpty) db.transaction(() => db.exec(TABLES)).immediate();
    else if (layout === FORMER_LAYOUT) db.transaction(() => complete(db)).immediate();
    else if (layout !== LAYOUT) throw new Error(`${path} has layout ${String(layout)}`);
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

/** With more traces it would take longer than a read may. */
const COUNTED_MAX = 5_000_000;

/** Building the whole index anew would take a hundred times as long. */
function complete(db: Database): void {
  const last = db.prepare<[], number | null>('SELECT max(sequence) FROM indexed_traces').pluck().get() ?? 0;
  if (last > COUNTED_MAX) throw new Error(`the index has too many traces to add their durations: ${last}`);
  for (const name of ADDED_COLUMNS) db.exec(`ALTER TABLE indexed_traces ADD COLUMN ${name} text`);
  db.exec(DURATIONS);
  db.function('day_of', { deterministic: true }, (ms) => dayOf(Number(ms)));
  db.function('bucket_of', { deterministic: true }, (value) => bucketOf(Number(value)));
  for (const column of Object.values(DURATION_COLUMNS)) {
    db.exec(`INSERT INTO durations
      SELECT project_number, day_of(started_at), '${column}', bucket_of(${column}), count(*), min(inserted_at)
      FROM indexed_traces WHERE ${column} IS NOT NULL GROUP BY 1, 2, 4`);
  }
}

/** Null: nothing was indexed yet. */
export function readState(db: Database): IndexState | null {
  const row = db
    .prepare<[], Omit<IndexState, 'sequences'> & { readonly sequences: string }>(
      'SELECT step, previous, sequences, walked_to AS walkedTo, walk_end AS walkEnd FROM state',
    )
    .get();
  return row === undefined ? null : { ...row, sequences: JSON.parse(row.sequences) };
}

export function storeState(db: Database, { sequences, ...state }: IndexState): void {
  db.prepare('DELETE FROM state').run();
  db.prepare('INSERT INTO state VALUES (@step, @previous, @sequences, @walkedTo, @walkEnd)').run({
    ...state,
    sequences: JSON.stringify(sequences),
  });
}
