/** Makes code of a question: its text, what it is given in the order of its places, and what becomes of a row. */

import { MikroORM as PostgresMapper } from '@mikro-orm/postgresql';
import { MikroORM as SqliteMapper } from '@mikro-orm/sqlite';
import { createQueryId } from 'kysely';
import type { ChangeSource, Db, RowsSource, Source } from '../../src/storage/questions.ts';
import { fitTo, PackedId, PackedWord, Stored, type StoreKind } from '../../src/storage/tables/kinds.ts';
import { POSTGRES_TABLES, SQLITE_TABLES } from '../../src/storage/tables/tables.ts';
import { takeArrays } from './arrays.ts';
import { GIVEN, Given } from './given.ts';
import { WORDS } from './words.ts';

export type AnySource = Source<never, unknown> | ChangeSource<never> | RowsSource<never>;
export type Compile = (room: string, name: string, source: AnySource) => string;

// biome-ignore lint/suspicious/noExplicitAny: the query builder has no type for all of its nodes together.
type Node = any;
type Column = {
  readonly type: unknown;
  readonly customType?: unknown;
  readonly runtimeType: string;
  readonly nullable?: boolean;
  readonly columnTypes?: readonly string[];
};

export function createCompiler(store: StoreKind): Compile {
  const { db, columnOf } = openMapper(store);

  return (room, name, source) => {
    const node: Node = sayOf(source)(db, GIVEN, WORDS[store]).toOperationNode();
    if (!('ask' in source)) storeAsKept(node);
    const takesArrays = 'changeRows' in source && store === 'postgres';
    const { sql: text, parameters } = db
      .getExecutor()
      .compileQuery(takesArrays ? takeArrays(node, (column) => typeOf(node, column)) : node, createQueryId());
    const cells = parameters
      .map((value) => (value instanceof Given ? value.cell : JSON.stringify(value)))
      .filter((cell) => cell !== '');
    return [
      `export const ${name}: Compiled<typeof source.${name}> = {`,
      `  name: '${room}.${name}',`,
      `  text: ${JSON.stringify(text)},`,
      `  cells: ${'changeRows' in source ? cellsOfRows(cells) : cellsCode(cells)},`,
      ...('ask' in source ? [`  row: ${rowCode(node)},`] : []),
      '};',
    ].join('\n');
  };

  function cellsOfRows(cells: readonly string[]): string {
    const lists = cells.map((cell) => `rows.map((given) => ${cell})`);
    return `(rows) => ${store === 'postgres' ? `[${lists.join(', ')}]` : `rows.map(${cellsCode(cells)})`}`;
  }

  function typeOf(changed: Node, column: string): string {
    const { columnTypes: [type] = [] } = columnOf([tableOf(changed)], column);
    if (type === undefined) throw new Error(`the column ${column} has no type`);
    // Numbers that the store draws itself.
    return type.replace('serial', 'int');
  }

  /** What is given for a column becomes what the column holds. */
  function storeAsKept(node: Node): void {
    for (const { table, column, value } of setColumns(node)) {
      // The values of a row stand for themselves, or each in a node; what is written out is as it is to be kept.
      const given = value instanceof Given ? value : value?.value;
      if (given instanceof Given) given.cell = cellCode(columnOf([table], column), given.cell);
    }
  }

  function cellCode(column: Column, value: string): string {
    const unlessNull = (code: string) => (column.nullable === true ? `${value} === null ? null : ${code}` : code);
    const kind = column.customType ?? column.type;
    if (kind instanceof Stored) {
      return kind.form === 'typedText' ? `packTyped(${value})` : unlessNull(`${kind.form}.code(${value})`);
    }
    if (store === 'postgres') return value;
    if (kind instanceof PackedWord) return `packCostSource(${value})`;
    if (kind instanceof PackedId) return unlessNull(`packId(${value})`);
    return column.runtimeType === 'boolean' ? unlessNull(`Number(${value})`) : value;
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
      return columnCode(columnOf(named ? [named] : [...tables.values()], node.column.column.name), raw);
    }
    // What PostgreSQL has types for.
    if (store === 'postgres') return raw;
    if (isList(node)) return `JSON.parse(${raw})`;
    return isCondition(node) ? `${raw} === 1` : raw;
  }

  function columnCode(column: Column, raw: string): string {
    const unlessNull = (code: string) => (column.nullable === true ? `${raw} === null ? null : ${code}` : code);
    const kind = column.customType ?? column.type;
    if (kind instanceof Stored) {
      return kind.form === 'typedText' ? `unpackTyped(${raw})` : unlessNull(`${kind.form}.word(${raw})`);
    }
    if (store === 'postgres') return raw;
    if (kind instanceof PackedWord) return `unpackCostSource(${raw})`;
    if (kind instanceof PackedId) throw new Error('SQLite has ids as bytes: a question selects them by idText');
    return column.runtimeType === 'boolean' ? unlessNull(`${raw} === 1`) : raw;
  }
}

function sayOf(source: AnySource) {
  if ('ask' in source) return source.ask;
  return 'change' in source ? source.change : source.changeRows;
}

function cellsCode(cells: readonly string[]): string {
  return `(${cells.some((cell) => /\bgiven\b/.test(cell)) ? 'given' : ''}) => [${cells.join(', ')}]`;
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
  if (node.kind !== 'InsertQueryNode') return [];
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

/** Never connects: it is there for what it knows of the tables. */
function openMapper(store: StoreKind) {
  const settings = {
    dbName: 'none',
    connect: false,
    metadataCache: { enabled: false },
    discovery: { onMetadata: fitTo(store) },
  };
  const mapper =
    store === 'sqlite'
      ? new SqliteMapper({ ...settings, entities: [...SQLITE_TABLES] })
      : new PostgresMapper({ ...settings, entities: [...POSTGRES_TABLES] });
  const tables = new Map([...mapper.getMetadata()].map((table) => [table.tableName, Object.values(table.properties)]));
  return {
    db: mapper.em.getKysely({ tableNamingStrategy: 'entity', columnNamingStrategy: 'property' }) as unknown as Db,
    columnOf(among: readonly string[], name: string): Column {
      const columns = among.flatMap((table) => tables.get(table) ?? []);
      const column = columns.find(({ fieldNames }) => fieldNames[0] === name);
      if (column === undefined) throw new Error(`no table of ${among.join(', ')} has the column ${name}`);
      return column as Column;
    },
  };
}
