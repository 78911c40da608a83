/** The object mapper on the handle that writes. The threads that only read do not load it. */

import type { Configuration, EntityData, QueryResult } from '@mikro-orm/core';
import { SqliteConnection, SqlitePlatform } from '@mikro-orm/sqlite';
import type { Statement } from 'better-sqlite3';
import { Kysely, SqliteDialect } from 'kysely';
import { type Binding, executeBound } from '../../bind.ts';
import { createMapper, type Mapper, UnconnectedDriver } from '../../mapper.ts';
import type { Database } from './connection.ts';

const BINDING: Binding = {
  placeholder: () => '?',
  toCell: (value) => (typeof value === 'boolean' ? Number(value) : (value ?? null)),
};

class BoundConnection extends SqliteConnection {
  override async execute<T extends QueryResult | EntityData<object> | EntityData<object>[]>(
    ...[query, values, method, connection]: Parameters<SqliteConnection['execute']>
  ): Promise<T> {
    return this.transformRawResult<T>(await executeBound({ query, values, connection }, BINDING), method ?? 'all');
  }
}

class Driver extends UnconnectedDriver<BoundConnection> {
  constructor(config: Configuration) {
    super(config, new SqlitePlatform(), BoundConnection, ['kysely', 'better-sqlite3']);
  }
}

// The mapper has fewer shapes of statements than this; lists of many ids have one for each length.
const STATEMENTS_MAX = 500;

/** Prepares each text once: preparing costs more than most statements take. The longest unused go first. */
function createPrepare(db: Database): (sql: string) => Statement {
  const known = new Map<string, Statement>();
  return (sql) => {
    const statement = known.get(sql) ?? db.prepare(sql);
    known.delete(sql);
    known.set(sql, statement);
    const [oldest] = known.keys();
    if (known.size > STATEMENTS_MAX && oldest !== undefined) known.delete(oldest);
    return statement;
  };
}

let mapper: Mapper | undefined;

/** The same for every database of the process. */
export function openMapper(): Mapper {
  mapper ??= createMapper(Driver, 'sqlite');
  return mapper;
}

/** The connection of units of work to a handle, which the caller closes; null: it only compiles statements. */
export function connectTo(db: Database | null): Kysely<unknown> {
  const prepare = db === null ? refuse : createPrepare(db);
  return new Kysely({ dialect: new SqliteDialect({ database: { prepare, close: () => undefined } }) });
}

function refuse(): never {
  throw new Error('there is no database to run a statement on');
}
