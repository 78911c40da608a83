/** Opens, migrates, compacts and backs up a store by the address of its database. */

import { mkdirSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { Store } from '../domain/store.ts';
import type { DatabaseFacts } from './database-facts.ts';
import type { TextMoving } from './engine/postgres/text-mover.ts';
import type { Returned, returnTexts as takeBack } from './engine/postgres/text-return.ts';
import type { Compacted, compactFile } from './engine/sqlite/compact.ts';
import type { SqliteStoreOptions } from './engine/sqlite/store.ts';
import { messageOf, StartError } from './errors.ts';
import type { Migration } from './migrations/migration.ts';

export type { DatabaseFacts, Installed } from './database-facts.ts';
export { StartError } from './errors.ts';
export { type Migration, textOf } from './migrations/migration.ts';

/** `queueMaxBytes` bounds what may wait for its commit. */
type StoreConfig = SqliteStoreOptions & {
  /** `sqlite:` and a path, `sqlite::memory:`, or `postgres://user:password@host:port/database`. */
  readonly url: string;
  /** The number of read connections, PostgreSQL only. */
  readonly connectionsMax?: number;
  /** How long a database that is away is waited for, PostgreSQL only. */
  readonly waitMaxMs?: number;
  /** Moves long texts of traces to ClickHouse, PostgreSQL only; null: they stay. */
  readonly moveTexts?: TextMoving | null;
  /** Accepts a database that may lose what it has acknowledged. */
  readonly mayLoseWrites?: boolean;
};

const SCHEME = 'sqlite:';
const MEMORY = ':memory:';
const CONNECTIONS = 10;

/** Opens the store, creating what is missing. Throws StartError with one line for the operator. */
export async function openStore({
  url,
  connectionsMax = CONNECTIONS,
  mayLoseWrites = false,
  waitMaxMs = 0,
  moveTexts = null,
  ...options
}: StoreConfig): Promise<Store> {
  if (options.telemetryUrl != null) await refuseUnfitTelemetry(options.telemetryUrl, options.log);
  // Only the driver in use is loaded: each costs memory and start-up time.
  if (isPostgres(url)) {
    const { openPostgresStore } = await import('./engine/postgres/store.ts');
    return await openPostgresStore({ ...options, url, connectionsMax, mayLoseWrites, waitMaxMs, moveTexts });
  }
  const file = databaseFile(url);
  if (file === null && options.telemetryUrl != null) {
    throw new StartError('a database in memory has no use for SPANDREL_TELEMETRY_URL; unset it, or store in a file');
  }
  if (file === null) return await (await import('./engine/sqlite/store.ts')).openMemoryStore(options);
  return await (await import('./engine/sqlite/open-file.ts')).openFileStore(file, options);
}

/** A server of ClickHouse that is away may come back: searches fail until then, and all else works. */
async function refuseUnfitTelemetry(address: string, log: SqliteStoreOptions['log']): Promise<void> {
  try {
    await inspectTelemetry(address);
  } catch (error) {
    if (error instanceof StartError) throw error;
    log.warn({ reason: messageOf(error) }, 'ClickHouse is away: traces are not searched or summed up until it is back');
  }
}

export function isPostgres(url: string): boolean {
  return /^postgres(ql)?:\/\//.test(url);
}

/** The absolute path of the database file; null for a database without one. Throws StartError for anything else. */
export function databaseFile(url: string): string | null {
  if (isPostgres(url)) return null;
  const path = url.slice(SCHEME.length);
  if (!url.startsWith(SCHEME) || path === '') {
    throw new StartError(
      'the database address must be sqlite: and a path, sqlite::memory:, or postgres://user:password@host/database',
    );
  }
  if (path === MEMORY) return null;
  const problem = MISLEADING.find(([form]) => form.test(path));
  if (problem !== undefined) {
    throw new StartError(`the database address is sqlite: and the plain path of a file; this one ${problem[1]}`);
  }
  return resolve(path);
}

/** Paths that mean something to other programs. Taken literally, each would begin a new database somewhere else. */
const MISLEADING: readonly (readonly [form: RegExp, says: string])[] = [
  [/^\/\//, 'has slashes behind the colon, as in sqlite://; write sqlite:/path or sqlite:./path'],
  [/^file:/, 'begins with file:; write the path alone'],
  [/\?/, 'has a question mark; there are no options such as ?mode=, so leave it out'],
  [/%[0-9a-fA-F]{2}/, 'has an escape such as %20; write the character itself'],
  [/(^|\/)\.{0,2}$/, 'names a folder; add the name of the file'],
  [/^~/, 'begins with ~, which only a shell replaces; write the whole path'],
  [/\$[\w{]/, 'has a variable, which only a shell replaces; write the whole path'],
  [/[\0-\x1f\x7f]/, 'has a control character; rename the file or folder'],
];

/** Copies a database file that may be in use. Throws StartError, also for databases with backup tools of their own. */
export async function backupDatabase(url: string, target: string): Promise<void> {
  const file = databaseFile(url);
  if (file === null)
    throw new StartError('only a SQLite file can be backed up this way; PostgreSQL has pg_dump and pg_basebackup');
  const { backupFile } = await import('./engine/sqlite/backup.ts');
  backupFile(file, target);
}

/** Shrinks a database file. Throws StartError, also for databases that do it in another way. */
export async function compactDatabase(
  url: string,
  deps: Parameters<typeof compactFile>[1],
): Promise<Compacted & { readonly file: string }> {
  const file = databaseFile(url);
  if (isPostgres(url)) {
    throw new StartError(
      'only a SQLite file is compacted this way. PostgreSQL reuses freed space by itself (autovacuum); VACUUM FULL gives it back to the system, and locks each table as long as it takes',
    );
  }
  if (file === null) throw new StartError('a database in memory has no file to compact');
  return { file, ...(await (await import('./engine/sqlite/compact.ts')).compactFile(file, deps)) };
}

/** Takes texts back from ClickHouse into a PostgreSQL database. Throws StartError. */
export async function returnTexts(options: Parameters<typeof takeBack>[0]): Promise<Returned> {
  if (!isPostgres(options.url)) throw new StartError('only a PostgreSQL database moves texts to ClickHouse');
  return await (await import('./engine/postgres/text-return.ts')).returnTexts(options);
}

/** The migrations that the database lacks, oldest first. Changes nothing. Throws StartError. */
export async function pendingMigrations(url: string): Promise<readonly Migration[]> {
  if (isPostgres(url)) {
    const { settleEncryption } = await import('./engine/postgres/address.ts');
    return await (await import('./engine/postgres/schema.ts')).pendingMigrations(await settleEncryption(url));
  }
  const file = fileOf(url);
  return (await import('./engine/sqlite/schema.ts')).pendingMigrations(file);
}

/** What the database tells about itself. Changes nothing. Throws StartError for a database that no server would use. */
export async function inspectDatabase(url: string, mayLoseWrites: boolean): Promise<DatabaseFacts> {
  if (isPostgres(url)) {
    const { settleEncryption } = await import('./engine/postgres/address.ts');
    const { inspectDatabase: inspect } = await import('./engine/postgres/inspect.ts');
    return await inspect(await settleEncryption(url), mayLoseWrites);
  }
  return (await import('./engine/sqlite/schema.ts')).inspectFile(fileOf(url));
}

/** What ClickHouse tells about itself; changes nothing. Throws StartError for one that cannot be used. */
export async function inspectTelemetry(address: string): Promise<{ readonly version: string }> {
  const { inspectClickHouse } = await import('./clickhouse/index-engine.ts');
  return await inspectClickHouse(address);
}

/**
 * Applies the missing migrations; of several processes at once, one does it. Throws StartError, also for a database
 * that may lose acknowledged writes, unless `mayLoseWrites` accepts that.
 */
export async function applyMigrations(url: string, mayLoseWrites = false): Promise<void> {
  await (isPostgres(url) ? migratePostgres(url, mayLoseWrites) : migrateFile(fileOf(url)));
}

function fileOf(url: string): string {
  const file = databaseFile(url);
  if (file === null)
    throw new StartError('a database in memory is new whenever it is opened: there is none to migrate');
  return file;
}

async function migrateFile(file: string): Promise<void> {
  const [{ openDatabase }, { acquireLock: takeLock }] = await Promise.all([
    import('./engine/sqlite/schema.ts'),
    import('./engine/sqlite/lock.ts'),
  ]);
  mkdirSync(dirname(file), { recursive: true });
  const lock = takeLock(file);
  try {
    openDatabase(file).close();
  } finally {
    lock.release();
  }
}

async function migratePostgres(url: string, mayLoseWrites: boolean): Promise<void> {
  const [{ settleEncryption }, { refuseUnsafeCommits }, { updateSchema }] = await Promise.all([
    import('./engine/postgres/address.ts'),
    import('./engine/postgres/fitness.ts'),
    import('./engine/postgres/schema.ts'),
  ]);
  await updateSchema({
    url: await settleEncryption(url),
    inspect: mayLoseWrites ? async () => undefined : refuseUnsafeCommits,
  });
}
