/** Compiles the sources of statements with the query builder of the object mapper: the text, its parameters, and its row. */

import { createQueryId, type Kysely } from 'kysely';
import { type Mapper, unitOn } from '../mapper.ts';
import type {
  ChangeSource,
  Db,
  Dialect,
  LookupSource,
  ManySource,
  QuerySource,
  RowsSource,
  Tables,
} from '../queries.ts';
import { takeArrays } from './arrays.ts';
import { type Column, describeSchema, type Schema, typeOf } from './columns.ts';
import { writeMany } from './many.ts';
import { createKey, PARAMS, Placeholder } from './placeholder.ts';
import type { Parameter, Selected, Statement, StatementRooms } from './statement.ts';

type Source =
  | QuerySource<never, unknown>
  | ChangeSource<never>
  | RowsSource<never>
  | LookupSource<never, unknown>
  | ManySource<unknown>;

/** The sources of each room, by the names of their statements. */
export type SourceRooms = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

/** How a store compiles. */
export type Target = {
  readonly mapper: Mapper;
  /** Compiles, and is never run. */
  readonly connection: Kysely<unknown>;
  readonly createDialect: (schema: Schema) => Dialect;
  /** The form of a column; see statement.ts. */
  readonly formOf: (column: Column) => string;
  /** Whether statements take arrays of rows, and answer with objects whose values have their types. */
  readonly hasArrays: boolean;
};

// biome-ignore lint/suspicious/noExplicitAny: the query builder has no type for all of its nodes together.
type Node = any;

export function compileRooms(sources: SourceRooms, target: Target): StatementRooms {
  const compile = createCompiler(target);
  const rooms = Object.entries(sources).map(([room, each]) => [
    room,
    Object.fromEntries(
      Object.entries(each).map(([name, source]) => [
        name,
        { ...EMPTY, name: `${room}.${name}`, ...compile(source as Source) },
      ]),
    ),
  ]);
  return Object.fromEntries(rooms);
}

const EMPTY = { row: null, key: null, target: null, isPerRow: false } as const;

type Compiled = Partial<Statement> & Pick<Statement, 'text' | 'parameters'>;

function createCompiler({
  mapper,
  connection,
  createDialect,
  formOf,
  hasArrays,
}: Target): (source: Source) => Compiled {
  const names = { tableNamingStrategy: 'entity', columnNamingStrategy: 'property' } as const;
  const db: Db = unitOn(mapper, connection).getKysely<Tables>(names);
  const schema = describeSchema(mapper);
  const { tableOf, columnOf } = schema;
  const dialect = createDialect(schema);

  return (source) => {
    if ('table' in source) return compileMany(source);
    if ('lookup' in source) return compileLookup(source);
    if ('changeRows' in source) return compileRows(source);
    if ('change' in source) {
      const change = source.change(db, PARAMS, dialect).toOperationNode();
      storeAsKept(change);
      return compileNode(change);
    }
    return compileQuery(source.query(db, PARAMS, dialect));
  };

  /** The library's own `compile` would make the node once more, which takes as long as all the rest. */
  function compileNode(node: Node): Compiled {
    return textOf(db.getExecutor().compileQuery(node, createQueryId()));
  }

  function compileQuery(said: { toOperationNode(): Node }): Compiled {
    const node = said.toOperationNode();
    return { ...compileNode(node), row: rowOf(node) };
  }

  function compileMany(source: ManySource<unknown>): Compiled {
    const table = tableOf(source.table);
    const parameters = table.columns.map((column) => ({
      member: column.name,
      form: formOf(column),
      as: 'value' as const,
    }));
    const columns = table.columns.map(({ fieldNames }) => String(fieldNames[0]));
    return {
      text: writeMany(table, source, hasArrays),
      parameters,
      target: { table: table.tableName, columns },
    };
  }

  function compileLookup(source: LookupSource<never, unknown>): Compiled {
    const { key, members } = createKey();
    const compiled = compileQuery(source.lookup(db, key, dialect));
    return hasArrays ? { ...compiled, key: [...members] } : compiled;
  }

  function compileRows(source: RowsSource<never>): Compiled {
    const node: Node = source.changeRows(db, PARAMS, dialect).toOperationNode();
    storeAsKept(node);
    const table = tableOfChange(node);
    const change = hasArrays
      ? takeArrays(node, (name) => typeOf(columnOf([table, ...innerTablesOf(node)], name)))
      : node;
    return { ...compileNode(change), isPerRow: !hasArrays };
  }

  /** Gives parameters the forms of the columns to which they are assigned. */
  function storeAsKept(node: Node): void {
    for (const { table, column, value } of setColumns(node)) {
      // Values of a row are bare or in a node; literals already have the stored form.
      const set = value instanceof Placeholder ? value : value?.value;
      if (set instanceof Placeholder && set.given !== null) {
        set.given = { ...set.given, form: formOf(columnOf([table], column)) };
      }
    }
  }

  function rowOf(query: Node): readonly Selected[] {
    const tables = tablesOf(query);
    return query.selections.map(({ selection }: Node) => ({
      name: selection.alias.name,
      form: formOfValue(tables, selection.node),
    }));
  }

  function formOfValue(tables: Aliases, node: Node): string {
    if (node.kind === 'ReferenceNode') {
      const named = node.table && tables.get(node.table.table.identifier.name);
      return formOf(columnOf(named ? [named] : [...tables.values()], node.column.column.name));
    }
    if (node.kind === 'SelectQueryNode') {
      const [{ selection }] = node.selections;
      return formOfValue(tablesOf(node), selection.node ?? selection);
    }
    const column = textColumnOf(node);
    if (column !== null) return formOfValue(tables, column);
    if (hasArrays) return 'plain';
    if (isList(node)) return 'json';
    return isCondition(node) ? 'condition' : 'plain';
  }
}

