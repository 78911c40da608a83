/** Selects the first candidates of the index after a position, in the order of the query. */

import { setImmediate as nextTurn } from 'node:timers/promises';
import type { TraceSort } from '../../domain/traces/search/trace-search-query.ts';
import type { SearchPosition, SearchQuery } from '../../domain/traces/search/trace-search-store.ts';
import { type Bits, type Column, countBits, idOrderOf, lowestBit } from './block-format.ts';
import type { IndexFilter } from './index-filter.ts';
import type { IndexBlock, SearchRunner } from './index-reader.ts';
import { findBySequences, isBehind, lastKey, type Ranked, rankFound } from './named-traces.ts';

type Selected = {
  readonly rows: readonly Ranked[];
  /** Whether no candidates are left. */
  readonly isEnd: boolean;
};

/** At most `limit` candidates after a position. */
type PageRange = { readonly after: SearchPosition | null; readonly limit: number };

export type IndexSelection = ReturnType<typeof createIndexSelection>;

type Entry = {
  readonly block: IndexBlock;
  readonly index: number;
  readonly key: number;
  /** The order of the id by its first bytes; null: not read yet. */
  order: number | null;
};

/** `isCut`: further entries were left out. */
type Cut = { readonly entries: readonly Entry[]; readonly isCut: boolean };

/** Blocks that have candidates, and their keys by block number. */
type BlockKeys = { readonly filled: readonly IndexBlock[]; readonly columns: ReadonlyMap<number, Float64Array> };

type IndexSelectionDeps = {
  readonly runner: SearchRunner;
  readonly query: SearchQuery;
  readonly filter: IndexFilter;
  readonly blocks: readonly IndexBlock[];
};

const FIRST_BLOCKS = 8;
const BLOCKS_AT_ONCE = 128;
const ENTRIES_MAX = 8_192;
const ENTRIES_MIN = 1_024;
/** Traces with one key that are read to sort them by id. */
const TIES_MAX = 1_000;

const COLUMN_OF: Readonly<Record<TraceSort, Column>> = {
  started_at: 'startedAtMs',
  updated_at: 'updatedAtMs',
  total_cost: 'totalCostNanoUsd',
  total_time_ms: 'totalTimeMs',
  first_token_ms: 'firstTokenMs',
};

