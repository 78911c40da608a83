/** Makes code of a question: its text, what it is given in the order of its places, and what becomes of a row. */

import { createQueryId } from 'kysely';
import type { ChangeSource, LookupSource, ManySource, RowsSource, Source } from '../../src/storage/questions.ts';
import type { StoreKind } from '../../src/storage/tables/kinds.ts';
import { takeArrays } from './arrays.ts';
import { createKey, GIVEN, Given } from './given.ts';
import { writeMany } from './many.ts';
import { openMapper, packCode, type Table, typeOf, unpackCode } from './mapper.ts';
import { sayWords } from './words.ts';

export type AnySource =
  | Source<never, unknown>
  | ChangeSource<never>
  | RowsSource<never>
  | LookupSource<never, unknown>
  | ManySource<unknown>;
export type Compile = (room: string, name: string, source: AnySource) => string;

// biome-ignore lint/suspicious/noExplicitAny: the query builder has no type for all of its nodes together.
type Node = any;

/** What stands between the braces of a compiled question. */
type Code = {
  readonly text: string;
  /** The parameter of the cells, and they themselves. */
  readonly given: string;
  readonly cells: readonly string[];
  readonly row?: string;
  readonly nameOf?: string;
  readonly table?: Table;
};

export function createCompiler(store: StoreKind): Compile {
  const mapper = openMapper(store);
  const { db, columnOf } = mapper;
  const words = sayWords(store, mapper);

  return (room, name, source) => {
    const { text, given, cells, row, nameOf, table } = compile(source);
    const isMany = store === 'postgres' && ('lookup' in source || 'table' in source);
    return [
      `export const ${name}: ${isMany ? 'CompiledMany' : 'Compiled'}<typeof source.${name}> = {`,
      `  name: '${room}.${name}',`,
      `  text: ${JSON.stringify(text)},`,
      `  cells: (${given}) => [${cells.join(', ')}],`,
      ...(row === undefined ? [] : [`  row: ${row},`]),
      ...(nameOf === undefined ? [] : [`  nameOf: ${nameOf},`]),
      ...(table === undefined ? [] : [`  table: '${table.tableName}',`, `  columns: ${columnsOf(table)},`]),
      '};',
    ].join('\n');
  };

  function compile(source: AnySource): Code {
    if ('table' in source) {
      const table = mapper.tableOf(source.table);
      return { ...writeMany(store, table, source), given: 'given', ...(store === 'sqlite' ? {} : { table }) };
    }
    if ('lookup' in source) return compileLookup(source);
    if ('changeRows' in source) return compileRows(source);
    const isAsked = 'ask' in source;
    const said = isAsked ? source.ask(db, GIVEN, words) : source.change(db, GIVEN, words);
    const node: Node = said.toOperationNode();
    if (!isAsked) storeAsKept(node);
    const { sql, parameters } = said.compile();
    const given = parameters.some((value) => value instanceof Given) ? 'given' : '';
    return { text: sql, given, cells: cellsOf(parameters), ...(isAsked ? { row: rowCode(node) } : {}) };
  }

  function compileLookup(source: LookupSource<never, unknown>): Code {
    const { key, names } = createKey();
    const said = source.lookup(db, key, words);
    const { sql, parameters } = said.compile();
    const code = { text: sql, cells: cellsOf(parameters), row: rowCode(said.toOperationNode()) };
    if (store === 'sqlite') return { ...code, given: 'given' };
    const name = [...names].map((member) => `\${given.${member}}`).join(' ');
    return { ...code, given: 'rows', nameOf: `(given) => \`${name}\`` };
  }

  function compileRows(source: RowsSource<never>): Code {
    const node: Node = source.changeRows(db, GIVEN, words).toOperationNode();
    storeAsKept(node);
    const compiled = (said: Node) => db.getExecutor().compileQuery(said, createQueryId());
    if (store === 'sqlite') {
      const { sql, parameters } = compiled(node);
      return { text: sql, given: 'rows', cells: [`...rows.map((given) => [${cellsOf(parameters).join(', ')}])`] };
    }
    const { sql, parameters } = compiled(takeArrays(node, (name) => typeOf(columnOf([tableOf(node)], name))));
    return { text: sql, given: 'rows', cells: cellsOf(parameters) };
  }

  function cellsOf(parameters: readonly unknown[]): readonly string[] {
    return parameters
      .map((value) => (value instanceof Given ? value.cell : JSON.stringify(value)))
      .filter((cell) => cell !== '');
  }

  /** What is given for a column becomes what the column holds. */
  function storeAsKept(node: Node): void {
    for (const { table, column, value } of setColumns(node)) {
      // The values of a row stand for themselves, or each in a node; what is written out is as it is to be kept.
      const given = value instanceof Given ? value : value?.value;
      if (given instanceof Given) given.cell = packCode(store, columnOf([table], column), given.cell);
    }
  }

  function rowCode(asked: Node): string {
    const tables = tablesOf(asked);
    let isAsIs = true;
    const members = asked.selections.map(({ selection }: Node, index: number) => {
      const name: string = selection.alias.name;
      // SQLite hands rows over as arrays, which costs it less than naming their values.
      const raw = store === 'sqlite' ? `row[${index}]` : `row.${name}`;
      const value = valueCode(tables, selection.node, raw);
      isAsIs &&= value === `row.${name}`;
      return `    ${name}: ${value},\n`;
    });
    return isAsIs ? '(row) => row' : `(row: any) => ({\n${members.join('')}  })`;
  }

  /** A selected value, as the question promises it. */
  function valueCode(tables: Tables, node: Node, raw: string): string {
    if (node.kind === 'ReferenceNode') {
      const named = node.table && tables.get(node.table.table.identifier.name);
      return unpackCode(store, columnOf(named ? [named] : [...tables.values()], node.column.column.name), raw);
    }
    // What PostgreSQL has types for.
    if (store === 'postgres') return raw;
    if (isList(node)) return `JSON.parse(${raw})`;
    return isCondition(node) ? `${raw} === 1` : raw;
  }
}

