/** Compares a database with the table descriptions, by the object mapper. */

import { defineEntity, type EntitySchema } from '@mikro-orm/core';
import { Migration, Migrator } from '@mikro-orm/migrations';
import { MikroORM as PostgresMapper } from '@mikro-orm/postgresql';
import { MikroORM as SqliteMapper } from '@mikro-orm/sqlite';
import { fitTo, text } from '../../src/storage/entities/kinds.ts';
import { Member } from '../../src/storage/entities/organization.ts';
import type { KnownSchemas } from '../../src/storage/migrations/check-schema.ts';
import type { Migration as SqlMigration } from '../../src/storage/migrations/migration.ts';
import { databaseFile } from '../../src/storage/open.ts';

export type Tables = readonly EntitySchema[];

/** The SQL to adapt it. */
export async function differencesOf(url: string, tables: Tables): Promise<readonly string[]> {
  const mapper = openMapper(url, { tables });
  try {
    const sql = await mapper.schema.getUpdateSchemaSQL({ safe: false, wrap: false });
    return sql.split(';\n').filter((statement) => statement.trim() !== '');
  } finally {
    await mapper.close();
  }
}

/** The executed and pending migrations by the mapper. */
export async function askMigrator(url: string, migrations: readonly SqlMigration[]) {
  const mapper = openMapper(url, { tables: [], migrations });
  try {
    const executed = await mapper.migrator.getExecuted();
    const pending = await mapper.migrator.getPending();
    return { executed: executed.map(({ name }) => name), pending: pending.map(({ name }) => name) };
  } finally {
    await mapper.close();
  }
}

function openMapper(
  url: string,
  { tables, migrations = [] }: { tables: Tables; migrations?: readonly SqlMigration[] },
) {
  const file = databaseFile(url);
  const options = {
    entities: [...tables],
    discovery: { warnWhenNoEntities: false, onMetadata: fitTo(file === null ? 'postgres' : 'sqlite') },
    extensions: [Migrator],
    migrations: { migrationsList: migrations.map(({ name }) => ({ name, class: NoMigration })), snapshot: false },
    metadataCache: { enabled: false },
  };
  return file === null
    ? new PostgresMapper({ ...options, clientUrl: url })
    : new SqliteMapper({ ...options, dbName: file });
}

class NoMigration extends Migration {
  override up(): void {}
}

/** The tables with one column and one index more than the database has. */
export function withMore(tables: Tables): Tables {
  const { properties } = Member;
  const changed = defineEntity({
    name: 'Member',
    tableName: 'members',
    properties: { ...properties, nickname: text().strictNullable() },
    uniques: [{ name: 'members_by_email', properties: ['organizationId', 'email'] }],
    indexes: [{ name: 'members_by_nickname', properties: ['organizationId', 'nickname'] }],
  });
  return tables.map((table) => ((table as unknown) === Member ? (changed as unknown as EntitySchema) : table));
}

/** The known schemas with one migration more. */
export function withMigration(known: KnownSchemas, migration: Partial<SqlMigration> & Pick<SqlMigration, 'name'>) {
  const added: SqlMigration = { script: '', laterIndexes: {}, olderProcesses: 'may run', ...migration };
  return { ...known, migrations: [...known.migrations, added] } satisfies KnownSchemas;
}
