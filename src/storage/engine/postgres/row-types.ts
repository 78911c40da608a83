/**
 * The row types of this database's tables. Whole rows are sent as values of them. A process of the next version may add
 * columns while this one runs: those are left empty.
 */

import type { RowsInsert } from '../../queries.ts';
import { type Cell, encodeRows, type RowType } from './binary-arrays.ts';
import type { Pool, Statement } from './pool.ts';

export type RowTypes = {
  /** The parameter of the insert. */
  encode<Row>(insert: RowsInsert<Row>, rows: readonly Row[]): Buffer;
  /** Reads the types again, after a row did not match its table. */
  load(): Promise<void>;
};

type Column = { readonly table: string; readonly rowOid: number; readonly name: string; readonly oid: number };

const COLUMNS: Statement = {
  name: 'row-types',
  text: `SELECT relname AS table, reltype::integer AS "rowOid", attname AS name, atttypid::integer AS oid
    FROM pg_class JOIN pg_attribute ON attrelid = pg_class.oid
    WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition
      AND attnum > 0 AND NOT attisdropped
    ORDER BY relname, attnum`,
};

export function createRowTypes(pool: Pool): RowTypes {
  let tables: Partial<Record<string, readonly Column[]>> = {};
  const known = new Map<string, RowType>();

  function typeOf({ name, table, columns }: RowsInsert<never>): RowType {
    const type = known.get(name) ?? toRowType(tables[table] ?? [], columns);
    known.set(name, type);
    return type;
  }

  return {
    encode: (insert, rows) => encodeRows(typeOf(insert), rows.map(insert.cells) as Cell[][]),
    async load() {
      const columns = await pool.runStatement<Column>(COLUMNS, []);
      tables = Object.groupBy(columns, ({ table }) => table);
      known.clear();
    },
  };
}

function toRowType(stored: readonly Column[], given: readonly string[]): RowType {
  const [first] = stored;
  if (first === undefined) throw new Error('a row is written to a table that is not there');
  return {
    oid: first.rowOid,
    columns: stored.map(({ name, oid }) => ({ oid, cell: given.includes(name) ? given.indexOf(name) : null })),
  };
}