function columnsOf({ columns }: Table): string {
  return JSON.stringify(columns.map(({ fieldNames }) => fieldNames[0]));
}

/** The table that is changed. */
function tableOf(node: Node): string {
  const { table, into, from } = node;
  return (table ?? into ?? from.froms[0]).table.identifier.name;
}

function setColumns(node: Node): readonly { table: string; column: string; value: Node }[] {
  const table = tableOf(node);
  if (node.kind === 'UpdateQueryNode') {
    return node.updates.map(({ column, value }: Node) => ({ table, column: column.column.name, value }));
  }
  // What is inserted from a question is stored as that finds it.
  if (node.kind !== 'InsertQueryNode' || node.values.kind !== 'ValuesNode') return [];
  const [row] = node.values.values;
  return node.columns.map(({ column }: Node, index: number) => ({
    table,
    column: column.name,
    value: row.values[index],
  }));
}

type Tables = ReadonlyMap<string, string>;

/** The tables that a question names, by what it calls them. */
function tablesOf({ from, joins = [] }: Node): Tables {
  const named: Node[] = [...(from?.froms ?? []), ...joins.map(({ table }: Node) => table)];
  return new Map(
    named.flatMap(({ alias, node, table }) => {
      const known = (table ?? node.table)?.identifier.name;
      return known === undefined ? [] : [[(alias ?? table.identifier).name, known]];
    }),
  );
}

/** Whether it is what `listOf` of words.ts makes. */
function isList(node: Node): boolean {
  return node.kind === 'RawNode' && node.sqlFragments[0].includes('json_group_array');
}

function isCondition(node: Node): boolean {
  if (node.kind === 'ParensNode') return isCondition(node.node);
  if (node.kind === 'BinaryOperationNode') return /^(is|is not|=|<|>|<=|>=)$/.test(node.operator.operator);
  return /^(Or|And)Node$/.test(node.kind);
}
