/**
 * What questions to the database are written in: each once, for every store. They are compiled ahead into gen/storage by
 * `npm run gen`, because to load the query builder takes a server longer than all else that it loads; who runs them
 * imports nothing but types from where they are written.
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
import type { POSTGRES_TABLES, SQLITE_TABLES } from './tables/tables.ts';

type Naming = { tableNamingStrategy: 'entity'; columnNamingStrategy: 'property' };
export type Tables = InferKyselyDB<(typeof SQLITE_TABLES)[number], Naming>;
export type Db = Kysely<Tables>;
/** With the tables and columns that PostgreSQL alone has. */
export type PostgresTables = InferKyselyDB<(typeof POSTGRES_TABLES)[number], Naming>;
export type PostgresDb = Kysely<PostgresTables>;

/** What stores say each in its own way. Columns are named by their properties. */
export type Words = {
  /** An id that is given, as the store keeps it. */
  storedId(given: string): string;
  /** A column of ids as text, which is what they are ordered by. */
  idText(column: string): RawBuilder<string>;
  /** Whether an id is one of those that are given: at most IDS_AT_ONCE of them. */
  isOneOf(column: string, given: readonly (string | number)[]): RawBuilder<SqlBool>;
  /** The same for point reads. SQLite takes one alone: there a question more costs less than places that stay empty. */
  isAsked(column: string, given: readonly (string | number | Buffer)[]): RawBuilder<SqlBool>;
  /** The rows of an inner question, in its order. */
  listOf<Row extends TextRow>(inner: SelectQueryBuilder<never, never, Row>): RawBuilder<readonly Row[]>;
  /** Events with what they say, which SQLite keeps apart. */
  withEnvelope<Row>(events: Selecting<'Event', Row>): Selecting<'Event' | 'Envelope', Row>;
  /** What the log says, from place to place. */
  envelopesOf(db: Db): SelectQueryBuilder<{ readonly log: Tables['Envelope'] }, 'log', Record<never, never>>;
  /** Every column of a table, by its property, but for those that are left out. */
  allOf<Name extends TableName, Out extends Column<Name> = never>(table: Name, ...without: Out[]): EachOf<Name, Out>;
  /** For a lookup: the rows whose columns are those of a key that is looked up. Locked by who will change them. */
  keyed<Query>(query: Query, table: string, columns: { readonly [Property: string]: unknown }, lock?: 'lock'): Query;
  /** For a lookup: requests by their keys. PostgreSQL has to find the month of each first. */
  requestsOf(db: Db, key: { organizationNumber: number; key: string }): Selecting<'Request', Record<never, never>>;
  /** About how many bytes the texts of a row have; none of them is read for it. */
  textBytes(columns: readonly string[]): RawBuilder<number>;
  /** The number of a column, or the least where that is larger; null where the column is. */
  atLeast(column: string, least: number): RawBuilder<number | null>;
  /** Whether a text holds another that is given, upper and lower case told apart; also where null is given. */
  holds(column: string, given: string | null): RawBuilder<SqlBool>;
  /** What a question selects stays as it is until its transaction ends. */
  hold<Query extends Lockable<Query>>(query: Query): Query;
  /** The same without the rows that others hold, so that nobody is waited for. */
  holdFree<Query extends Lockable<Query>>(query: Query): Query;
  /** A text that is given, without what the store refuses to keep. */
  storableText(given: string | null): string | null;
  /** Whether a number is one of those that are given, however many. */
  isAmong(column: string, given: readonly number[]): RawBuilder<SqlBool>;
  /** Of the log: what was created since an instant, and up to another, where that helps to find it. */
  within<Query>(log: Query, firstMs: number, lastMs?: number): Query;
  /** So many numbers that no delivery has had, each so many from a first one on. */
  drawNumbers(db: Db, count: number): SelectQueryBuilder<Tables, never, { first: number; count: number }>;
  /** Of a `delivery` to an `endpoint`: how many of its events the log still has. */
  eventsKept(): RawBuilder<number | null>;
  /** For a table whose rows several would change at once: whose they are. On PostgreSQL each connection has its own. */
  ownRows(): RawBuilder<number>;
  /** The rows of which some columns are known; all columns but those that are left out. */
  find<Name extends TableName, Without extends Column<Name> = never>(
    db: Db,
    table: Name,
    known: Known<Name>,
    ...without: readonly Without[]
  ): Selecting<Name, Omit<Selectable<Tables[Name]>, Without>>;
  /** A row as it is given, without the columns that are left out. */
  row<Name extends TableName, Without extends keyof Row<Name> = never>(
    table: Name,
    given: Omit<Row<Name>, Without>,
    ...without: readonly Without[]
  ): Omit<Row<Name>, Without>;
  insert<Name extends TableName>(db: Db, table: Name, given: Row<Name>): InsertQueryBuilder<Tables, Name, InsertResult>;
  /** In the place of the row that has its primary key. */
  upsert<Name extends TableName>(db: Db, table: Name, given: Row<Name>): InsertQueryBuilder<Tables, Name, InsertResult>;
  update<Name extends TableName>(
    db: Db,
    table: Name,
    known: Known<Name>,
  ): UpdateQueryBuilder<Tables, Name, Name, UpdateResult>;
  remove<Name extends TableName>(
    db: Db,
    table: Name,
    known: Known<Name>,
  ): DeleteQueryBuilder<Tables, Name, DeleteResult>;
};

