/** SQL for whole rows, by their table's description. */

import type { Dialect } from '../../src/storage/queries.ts';

// biome-ignore lint/suspicious/noExplicitAny: these functions serve every table, and the builder types each.
type Any = any;
type RowDialect = Pick<Dialect, 'find' | 'row' | 'insert' | 'upsert' | 'orAdd' | 'update' | 'remove'>;
type Described = { readonly meta: { readonly name?: string; readonly properties: object } };

export function createRowDialect(tables: readonly Described[]): RowDialect {
  function namesOf(table: string, isWanted: (column: Any) => boolean, without: readonly string[] = []): string[] {
    const described = tables.find(({ meta }) => meta.name === table);
    if (described === undefined) throw new Error(`${table} is no table of the store`);
    const columns = Object.entries(described.meta.properties);
    return columns.flatMap(([name, column]) => (isWanted(column) && !without.includes(name) ? [name] : []));
  }

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
    find(db: Any, table: string, known: Any, ...without: readonly string[]): Any {
      const names = namesOf(table, () => true, without);
      const all = db.selectFrom(table).select(names.map((name) => `${table}.${name} as ${name}`));
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

function isGiven(column: Any): boolean {
  return column.autoincrement !== true && column.default === undefined;
}
