/**
 * A migration as data: its name is enough to see whether a database has it, without loading what runs it. The first makes
 * a new database as it is described today. Each of the others brings along an older one; once released it is never
 * changed, and a newer one mends it.
 */
export type SqlMigration = { readonly name: string; readonly statements: readonly string[] };

// Where the object mapper's own Migrator would keep the names of those that a database has.
export const MIGRATIONS_TABLE = 'mikro_orm_migrations';
export const LIST_APPLIED = `SELECT name FROM ${MIGRATIONS_TABLE}`;
export const NOTE_APPLIED = `INSERT INTO ${MIGRATIONS_TABLE} (name) VALUES`;

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

/** Those that a database lacks whose statements it has to run: a new one has all that the others add with the first. */
export function findRunning(known: readonly SqlMigration[], pending: readonly SqlMigration[]): readonly SqlMigration[] {
  return pending.length === known.length ? pending.slice(0, 1) : pending;
}
