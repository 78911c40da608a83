/** MikroORM over connections of ours. Costs time and memory to load, so only what needs it imports this file. */

import { MikroORM } from '@mikro-orm/postgresql';
import {
  type Dialect,
  PostgresAdapter,
  PostgresDriver,
  PostgresIntrospector,
  type PostgresPool,
  type PostgresPoolClient,
  PostgresQueryCompiler,
  type TransactionSettings,
} from 'kysely';
import type pg from 'pg';
import { createManagement, type Management } from '../orm/management.ts';
import { fitTo } from '../tables/kinds.ts';
import { MANAGED_TABLES } from '../tables/tables.ts';
import { isStorageFailure } from './failures.ts';

/** The pool stays the caller's to close. `warn` receives what the library has to say. */
export function openManagement(pool: pg.Pool, warn: (message: string) => void): Management {
  const orm = new MikroORM({
    dbName: pool.options.database ?? 'spandrel',
    driverOptions: () => createDialect(pool),
    entities: [...MANAGED_TABLES],
    discovery: { onMetadata: fitTo('postgres') },
    // Otherwise it would make a database called as dbName on the server.
    ensureDatabase: false,
    metadataCache: { enabled: false },
    colors: false,
    logger: warn,
  });
  return createManagement(() => orm.em.fork());
}

/** Kysely's own PostgreSQL dialect closes the pool. */
function createDialect(pool: pg.Pool): Dialect {
  return {
    createAdapter: () => new PostgresAdapter(),
    createDriver: () => new LaneDriver({ pool: discardFailed(pool) }),
    createIntrospector: (kysely) => new PostgresIntrospector(kysely),
    createQueryCompiler: () => new PostgresQueryCompiler(),
  };
}

type Connection = Parameters<PostgresDriver['releaseConnection']>[0];

/** The library keeps the connection of a transaction that could not begin or be rolled back, and nobody gets it again. */
class LaneDriver extends PostgresDriver {
  override async beginTransaction(connection: Connection, settings: TransactionSettings): Promise<void> {
    await this.#orRelease(connection, super.beginTransaction(connection, settings));
  }

  override async rollbackTransaction(connection: Connection): Promise<void> {
    await this.#orRelease(connection, super.rollbackTransaction(connection));
  }

  async #orRelease(connection: Connection, done: Promise<void>): Promise<void> {
    try {
      await done;
    } catch (error) {
      await this.releaseConnection(connection);
      throw error;
    }
  }

  override async destroy(): Promise<void> {}
}

/** A connection that has failed is not used again, as in every lane. It may be released more than once. */
function discardFailed(pool: pg.Pool): PostgresPool {
  return {
    options: pool.options,
    end: () => pool.end(),
    async connect() {
      const client = await pool.connect();
      let hasFailed = false;
      let isReleased = false;
      return {
        // Cursors are the other thing that could be given, but nobody here has any.
        query: (async (sql: string, parameters: readonly unknown[]): Promise<unknown> => {
          try {
            return await client.query(sql, [...parameters]);
          } catch (error) {
            hasFailed ||= isStorageFailure(error);
            throw error;
          }
        }) as PostgresPoolClient['query'],
        release() {
          if (!isReleased) client.release(hasFailed);
          isReleased = true;
        },
      };
    },
  };
}
