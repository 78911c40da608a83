/**
 * The file beside the database that has the index of traces. Everything in it is made of the database, so a file that is
 * missing, damaged or of another time of the database is made anew (see search/index-steps.ts).
 */

import { realpathSync, rmSync } from 'node:fs';
import { codeOf } from '../../errors.ts';
import type { IndexState } from '../../search/index-steps.ts';
import { type Database, openWriteHandle } from './connection.ts';
import { storageFailureOf } from './failures.ts';

/** Files with another number are made anew. No other program is likely to use this one. */
const LAYOUT = 130_004;
/** A parameter of FTS5, which ignores bounds that are not stored as whole numbers: the driver passes large ones as fractions. */
export const INTEGER = 'CAST(? AS INTEGER)';
/** Sequences of a chunk. */
export const CHUNK_TRACES = 1024;

export function chunkOf(sequence: number): number {
  return Math.floor(sequence / CHUNK_TRACES);
}

/** With larger blocks a commit writes more pages, with smaller ones a query looks for durations in more places. */
export const BLOCK_CHUNKS = 4;

export function blockOf(sequence: number): number {
  return Math.floor(chunkOf(sequence) / BLOCK_CHUNKS);
}

// `facets` has the tokens of search-tokens.ts, `texts` folded texts; the row ids of both are sequences. Without their
// content and the positions of tokens they take little room. Merged eight at a time, their parts are written less often;
// search-merges.ts does it.
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
  -- How many traces of a project that began on a day have a duration in a bucket (number-buckets.ts), and when the first
  -- of them was received: it may be one that is gone.
  CREATE TABLE durations (
    project_number integer, day integer, name text, bucket integer, traces integer NOT NULL, inserted_from integer NOT NULL,
    PRIMARY KEY (project_number, day, name, bucket)) WITHOUT ROWID;
  -- The same of the spans of each model, or of their waits for the first token.
  CREATE TABLE model_durations (
    project_number integer, day integer, model integer, is_first_token integer, bucket integer,
    spans integer NOT NULL, inserted_from integer NOT NULL,
    PRIMARY KEY (project_number, day, model, is_first_token, bucket)) WITHOUT ROWID;
  -- How many spans of a trace have a duration, beside the start and the receipt of the trace. In blocks, the traces
  -- of a commit lie on few pages.
  CREATE TABLE span_durations (
    project_number integer, block integer, model integer, is_first_token integer, value integer, sequence integer,
    spans integer NOT NULL, started_at integer NOT NULL, inserted_at integer NOT NULL,
    PRIMARY KEY (project_number, block, model, is_first_token, value, sequence)) WITHOUT ROWID;
  PRAGMA user_version = ${LAYOUT};
`;

const MEMORY = ':memory:';

/** The path of the index of a database. Links lead to the same database, so they must lead to the same index. */
export function searchPathOf(file: string): string {
  return file === MEMORY ? MEMORY : `${realpathSync(file)}.search`;
}

/** These pass, and say nothing about what the file holds. */
const PASSING = /^SQLITE_(FULL|BUSY|LOCKED|NOMEM|IOERR)(_|$)/;

/** Opens the file, or makes it anew. Throws what passes. */
export function openSearchFile(path: string): Database {
  try {
    return openAsIs(path);
  } catch (error) {
    if (PASSING.test(codeOf(error)) && storageFailureOf(error) === 'passing') throw error;
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
    else if (layout !== LAYOUT) throw new Error(`${path} has layout ${String(layout)}`);
    return db;
  } catch (error) {
    db.close();
    throw error;
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
