/** MikroORM over the write handle. Costs time and memory to load, so only what needs it imports this file. */

import { Migration, Migrator } from '@mikro-orm/migrations';
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
import { createManagement, ENTITIES, type Management } from '../orm/management.ts';
import type { SqlMigration } from '../orm/migrations/sql-migration.ts';
import { SQLITE_MIGRATIONS } from '../orm/migrations/sqlite.ts';
import type { Database } from './connection.ts';

/** Receives what the library has to say. */
export type Warn = (message: string) => void;

export type Orm = {
  /** Runs the migrations that the database does not have yet, all in one transaction. */
  migrate(): Promise<void>;
  readonly management: Management;
};

/** The handle stays the caller's to close. */
export async function openOrm(db: Database, warn: Warn): Promise<Orm> {
  const orm = await MikroORM.init({
    dbName: db.name,
    driverOptions: () => createDialect(db),
    entities: ENTITIES,
    extensions: [Migrator],
    migrations: {
      migrationsList: SQLITE_MIGRATIONS.map((migration) => ({ name: migration.name, class: toClass(migration) })),
      snapshot: false,
      disableForeignKeys: false,
      silent: true,
    },
    metadataCache: { enabled: false },
    colors: false,
    logger: warn,
  });
  return {
    migrate: async () => {
      await orm.migrator.up();
    },
    management: createManagement(() => orm.em.fork()),
  };
}

function toClass({ statements }: SqlMigration) {
  return class extends Migration {
    override up(): void {
      for (const statement of statements) this.addSql(statement);
    }
  };
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
