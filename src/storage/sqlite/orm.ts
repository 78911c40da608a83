/** MikroORM over the write handle. Costs time and memory to load, so only what needs it imports this file. */

import { MikroORM } from '@mikro-orm/sqlite';
import {
  CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  SqliteAdapter,
  SqliteDriver,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from 'kysely';
import { createManagement, type Management } from '../orm/management.ts';
import { fitTo } from '../tables/kinds.ts';
import { MANAGED_TABLES } from '../tables/tables.ts';
import type { Database } from './connection.ts';

/** Receives what the library has to say. */
export type Warn = (message: string) => void;

/** The handle stays the caller's to close. */
export function openManagement(db: Database, warn: Warn): Management {
  const orm = new MikroORM({
    dbName: db.name,
    driverOptions: () => createDialect(db),
    entities: [...MANAGED_TABLES],
    discovery: { onMetadata: fitTo('sqlite') },
    ensureDatabase: false,
    metadataCache: { enabled: false },
    colors: false,
    logger: warn,
  });
  return createManagement(() => orm.em.fork());
}

/** Kysely's own SQLite dialect begins transactions in a way that fails when they turn out to write, and closes the handle. */
function createDialect(db: Database): Dialect {
  return {
    createAdapter: () => new WriterAdapter(),
    createDriver: () => new WriterDriver({ database: db }),
    createIntrospector: (kysely) => new SqliteIntrospector(kysely),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  };
}

/**
 * The library would let one user at a time have the handle, and for ever the one whose transaction could not begin or
 * be rolled back. Whoever calls management runs one verb at a time anyway.
 */
class WriterAdapter extends SqliteAdapter {
  override get supportsMultipleConnections(): boolean {
    return true;
  }
}

class WriterDriver extends SqliteDriver {
  override async beginTransaction(connection: DatabaseConnection): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw('BEGIN IMMEDIATE'));
  }

  override async destroy(): Promise<void> {}
}
