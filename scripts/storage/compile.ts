/** Generates the code of a query: its text, its parameters in order, and the mapping of a row. */

import { createQueryId } from 'kysely';
import type { StoreKind } from '../../src/storage/entities/kinds.ts';
import type { ChangeSource, LookupSource, ManySource, QuerySource, RowsSource } from '../../src/storage/queries.ts';
import { takeArrays } from './arrays.ts';
import { createDialect } from './dialect.ts';
import { writeMany } from './many.ts';
import { openMapper, packCode, type Table, typeOf, unpackCode } from './mapper.ts';
import { createKey, PARAMS, Param } from './param.ts';

export type AnySource =
  | QuerySource<never, unknown>
  | ChangeSource<never>
  | RowsSource<never>
  | LookupSource<never, unknown>
  | ManySource<unknown>;
export type Compile = (room: string, name: string, source: AnySource) => string;

// biome-ignore lint/suspicious/noExplicitAny: the query builder has no type for all of its nodes together.
type Node = any;

/** The members of a compiled query. */
type Code = {
  readonly text: string;
  /** The argument of `cells`, and its values. */
  readonly params: string;
  readonly cells: readonly string[];
  readonly row?: string;
  readonly nameOf?: string;
  readonly table?: Table;
};

export function createCompiler(store: StoreKind): Compile {
  const mapper = openMapper(store);
  const { db, columnOf } = mapper;
  const dialect = createDialect(store, mapper);

  return (room, name, source) => {
    const { text, params, cells, row, nameOf, table } = compile(source);
    const isMany = store === 'postgres' && ('lookup' in source || 'table' in source);
    return [
      `export const ${name}: ${isMany ? 'CompiledMany' : 'Compiled'}<typeof source.${name}> = {`,
      `  name: '${room}.${name}',`,
      `  text: ${JSON.stringify(text)},`,
      `  cells: (${params}) => [${cells.join(', ')}],`,
      ...(row === undefined ? [] : [`  row: ${row},`]),
      ...(nameOf === undefined ? [] : [`  nameOf: ${nameOf},`]),
      ...(table === undefined ? [] : [`  table: '${table.tableName}',`, `  columns: ${columnsOf(table)},`]),
      '};',
    ].join('\n');
  };

  function compile(source: AnySource): Code {
    if ('table' in source) {
      const table = mapper.tableOf(source.table);
      return { ...writeMany(store, table, source), params: 'params', ...(store === 'sqlite' ? {} : { table }) };
    }
    if ('lookup' in source) return compileLookup(source);
    if ('changeRows' in source) return compileRows(source);
    const isQuery = 'query' in source;
    const said = isQuery ? source.query(db, PARAMS, dialect) : source.change(db, PARAMS, dialect);
    const node: Node = said.toOperationNode();
    if (!isQuery) storeAsKept(node);
    const { sql, parameters } = said.compile();
    const params = parameters.some((value) => value instanceof Param) ? 'params' : '';
    return { text: sql, params, cells: cellsOf(parameters), ...(isQuery ? { row: rowCode(node) } : {}) };
  }

  function compileLookup(source: LookupSource<never, unknown>): Code {
    const { key, names } = createKey();
    const said = source.lookup(db, key, dialect);
    const { sql, parameters } = said.compile();
    const code = { text: sql, cells: cellsOf(parameters), row: rowCode(said.toOperationNode()) };
    if (store === 'sqlite') return { ...code, params: 'params' };
    const name = [...names].map((member) => `\${params.${member}}`).join(' ');
    return { ...code, params: 'rows', nameOf: `(params) => \`${name}\`` };
  }

  function compileRows(source: RowsSource<never>): Code {
    const node: Node = source.changeRows(db, PARAMS, dialect).toOperationNode();
    storeAsKept(node);
    const compiled = (said: Node) => db.getExecutor().compileQuery(said, createQueryId());
    if (store === 'sqlite') {
      const { sql, parameters } = compiled(node);
      return { text: sql, params: 'rows', cells: [`...rows.map((params) => [${cellsOf(parameters).join(', ')}])`] };
    }
    const { sql, parameters } = compiled(takeArrays(node, (name) => typeOf(columnOf([tableOf(node)], name))));
    return { text: sql, params: 'rows', cells: cellsOf(parameters) };
  }

  function cellsOf(parameters: readonly unknown[]): readonly string[] {
    return parameters
      .map((value) => (value instanceof Param ? value.cell : JSON.stringify(value)))
      .filter((cell) => cell !== '');
  }

  /** Converts parameters to the stored form of their columns. */
  function storeAsKept(node: Node): void {
    for (const { table, column, value } of setColumns(node)) {
      // Values of a row are bare or in a node; literals already have the stored form.
      const params = value instanceof Param ? value : value?.value;
      if (params instanceof Param) params.cell = packCode(store, columnOf([table], column), params.cell);
    }
  }

  function rowCode(query: Node): string {
    const tables = tablesOf(query);
    let isAsIs = true;
    const members = query.selections.map(({ selection }: Node, index: number) => {
      const name: string = selection.alias.name;
      // SQLite returns rows as arrays, which is faster than objects.
      const raw = store === 'sqlite' ? `row[${index}]` : `row.${name}`;
      const value = valueCode(tables, selection.node, raw);
      isAsIs &&= value === `row.${name}`;
      return `    ${name}: ${value},\n`;
    });
    return isAsIs ? '(row) => row' : `(row: any) => ({\n${members.join('')}  })`;
  }

  /** The code of a selected value, of the query's type. */
  function valueCode(tables: Tables, node: Node, raw: string): string {
    if (node.kind === 'ReferenceNode') {
      const named = node.table && tables.get(node.table.table.identifier.name);
      return unpackCode(store, columnOf(named ? [named] : [...tables.values()], node.column.column.name), raw);
    }
    if (node.kind === 'SelectQueryNode') {
      const [{ selection }] = node.selections;
      const value = valueCode(tablesOf(node), selection.node ?? selection, raw);
      // Without a row the subquery is null.
      return value === raw ? raw : `${raw} === null ? null : ${value}`;
    }
    // PostgreSQL returns typed values.
    if (store === 'postgres') return raw;
    if (isList(node)) return `JSON.parse(${raw})`;
    return isCondition(node) ? `${raw} === 1` : raw;
  }
}

