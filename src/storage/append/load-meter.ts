/**
 * Measures what a run loads. Few bytes may name rows that are large: what a batch carries says nothing about what it
 * holds, so a batch ends where it has loaded enough.
 */

import type { Reader } from './reader.ts';

/** A batch ends after the append with which it has loaded more. Others wait for a few such batches at most. */
const LOADED_MAX_BYTES = 2 * 1024 * 1024;
/** What a row takes beside its texts. */
const ROW_BYTES = 128;

export function createLoadMeter(read: Reader) {
  let bytes = 0;
  const metered: Reader = (name, key, expectedBytes) => {
    const rows = read(name, key);
    if (rows.length === 0) bytes += expectedBytes ?? 0;
    for (const row of rows) bytes += bytesOf(row as object);
    return rows;
  };
  return { read: metered, isSpent: () => bytes > LOADED_MAX_BYTES };
}

function bytesOf(row: object): number {
  let bytes = ROW_BYTES;
  for (const value of Object.values(row)) if (typeof value === 'string') bytes += value.length;
  return bytes;
}
