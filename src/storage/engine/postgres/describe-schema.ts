/** Describes the tables of the current schema, line by line, as check-schema.ts compares them. */

import type pg from 'pg';
import { MIGRATIONS_TABLE } from '../../migrations/migrations-table.ts';
import { COPY_PROGRESS_TABLE } from './fitness.ts';

// Monthly partitions come and go, and follow their table. Views, settings of storage, and what an extension has brought
// are the operator's.
const LINES = `
  WITH tables AS (
    SELECT oid, relname AS name, relkind FROM pg_class
    WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p', 'f') AND NOT relispartition
      AND relname NOT IN ('${MIGRATIONS_TABLE}', '${COPY_PROGRESS_TABLE}') AND NOT ${ofExtension('pg_class', 'pg_class.oid')}
  )
  SELECT 'table ' || name || CASE relkind WHEN 'p' THEN ' ' || lower(pg_get_partkeydef(oid)) WHEN 'f' THEN ' foreign' ELSE '' END AS line
  FROM tables
  UNION ALL
  SELECT 'column ' || name || '.' || attname || ' ' || format_type(atttypid, atttypmod)
    || CASE WHEN attnotnull THEN ' not null' ELSE '' END
    || CASE WHEN attcollation NOT IN (0, 100) THEN ' collate ' || (SELECT collname FROM pg_collation WHERE oid = attcollation) ELSE '' END
    || CASE WHEN attidentity <> '' THEN ' identity' ELSE '' END
    || coalesce(' default ' || pg_get_expr(adbin, adrelid), '')
  FROM tables JOIN pg_attribute ON attrelid = tables.oid AND attnum > 0 AND NOT attisdropped
  LEFT JOIN pg_attrdef ON adrelid = tables.oid AND adnum = attnum
  UNION ALL
  SELECT 'index ' || name || '.' || relname || CASE WHEN indisunique THEN ' unique' ELSE '' END
    || CASE WHEN indisprimary THEN ' primary' ELSE '' END || substring(pg_get_indexdef(indexrelid) FROM ' USING .*')
    || CASE WHEN indisvalid THEN '' ELSE ' invalid' END
  FROM tables JOIN pg_index ON indrelid = tables.oid JOIN pg_class ON pg_class.oid = indexrelid
  UNION ALL
  SELECT CASE contype WHEN 'f' THEN 'reference ' ELSE 'check ' END || name || '.' || conname || ' ' || pg_get_constraintdef(pg_constraint.oid)
  FROM tables JOIN pg_constraint ON conrelid = tables.oid AND contype IN ('f', 'c')
  UNION ALL
  SELECT 'trigger ' || name || '.' || tgname || ' ' || pg_get_triggerdef(pg_trigger.oid)
    || CASE WHEN tgenabled = 'D' THEN ' disabled' ELSE '' END
  FROM tables JOIN pg_trigger ON tgrelid = tables.oid AND NOT tgisinternal
  UNION ALL
  SELECT 'function .' || proname || '(' || pg_get_function_identity_arguments(oid) || ') ' || md5(prosrc)
  FROM pg_proc WHERE pronamespace = current_schema()::regnamespace AND NOT ${ofExtension('pg_proc', 'pg_proc.oid')}
  UNION ALL
  SELECT 'sequence .' || relname || ' by ' || seqincrement
  FROM pg_class JOIN pg_sequence ON seqrelid = pg_class.oid
  WHERE relnamespace = current_schema()::regnamespace AND relname <> '${MIGRATIONS_TABLE}_id_seq' AND NOT ${ofExtension('pg_class', 'pg_class.oid')}`;

function ofExtension(catalogue: string, oid: string): string {
  return `EXISTS (SELECT 1 FROM pg_depend WHERE classid = '${catalogue}'::regclass AND objid = ${oid} AND deptype = 'e')`;
}

/** Sorted by their code points. */
export async function describeSchema(client: pg.ClientBase): Promise<readonly string[]> {
  const { rows } = await client.query<{ line: string; schema: string }>(
    `SELECT line, quote_ident(current_schema()) || '.' AS schema FROM (${LINES}) AS lines`,
  );
  return rows.map(({ line, schema }) => line.replaceAll(schema, '').replaceAll(/\s+/g, ' ')).sort();
}
