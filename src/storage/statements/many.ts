/** Inserts and replacements of whole rows: one by one where a store has no arrays of rows, otherwise all at once. */

import type { ManySource } from '../queries.ts';
import { type Column, quote, type Table } from './columns.ts';

export function writeMany(table: Table, source: ManySource<unknown>, hasArrays: boolean): string {
  const { columns } = table;
  const rows = hasArrays ? selectGiven(table, source) : `values (${columns.map(() => '?').join(', ')})`;
  const insert = `insert into ${quote(table.tableName)} (${namesOf(columns).join(', ')}) ${rows}`;
  return source.action === 'insert' ? insert : `${insert} ${orReplace(table, source.keeps)}`;
}

function selectGiven({ tableName, columns }: Table, { made, from }: ManySource<unknown>): string {
  const making: Readonly<Record<string, string | undefined>> = made;
  const values = columns.map((column) => making[column.name] ?? `"given".${quote(column.fieldNames[0])}`);
  return `select ${values.join(', ')} from unnest($1::${quote(tableName)}[]) as "given"${from === '' ? '' : ` ${from}`}`;
}

function orReplace({ columns }: Table, keeps: readonly string[]): string {
  const key = columns.filter(({ primary }) => primary === true);
  const changed = columns.filter((column) => column.primary !== true && !keeps.includes(column.name));
  const sets = namesOf(changed).map((name) => `${name} = "excluded".${name}`);
  return `on conflict (${namesOf(key).join(', ')}) do update set ${sets.join(', ')}`;
}

function namesOf(columns: readonly Column[]): readonly string[] {
  return columns.map(({ fieldNames }) => quote(fieldNames[0]));
}
