/**
 * A migration: one SQL script, frozen from the commit that adds it. Its name is the name of its file and stands in every
 * database that has it. A new database runs all migrations, an older one those it lacks.
 */

import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';

export type Migration = {
  readonly name: string;
  /** Runs as a whole or not at all. */
  readonly script: string;
  /**
   * PostgreSQL only: indexes of large tables, built after the script has committed, while others write. Each statement is
   * a CREATE INDEX CONCURRENTLY of the index that it is listed under.
   */
  readonly laterIndexes: Readonly<Record<string, string>>;
  /**
   * Whether processes of the build before may go on while it runs and afterwards. If not, the migration is refused as
   * long as one of them is connected.
   */
  readonly olderProcesses: 'may run' | 'must be stopped';
};

type Options = Partial<Pick<Migration, 'laterIndexes' | 'olderProcesses'>>;

/** Reads the script from the file of that name in this folder. */
export function readMigration(name: string, { laterIndexes = {}, olderProcesses = 'must be stopped' }: Options = {}) {
  const script = readFileSync(new URL(`./${name}.sql`, import.meta.url), 'utf8');
  return { name, script, laterIndexes, olderProcesses } satisfies Migration;
}

/** Everything that a migration does, as SQL for people. */
export function textOf({ script, laterIndexes }: Migration): string {
  return [script, ...Object.values(laterIndexes).map((statement) => `${statement};\n`)].join('');
}

/** SHA-256 of all that a migration does, in hexadecimal. */
export function hashOf(migration: Migration): string {
  return hash('sha256', textOf(migration));
}
