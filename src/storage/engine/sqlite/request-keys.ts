/**
 * Stores requests and finds them by their keys. Keys are random, so nearly each of them lies on another page of their
 * index, and a commit writes all pages that it changed. The index therefore gets keys later, many at once and in their
 * order, which touches few pages; until then they are in memory. A start reads them from the requests.
 */

import type { RequestEntry } from '../../append/batch-log.ts';
import type { Found } from '../../append/reader.ts';
import type { Database } from './connection.ts';
import { KeyConflict } from './failures.ts';
import { prepareChange, prepareQuery } from './run-query.ts';
import { openQueries } from './statements.ts';

type Key = { readonly organizationNumber: number; readonly key: string };
type Row = RequestEntry['row'];

export type RequestKeys = ReturnType<typeof prepareRequestKeys>;

/** So many keys reach the index together. Twice as many are in memory at most. */
const INDEXED_TOGETHER = 32_768;
// Indexing outpaces inserts 2:1, so it ends before as many new keys wait.
const INDEXED_PER_INSERT = 2;
const ONLY_ROW = { id: 1 };

/** Keys on their way into the index, in its order. */
type Indexing = {
  readonly sequences: ReadonlyMap<string, number>;
  readonly ordered: readonly number[];
  /** The largest sequence. */
  readonly upTo: number;
  /** The position of the first that is not in the index yet. */
  next: number;
};

export function prepareRequestKeys(db: Database, indexedTogether = INDEXED_TOGETHER) {
  const { appendSqlite: queries } = openQueries();
  const findAt = prepareQuery(db, queries.findRequestAt);
  const findIndexed = prepareQuery(db, queries.findRequestKey);
  const insertRow = prepareChange(db, queries.insertRequests);
  const replaceRow = prepareChange(db, queries.replaceRequests);
  const index = prepareChange(db, queries.indexRequest);
  const removeKey = prepareChange(db, queries.removeRequestKey);
  const setIndexed = prepareChange(db, queries.replaceIndexed);
  const removeRow = db.prepare<[number, number]>(
    `DELETE FROM requests WHERE sequence = ?
     AND max(ifnull(completed_at, 0), ifnull(settled_at, 0), ifnull(correction_at, 0)) <= ?`,
  );

  const indexedUpTo = prepareQuery(db, queries.findIndexed).get(ONLY_ROW)?.sequence ?? 0;
  // A number is never used again: an entry of the index must not find another request.
  let last = Math.max(indexedUpTo, prepareQuery(db, queries.findLastRequest).get({})?.sequence ?? 0);
  let waiting = new Map<string, number>();
  let indexing: Indexing | null = null;
  /** The keys that the running transaction has inserted. */
  let inserted: string[] = [];

  for (const { sequence, ...key } of prepareQuery(db, queries.listRequestsAfter).iterate({ sequence: indexedUpTo })) {
    waiting.set(nameOf(key), sequence);
  }

  function findSequence(key: Key): number | undefined {
    const name = nameOf(key);
    return waiting.get(name) ?? indexing?.sequences.get(name) ?? findIndexed.get(key)?.sequence;
  }

  function find(key: Key): readonly Found<'findRequest'>[] {
    const sequence = findSequence(key);
    return sequence === undefined ? [] : findAt.all({ sequence });
  }

  return {
    find,
    /** Throws KeyConflict when the key exists. */
    insert(row: Row): void {
      if (find(row).length > 0) throw new KeyConflict(`the request ${row.key} exists`);
      last += 1;
      insertRow({ ...row, sequence: last });
      const name = nameOf(row);
      waiting.set(name, last);
      inserted.push(name);
    },
    /** Stores a changed request, and adds its key to the index, in which other threads look for changed requests. */
    replace(row: Row): void {
      const sequence = findSequence(row);
      if (sequence === undefined) throw new Error('a request is changed that was not found');
      replaceRow({ ...row, sequence });
      index({ sequence });
    },
    /** Removes a request unless it has a later event. */
    remove(key: Key, untilMs: number): void {
      const sequence = findSequence(key);
      if (sequence !== undefined && removeRow.run(sequence, untilMs).changes > 0) removeKey(key);
    },
    /** Adds some keys to the index in the transaction that has inserted a number of requests. */
    indexSome(insertedCount: number): void {
      if (indexing === null) return;
      const { ordered, next, upTo } = indexing;
      indexing.next = Math.min(ordered.length, next + INDEXED_PER_INSERT * insertedCount);
      for (const sequence of ordered.slice(next, indexing.next)) index({ sequence });
      if (next < ordered.length && indexing.next === ordered.length) setIndexed({ ...ONLY_ROW, sequence: upTo });
    },
    /** Runs a transaction, or a part of one that is undone by itself, and forgets its requests when it throws. */
    undoing<T>(transaction: () => T): T {
      const before = { last, inserted: inserted.length, next: indexing?.next ?? 0 };
      try {
        return transaction();
      } catch (error) {
        for (const name of inserted.splice(before.inserted)) waiting.delete(name);
        last = before.last;
        if (indexing !== null) indexing.next = before.next;
        throw error;
      }
    },
    /** Call after each commit. */
    noteCommit(): void {
      inserted = [];
      if (indexing !== null && indexing.next === indexing.ordered.length) indexing = null;
      if (indexing !== null || waiting.size < indexedTogether) return;
      const byName = [...waiting].sort(([one], [other]) => (one < other ? -1 : 1));
      indexing = { sequences: waiting, ordered: byName.map(([, sequence]) => sequence), upTo: last, next: 0 };
      waiting = new Map();
    },
  };
}

function nameOf({ organizationNumber, key }: Key): string {
  return `${organizationNumber}/${key}`;
}
