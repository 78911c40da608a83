/** Queries and changes that follow from the description of one table. */

import type { Insertable, Selectable, SelectQueryBuilder } from 'kysely';
import {
  type ChangeSource,
  type Column,
  change,
  type Db,
  type LookupSource,
  type ManySource,
  type QuerySource,
  type Row,
  type RowsSource,
  type TableName,
  type Tables,
} from './queries.ts';

/** Selects the rows with the given columns `by`; all columns except `without`. */
export function find<Name extends TableName, By extends Column<Name>, Without extends Column<Name> = never>(
  table: Name,
  by: readonly By[],
  ...without: readonly Without[]
): QuerySource<Pick<Selectable<Tables[Name]>, By>, Omit<Selectable<Tables[Name]>, Without>> {
  return {
    query: (db, params, dialect) => dialect.find(db, table, pickMembers(params, by), ...(without as never[])) as never,
  };
}

/** The rows with the `known` columns; the caller selects. */
export function rowsOf<Name extends TableName>(db: Db, table: Name, known: Partial<Selectable<Tables[Name]>>) {
  const found = Object.entries(known).reduce(
    (rows, [name, value]) => rows.where(name as 'spanId', '=', value as string),
    db.selectFrom(table as 'Span'),
  );
  return found as unknown as SelectQueryBuilder<Tables, Name, Record<never, never>>;
}

/**
 * Selects the `wanted` columns of the rows with the given columns `by`. `among` names parameters that list values of a
 * column, one of which a row must have.
 */
export function select<
  Name extends TableName,
  By extends Column<Name>,
  Wanted extends Column<Name>,
  const Among extends { readonly [Each in Column<Name>]?: string } = Record<never, never>,
>(
  table: Name,
  by: readonly By[],
  wanted: readonly Wanted[],
  among = {} as Among,
): QuerySource<Given<Name, By, Among>, Pick<Selectable<Tables[Name]>, Wanted>> {
  return {
    query: (db, params, { isAmong }) =>
      Object.entries<string>(among as Record<string, string>)
        .reduce(
          (rows, [name, list]) => rows.where(isAmong(name, params[list as never])),
          rowsOf(db, table, pickMembers(params, by)),
        )
        .select(wanted.map((name) => `${name} as ${name}`) as never) as never,
  };
}

type Given<Name extends TableName, By extends Column<Name>, Among> = Pick<Selectable<Tables[Name]>, By> & {
  readonly [Each in keyof Among as Among[Each] & string]: readonly number[];
};

/** Looks up the row of a key: all columns, or the key and the `wanted` ones. */
export function findByKey<Name extends TableName, By extends Column<Name>, Wanted extends Column<Name> = Column<Name>>(
  table: Name,
  by: readonly By[],
  wanted?: readonly Wanted[],
): LookupSource<Pick<Selectable<Tables[Name]>, By>, Pick<Selectable<Tables[Name]>, By | Wanted>> {
  return {
    lookup: (db, key, { keyed, allOf }) =>
      keyed(db.selectFrom(table as never), table, pick(key, ...by)).select(
        (wanted === undefined ? allOf(table) : columns<string, string>(table, ...by, ...wanted)) as never,
      ) as never,
  };
}

/** Inserts a row. */
export function insert<Name extends TableName>(table: Name): ChangeSource<Row<Name>> {
  return { change: (db, params, dialect) => dialect.insert(db, table, params) };
}

/** Inserts a row unless one of its keys exists. */
export function insertNew<Name extends TableName>(table: Name): ChangeSource<Row<Name>> {
  return { change: (db, params, dialect) => dialect.insert(db, table, params).onConflict((row) => row.doNothing()) };
}

/** Inserts a row or replaces the one with its primary key. */
export function upsert<Name extends TableName>(table: Name): ChangeSource<Row<Name>> {
  return { change: (db, params, dialect) => dialect.upsert(db, table, params) };
}

