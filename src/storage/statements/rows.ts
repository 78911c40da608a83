/** SQL for whole rows, by their table's description. */

import type { Dialect } from '../queries.ts';
import type { Column, Schema } from './columns.ts';

// biome-ignore lint/suspicious/noExplicitAny: these functions serve every table, and the builder types each.
type Any = any;

export type RowDialect = Pick<Dialect, 'allOf' | 'find' | 'row' | 'insert' | 'upsert' | 'orAdd' | 'update' | 'remove'>;

export function createRowDialect({ tableOf }: Schema): RowDialect {
  const namesOf = (table: string, isWanted: (column: Column) => boolean, without: readonly string[] = []): string[] =>
    tableOf(table).columns.flatMap((column) =>
      isWanted(column) && !without.includes(column.name) ? [column.name] : [],
    );

  const allOf = (table: string, ...without: readonly string[]): Any =>
    namesOf(table, () => true, without).map((name) => `${table}.${name} as ${name}`);
  const row = (table: string, params: Any, ...without: readonly string[]): Any =>
    Object.fromEntries(namesOf(table, isGiven, without).map((name) => [name, params[name]]));
  const insert = (db: Any, table: string, params: Any): Any => db.insertInto(table).values(row(table, params));

  /** When the primary key is known: sets all other columns. */
  function whenKnown(insert: Any, table: string, toValue: (builder: Any, name: string) => Any): Any {
    const key = namesOf(table, ({ primary }) => primary === true);
    const others = namesOf(table, isGiven, key);
    return insert.onConflict((known: Any) =>
      known
        .columns(key)
        .doUpdateSet((builder: Any) => Object.fromEntries(others.map((name) => [name, toValue(builder, name)]))),
    );
  }

  return {
    allOf,
    find(db: Any, table: string, known: Any, ...without: readonly string[]): Any {
      const all = db.selectFrom(table).select(allOf(table, ...without));
      return Object.keys(known).length === 0 ? all : all.where(({ and }: Any) => and(known));
    },
    row,
    insert,
    upsert: (db: Any, table: string, params: Any): Any =>
      whenKnown(insert(db, table, params), table, ({ ref }, name) => ref(`excluded.${name}`)),
    orAdd: (insert: Any, table: string): Any =>
      whenKnown(insert, table, ({ eb, ref }, name) => eb(`${table}.${name}`, '+', ref(`excluded.${name}`))),
    update: (db: Any, table: string, known: Any): Any => db.updateTable(table).where(({ and }: Any) => and(known)),
    remove: (db: Any, table: string, known: Any): Any => db.deleteFrom(table).where(({ and }: Any) => and(known)),
  };
}

/** Whether the store does not fill the column in itself. */
function isGiven({ autoincrement, default: standard }: Column): boolean {
  return autoincrement !== true && standard === undefined;
}
