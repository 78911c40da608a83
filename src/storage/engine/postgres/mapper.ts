/** The object mapper on the connections of a pool. */

import type { DriverException } from '@mikro-orm/core';
import { PostgreSqlConnection, PostgreSqlPlatform } from '@mikro-orm/postgresql';
import { AbstractSqlDriver, type Configuration, type EntityData, MikroORM, type QueryResult } from '@mikro-orm/sql';
import {
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
} from 'kysely';
import type pg from 'pg';
import { type Binding, bindStatement } from '../../bind.ts';
import { POSTGRES_TABLES } from '../../entities/entities.ts';
import { fitTo } from '../../entities/kinds.ts';
import type { Units } from '../../management/units.ts';
import type { Mapper } from '../../mapper.ts';
import type { Transact } from '../../queries.ts';
import { toFault } from './failures.ts';
import type { Pool } from './pool.ts';
import { searchableCells } from './run-query.ts';

const BINDING: Binding = { placeholder: (number) => `$${number}`, toCell: (value) => value };

class BoundConnection extends PostgreSqlConnection {
  override async execute<T extends QueryResult | EntityData<object> | EntityData<object>[]>(
    ...[query, values = [], method = 'all', transaction]: Parameters<PostgreSqlConnection['execute']>
  ): Promise<T> {
    await this.ensureConnection();
    const result = await (transaction ?? this.getClient()).executeQuery(bindStatement(query, values, BINDING));
    return this.transformRawResult<T>(result, method);
  }
}

class Driver extends AbstractSqlDriver<BoundConnection> {
  constructor(config: Configuration) {
    super(config, new PostgreSqlPlatform(), BoundConnection, ['kysely', 'pg']);
  }

  /** The error of the database as it is: failures.ts tells them apart, and a Fault stays one. */
  override convertException(exception: Error): DriverException {
    return exception;
  }
}

/** Closing the pool is left to the caller. */
export function openMapper(pool: Pool): Mapper {
  return new MikroORM({
    driver: Driver,
    entities: [...POSTGRES_TABLES],
    // Only a name: the pool connects.
    dbName: 'spandrel',
    driverOptions: dialectOf((query) => read(pool, query)),
    ensureDatabase: false,
    discovery: { onMetadata: fitTo('postgres') },
  });
}

/** A read outside of transactions. Finds nothing by values that no row can have. */
async function read(pool: Pool, query: pg.QueryConfig): Promise<Answer> {
  const values = searchableCells(query.values ?? []);
  if (values === null) return { rows: [], rowCount: 0 };
  return await pool.withConnection((client) => client.query({ ...query, values }));
}

/** What rooms run on. */
export function unitsOf(mapper: Mapper, transact: Transact): Units {
  return {
    transact,
    async read(body) {
      try {
        return await body(mapper.em.fork());
      } catch (error) {
        throw toFault(error);
      }
    },
  };
}

type Answer = Pick<pg.QueryResult, 'rows' | 'rowCount'>;

type Send = (query: pg.QueryConfig) => Promise<Answer>;

/** The query builder on a connection whose transaction the caller has begun. */
export function queryBuilderOn(send: Send): Kysely<unknown> {
  return new Kysely({ dialect: dialectOf(send) });
}

/** Transactions are begun and ended beside it; see transaction.ts. */
function dialectOf(send: Send): Dialect {
  const connection: DatabaseConnection = {
    async executeQuery<Row>({ sql, parameters }: CompiledQuery) {
      const { rows, rowCount } = await send({ text: sql, values: [...parameters] });
      return { rows: rows as Row[], numAffectedRows: BigInt(rowCount ?? 0) };
    },
    streamQuery: refuse,
  };
  return {
    createDriver: () => ({
      init: async () => undefined,
      acquireConnection: async () => connection,
      beginTransaction: refuse,
      commitTransaction: refuse,
      rollbackTransaction: refuse,
      releaseConnection: async () => undefined,
      destroy: async () => undefined,
    }),
    createQueryCompiler: () => new PostgresQueryCompiler(),
    createAdapter: () => new PostgresAdapter(),
    createIntrospector: (db) => new PostgresIntrospector(db),
  };
}

function refuse(): never {
  throw new Error('transactions belong to transaction.ts');
}
