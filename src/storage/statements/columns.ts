/** What the object mapper knows of tables and their columns. */

import type { Mapper } from '../mapper.ts';

export type Column = {
  /** The property. */
  readonly name: string;
  readonly fieldNames: readonly string[];
  readonly columnTypes: readonly string[];
  readonly type: unknown;
  readonly customType?: unknown;
  readonly runtimeType: string;
  readonly primary?: boolean;
  readonly autoincrement?: boolean;
  readonly default?: unknown;
};

export type Table = { readonly name: string; readonly tableName: string; readonly columns: readonly Column[] };

export type Schema = {
  /** By its entity name. */
  tableOf(name: string): Table;
  /** Finds a column by its name in the database. */
  columnOf(tableNames: readonly string[], name: string): Column;
};

export function describeSchema(mapper: Mapper): Schema {
  const tables: readonly Table[] = [...mapper.getMetadata()].map(({ className, tableName, properties }) => ({
    name: className,
    tableName,
    columns: Object.values(properties) as Column[],
  }));
  return {
    tableOf(name) {
      const table = tables.find((each) => each.name === name);
      if (table === undefined) throw new Error(`there is no table ${name}`);
      return table;
    },
    columnOf(tableNames, name) {
      const columns = tables
        .filter(({ tableName }) => tableNames.includes(tableName))
        .flatMap((table) => table.columns);
      const column = columns.find(({ fieldNames }) => fieldNames[0] === name);
      if (column === undefined) throw new Error(`no table of ${tableNames.join(', ')} has the column ${name}`);
      return column;
    },
  };
}

/** The column of a property. */
export function columnNamed({ name, columns }: Table, property: string): Column {
  const column = columns.find((each) => each.name === property);
  if (column === undefined) throw new Error(`${name} has no ${property}`);
  return column;
}

/** The type of a column in the database. */
export function typeOf({ columnTypes }: Column): string {
  // `serial` columns hold integers.
  return String(columnTypes[0]).replace('serial', 'int');
}

/** Quotes an identifier. */
export function quote(name: string | undefined): string {
  return `"${name}"`;
}
