/** The statements that searches run on the file of the index. */

import type { SearchPosition, SearchQuery } from '../../../domain/traces/search/trace-search-store.ts';
import type { IndexPlan, RangedNumber } from '../../search/index-plan.ts';
import { lastKey } from '../../search/named-traces.ts';
import { idTextSql } from './compact-ids.ts';
import type { Database } from './connection.ts';
import { INTEGER } from './search-file.ts';

export type Row = SearchPosition & { readonly sequence: number };

/** Some sequences, and what FTS5 must find of their traces. */
export type Piece = {
  /** All of these. */
  readonly facets: readonly string[];
  /** Null: anything. */
  readonly text: string | null;
  readonly from: number;
  readonly to: number;
};

export type Chunk = {
  readonly chunk: number;
  readonly startedFrom: number;
  readonly startedTo: number;
  readonly updatedFrom: number;
  readonly updatedTo: number;
  readonly insertedFrom: number;
};

export type Bucket = { readonly bucket: number; readonly traces: number };

export type SearchRows = ReturnType<typeof createSearchRows>;

type Cell = string | number;
type Sql = { readonly text: string; readonly cells: readonly Cell[] };

const COLUMNS: Readonly<Record<RangedNumber, string>> = {
  totalTimeMs: 'r.total_time_ms',
  totalCostNanoUsd: 'r.total_cost_nano_usd',
  totalTokens: 'r.total_tokens',
  firstTokenMs: 'r.first_token_ms',
};
const KEYS: Readonly<Record<SearchQuery['sort'], string>> = {
  started_at: 'r.started_at',
  updated_at: 'r.updated_at',
  total_cost: COLUMNS.totalCostNanoUsd,
  total_time_ms: COLUMNS.totalTimeMs,
  first_token_ms: COLUMNS.firstTokenMs,
};
const ID = idTextSql('r.trace_id');

export function createSearchRows(file: Database, query: SearchQuery, { ranges }: Pick<IndexPlan, 'ranges'>) {
  const { projectNumber, started, updated, isAscending } = query;
  const expiredBeforeMs = query.expiredBeforeMs ?? Number.MIN_SAFE_INTEGER;
  const key = `coalesce(${KEYS[query.sort]}, ${lastKey(query)})`;
  const direction = isAscending ? 'ASC' : 'DESC';
  const fits: Sql = {
    text: [
      'r.project_number = ? AND r.started_at BETWEEN ? AND ? AND r.updated_at BETWEEN ? AND ? AND r.inserted_at >= ?',
      ...ranges.map(({ number }) => `${COLUMNS[number]} BETWEEN ? AND ?`),
    ].join(' AND '),
    cells: [
      ...[projectNumber, started.fromMs, started.toMs, updated.fromMs, updated.toMs, expiredBeforeMs],
      ...ranges.flatMap(({ from, to }) => [from, to]),
    ],
  };

  function listRows({ text, cells }: Sql): readonly Row[] {
    const rows = prepare<[number, number, string]>(file, text)
      .raw()
      .all(...cells);
    return (rows as [number, number, string][]).map(([sequence, rowKey, traceId]) => ({
      sequence,
      key: rowKey,
      traceId,
    }));
  }

  const select = `SELECT r.sequence, ${key} AS row_key, ${ID} AS id FROM`;
  return {
    /** The sequences of some candidates in ascending order, regardless of the bounds of the query. */
    sequences(piece: Piece, limit: number): readonly number[] {
      const { text, cells } = candidatesOf(piece);
      return prepare<number>(file, `${text} LIMIT ?`)
        .pluck()
        .all(...cells, limit) as number[];
    },
    /** Counts candidates; where asked to, those that are within the bounds. */
    count(piece: Piece, { isBound, leftOut, limit }: Count): number {
      const { text, cells } = isBound ? joined(piece, fits) : among(piece);
      const list = `SELECT c.sequence FROM ${text} ${isLeft('c.sequence', leftOut)} LIMIT ?`;
      return prepare<number>(file, `SELECT count(*) FROM (${list})`)
        .pluck()
        .get(...cells, ...cellsOf(leftOut), limit) as number;
    },
    /** The rows of candidates that are within the bounds, in any order. */
    rowsOf(sequences: readonly number[]): readonly Row[] {
      const text = `${select} json_each(?) c CROSS JOIN indexed_traces r ON r.sequence = c.value WHERE ${fits.text}`;
      return listRows({ text, cells: [JSON.stringify(sequences), ...fits.cells] });
    },
    /** The first rows behind a position in the order of the query. */
    firstRows(piece: Piece, { after, limit, leftOut }: FirstRows): readonly Row[] {
      const { text, cells } = joined(piece, fits);
      const isBehind = after === null ? '' : `AND (${key}, ${ID}) ${isAscending ? '>' : '<'} (?, ?)`;
      const where = `${text} ${isBehind} ${isLeft('r.sequence', leftOut)}`;
      return listRows({
        text: `${select} ${where} ORDER BY row_key ${direction}, id ${direction} LIMIT ?`,
        cells: [...cells, ...(after === null ? [] : [after.key, after.traceId]), ...cellsOf(leftOut), limit],
      });
    },
    /** Those that may have traces within the bounds. */
    chunks: (): readonly Chunk[] =>
      prepare<Chunk>(
        file,
        `SELECT chunk, started_from AS startedFrom, started_to AS startedTo, updated_from AS updatedFrom,
           updated_to AS updatedTo, inserted_from AS insertedFrom FROM chunks
         WHERE project_number = ? AND started_to >= ? AND started_from <= ? AND updated_to >= ? AND updated_from <= ?
         ORDER BY chunk`,
      ).all(projectNumber, started.fromMs, started.toMs, updated.fromMs, updated.toMs) as Chunk[],
    buckets: (number: RangedNumber): readonly Bucket[] =>
      prepare<Bucket>(
        file,
        'SELECT bucket, traces FROM buckets WHERE project_number = ? AND number = ? AND traces > 0 ORDER BY bucket',
      ).all(projectNumber, number) as Bucket[],
    isInside: ({ startedFrom, startedTo, updatedFrom, updatedTo, insertedFrom }: Chunk) =>
      startedFrom >= started.fromMs &&
      startedTo <= started.toMs &&
      updatedFrom >= updated.fromMs &&
      updatedTo <= updated.toMs &&
      insertedFrom >= expiredBeforeMs,
  };
}

