/**
 * Decides by a database's own record and its real tables whether this build may use it, and which migrations it lacks.
 * Compared are descriptions: one line for each table, column, index and so on, of the form `<kind> <table>.<name> …`.
 */

import { hash } from 'node:crypto';
import { StartError } from '../errors.ts';
import { hashOf, type Migration } from './migration.ts';

/** A row of schema_versions. */
export type Version = {
  readonly number: number;
  readonly name: string;
  readonly textHash: string;
  /** Empty but for the newest, the only one that is compared. */
  readonly description: string;
  readonly servesFrom: number;
  readonly isComplete: boolean;
};

export type FoundSchema = {
  /** The names in the mapper's table of migrations, in the order of their application. */
  readonly applied: readonly string[];
  /** Empty until the second migration. */
  readonly versions: readonly Version[];
  /** The real tables. */
  readonly description: readonly string[];
};

export type KnownSchemas = {
  /** All migrations, oldest first. */
  readonly migrations: readonly Migration[];
  /** The description after the first one, for databases that have no record yet. */
  readonly readBaseline: () => readonly string[];
  /** Fingerprints of builds whose first migration was another one, and when they were built. */
  readonly unsupported: ReadonlyMap<string, string>;
};

type CheckedSchema = {
  readonly pending: readonly Migration[];
  /** The newest applied migration if some of its later indexes may be missing. */
  readonly unfinished: Migration | null;
};

const UPGRADABLE = 'databases of builds since 24 November 2026 (388a1803) can be upgraded';
const DIFFERENCES_SHOWN = 6;

/** `database` names it at the beginning of a sentence. Throws StartError with one line for the operator. */
export function checkSchema(database: string, found: FoundSchema, known: KnownSchemas): CheckedSchema {
  const { migrations } = known;
  const { applied, versions } = found;
  refuseOthers(database, found, migrations);
  if (applied.length === 0) return { pending: migrations, unfinished: null };
  const newest = versions.at(-1);
  const unfinished = newest === undefined || newest.isComplete ? null : (migrations[newest.number - 1] ?? null);
  const isBuiltLater = (line: string) =>
    unfinished !== null && Object.keys(unfinished.laterIndexes).some((name) => isIndex(line, name));
  const real = found.description.filter((line) => !isBuiltLater(line));
  const expected = newest === undefined ? known.readBaseline() : newest.description.split('\n');
  if (fingerprintOf(real) !== fingerprintOf(expected)) {
    const build = newest === undefined ? known.unsupported.get(fingerprintOf(real)) : undefined;
    if (build !== undefined) {
      throw new StartError(
        `${database} was written by the older build ${build}, which had other tables; ${UPGRADABLE}`,
      );
    }
    const older = newest === undefined ? ', or it was written by an older build' : '';
    throw new StartError(
      `the tables of ${lowerFirst(database)} were changed by hand${older}: ${differencesOf(expected, real)}; undo the change or restore a backup${older === '' ? '' : ` (${UPGRADABLE})`}`,
    );
  }
  return { pending: migrations.slice(applied.length), unfinished };
}

function refuseOthers(database: string, { applied, versions, description }: FoundSchema, known: readonly Migration[]) {
  if (applied.length === 0 && description.length > 0) {
    const tables = description.filter((line) => line.startsWith('table ')).map((line) => line.split(' ')[1]);
    throw new StartError(
      `${database} holds tables of another program (${listSome(tables.map(String))}); use a database of its own`,
    );
  }
  const names = new Set(known.map(({ name }) => name));
  const unknown = applied.filter((name) => !names.has(name));
  if (unknown.length > 0) {
    throw new StartError(
      `${database} was written by a newer version of Spandrel, which has the migration ${listSome(unknown)}; start that version, or restore a backup from before the upgrade`,
    );
  }
  const changed = applied.find((name, index) => name !== known[index]?.name);
  const rewritten = versions.find(({ number, textHash }) => {
    const migration = known[number - 1];
    return migration === undefined || hashOf(migration) !== textHash;
  });
  const name = changed ?? rewritten?.name;
  if (name === undefined && (versions.length === 0 || versions.length === applied.length)) return;
  throw new StartError(
    `${database} was written by an unreleased build, whose migration ${name ?? applied.at(-1)} is not the one of this build, so it cannot be upgraded; go on with that build, or begin with a new database`,
  );
}

/** The first differences, in words. */
function differencesOf(expected: readonly string[], real: readonly string[]): string {
  const [before, now] = [new Set(expected), new Set(real)];
  const missing = expected.filter((line) => !now.has(line));
  const added = real.filter((line) => !before.has(line));
  const told = [
    ...withoutParts(missing).map((line) => `it lacks ${line}`),
    ...withoutParts(added).map((line) => `it has ${line}`),
  ];
  return listSome(told, '; ');
}

/** Without the columns and indexes of tables that are listed themselves. */
function withoutParts(lines: readonly string[]): readonly string[] {
  const tables = new Set(lines.filter((line) => line.startsWith('table ')).map(tableOf));
  return lines.filter((line) => line.startsWith('table ') || !tables.has(tableOf(line)));
}

function tableOf(line: string): string {
  return line.split(' ')[1]?.split('.')[0] ?? '';
}

function isIndex(line: string, name: string): boolean {
  return line.startsWith('index ') && line.split(' ')[1]?.split('.')[1] === name;
}

function listSome(all: readonly string[], separator = ', '): string {
  const rest = all.length - DIFFERENCES_SHOWN;
  return [...all.slice(0, DIFFERENCES_SHOWN), ...(rest > 0 ? [`and ${rest} more`] : [])].join(separator);
}

function lowerFirst(text: string): string {
  return `${text.charAt(0).toLowerCase()}${text.slice(1)}`;
}

/** SHA-256 of the lines, in hexadecimal. */
export function fingerprintOf(description: readonly string[]): string {
  return hash('sha256', description.join('\n'));
}

/** The lowest number of a schema whose processes may go on after a migration; `before` is that number before it. */
export function servesFromAfter({ olderProcesses }: Migration, number: number, before: number): number {
  return olderProcesses === 'may run' ? Math.max(before, number - 1) : number;
}

/** The row that records a migration. `description` is of the tables after it. */
export function versionAfter(
  migration: Migration,
  { number, before, description }: { number: number; before: number; description: readonly string[] },
): Version & { readonly fingerprint: string } {
  return {
    number,
    name: migration.name,
    textHash: hashOf(migration),
    description: description.join('\n'),
    fingerprint: fingerprintOf(description),
    servesFrom: servesFromAfter(migration, number, before),
    isComplete: Object.keys(migration.laterIndexes).length === 0,
  };
}