type Selecting<Name extends TableName, Row> = SelectQueryBuilder<Tables, Name, Row>;

type Lockable<Query> = { forUpdate(): Query; skipLocked(): Query };

export type TableName = keyof Tables & string;

/** A row with all that the store does not make itself. */
export type Row<Name extends TableName> = {
  readonly [Column in keyof Tables[Name] as Tables[Name][Column] extends Made ? never : Column]: Tables[Name][Column];
};

export type Column<Name extends TableName> = keyof Selectable<Tables[Name]> & string;

type Made = { readonly __select__: unknown };

type Known<Name extends TableName> = Partial<Selectable<Tables[Name]>>;

type EachOf<Name extends TableName, Out> = readonly AsNamed<Exclude<Column<Name>, Out>>[];

type AsNamed<P extends string> = P extends string ? `${P} as ${P}` : never;

/** They travel as JSON, so their columns are kept as they are asked for. */
type TextRow = { readonly [Name: string]: string | number | null };

export const IDS_AT_ONCE = 50;

export type Source<Params, Row> = {
  readonly ask: (db: Db, given: Params, words: Words) => Compilable<Row> & OperationNodeSource;
};

/** `given` stands for what is only known when the question is asked. */
export function question<Params>() {
  return <Row>(ask: Source<Params, Row>['ask']): Source<Params, Row> => ({ ask });
}

/** The same of what is to be changed. Values are given as the domain has them, and stored as their columns keep them. */
export type ChangeSource<Params> = {
  readonly change: (db: Db, given: Params, words: Words) => Compilable & OperationNodeSource;
};

export function change<Params>(say: ChangeSource<Params>['change']): ChangeSource<Params> {
  return { change: say };
}

/** The same of many rows at once: what is to become of one is said, and every store has its own way to take many. */
export type RowsSource<Row> = {
  readonly changeRows: (db: Db, given: Row, words: Words) => Compilable & OperationNodeSource;
};

export function changeRows<Row>(say: RowsSource<Row>['changeRows']): RowsSource<Row> {
  return { changeRows: say };
}

/** A question that many ask at once, each with a key of its own; what it answers has the members of the key. */
export type LookupSource<Key, Row> = {
  readonly lookup: (db: Db, key: Key, words: Words) => Compilable<Row> & OperationNodeSource;
};

export function lookup<Key>() {
  return <Row extends Key>(say: LookupSource<Key, Row>['lookup']): LookupSource<Key, Row> => ({ lookup: say });
}

/** Rows of a table that are written together, with all of its columns: a batch never says which. */
export type ManySource<Row> = {
  readonly table: string;
  readonly action: 'insert' | 'replace';
  /** Columns that rows keep whose place is taken. */
  readonly keeps: readonly (keyof Row & string)[];
  /** On PostgreSQL, where a column is made of more than what is `given` for it. */
  readonly made: { readonly [Property in keyof Row]?: string };
  /** What else is there to make columns of. */
  readonly from: string;
};

