/** The table in which the object mapper's own Migrator would record the names of applied migrations. */
export const MIGRATIONS_TABLE = 'mikro_orm_migrations';
export const LIST_APPLIED = `SELECT name FROM ${MIGRATIONS_TABLE} ORDER BY id`;
export const NOTE_APPLIED = `INSERT INTO ${MIGRATIONS_TABLE} (name) VALUES`;
