/** The statements of SQLite as queries. */

import type * as appendSqlite from '../../append/queries-sqlite.ts';
import { bindRooms } from '../../statements/runnable.ts';
import type { SOURCES } from '../../statements/sources.ts';
import type { Compiled, StatementRooms } from '../../statements/statement.ts';
import { BINDING } from './forms.ts';

type Sources = typeof SOURCES & { readonly appendSqlite: typeof appendSqlite };

export type SqliteQueries = {
  readonly [Room in keyof Sources]: {
    readonly [Name in keyof Sources[Room]]: Compiled<Sources[Room][Name]>;
  };
};

export function bindQueries(statements: StatementRooms): SqliteQueries {
  return bindRooms<SqliteQueries>(statements, BINDING);
}
