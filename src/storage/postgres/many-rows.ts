/** Statements that take many rows at once, column by column. */

import type { Statement } from './connection.ts';

type Value = string | number | boolean | null;
type ColumnType = 'integer' | 'bigint' | 'text' | 'boolean';

/** By the names of the columns: of what type they are, and what a row has in them. */
export type Columns<Row> = { readonly [name: string]: readonly [type: ColumnType, of: (row: Row) => Value] };

export type ManyRows<Row> = {
  readonly statement: Statement;
  values(rows: readonly Row[]): readonly (readonly Value[])[];
};

type Naming = { readonly name: string; readonly table: string };

/** `suffix` says what becomes of rows that are there already. */
export function insertMany<Row>({ name, table }: Naming, columns: Columns<Row>, suffix = ''): ManyRows<Row> {
  const names = Object.keys(columns).join(', ');
  const text = `INSERT INTO ${table} AS stored (${names}) SELECT ${names} FROM ${given(columns)} ${suffix}`;
  return { statement: { name, text }, values: toValues(columns) };
}

/** `expressions` replaces what a column is set to; in it the row that is there is `stored`, and the other one `given`. */
export function updateMany<Row>(
  { name, table, keys, expressions = {} }: Naming & UpdateNaming,
  columns: Columns<Row>,
): ManyRows<Row> {
  const changed = Object.keys(columns).filter((column) => !keys.includes(column));
  const sets = changed.map((column) => `${column} = ${expressions[column] ?? `given.${column}`}`);
  const matches = keys.map((key) => `stored.${key} = given.${key}`);
  const text = `UPDATE ${table} AS stored SET ${sets.join(', ')} FROM ${given(columns)} WHERE ${matches.join(' AND ')}`;
  return { statement: { name, text }, values: toValues(columns) };
}

type UpdateNaming = {
  readonly keys: readonly string[];
  readonly expressions?: { readonly [column: string]: string };
};

function given<Row>(columns: Columns<Row>): string {
  const arrays = Object.values(columns).map(([type], index) => `$${index + 1}::${type}[]`);
  return `unnest(${arrays.join(', ')}) AS given (${Object.keys(columns).join(', ')})`;
}

function toValues<Row>(columns: Columns<Row>): ManyRows<Row>['values'] {
  const getters = Object.values(columns).map(([, of]) => of);
  return (rows) => getters.map((of) => rows.map(of));
}