/** Sets the columns `set` of the rows with the given columns `by`. */
export function update<Name extends TableName, By extends Column<Name>, Set extends Column<Name>>(
  table: Name,
  by: readonly By[],
  set: readonly Set[],
): ChangeSource<Pick<Selectable<Tables[Name]>, By | Set>> {
  return {
    change: (db, params, dialect) => dialect.update(db, table, pickMembers(params, by)).set(pickMembers(params, set)),
  };
}

/** Sets all columns except `without`. */
export function updateRest<Name extends TableName, By extends Column<Name>, Without extends keyof Row<Name> = never>(
  table: Name,
  by: readonly By[],
  ...without: readonly Without[]
): ChangeSource<Pick<Selectable<Tables[Name]>, By> & Omit<Row<Name>, Without>> {
  return {
    change: (db, params, dialect) =>
      dialect.update(db, table, pickMembers(params, by)).set(dialect.row(table, params as never, ...without) as never),
  };
}

/** Removes the rows with the given columns `by`. */
export function remove<Name extends TableName, By extends Column<Name>>(
  table: Name,
  by: readonly By[],
): ChangeSource<Pick<Selectable<Tables[Name]>, By>> {
  return { change: (db, params, dialect) => dialect.remove(db, table, pickMembers(params, by)) };
}

type BatchOfTrace = { readonly projectNumber: number; readonly traceSequence: number; readonly limit: number };

/**
 * Removes at most `limit` rows of a trace, in the order of `key`. By a range of keys: the planner does not know how many
 * rows a trace has, and might join badly.
 */
export function deleteBatch(table: 'Span' | 'UsageNode' | 'Evaluation', key: string): ChangeSource<BatchOfTrace> {
  // The other tables have such columns, too.
  const [name, id] = [table as 'Span', key as 'spanId'];
  return change((db, { projectNumber, traceSequence, limit }) => {
    const rows = { projectNumber, traceSequence };
    const rowKeys = db
      .selectFrom(name)
      .where(({ and }) => and(rows as never))
      .select(`${id} as key`);
    const last = db
      .selectFrom(rowKeys.orderBy(id).limit(limit).as('some'))
      .select(({ fn }) => fn.max('some.key').as('last'));
    return db
      .deleteFrom(name)
      .where(({ and }) => and(rows as never))
      .where(id, '<=', last);
  });
}

/** Applies a change of one row to many rows. */
export function ofRows<Row>({ change }: ChangeSource<Row>): RowsSource<Row> {
  return { changeRows: change };
}

/** Picks some parameters by name. */
export function pick<Param, const Name extends keyof Param>(
  params: Param,
  ...names: readonly Name[]
): Pick<Param, Name> {
  return Object.fromEntries(names.map((name) => [name, params[name]])) as Pick<Param, Name>;
}

// The callers above guarantee that these are columns of the table.
function pickMembers(params: unknown, names: readonly string[]): never {
  return pick(params as Readonly<Record<string, unknown>>, ...names) as never;
}

/** Selects columns of an alias, each under its own name. */
export function columns<Alias extends string, const Name extends string>(alias: Alias, ...names: readonly Name[]) {
  return names.map((name) => `${alias}.${name} as ${name}`) as unknown as readonly Aliased<Alias, Name>[];
}

type Aliased<Alias extends string, Name extends string> = { [Each in Name]: `${Alias}.${Each} as ${Each}` }[Name];

type Making<Row> = Partial<Pick<ManySource<Row>, 'keeps' | 'made' | 'from'>>;

const MADE_OF_GIVEN = { keeps: [], made: {}, from: '' };

/** Inserts rows; an existing key fails the whole insert. */
export const insertMany = writeMany('insert');
/** Inserts rows, or replaces those with the same keys. */
export const replaceMany = writeMany('replace');

function writeMany(action: 'insert' | 'replace') {
  return <Name extends keyof All & string, All = Tables>(
    table: Name,
    making: Making<Insertable<All[Name]>> = {},
  ): ManySource<Insertable<All[Name]>> => ({ ...MADE_OF_GIVEN, ...making, table, action });
}