/** A row to be written; columns that may be null may be left out. */
export type NewRow<Name extends keyof Tables> = Insertable<Tables[Name]>;

/** A question as it runs. `name` is unique among those of a store. */
export type Question<Params, Row> = {
  readonly name: string;
  readonly text: string;
  readonly cells: (given: Params) => unknown[];
  readonly row: (raw: never) => Row;
};

export type Change<Params> = Omit<Question<Params, never>, 'row'>;

/** The cells of each row on SQLite, and of each column on PostgreSQL. */
export type RowsChange<Row> = Omit<Change<Row>, 'cells'> & {
  readonly cells: (rows: readonly Row[]) => (unknown[] | Buffer)[];
};

/** What the compiler makes of a source. */
export type Compiled<S> =
  S extends Source<infer Params, infer Row>
    ? Question<Params, Row>
    : S extends ChangeSource<infer Params>
      ? Change<Params>
      : S extends LookupSource<infer Key, infer Row>
        ? Question<Key, Row>
        : S extends ManySource<infer Row>
          ? Change<Row>
          : S extends RowsSource<infer Row>
            ? RowsChange<Row>
            : never;

/** The same where all that is asked or written goes in one statement. */
export type CompiledMany<S> =
  S extends LookupSource<infer Key, infer Row>
    ? Lookup<Key, Row>
    : S extends ManySource<infer Row>
      ? RowsInsert<Row>
      : never;

/** Takes whole rows of its table, whose cells come in the order of `columns`. */
export type RowsInsert<Row> = Change<Row> & { readonly table: string; readonly columns: readonly string[] };

export type Lookup<Key, Row> = Question<readonly Key[], Row> & {
  /** Of a key, or of what was found by it. */
  readonly nameOf: (key: Key) => string;
};

export type RowOf<Q> = Q extends Question<never, infer Row> ? Row : never;

/** How a store is asked. */
export type Ask = <Params, Row>(question: Question<Params, Row>, given: Params) => Promise<readonly Row[]>;

/** Stored as a whole or not at all. */
export type Transaction = {
  readonly ask: Ask;
  /** The rows of some numbers, of which there may be none (see `isAsked`). */
  askEach<Row>(question: Question<OfNumbers, Row>, numbers: readonly number[]): Promise<readonly Row[]>;
  /** Answers how many rows it changed. */
  change<Params>(change: Change<Params>, given: Params): Promise<number>;
  /** Whether nobody else changes anything before it ends, so that no row has to be held. */
  readonly isAlone: boolean;
  /** Nobody waits for it: what fails undoes everything when the transaction ends. */
  changeRows<Row>(change: RowsChange<Row>, rows: readonly Row[]): void;
};

export type OfNumbers = { readonly numbers: readonly number[] };

/** Runs a body in a transaction, perhaps more than once. What the body throws undoes everything. */
export type Transact = <T>(body: (transaction: Transaction) => Promise<T>) => Promise<T>;

/** All that is compiled; the same for every store. */
export type Questions = typeof import('../../gen/storage/sqlite/all.ts');

export type Asking<Of = Questions> = {
  readonly questions: Of;
  readonly ask: Ask;
  /** How many ids one question may name, and how many where it reads points (see `isAsked`). */
  readonly idsAtOnce: number;
  readonly pointsAtOnce: number;
};

/** What changes take: a transaction, and all that can be asked and changed in it. */
export type Changing = Transaction & { readonly questions: Questions };

/** See Transact. */
export type TransactAll = <T>(body: (tx: Changing) => Promise<T>) => Promise<T>;

export function withQuestions(questions: Questions, transact: Transact): TransactAll {
  return (body) => transact((transaction) => body({ ...transaction, questions }));
}

/** The rows of any number of ids. */
export async function askInTurns<Id, Row>(
  ids: readonly Id[],
  atOnce: number,
  ask: (some: readonly Id[]) => Promise<readonly Row[]>,
): Promise<readonly Row[]> {
  const found: Row[] = [];
  for (let start = 0; start < ids.length; start += atOnce) {
    found.push(...(await ask(ids.slice(start, start + atOnce))));
  }
  return found;
}
