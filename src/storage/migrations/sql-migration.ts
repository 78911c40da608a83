/**
 * A migration as data: its name shows whether a database has it, without loading what applies it. The first one creates
 * a new database with today's schema; each other one upgrades an older database. A released migration never changes: a
 * newer one corrects it.
 */
export type SqlMigration = { readonly name: string; readonly statements: readonly string[] };

// The table in which the object mapper's own Migrator would record names.
export const MIGRATIONS_TABLE = 'mikro_orm_migrations';
export const LIST_APPLIED = `SELECT name FROM ${MIGRATIONS_TABLE}`;
export const NOTE_APPLIED = `INSERT INTO ${MIGRATIONS_TABLE} (name) VALUES`;

/** The migrations that a database lacks, oldest first; null when it has an unknown one. */
export function findPending(
  known: readonly SqlMigration[],
  applied: readonly string[],
): readonly SqlMigration[] | null {
  const names = new Set(known.map((migration) => migration.name));
  if (applied.some((name) => !names.has(name))) return null;
  const has = new Set(applied);
  return known.filter((migration) => !has.has(migration.name));
}

/** The missing migrations whose statements must run: the first one creates everything that the others add. */
export function findRunning(known: readonly SqlMigration[], pending: readonly SqlMigration[]): readonly SqlMigration[] {
  return pending.length === known.length ? pending.slice(0, 1) : pending;
}
