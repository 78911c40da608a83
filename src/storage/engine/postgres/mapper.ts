/** The object mapper on the connections of a pool. */

import type { Configuration, EntityData, QueryResult } from '@mikro-orm/core';
import { PostgreSqlConnection, PostgreSqlPlatform } from '@mikro-orm/postgresql';
import {
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  sql,
} from 'kysely';
import type pg from 'pg';
import { type Binding, executeBound } from '../../bind.ts';
import { kyselyOf, type LogEnd, type Units } from '../../management/units.ts';
import { createMapper, type Mapper, UnconnectedDriver, unitOn } from '../../mapper.ts';
import type { Transact } from '../../transaction.ts';
import { toFault } from './failures.ts';
import { monthOf, monthStartMs } from './months.ts';
import type { Pool } from './pool.ts';
import { searchableCells } from './run-query.ts';

const BINDING: Binding = { placeholder: (number) => `$${number}`, toCell: (value) => value };

class BoundConnection extends PostgreSqlConnection {
  override async execute<T extends QueryResult | EntityData<object> | EntityData<object>[]>(
    ...[query, values, method, connection]: Parameters<PostgreSqlConnection['execute']>
  ): Promise<T> {
    return this.transformRawResult<T>(await executeBound({ query, values, connection }, BINDING), method ?? 'all');
  }
}

class Driver extends UnconnectedDriver<BoundConnection> {
  constructor(config: Configuration) {
    super(config, new PostgreSqlPlatform(), BoundConnection, ['kysely', 'pg']);
  }
}

let mapper: Mapper | undefined;

/** The same for every database of the process. */
export function openMapper(): Mapper {
  mapper ??= createMapper(Driver, 'postgres');
  return mapper;
}

/** A read outside of transactions. Finds nothing by values that no row can have. */
async function read(pool: Pool, query: pg.QueryConfig): Promise<Answer> {
  const values = searchableCells(query.values ?? []);
  if (values === null) return { rows: [], rowCount: 0 };
  return await pool.withConnection((client) => client.query({ ...query, values }));
}

/** What rooms run on. */
export function unitsOf(pool: Pool, transact: Transact): Units {
  const connection = queryBuilderOn((query) => read(pool, query));
  return {
    transact,
    log: LOG_END,
    async read(body) {
      try {
        return await body(unitOn(openMapper(), connection));
      } catch (error) {
        throw toFault(error);
      }
    },
  };
}

/** An organization may have had no event yet, and so its month no partition. */
const LOG_END: LogEnd = {
  isEnvelopeApart: false,
  async nowMs(em) {
    const { rows } = await sql<{ now: number }>`SELECT clock_ms() AS now`.execute(kyselyOf(em));
    return Number(rows[0]?.now);
  },
  async prepare(em, createdAtMs) {
    const month = monthOf(createdAtMs);
    const name = `events_${new Date(monthStartMs(month)).toISOString().slice(0, 7).replace('-', '_')}`;
    await sql`SELECT create_month(${month}::integer) WHERE to_regclass(${name}) IS NULL`.execute(kyselyOf(em));
  },
};

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
