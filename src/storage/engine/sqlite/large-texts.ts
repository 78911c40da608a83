/**
 * The large texts of spans and evaluations. Whoever replaces or removes a row frees the pages of its texts, and all writes
 * wait for that. So a row with much text holds numbers of rows of large_texts in their place, as bytes, by which queries
 * tell them from texts (`textOf` of the dialect). When such a row is replaced or removed, triggers only note the numbers
 * in unused_texts. Every batch of appends frees some of these texts, and retention the rest. Rows of earlier builds hold
 * their texts themselves until they are replaced.
 */

import type { RowsInsert } from '../../statements/statement.ts';
import { EVALUATION_TEXTS, SPAN_TEXTS } from '../../traces/text-columns.ts';
import type { Database } from './connection.ts';

const TEXT_COLUMNS: ReadonlySet<string> = new Set([...Object.values(SPAN_TEXTS), ...Object.values(EVALUATION_TEXTS)]);

/** The texts of a row that together have more bytes lie apart, but for short ones. */
const ROW_MAX_BYTES = 32 * 1024;
const SHORT_MAX_BYTES = 4 * 1024;
const BYTES_PER_CHARACTER_MAX = 3;
/** Freeing a text takes as long as freeing so many bytes more than it has. */
const TEXT_COST_BYTES = 4 * 1024;
/** The least that a text counts when it is freed. */
export const FREED_TEXT_MIN_BYTES = SHORT_MAX_BYTES + TEXT_COST_BYTES;
const LISTED_AT_ONCE = 64;

type Value = string | Buffer | number | null;

type Unused = { readonly number: number; readonly bytes: number | null };

export type LargeTexts = ReturnType<typeof prepareLargeTexts>;

export function prepareLargeTexts(db: Database) {
  const insert = db.prepare<[string]>('INSERT INTO large_texts (text) VALUES (?)');
  const list = db.prepare<[number], Unused>(
    `SELECT number, (SELECT octet_length(text) FROM large_texts WHERE large_texts.number = unused_texts.number) AS bytes
     FROM unused_texts LIMIT ?`,
  );
  const removeText = db.prepare<[number]>('DELETE FROM large_texts WHERE number = ?');
  const removeNumber = db.prepare<[number]>('DELETE FROM unused_texts WHERE number = ?');

  /** Replaces the large ones among the texts by their numbers. */
  function moveLarge(values: Value[], indexes: readonly number[]): void {
    const characters = indexes.reduce((sum, index) => sum + lengthOf(values[index]), 0);
    // Counting bytes takes longer, and most rows are small.
    if (characters * BYTES_PER_CHARACTER_MAX <= ROW_MAX_BYTES) return;
    const sizes = indexes.map((index) => bytesOf(values[index]));
    if (sizes.reduce((sum, bytes) => sum + bytes, 0) <= ROW_MAX_BYTES) return;
    for (const [place, index] of indexes.entries()) {
      const text = values[index];
      if (typeof text !== 'string' || (sizes[place] ?? 0) <= SHORT_MAX_BYTES) continue;
      values[index] = Buffer.from(String(insert.run(text).lastInsertRowid));
    }
  }

  return {
    /** Prepares a write of rows with texts. */
    prepareWrite<Row>({ text, cells, columns }: RowsInsert<Row>): (row: Row) => void {
      const statement = db.prepare<unknown[]>(text);
      const indexes = columns.flatMap((column, index) => (TEXT_COLUMNS.has(column) ? [index] : []));
      return (row) => {
        const values = cells(row) as Value[];
        moveLarge(values, indexes);
        statement.run(...values);
      };
    },
    /** Frees unused texts up to about so many bytes, and at least one. Returns whether there may be more. */
    freeSome(bytesMax: number): boolean {
      let freed = 0;
      for (;;) {
        const unused = list.all(LISTED_AT_ONCE);
        for (const { number, bytes } of unused) {
          removeText.run(number);
          removeNumber.run(number);
          freed += TEXT_COST_BYTES + (bytes ?? 0);
          if (freed >= bytesMax) return true;
        }
        if (unused.length < LISTED_AT_ONCE) return false;
      }
    },
  };
}

function lengthOf(value: Value | undefined): number {
  return typeof value === 'string' ? value.length : 0;
}

function bytesOf(value: Value | undefined): number {
  return typeof value === 'string' ? Buffer.byteLength(value) : 0;
}
