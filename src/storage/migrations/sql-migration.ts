/**
 * A migration as data: its name is enough to see whether a database has it, without loading what runs it.
 * A released migration is never changed; a newer one mends it.
 */
export type SqlMigration = { readonly name: string; readonly statements: readonly string[] };

// Where the object mapper's own Migrator would keep the names of those that a database has.
export const MIGRATIONS_TABLE = 'mikro_orm_migrations';

/** Which ones a database lacks, oldest first; null when the database has some that nobody here knows. */
export function findPending(
  known: readonly SqlMigration[],
  applied: readonly string[],
): readonly SqlMigration[] | null {
  const names = new Set(known.map((migration) => migration.name));
  if (applied.some((name) => !names.has(name))) return null;
  const has = new Set(applied);
  return known.filter((migration) => !has.has(migration.name));
}
