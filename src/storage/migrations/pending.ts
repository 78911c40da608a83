/** Which migrations a database lacks. It keeps the names of those it has where the object mapper's own Migrator would. */

import type { SqlMigration } from './sql-migration.ts';

export const MIGRATIONS_TABLE = 'mikro_orm_migrations';

/** Oldest first; null when the database has some that nobody here knows. */
export function findPending(
  known: readonly SqlMigration[],
  applied: readonly string[],
): readonly SqlMigration[] | null {
  const names = new Set(known.map((migration) => migration.name));
  if (applied.some((name) => !names.has(name))) return null;
  const has = new Set(applied);
  return known.filter((migration) => !has.has(migration.name));
}
