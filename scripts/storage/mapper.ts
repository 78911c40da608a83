/** The object mapper's metadata of the tables. It never connects. */

import { MikroORM as PostgresMapper } from '@mikro-orm/postgresql';
import { MikroORM as SqliteMapper } from '@mikro-orm/sqlite';
import { POSTGRES_TABLES, SQLITE_TABLES } from '../../src/storage/entities/entities.ts';
import {
  fitTo,
  PackedEnvelope,
  PackedId,
  PackedKey,
  PackedText,
  ReceivedText,
  Stored,
  type StoreKind,
} from '../../src/storage/entities/kinds.ts';
import type { Db } from '../../src/storage/queries.ts';

export type Column = {
  /** The property. */
  readonly name: string;
  readonly fieldNames: readonly string[];
  readonly columnTypes: readonly string[];
  readonly type: unknown;
  readonly customType?: unknown;
  readonly runtimeType: string;
  readonly nullable?: boolean;
  readonly primary?: boolean;
};

export type Table = { readonly name: string; readonly tableName: string; readonly columns: readonly Column[] };

export type Mapper = {
  readonly db: Db;
  /** By its entity name. */
  tableOf(name: string): Table;
  /** Finds a column by name in the tables. */
  columnOf(tableNames: readonly string[], name: string): Column;
};

export function openMapper(store: StoreKind): Mapper {
  const settings = {
    // Only names a database.
    dbName: store === 'sqlite' ? ':memory:' : 'spandrel',
    connect: false,
    metadataCache: { enabled: false },
    discovery: { onMetadata: fitTo(store) },
  };
  const mapper =
    store === 'sqlite'
      ? new SqliteMapper({ ...settings, entities: [...SQLITE_TABLES] })
      : new PostgresMapper({ ...settings, entities: [...POSTGRES_TABLES] });
  const tables: readonly Table[] = [...mapper.getMetadata()].map(({ className, tableName, properties }) => ({
    name: className,
    tableName,
    columns: Object.values(properties) as Column[],
  }));
  return {
    db: mapper.em.getKysely({ tableNamingStrategy: 'entity', columnNamingStrategy: 'property' }) as unknown as Db,
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

/** The code that converts a value to its stored form. */
export function packCode(store: StoreKind, column: Column, value: string): string {
  const unlessNull = (code: string) => (column.nullable === true ? `${value} == null ? null : ${code}` : code);
  const orNull = column.nullable === true ? `${value} ?? null` : value;
  const kind = column.customType ?? column.type;
  if (kind instanceof Stored) {
    if (kind.form === 'typedText') return `packTyped(${orNull})`;
    return unlessNull(kind.form === 'json' ? `JSON.stringify(${value})` : `${kind.form}.code(${value})`);
  }
  if (store === 'postgres') return kind instanceof ReceivedText ? `dropNul(${orNull})` : orNull;
  if (kind instanceof PackedText) return `packCostSource(${orNull})`;
  if (kind instanceof PackedId) return unlessNull(`packId(${value})`);
  if (kind instanceof PackedKey) return `packRequestKey(${value})`;
  if (kind instanceof PackedEnvelope) return `packEnvelope(${value})`;
  return column.runtimeType === 'boolean' ? unlessNull(`Number(${value})`) : orNull;
}

/** The code that converts a stored value back. */
export function unpackCode(store: StoreKind, column: Column, raw: string): string {
  const unlessNull = (code: string) => (column.nullable === true ? `${raw} === null ? null : ${code}` : code);
  const kind = column.customType ?? column.type;
  if (kind instanceof Stored) {
    if (kind.form === 'typedText') return `unpackTyped(${raw})`;
    if (kind.form === 'json') return unlessNull(`JSON.parse(${raw})`);
    return unlessNull(`${kind.form}.value(${raw})`);
  }
  if (store === 'postgres') return raw;
  if (kind instanceof PackedText) return `unpackCostSource(${raw})`;
  if (kind instanceof PackedId) throw new Error('SQLite has ids as bytes: a query selects them by idText');
  if (kind instanceof PackedKey) return `unpackRequestKey(${raw})`;
  if (kind instanceof PackedEnvelope) return `unpackEnvelope(${raw})`;
  return column.runtimeType === 'boolean' ? unlessNull(`${raw} === 1`) : raw;
}

const ARRAYS: Readonly<Record<string, string>> = {
  bigint: 'int8Array',
  boolean: 'boolArray',
  bytea: 'bytesArray',
  'double precision': 'float8Array',
  int: 'int4Array',
  text: 'textArray',
};

/** The code that encodes a column of many rows as a PostgreSQL array. */
export function encodeCode(type: string, cell: string): string {
  const encode = ARRAYS[type];
  if (encode === undefined) throw new Error(`there are no arrays of ${type}`);
  return `${encode}(rows, (params) => ${cell})`;
}

export function typeOf({ columnTypes }: Column): string {
  // `serial` columns hold integers.
  return String(columnTypes[0]).replace('serial', 'int');
}

/** Quotes an identifier. */
export function quote(name: string | undefined): string {
  return `"${name}"`;
}