function columnsOf({ columns }: Table): string {
  return JSON.stringify(columns.map(({ fieldNames }) => fieldNames[0]));
}

/** The changed table. */
function tableOf(node: Node): string {
  const { table, into, from } = node;
  return (table ?? into ?? from.froms[0]).table.identifier.name;
}

function setColumns(node: Node): readonly { table: string; column: string; value: Node }[] {
  const table = tableOf(node);
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

type Tables = ReadonlyMap<string, string>;

/** The tables of a query by alias. */
function tablesOf({ from, joins = [] }: Node): Tables {
  const named: Node[] = [...(from?.froms ?? []), ...joins.map(({ table }: Node) => table)];
  return new Map(
    named.flatMap(({ alias, node, table }) => {
      const known = (table ?? node.table)?.identifier.name;
      return known === undefined ? [] : [[(alias ?? table.identifier).name, known]];
    }),
  );
}

/** Whether `listOf` of dialect.ts made the node. */
function isList(node: Node): boolean {
  return node.kind === 'RawNode' && node.sqlFragments[0].includes('json_group_array');
}

function isCondition(node: Node): boolean {
  if (node.kind === 'ParensNode') return isCondition(node.node);
  if (node.kind === 'BinaryOperationNode') return /^(is|is not|=|<|>|<=|>=)$/.test(node.operator.operator);
  return /^(Or|And)Node$/.test(node.kind);
}
