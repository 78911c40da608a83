/**
 * How queries are written: once for every store, with the query builder of the object mapper. They are compiled when a process
 * starts (statements/); code that runs them imports only types from the files that define them.
 */

import type { InferKyselyDB } from '@mikro-orm/sql';
import type {
  Compilable,
  DeleteQueryBuilder,
  DeleteResult,
  Insertable,
  InsertQueryBuilder,
  InsertResult,
  Kysely,
  OperationNodeSource,
  RawBuilder,
  Selectable,
  SelectQueryBuilder,
  SqlBool,
  UpdateQueryBuilder,
  UpdateResult,
} from 'kysely';
import type { POSTGRES_TABLES, SQLITE_TABLES } from './entities/entities.ts';

type Naming = { tableNamingStrategy: 'entity'; columnNamingStrategy: 'property' };
export type Tables = InferKyselyDB<(typeof SQLITE_TABLES)[number], Naming>;
export type Db = Kysely<Tables>;
/** Also has the tables and columns of PostgreSQL alone. */
export type PostgresTables = InferKyselyDB<(typeof POSTGRES_TABLES)[number], Naming>;
export type PostgresDb = Kysely<PostgresTables>;

/** The SQL that differs between the stores. Columns are named by their properties. */
export type Dialect = {
  /** The stored form of an id parameter. */
  storedId(params: string): string;
  /** The text of a column of ids; ids are ordered by it. */
  idText(column: string): RawBuilder<string>;
  /** Whether a column holds one of at most IDS_PER_QUERY_MAX ids. */
  isOneOf(column: string, params: readonly (string | number)[]): RawBuilder<SqlBool>;
  /** The same for point reads. SQLite takes a single id: one more query costs less there than unused placeholders. */
  isPoint(column: string, params: readonly (string | number | Buffer)[]): RawBuilder<SqlBool>;
  /** The rows of an inner query as a JSON array, in its order. */
  listOf<Row extends TextRow>(inner: SelectQueryBuilder<never, never, Row>): RawBuilder<readonly Row[]>;
  /** Events with their envelopes, which SQLite keeps in a table of their own. */
  withEnvelope<Row>(events: Selecting<'Event', Row>): Selecting<'Event' | 'Envelope', Row>;
  /** The envelopes of the log, under the alias `log`. */
  envelopesOf(db: Db): SelectQueryBuilder<{ readonly log: Tables['Envelope'] }, 'log', Record<never, never>>;
  /** Every column of a table under its property name, except `without`. */
  allOf<Name extends TableName, Out extends Column<Name> = never>(table: Name, ...without: Out[]): EachOf<Name, Out>;
  /** For a lookup: the rows that have the key's columns. `lock` locks them for a change. */
  keyed<Builder>(
    builder: Builder,
    table: string,
    columns: { readonly [Property: string]: unknown },
    lock?: 'lock',
  ): Builder;
  /**
   * For a lookup: requests by their keys. PostgreSQL first finds the month of each, SQLite its sequence; the newest
   * requests of SQLite are found only by its writer (engine/sqlite/request-keys.ts).
   */
  requestsOf(db: Db, key: { organizationNumber: number; key: string }): Selecting<'Request', Record<never, never>>;
  /**
   * The text of a column of spans or evaluations. SQLite keeps large ones apart (engine/sqlite/large-texts.ts), so that these
   * columns are never selected by themselves. Whether they are null they say themselves.
   */
  textOf(column: string): RawBuilder<string | null>;
  /** The bytes of that text, computed without reading it. */
  bytesOf(column: string): RawBuilder<number | null>;
  /** The approximate bytes of several such texts. */
  textBytes(columns: readonly string[]): RawBuilder<number>;
  /** The larger of a column and `least`; null where the column is null. */
  atLeast(column: string, least: number): RawBuilder<number | null>;
  /** Whether a text contains a parameter, case-sensitively; also true for a null parameter. */
  holds(text: RawBuilder<string>, params: string | null): RawBuilder<SqlBool>;
  /** Locks the selected rows until the transaction ends. */
  lock<Builder extends Lockable<Builder>>(builder: Builder): Builder;
  /** Keeps the selected rows from being removed until the transaction ends; others may change them. */
  keep<Builder extends Lockable<Builder>>(builder: Builder): Builder;
  /** As `lock`, but skips rows that other transactions have locked, so that it never waits. */
  lockAvailable<Builder extends Lockable<Builder>>(builder: Builder): Builder;
  /** Locks a name until the transaction ends: others that lock it wait. */
  lockName(params: string): RawBuilder<unknown>;
  /** Whether a column holds one of any number of numbers. */
  isAmong(column: string, params: readonly number[]): RawBuilder<SqlBool>;
  /** Limits the log to a range of creation instants, where that helps the store to find it. */
  within<Builder>(log: Builder, firstMs: number, lastMs?: number): Builder;
  /** `count` unused delivery numbers, as ranges of `count` numbers from `first` on. */
  drawNumbers(db: Db, count: number): SelectQueryBuilder<Tables, never, { first: number; count: number }>;
  /** Of a `delivery` to an `endpoint`: how many of its events the log still has. */
  eventsKept(): RawBuilder<number | null>;
  /**
   * The writer that owns a row, for tables that several connections would contend for. PostgreSQL has one for each
   * connection.
   */
  ownRows(): RawBuilder<number>;
  /** The rows that have the `known` columns; selects all columns except `without`. */
  find<Name extends TableName, Without extends Column<Name> = never>(
    db: Db,
    table: Name,
    known: Known<Name>,
    ...without: readonly Without[]
  ): Selecting<Name, Omit<Selectable<Tables[Name]>, Without>>;
  /** The values of a whole row, except the columns `without`. */
  row<Name extends TableName, Without extends keyof Row<Name> = never>(
    table: Name,
    params: Omit<Row<Name>, Without>,
    ...without: readonly Without[]
  ): Omit<Row<Name>, Without>;
  insert<Name extends TableName>(db: Db, table: Name, params: Row<Name>): Inserting<Name>;
  /** Replaces the row with the same primary key. */
  upsert<Name extends TableName>(db: Db, table: Name, params: Row<Name>): Inserting<Name>;
  /** Adds the values of the inserted row to the row with the same primary key, if there is one. */
  orAdd<Name extends TableName>(insert: Inserting<Name>, table: Name): Inserting<Name>;
  update<Name extends TableName>(db: Db, table: Name, known: Known<Name>): Updating<Name>;
  remove<Name extends TableName>(db: Db, table: Name, known: Known<Name>): Deleting<Name>;
};

