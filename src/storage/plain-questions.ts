/** Questions and changes that follow from the description of one table; for those who write questions (questions.ts). */

import type { Insertable, Selectable } from 'kysely';
import type {
  ChangeSource,
  Column,
  LookupSource,
  ManySource,
  Row,
  RowsSource,
  Source,
  TableName,
  Tables,
} from './questions.ts';

/** The rows of a table whose columns `by` are those that are given; all columns but those that are left out. */
export function find<Name extends TableName, By extends Column<Name>, Without extends Column<Name> = never>(
  table: Name,
  by: readonly By[],
  ...without: readonly Without[]
): Source<Pick<Selectable<Tables[Name]>, By>, Omit<Selectable<Tables[Name]>, Without>> {
  return { ask: (db, given, words) => words.find(db, table, some(given, by), ...(without as never[])) as never };
}

/** The row of a key that is looked up: all columns, or the key and those that are wanted. */
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

/** Stores a row. */
export function insert<Name extends TableName>(table: Name): ChangeSource<Row<Name>> {
  return { change: (db, given, words) => words.insert(db, table, given) };
}

/** Stores a row, unless there is one with a key of it. */
export function insertNew<Name extends TableName>(table: Name): ChangeSource<Row<Name>> {
  return { change: (db, given, words) => words.insert(db, table, given).onConflict((row) => row.doNothing()) };
}

/** Stores a row in the place of the one that has its primary key. */
export function upsert<Name extends TableName>(table: Name): ChangeSource<Row<Name>> {
  return { change: (db, given, words) => words.upsert(db, table, given) };
}

/** Sets some columns where the columns `by` are those that are given. */
export function update<Name extends TableName, By extends Column<Name>, Set extends Column<Name>>(
  table: Name,
  by: readonly By[],
  set: readonly Set[],
): ChangeSource<Pick<Selectable<Tables[Name]>, By | Set>> {
  return {
    change: (db, given, words) => words.update(db, table, some(given, by)).set(some(given, set)),
  };
}

/** The same of all columns but those that are left alone. */
export function updateRest<Name extends TableName, By extends Column<Name>, Without extends keyof Row<Name> = never>(
  table: Name,
  by: readonly By[],
  ...without: readonly Without[]
): ChangeSource<Pick<Selectable<Tables[Name]>, By> & Omit<Row<Name>, Without>> {
  return {
    change: (db, given, words) =>
      words.update(db, table, some(given, by)).set(words.row(table, given as never, ...without) as never),
  };
}

/** Removes the rows whose columns `by` are those that are given. */
export function remove<Name extends TableName, By extends Column<Name>>(
  table: Name,
  by: readonly By[],
): ChangeSource<Pick<Selectable<Tables[Name]>, By>> {
  return { change: (db, given, words) => words.remove(db, table, some(given, by)) };
}

/** The same change of many rows at once. */
export function ofRows<Row>({ change }: ChangeSource<Row>): RowsSource<Row> {
  return { changeRows: change };
}

/** Some of what is given, by its names. */
export function pick<Given, const Name extends keyof Given>(
  given: Given,
  ...names: readonly Name[]
): Pick<Given, Name> {
  return Object.fromEntries(names.map((name) => [name, given[name]])) as Pick<Given, Name>;
}

// That these are columns of the table is what the functions above ask of their callers.
function some(given: unknown, names: readonly string[]): never {
  return pick(given as Readonly<Record<string, unknown>>, ...names) as never;
}

/** Columns of what a question calls so, each under its own name. */
export function columns<Alias extends string, const Name extends string>(alias: Alias, ...names: readonly Name[]) {
  return names.map((name) => `${alias}.${name} as ${name}`) as unknown as readonly Aliased<Alias, Name>[];
}

type Aliased<Alias extends string, Name extends string> = { [Each in Name]: `${Alias}.${Each} as ${Each}` }[Name];

type Making<Row> = Partial<Pick<ManySource<Row>, 'keeps' | 'made' | 'from'>>;

const MADE_OF_GIVEN = { keeps: [], made: {}, from: '' };

/** Where the key of one is taken, none of them is stored. */
export function insertMany<Name extends keyof All & string, All = Tables>(
  table: Name,
  making: Making<Insertable<All[Name]>> = {},
): ManySource<Insertable<All[Name]>> {
  return { ...MADE_OF_GIVEN, ...making, table, action: 'insert' };
}

/** The same, but rows take the places of those with their keys. */
export function replaceMany<Name extends keyof All & string, All = Tables>(
  table: Name,
  making: Making<Insertable<All[Name]>> = {},
): ManySource<Insertable<All[Name]>> {
  return { ...MADE_OF_GIVEN, ...making, table, action: 'replace' };
}
