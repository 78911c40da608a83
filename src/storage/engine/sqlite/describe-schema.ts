/** Describes the tables of a file, line by line, as check-schema.ts compares them. */

import { MIGRATIONS_TABLE } from '../../migrations/migrations-table.ts';
import type { Database } from './connection.ts';

const TABLES = `SELECT name, wr, strict FROM pragma_table_list
  WHERE schema = 'main' AND type IN ('table', 'virtual') AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' AND name <> '${MIGRATIONS_TABLE}'`;

const LINES = `
  WITH tables AS (${TABLES})
  SELECT 'table ' || name || iif(wr, ' without rowid', '') || iif(strict, ' strict', '') FROM tables
  UNION ALL
  SELECT 'column ' || tables.name || '.' || columns.name || ' ' || lower(columns.type) || iif(columns."notnull", ' not null', '')
    || iif(columns.pk, ' key ' || columns.pk, '') || iif(columns.dflt_value IS NULL, '', ' default ' || columns.dflt_value)
  FROM tables JOIN pragma_table_xinfo(tables.name) AS columns
  UNION ALL
  SELECT 'index ' || tables.name || '.' || indexes.name || iif(indexes."unique", ' unique', '') || ' (' ||
    (SELECT group_concat(coalesce(columns.name, 'expression') || iif(columns."desc", ' desc', ''), ', ' ORDER BY columns.seqno)
     FROM pragma_index_xinfo(indexes.name) AS columns WHERE columns.key = 1) || ')' ||
    iif(indexes.partial, (SELECT lower(substr(sql, instr(lower(sql), ' where '))) FROM sqlite_schema WHERE type = 'index' AND name = indexes.name), '')
  FROM tables JOIN pragma_index_list(tables.name) AS indexes
  UNION ALL
  SELECT 'reference ' || tables.name || '.' || keys.id || ' ' || keys."from" || ' to ' || keys."table" || '.' || coalesce(keys."to", '') || ' ' || lower(keys.on_delete)
  FROM tables JOIN pragma_foreign_key_list(tables.name) AS keys
  UNION ALL
  SELECT 'trigger ' || tbl_name || '.' || name || ' ' || sql FROM sqlite_schema WHERE type = 'trigger'`;

/** Sorted by their code points. */
export function describeSchema(db: Database): readonly string[] {
  const lines = db.prepare<[], string>(LINES).pluck().all();
  return lines.map((line) => line.replaceAll(/\s+/g, ' ')).sort();
}
