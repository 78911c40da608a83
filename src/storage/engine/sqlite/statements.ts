/** Compiles the statements of SQLite. Only threads that have the object mapper load this. */

import * as appendSqlite from '../../append/queries-sqlite.ts';
import { PackedEnvelope, PackedId, PackedKey, PackedText, Stored } from '../../entities/kinds.ts';
import type { Column } from '../../statements/columns.ts';
import { compileRooms } from '../../statements/compile.ts';
import { SOURCES } from '../../statements/sources.ts';
import type { StatementRooms } from '../../statements/statement.ts';
import { createDialect } from './dialect.ts';
import { connectTo, openMapper } from './mapper.ts';
import { bindQueries, type SqliteQueries } from './queries.ts';

let compiled: StatementRooms | undefined;
let bound: SqliteQueries | undefined;

/** The same for every database of the process. */
export function compileStatements(): StatementRooms {
  compiled ??= compileRooms(
    { ...SOURCES, appendSqlite },
    {
      mapper: openMapper(),
      connection: connectTo(null),
      createDialect: (schema) => createDialect(schema, formOf),
      formOf,
      hasArrays: false,
    },
  );
  return compiled;
}

/** The queries of a thread that has the object mapper. */
export function openQueries(): SqliteQueries {
  bound ??= bindQueries(compileStatements());
  return bound;
}

function formOf({ customType, type, runtimeType }: Column): string {
  const kind = customType ?? type;
  if (kind instanceof Stored) return kind.form;
  if (kind instanceof PackedText) return 'costSource';
  if (kind instanceof PackedId) return 'id';
  if (kind instanceof PackedKey) return 'requestKey';
  if (kind instanceof PackedEnvelope) return 'envelope';
  return runtimeType === 'boolean' ? 'flag' : 'plain';
}