function textOf({ sql, parameters }: { readonly sql: string; readonly parameters: readonly unknown[] }): Compiled {
  return { text: sql, parameters: parameters.flatMap(toParameter) };
}

function toParameter(value: unknown): readonly Parameter[] {
  if (!(value instanceof Placeholder)) return [{ constant: value }];
  return value.given === null ? [] : [value.given];
}

/** The changed table. */
function tableOfChange(node: Node): string {
  const { table, into, from } = node;
  return (table ?? into ?? from.froms[0]).table.identifier.name;
}

function setColumns(node: Node): readonly { table: string; column: string; value: Node }[] {
  const table = tableOfChange(node);
  if (node.kind === 'UpdateQueryNode') {
    return node.updates.map(({ column, value }: Node) => ({ table, column: column.column.name, value }));
  }
  // Rows inserted from a query already have the stored form.
  if (node.kind !== 'InsertQueryNode' || node.values.kind !== 'ValuesNode') return [];
  const [row] = node.values.values;
  return node.columns.map(({ column }: Node, index: number) => ({
    table,
    column: column.name,
    value: row.values[index],
  }));
}

type Aliases = ReadonlyMap<string, string>;

/** The tables of the queries inside a change. */
function innerTablesOf(node: Node): readonly string[] {
  if (node === null || typeof node !== 'object' || node instanceof Placeholder) return [];
  const own = node.kind === 'SelectQueryNode' ? [...tablesOf(node).values()] : [];
  return [...own, ...Object.values(node).flatMap(innerTablesOf)];
}

/** The tables of a query by alias. */
function tablesOf({ from, joins = [] }: Node): Aliases {
  const named: Node[] = [...(from?.froms ?? []), ...joins.map(({ table }: Node) => table)];
  return new Map(
    named.flatMap(({ alias, node, table }) => {
      const known = (table ?? node.table)?.identifier.name;
      return known === undefined ? [] : [[(alias ?? table.identifier).name, known]];
    }),
  );
}

/** The column whose text `textOf` of the dialect made the node of; null for other nodes. */
function textColumnOf(node: Node): Node | null {
  if (node.kind === 'ReferenceNode') return node;
  if (node.kind !== 'RawNode') return null;
  const { sqlFragments: parts, parameters } = node;
  const isPlain = parameters.length === 1 && parts.every((part: string) => part === '');
  const isOfSqlite = parameters.length === 3 && parts[0] === 'case typeof(';
  return isPlain || isOfSqlite ? textColumnOf(parameters[0]) : null;
}

/** Whether `listOf` of the dialect made the node. */
function isList(node: Node): boolean {
  return node.kind === 'RawNode' && node.sqlFragments[0].includes('json_group_array');
}

function isCondition(node: Node): boolean {
  if (node.kind === 'ParensNode') return isCondition(node.node);
  if (node.kind === 'BinaryOperationNode') return /^(is|is not|=|<|>|<=|>=)$/.test(node.operator.operator);
  return /^(Or|And)Node$/.test(node.kind);
}
