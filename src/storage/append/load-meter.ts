/**
 * Measures what a run loads and replaces. Few bytes may name rows that are large: what a batch carries says nothing about
 * what it holds or frees, so a batch ends where it has loaded or replaced enough.
 */

import type { Reader } from './reader.ts';

/** A batch ends after the append with which it has loaded more. Others wait for a few such batches at most. */
const LOADED_MAX_BYTES = 2 * 1024 * 1024;
/**
 * The same for what the replaced rows held, and for new events, each of which may repeat the metadata of its trace: the
 * writer of SQLite frees 4 to 5 MiB in a millisecond.
 */
const REPLACED_MAX_BYTES = 32 * 1024 * 1024;
/** What a row takes beside its texts. */
const ROW_BYTES = 128;

/** Takes the bytes that the commit frees, or writes anew. */
export type NoteReplaced = (bytes: number) => void;

export function createLoadMeter(read: Reader) {
  let loaded = 0;
  let replaced = 0;
  const metered: Reader = (name, key, expectedBytes) => {
    const rows = read(name, key);
    if (rows.length === 0) loaded += expectedBytes ?? 0;
    for (const row of rows) loaded += bytesOf(row as object);
    return rows;
  };
  const noteReplaced: NoteReplaced = (bytes) => {
    replaced += bytes;
  };
  return {
    read: metered,
    noteReplaced,
    isSpent: () => loaded > LOADED_MAX_BYTES || replaced > REPLACED_MAX_BYTES,
  };
}

function bytesOf(row: object): number {
  let bytes = ROW_BYTES;
  for (const value of Object.values(row)) if (typeof value === 'string') bytes += value.length;
  return bytes;
}
