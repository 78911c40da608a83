/** The statements that create the tables of a database: the object mapper's, plus clauses it lacks. */

import {
  FILL_FACTORS,
  PARTITIONED_BY,
  REFERENCES,
  type Reference,
  WITHOUT_ROWID,
} from '../../src/storage/tables/beyond-mapper.ts';
import type { StoreKind } from '../../src/storage/tables/kinds.ts';
import { openMapper } from './mapper.ts';

export async function writeSchema(store: StoreKind): Promise<string> {
  const sql = await openMapper(store).createSchemaSql();
  const created = sql
    .split(/;\s*/)
    .filter((statement) => statement !== '')
    .map((statement) => complete(store, statement));
  const statements = store === 'sqlite' ? created : [...created, ...REFERENCES.map(addReference)];
  return [
    '// Made of the descriptions in src/storage/tables by `npm run gen`: change it there.',
    '',
    'export const SCHEMA: readonly string[] = [',
    ...statements.map((statement) => `  ${JSON.stringify(statement)},`),
    '];',
    '',
  ].join('\n');
}

/** Adds the missing clauses to a statement that creates a table. */
function complete(store: StoreKind, statement: string): string {
  const plain = statement.replaceAll('`', '"');
  const [, table = ''] = /^create table "(\w+)"/.exec(plain) ?? [];
  if (table === '') return plain;
  if (store === 'postgres') return `${plain}${partition(table)}${fillFactor(table)}`;
  const references = REFERENCES.filter((reference) => reference.table === table).map((each) => `, ${foreignKey(each)}`);
  const isInKeyOrder = WITHOUT_ROWID.some((each) => each === table);
  return `${plain.slice(0, -1)}${references.join('')})${isInKeyOrder ? ' without rowid' : ''}`;
}

function partition(table: string): string {
  const column = new Map(Object.entries(PARTITIONED_BY)).get(table);
  return column === undefined ? '' : ` partition by range (${column})`;
}

function fillFactor(table: string): string {
  const percent = new Map(Object.entries(FILL_FACTORS)).get(table);
  return percent === undefined ? '' : ` with (fillfactor = ${percent})`;
}

function foreignKey({ columns, to, toColumns, isDeletedWithIt }: Reference): string {
  const key = `foreign key (${columns.join(', ')}) references ${to} (${toColumns.join(', ')})`;
  return isDeletedWithIt ? `${key} on delete cascade` : key;
}

function addReference(reference: Reference): string {
  const { table, columns } = reference;
  return `alter table ${table} add constraint ${[table, ...columns, 'foreign'].join('_')} ${foreignKey(reference)}`;
}
