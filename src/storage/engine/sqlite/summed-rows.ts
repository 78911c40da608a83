/** Reads the rows that analytics sum up from the file of the index, slice by slice. */

import { type Condition, type Dimension, isListed, type TracesQuery } from '../../analytics/indexed-sums.ts';
import type { Database } from './connection.ts';
import { CHUNK_TRACES } from './search-file.ts';
import { createYieldWhenDue } from './yield-when-due.ts';

export type Cell = string | number | null;
/** The sequences of one statement. */
export type Slice = { readonly from: number; readonly to: number };

export type SummedRows = ReturnType<typeof createSummedRows>;

export const COLUMNS: Readonly<Record<Dimension, string>> = {
  user: 'user_value',
  customer: 'customer_value',
  thread: 'thread_value',
  label: 'labels',
  prompt: 'prompts',
  promptVersion: 'prompt_versions',
  promptName: 'prompt_names',
};

/** Other reads have their turn after each slice. A trace with a thousand labels takes as long as hundreds without. */
const SLICE_MIN = 64;
const SLICE_MAX = 65_536;
const SHORT_MS = 3;
const LONG_MS = 8;
/** So many rows are soon garbage, before it is copied. */
const ROWS_MAX = 2_048;

export function createSummedRows(file: Database, query: TracesQuery) {
  const { projectNumber, fromMs, toMs, receivedFromMs, conditions, isOver } = query;
  const matching = ['project_number = ?', ...conditions.map(({ dimension }) => hasValue(dimension))].join(' AND ');
  const ownCells = [projectNumber, ...conditions.flatMap(cellsOf)];
  const bounds = [fromMs, toMs, receivedFromMs];
  const leftOut = Float64Array.from(query.leftOut).sort();

  function leftOutOf({ from, to }: Slice): string | null {
    const first = indexOfFirst(leftOut, from);
    const some = leftOut.subarray(first, indexOfFirst(leftOut, to + 1));
    return some.length === 0 ? null : JSON.stringify([...some]);
  }

  return {
    /** No more rows than these are read. */
    countMax: (): number => runsOf(file, query).reduce((sum, { from, to }) => sum + to - from + 1, 0),

    /** Passes the columns of each row to `take`, until it returns true. False: the time is over. */
    async forEach(
      { columns, values, known = null }: Selected,
      take: (row: readonly Cell[], slice: Slice) => boolean,
    ): Promise<boolean> {
      const among = values === null ? { text: '', cells: [] } : isAmong(values);
      const text = `SELECT ${columns.join()} FROM indexed_traces WHERE sequence BETWEEN ? AND ? AND ${matching}${among.text}${known === null ? '' : ` AND ${known} IS NOT NULL`}`;
      const all = file.prepare<Cell[], Cell[]>(text).raw();
      const some = file.prepare<Cell[], Cell[]>(`${text} AND ${IS_WITHIN} AND ${IS_OTHER}`).raw();
      const yieldWhenDue = createYieldWhenDue();
      let size = SLICE_MIN;
      for (const run of runsOf(file, query)) {
        for (let from = run.from; from <= run.to; ) {
          const slice = { from, to: Math.min(run.to, from + size - 1) };
          const startedAtMs = performance.now();
          const known = leftOutOf(slice);
          const cells = [slice.from, slice.to, ...ownCells, ...among.cells];
          const isAll = run.isInside && known === null;
          const rows = isAll ? all.all(...cells) : some.all(...cells, ...bounds, known ?? '[]');
          for (const row of rows) if (take(row, slice)) return true;
          const tookMs = performance.now() - startedAtMs;
          if (tookMs > LONG_MS) size = Math.max(SLICE_MIN, size / 2);
          else if (tookMs < SHORT_MS && rows.length < ROWS_MAX) size = Math.min(SLICE_MAX, size * 2);
          from = slice.to + 1;
          await yieldWhenDue();
          if (isOver()) return false;
        }
      }
      return true;
    },

    /** A trace of a slice that has a value; null: it has none any more. */
    find({ from, to }: Slice, condition: Condition): number | null {
      const has = hasValue(condition.dimension);
      const text = `SELECT sequence FROM indexed_traces WHERE sequence BETWEEN ? AND ? AND ${matching} AND ${has}
        AND ${IS_WITHIN} AND ${IS_OTHER} LIMIT 1`;
      const found = file.prepare<Cell[], number>(text).pluck();
      return (
        found.get(from, to, ...ownCells, ...cellsOf(condition), ...bounds, leftOutOf({ from, to }) ?? '[]') ?? null
      );
    },
  };
}

function hasValue(dimension: Dimension): string {
  const column = COLUMNS[dimension];
  if (!isListed(dimension)) return `${column} = ?`;
  return `instr(${column}, ?) > 0 AND EXISTS (SELECT 1 FROM json_each(${column}) WHERE value = ?)`;
}

function cellsOf({ dimension, number }: Condition): readonly Cell[] {
  return isListed(dimension) ? [String(number), number] : [number];
}

const IS_WITHIN = 'started_at BETWEEN ? AND ? AND inserted_at >= ?';
const IS_OTHER = 'sequence NOT IN (SELECT value FROM json_each(?))';

type Selected = {
  readonly columns: readonly string[];
  readonly values: Values | null;
  /** A column that must have a value. */
  readonly known?: string | null;
};

/** Values one of which a trace must have; null: none. */
type Values = { readonly dimension: Dimension; readonly numbers: readonly (number | null)[] };

function isAmong({ dimension, numbers }: Values) {
  const column = COLUMNS[dimension];
  const known = numbers.filter((number) => number !== null);
  const orNull = known.length < numbers.length ? ` OR ${column} IS NULL` : '';
  return {
    text: ` AND (${column} IN (SELECT value FROM json_each(?))${orNull})`,
    cells: [JSON.stringify(known)],
  };
}

/** Sequences among which the traces are. `isInside`: whether all that the project has there are within the bounds. */
type Run = { readonly from: number; to: number; readonly isInside: boolean };
type Chunk = { readonly chunk: number; readonly isInside: number };

function runsOf(file: Database, { projectNumber, fromMs, toMs, receivedFromMs }: TracesQuery): readonly Run[] {
  const chunks = file
    .prepare<Cell[], Chunk>(
      `SELECT chunk, started_from >= ? AND started_to <= ? AND inserted_from >= ? AS isInside FROM chunks
       WHERE project_number = ? AND started_to >= ? AND started_from <= ? ORDER BY chunk`,
    )
    .all(fromMs, toMs, receivedFromMs, projectNumber, fromMs, toMs);
  const runs: Run[] = [];
  for (const { chunk, ...bounds } of chunks) {
    const isInside = bounds.isInside === 1;
    const [from, to] = [chunk * CHUNK_TRACES, (chunk + 1) * CHUNK_TRACES - 1];
    const run = runs.at(-1);
    if (run?.to === from - 1 && run.isInside === isInside) run.to = to;
    else runs.push({ from, to, isInside });
  }
  return runs;
}

/** The first index whose number is at least this one. */
function indexOfFirst(sorted: Float64Array, number: number): number {
  let [from, to] = [0, sorted.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    if ((sorted[middle] ?? 0) < number) from = middle + 1;
    else to = middle;
  }
  return from;
}