type FirstRows = {
  readonly after: SearchPosition | null;
  readonly limit: number;
  readonly leftOut: readonly number[];
};

type Count = {
  readonly isBound: boolean;
  readonly leftOut: readonly number[];
  readonly limit: number;
};

function isLeft(sequence: string, leftOut: readonly number[]): string {
  return leftOut.length === 0 ? '' : `AND ${sequence} NOT IN (SELECT value FROM json_each(?))`;
}

function cellsOf(leftOut: readonly number[]): readonly Cell[] {
  return leftOut.length === 0 ? [] : [JSON.stringify(leftOut)];
}

function among(piece: Piece): Sql {
  const { text, cells } = candidatesOf(piece);
  return { text: `(${text}) c WHERE true`, cells };
}

/** The order of the join is given: the planner knows nothing of FTS5. */
function joined(piece: Piece, fits: Sql): Sql {
  const { text, cells } = candidatesOf(piece);
  return {
    text: `(${text}) c CROSS JOIN indexed_traces r ON r.sequence = c.sequence WHERE ${fits.text}`,
    cells: [...cells, ...fits.cells],
  };
}

function candidatesOf({ facets, text, from, to }: Piece): Sql {
  const parts = [
    ...(facets.length === 0 ? [] : [{ table: 'facets', match: facets.map((each) => `(${each})`).join(' AND ') }]),
    ...(text === null ? [] : [{ table: 'texts', match: text }]),
  ];
  const selects = parts.map(
    ({ table }) =>
      `SELECT rowid AS sequence FROM ${table} WHERE ${table} MATCH ? AND rowid BETWEEN ${INTEGER} AND ${INTEGER}`,
  );
  return {
    // In this order FTS5 finds them, so that two are merged as they are read.
    text: `${selects.join(' INTERSECT ')} ORDER BY 1`,
    cells: parts.flatMap(({ match }) => [match, from, to]),
  };
}

const prepared = new WeakMap<Database, Map<string, unknown>>();

function prepare<Result>(file: Database, text: string) {
  const known = prepared.get(file) ?? new Map<string, unknown>();
  prepared.set(file, known);
  const statement = known.get(text) ?? file.prepare<Cell[], Result>(text);
  known.set(text, statement);
  return statement as ReturnType<typeof file.prepare<Cell[], Result>>;
}
