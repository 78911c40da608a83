/** Writes many rows: SQLite one by one, PostgreSQL all at once, as an array of rows. */

import type { StoreKind } from '../../src/storage/entities/kinds.ts';
import type { ManySource } from '../../src/storage/queries.ts';
import { type Column, packCode, quote, type Table } from './mapper.ts';

export type Written = { readonly text: string; readonly cells: readonly string[] };

export function writeMany(store: StoreKind, table: Table, source: ManySource<unknown>): Written {
  const { columns } = table;
  const cells = columns.map((column) => packCode(store, column, `params.${column.name}`));
  const names = namesOf(columns);
  const rows = store === 'sqlite' ? `values (${cells.map(() => '?').join(', ')})` : selectGiven(table, source);
  const insert = `insert into ${quote(table.tableName)} (${names.join(', ')}) ${rows}`;
  return { text: source.action === 'insert' ? insert : `${insert} ${orReplace(table, source.keeps)}`, cells };
}

function selectGiven({ tableName, columns }: Table, { made, from }: ManySource<unknown>): string {
  const making: Readonly<Record<string, string | undefined>> = made;
  const values = columns.map((column) => making[column.name] ?? `"given".${quote(column.fieldNames[0])}`);
  return `select ${values.join(', ')} from unnest($1::${quote(tableName)}[]) as "given"${from === '' ? '' : ` ${from}`}`;
}

function orReplace(table: Table, keeps: readonly string[]): string {
  const changed = table.columns.filter((column) => column.primary !== true && !keeps.includes(column.name));
  const sets = namesOf(changed).map((name) => `${name} = "excluded".${name}`);
  return `on conflict (${namesOf(keyOf(table)).join(', ')}) do update set ${sets.join(', ')}`;
}

function keyOf({ columns }: Table): readonly Column[] {
  return columns.filter(({ primary }) => primary === true);
}

function namesOf(columns: readonly Column[]): readonly string[] {
  return columns.map(({ fieldNames }) => quote(fieldNames[0]));
}
