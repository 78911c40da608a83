/** MikroORM over connections of ours. Costs time and memory to load, so only what needs it imports this file. */

import { Migration, Migrator } from '@mikro-orm/migrations';
import { MikroORM } from '@mikro-orm/postgresql';
import { type Dialect, PostgresAdapter, PostgresDriver, PostgresIntrospector, PostgresQueryCompiler } from 'kysely';
import type pg from 'pg';
import { createManagement, ENTITIES, type Management } from '../orm/management.ts';
import { POSTGRES_MIGRATIONS } from '../orm/migrations/postgres.ts';
import type { SqlMigration } from '../orm/migrations/sql-migration.ts';

export type Orm = {
  /** Runs the migrations that the database does not have yet, all in one transaction. */
  migrate(): Promise<void>;
  readonly management: Management;
};

/** The pool stays the caller's to close. `warn` receives what the library has to say. */
export async function openOrm(pool: pg.Pool, warn: (message: string) => void): Promise<Orm> {
  const orm = await MikroORM.init({
    dbName: pool.options.database ?? 'spandrel',
    driverOptions: () => createDialect(pool),
    entities: ENTITIES,
    extensions: [Migrator],
    migrations: {
      migrationsList: POSTGRES_MIGRATIONS.map((migration) => ({ name: migration.name, class: toClass(migration) })),
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

/** Kysely's own PostgreSQL dialect closes the pool. */
function createDialect(pool: pg.Pool): Dialect {
  return {
    createAdapter: () => new PostgresAdapter(),
    createDriver: () => new LaneDriver({ pool }),
    createIntrospector: (kysely) => new PostgresIntrospector(kysely),
    createQueryCompiler: () => new PostgresQueryCompiler(),
  };
}

class LaneDriver extends PostgresDriver {
  override async destroy(): Promise<void> {}
}