type Selecting<Name extends TableName, Row> = SelectQueryBuilder<Tables, Name, Row>;
type Inserting<Name extends TableName> = InsertQueryBuilder<Tables, Name, InsertResult>;
type Updating<Name extends TableName> = UpdateQueryBuilder<Tables, Name, Name, UpdateResult>;
type Deleting<Name extends TableName> = DeleteQueryBuilder<Tables, Name, DeleteResult>;

type Lockable<Builder> = { forUpdate(): Builder; forKeyShare(): Builder; skipLocked(): Builder };

export type TableName = keyof Tables & string;

/** A row with every column that the store does not fill in itself. */
export type Row<Name extends TableName> = {
  readonly [Column in keyof Tables[Name] as Tables[Name][Column] extends Made ? never : Column]: Tables[Name][Column];
};

export type Column<Name extends TableName> = keyof Selectable<Tables[Name]> & string;

type Made = { readonly __select__: unknown };

type Known<Name extends TableName> = Partial<Selectable<Tables[Name]>>;

type EachOf<Name extends TableName, Out> = readonly AsNamed<Exclude<Column<Name>, Out>>[];

type AsNamed<P extends string> = P extends string ? `${P} as ${P}` : never;

/** These rows travel as JSON, so their columns are selected in their stored form. */
type TextRow = { readonly [Name: string]: string | number | null };

export const IDS_PER_QUERY_MAX = 50;

/** What a query by any number of numbers is given. */
export type OfNumbers = { readonly numbers: readonly number[] };

export type QuerySource<Params, Row> = {
  readonly query: (db: Db, params: Params, dialect: Dialect) => Compilable<Row> & OperationNodeSource;
};

/** `params` stands for values that are known only when the query runs. */
export function query<Params>() {
  return <Row>(build: QuerySource<Params, Row>['query']): QuerySource<Params, Row> => ({ query: build });
}

/**
 * A statement that changes rows. Its parameters are domain values; the compiler stores them in the form of their
 * columns.
 */
export type ChangeSource<Params> = {
  readonly change: (db: Db, params: Params, dialect: Dialect) => Compilable & OperationNodeSource;
};

export function change<Params>(build: ChangeSource<Params>['change']): ChangeSource<Params> {
  return { change: build };
}

/** A change of one row that the stores apply to many rows at once, each in its own way. */
export type RowsSource<Row> = {
  readonly changeRows: (db: Db, params: Row, dialect: Dialect) => Compilable & OperationNodeSource;
};

export function changeRows<Row>(build: RowsSource<Row>['changeRows']): RowsSource<Row> {
  return { changeRows: build };
}

/** A query by key that serves many keys at once; each row it finds has the members of its key. */
export type LookupSource<Key, Row> = {
  readonly lookup: (db: Db, key: Key, dialect: Dialect) => Compilable<Row> & OperationNodeSource;
};

export function lookup<Key>() {
  return <Row extends Key>(build: LookupSource<Key, Row>['lookup']): LookupSource<Key, Row> => ({ lookup: build });
}

/** An insert of many rows with all columns of their table. */
export type ManySource<Row> = {
  readonly table: string;
  readonly action: 'insert' | 'replace';
  /** Columns that an existing row keeps when it is replaced. */
  readonly keeps: readonly (keyof Row & string)[];
  /** SQL for columns that PostgreSQL computes, from the inserted row as `given` and from `from`. */
  readonly made: { readonly [Property in keyof Row]?: string };
  /** SQL to join to the inserted rows. */
  readonly from: string;
};

/** A row to be written; nullable columns may be left out. */
export type NewRow<Name extends keyof Tables> = Insertable<Tables[Name]>;