export function createIndexSelection({ runner, query, filter, blocks }: IndexSelectionDeps) {
  const { isAscending, sort } = query;
  const sign = isAscending ? 1 : -1;
  const none = lastKey(query);
  const isTimed = sort === 'started_at' || sort === 'updated_at';
  const matched = new Map<IndexBlock, Bits>();
  // Blocks whose bounds come first in the order of the query; without bounds any order will do.
  const ordered = blocks.toSorted((one, other) => sign * (firstKey(one) - firstKey(other)) || 0);

  function boundsOf(block: IndexBlock): readonly [number, number] | null {
    if (sort === 'started_at') return [block.startedFromMs, block.startedToMs];
    return sort === 'updated_at' ? [block.updatedFromMs, block.updatedToMs] : null;
  }

  function firstKey(block: IndexBlock): number {
    return boundsOf(block)?.[isAscending ? 0 : 1] ?? 0;
  }

  /** Whether every trace of the block comes before a key. */
  function isBefore(block: IndexBlock, key: number): boolean {
    const last = boundsOf(block)?.[isAscending ? 1 : 0];
    return last !== undefined && sign * (last - key) < 0;
  }

  async function match(some: readonly IndexBlock[]): Promise<void> {
    const unknown = some.filter((block) => !matched.has(block));
    const bits = unknown.length === 0 ? [] : await filter.match(unknown);
    for (const [index, block] of unknown.entries()) {
      const found = bits[index];
      if (found !== undefined) matched.set(block, found);
    }
  }

  async function readKeys(some: readonly IndexBlock[]): Promise<BlockKeys> {
    await match(some);
    const filled = some.filter((block) => matched.get(block)?.some((word) => word !== 0));
    return { filled, columns: await filter.column(filled, COLUMN_OF[sort]) };
  }

  /** Entries after a position, without those that certainly come after `limit` others. */
  function entriesOf({ filled, columns }: BlockKeys, { after, limit }: PageRange): Cut {
    let entries: Entry[] = [];
    let isCut = false;
    let furthest = Number.POSITIVE_INFINITY;
    let looksAt = ENTRIES_MIN + 2 * limit;
    for (const block of filled) {
      const values = columns.get(block.block) ?? new Float64Array();
      for (const [word, bits] of matched.get(block)?.entries() ?? []) {
        for (let left = bits; left !== 0; left &= left - 1) {
          const index = word * 32 + lowestBit(left);
          const value = values[index] ?? Number.NaN;
          const key = Number.isNaN(value) ? none : value;
          if (after !== null && sign * (key - after.key) < 0) continue;
          if (sign * key > furthest) isCut = true;
          else entries.push({ block, index, key, order: null });
        }
      }
      if (entries.length < looksAt) continue;
      const keys = entries.filter(({ key }) => key !== after?.key).map(({ key }) => sign * key);
      furthest = keys.sort((one, other) => one - other)[limit - 1] ?? furthest;
      const left = entries.filter(({ key }) => sign * key <= furthest);
      isCut ||= left.length < entries.length;
      entries = left;
      looksAt = 2 * entries.length + ENTRIES_MIN;
    }
    return { entries, isCut };
  }

  async function readOrders(entries: readonly Entry[]): Promise<void> {
    const unknown = entries.filter(({ order }) => order === null);
    const some = [...new Set(unknown.map(({ block }) => block))];
    const orders = await filter.column(some, 'idOrder');
    for (const entry of unknown) entry.order = orders.get(entry.block.block)?.[entry.index] ?? 0;
  }

  const compare = (one: Entry, other: Entry) => sign * (one.key - other.key || (one.order ?? 0) - (other.order ?? 0));

  /** Keeps the first `limit` entries and those that tie with the last. Null: too many tie. */
  async function cut(entries: readonly Entry[], { after, limit }: PageRange): Promise<Cut | null> {
    const byKey = entries.toSorted((one, other) => sign * (one.key - other.key));
    // Entries with the key of the cursor may come before it.
    const lastKey = byKey[limit - 1 + byKey.filter(({ key }) => key === after?.key).length]?.key;
    const some = lastKey === undefined ? byKey : byKey.filter(({ key }) => sign * (key - lastKey) <= 0);
    const isCut = some.length < byKey.length;
    if (some.length <= limit + TIES_MAX) return { entries: some, isCut };
    await readOrders(some);
    const order = after === null ? 0 : idOrderOf(after.traceId);
    const behind = some
      .filter((entry) => entry.key !== after?.key || sign * ((entry.order ?? 0) - order) >= 0)
      .sort(compare);
    const last = behind[limit - 1 + behind.filter((entry) => entry.key === after?.key && entry.order === order).length];
    const left = last === undefined ? behind : behind.filter((entry) => compare(entry, last) <= 0);
    if (left.length > limit + TIES_MAX) return null;
    return { entries: left, isCut: isCut || left.length < behind.length };
  }

  async function toRows(entries: readonly Entry[], after: SearchPosition | null): Promise<readonly Ranked[]> {
    const some = [...new Set(entries.map(({ block }) => block))];
    const columns = await filter.column(some, 'sequence');
    const sequences = entries.map(({ block, index }) => columns.get(block.block)?.[index] ?? 0);
    const found = await findBySequences(runner, query.projectNumber, [...new Set(sequences)]);
    return rankFound(found, query).filter((row) => isBehind(row, after, query));
  }

  return {
    /** Null: too many candidates share one key, or some were removed meanwhile. */
    async select(range: PageRange): Promise<Selected | null> {
      const { after, limit } = range;
      const candidates = after === null ? ordered : ordered.filter((block) => !isBefore(block, after.key));
      let entries: readonly Entry[] = [];
      let isCut = false;
      let ahead: Promise<BlockKeys> | null = null;
      for (let start = 0, size = FIRST_BLOCKS; start < candidates.length; start += size, size = BLOCKS_AT_ONCE) {
        const some = candidates.slice(start, start + size);
        if (isTimed && entries.filter(({ key }) => key !== after?.key).length >= limit) {
          const furthest = entries.reduce((most, { key }) => Math.max(most, sign * key), Number.NEGATIVE_INFINITY);
          if (some[0] !== undefined && sign * firstKey(some[0]) > furthest) {
            isCut = true;
            break;
          }
        }
        const keys = await (ahead ?? readKeys(some));
        // Other orders need every block, so the database reads the next ones while these are compared.
        ahead = isTimed ? null : readKeys(candidates.slice(start + size, start + size + BLOCKS_AT_ONCE));
        // A failure is thrown where the keys are awaited, unless the search has ended before.
        ahead?.catch(() => undefined);
        const found = entriesOf(keys, range);
        entries = entries.concat(found.entries);
        isCut ||= found.isCut;
        if (isTimed || entries.length > Math.max(ENTRIES_MAX, 2 * limit)) {
          const left = await cut(entries, range);
          if (left === null) return null;
          isCut ||= left.isCut;
          entries = left.entries;
        }
        await nextTurn();
      }
      const left = await cut(entries, range);
      if (left === null) return null;
      const found = await toRows(left.entries, after);
      const rows = found.slice(0, limit);
      const isEnd = !isCut && !left.isCut && found.length <= limit;
      // Null: removed traces made the page short, and it must not look like the last one.
      return isEnd || rows.length === limit ? { rows, isEnd } : null;
    },

    /** Counts candidates, and stops soon after `countMax`. */
    async count(countMax: number): Promise<number> {
      let count = 0;
      for (let start = 0; start < ordered.length; start += BLOCKS_AT_ONCE) {
        const some = ordered.slice(start, start + BLOCKS_AT_ONCE);
        await match(some);
        for (const block of some) count += countBits(matched.get(block) ?? new Uint32Array());
        if (count > countMax) return count;
        await nextTurn();
      }
      return count;
    },
  };
}
