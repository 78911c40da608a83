/**
 * A migration as data: its name is enough to see whether a database has it, without loading what runs it.
 * A released migration is never changed; a newer one mends it.
 */
export type SqlMigration = { readonly name: string; readonly statements: readonly string[] };
