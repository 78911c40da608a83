/** The object mapper on the handle that writes. The threads that only read do not load it. */

import type { DriverException } from '@mikro-orm/core';
import { AbstractSqlDriver, type Configuration, type EntityData, MikroORM, type QueryResult } from '@mikro-orm/sql';
import { SqliteConnection, SqlitePlatform } from '@mikro-orm/sqlite';
import type { Statement } from 'better-sqlite3';
import { Kysely, SqliteDialect } from 'kysely';
import { type Binding, bindStatement } from '../../bind.ts';
import { MANAGEMENT_TABLES } from '../../entities/entities.ts';
import { fitTo } from '../../entities/kinds.ts';
import type { Mapper } from '../../mapper.ts';
import type { Database } from './connection.ts';

const BINDING: Binding = {
  placeholder: () => '?',
  toCell: (value) => (typeof value === 'boolean' ? Number(value) : (value ?? null)),
};

class BoundConnection extends SqliteConnection {
  override async execute<T extends QueryResult | EntityData<object> | EntityData<object>[]>(
    ...[query, values = [], method = 'all', transaction]: Parameters<SqliteConnection['execute']>
  ): Promise<T> {
    if (transaction === undefined) throw new Error('a unit of work has no connection');
    const result = await transaction.executeQuery(bindStatement(query, values, BINDING));
    return this.transformRawResult<T>(result, method);
  }
}

class Driver extends AbstractSqlDriver<BoundConnection> {
  constructor(config: Configuration) {
    super(config, new SqlitePlatform(), BoundConnection, ['kysely', 'better-sqlite3']);
  }

  /** The error of the database as it is: failures.ts tells them apart, and a Fault stays one. */
  override convertException(exception: Error): DriverException {
    return exception;
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

/** The same for every database of the process: describing the tables takes longer than opening one. */
export function openMapper(): Mapper {
  // The name is of no database: units of work have connections.
  const settings = { driver: Driver, dbName: 'spandrel', connect: false, ensureDatabase: false };
  mapper ??= new MikroORM({
    ...settings,
    entities: [...MANAGEMENT_TABLES],
    discovery: { onMetadata: fitTo('sqlite') },
  });
  return mapper;
}

/** The connection of units of work to a handle, which the caller closes. */
export function connectTo(db: Database): Kysely<unknown> {
  return new Kysely({
    dialect: new SqliteDialect({ database: { prepare: createPrepare(db), close: () => undefined } }),
  });
}
