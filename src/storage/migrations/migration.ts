/**
 * A migration: one SQL script, frozen from the commit that adds it. Its name stands in every database that has it. A new
 * database runs all migrations, an older one those it lacks.
 */

import { hash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

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

const OLDER_PROCESSES = /^-- Older processes (may run|must be stopped).*\n/;
const LATER_INDEX = /^(CREATE (?:UNIQUE )?INDEX CONCURRENTLY (\w+) .*);\n/gm;
// The order of ids. It is the default of SQLite, which does not know its name.
const COLLATION = / collate "C"/gi;

/** The migrations of a store, oldest first: the scripts of this folder that its name begins, or a number, for both stores. */
export function readMigrations(store: 'sqlite' | 'postgres'): readonly Migration[] {
  const migrations = readdirSync(import.meta.dirname).flatMap((file) => {
    const [, owner = store, name] = /^(?:(sqlite|postgres)-)?(\d{4}-.+)\.sql$/.exec(file) ?? [];
    if (name === undefined || owner !== store) return [];
    const text = readFileSync(join(import.meta.dirname, file), 'utf8');
    return [readMigration(`${store}-${name}`, store === 'sqlite' ? text.replace(COLLATION, '') : text)];
  });
  return migrations.sort((a, b) => (a.name < b.name ? -1 : 1));
}

function readMigration(name: string, text: string): Migration {
  const olderProcesses = OLDER_PROCESSES.exec(text)?.[1] === 'may run' ? 'may run' : 'must be stopped';
  const laterIndexes = Object.fromEntries(
    [...text.matchAll(LATER_INDEX)].map(([, statement = '', index = '']) => [index, statement]),
  );
  return { name, script: text.replace(OLDER_PROCESSES, '').replace(LATER_INDEX, ''), laterIndexes, olderProcesses };
}

/** Everything that a migration does, as SQL for people. */
export function textOf({ script, laterIndexes }: Migration): string {
  return [script, ...Object.values(laterIndexes).map((statement) => `${statement};\n`)].join('');
}

/** SHA-256 of all that a migration does, in hexadecimal. */
export function hashOf(migration: Migration): string {
  return hash('sha256', textOf(migration));
}
