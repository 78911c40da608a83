/**
 * Compiled statements. A statement is plain data, because only one thread of a process has the object mapper, which compiles it;
 * the other threads are given its statements.
 */

import type { ChangeSource, LookupSource, ManySource, QuerySource, RowsSource } from '../queries.ts';
import type { Form } from '../rows/forms.ts';

export type Statement = {
  /** Unique among those of a store. */
  readonly name: string;
  readonly text: string;
  /** In the order of the placeholders of the text. */
  readonly parameters: readonly Parameter[];
  /** Of a query: the columns of its rows. */
  readonly row: readonly Selected[] | null;
  /** Of a lookup of many keys: the members of a key. */
  readonly key: readonly string[] | null;
  /** Of an insert of whole rows: their table, and its columns in the order of the parameters. */
  readonly target: { readonly table: string; readonly columns: readonly string[] } | null;
  /** Whether the statement runs once for each of the rows that it is given. */
  readonly isPerRow: boolean;
};

/** Where the value of a placeholder comes from. */
export type Parameter = Given | { readonly constant: unknown };

export type Given = {
  /** The member of what the statement is given. */
  readonly member: string;
  /** Its stored form. */
  readonly form: string;
  /** `list`: the member is a list whose values take one placeholder each. `int[]`: the values of many rows as such an array. */
  readonly as: 'value' | 'list' | `${string}[]`;
};

export type Selected = { readonly name: string; readonly form: string };

/** The forms of a store by their names. */
export type Forms = Readonly<Record<string, Form>>;

/** Puts a value of each row into one array of the named type. */
export type ToArray = (type: string, rows: readonly object[], read: (row: object) => unknown) => unknown;

/** How a store binds and reads values. */
export type Binding = {
  readonly forms: Forms;
  /** Null: the store has no arrays. */
  readonly toArray: ToArray | null;
  /** Whether rows come as lists of values instead of objects. */
  readonly hasListRows: boolean;
};

/** A statement that can be run. */
export type Query<Params, Row> = {
  readonly name: string;
  readonly text: string;
  readonly cells: (params: Params) => unknown[];
  readonly row: (raw: never) => Row;
};

export type Change<Params> = Omit<Query<Params, never>, 'row'>;

/** `cells` gives the parameters of each row on SQLite, and an array of each column on PostgreSQL. */
export type RowsChange<Row> = Omit<Change<Row>, 'cells'> & {
  readonly cells: (rows: readonly Row[]) => (unknown[] | Buffer)[];
};

/** Inserts whole rows, whose cells come in the order of `columns`. */
export type RowsInsert<Row> = Change<Row> & { readonly table: string; readonly columns: readonly string[] };

export type Lookup<Key, Row> = Query<readonly Key[], Row> & {
  /** The name of a key, or of a row that was found by it. */
  readonly nameOf: (key: Key) => string;
};

export type RowOf<Q> = Q extends Query<never, infer Row> ? Row : never;

/** What a source becomes. */
export type Compiled<S> =
  S extends QuerySource<infer Params, infer Row>
    ? Query<Params, Row>
    : S extends ChangeSource<infer Params>
      ? Change<Params>
      : S extends LookupSource<infer Key, infer Row>
        ? Query<Key, Row>
        : S extends ManySource<infer Row>
          ? RowsInsert<Row>
          : S extends RowsSource<infer Row>
            ? RowsChange<Row>
            : never;

/** What it becomes on a store that looks up all keys at once. */
export type CompiledMany<S> = S extends LookupSource<infer Key, infer Row> ? Lookup<Key, Row> : Compiled<S>;

/** The statements of the rooms of a store. */
export type StatementRooms = Readonly<Record<string, Readonly<Record<string, Statement>>>>;
