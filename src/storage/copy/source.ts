/** The SQLite side of a copy: the file is locked against other processes and stays unchanged. */

import { hash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { INT8_MAX } from '../engine/postgres/binary-arrays.ts';
import { type Database, openReadHandle } from '../engine/sqlite/connection.ts';
import { acquireLock, type Lock } from '../engine/sqlite/lock.ts';
import { pendingMigrations } from '../engine/sqlite/schema.ts';
import { StartError } from '../errors.ts';
import { databaseFile } from '../open.ts';
import { type Column, FUNCTIONS, TABLES, type TableCopy } from './tables.ts';

export type CopySource = ReturnType<typeof openSource>;

/** The largest numbers ever assigned: to traces, to changes of endpoints, and to rows of tables that number them. */
export type LastNumbers = ReturnType<CopySource['lastNumbers']>;

type Value = number | string | Buffer | null;

/** Throws StartError. */
export function openSource(url: string) {
  const file = url.startsWith('sqlite:') ? databaseFile(url) : null;
  if (file === null) throw new StartError('--from must be sqlite: and the path of a file');
  if (!existsSync(file)) throw new StartError(`there is no database at ${file}; --from must name an existing one`);
  const lock = acquireLock(file);
  try {
    if (pendingMigrations(file).length > 0) {
      throw new StartError(
        `the database ${file} was written by an older version of Spandrel; run spandrel migrate on it first`,
      );
    }
    return createSource(openReadHandle(file), lock);
  } catch (error) {
    lock.release();
    throw error;
  }
}

function createSource(db: Database, lock: Lock) {
  for (const [name, run] of Object.entries(FUNCTIONS)) db.function(name, { deterministic: true }, run);
  const readNumber = (sql: string) => db.prepare<[], number>(sql).pluck().get() ?? 0;
  return {
    /** Differs for another database, and nearly always for one that has changed. */
    fingerprint: fingerprintOf(db),
    countRows: ({ from }: TableCopy) => readNumber(`SELECT count(*) FROM ${from}`),
    rows: (table: TableCopy, skipped: number) => readRows(db, table, skipped),
    /** The months of the rows, as months.ts counts them. */
    months: () => db.prepare<[], number>(MONTHS).pluck().all(),
    lastNumbers: () => ({
      traces: readNumber('SELECT max(sequence) FROM traces'),
      changes: readNumber('SELECT number FROM webhook_changes'),
      rows: db
        .prepare<[], { table: string; last: number }>('SELECT name AS "table", seq AS last FROM sqlite_sequence')
        .all()
        .filter(({ table }) => TABLES.some(({ name }) => name === table)),
    }),
    close(): void {
      db.close();
      lock.release();
    },
  };
}

const MONTHS = `
  SELECT month_of(inserted_at) FROM traces
  UNION SELECT month_of(received_at) FROM requests
  UNION SELECT month_of(created_at) FROM events`;

/** Rows as JSON in a fixed order. A caller that stops early must end the iteration. */
function* readRows(db: Database, { columns, source, from, key }: TableCopy, skipped: number): Generator<string, void> {
  const selected = columns.map(({ name, expression }) => `${expression} AS ${name}`).join(', ');
  const order = key.map((column) => `${source}.${column}`).join(', ');
  const rows = db
    .prepare<[number], Record<string, Value>>(`SELECT ${selected} FROM ${from} ORDER BY ${order} LIMIT -1 OFFSET ?`)
    .iterate(skipped);
  for (const row of rows) {
    for (const column of columns) row[column.name] = toJson(column, row[column.name] ?? null);
    yield JSON.stringify(row);
  }
}

const DAMAGE_ADVICE = 'the database was changed by hand, or is damaged: undo the change, or copy from a backup';

/** The form in which PostgreSQL reads a value from JSON. */
function toJson({ name, holds }: Column, value: Value): Value {
  if (value !== null && Buffer.isBuffer(value) !== (holds === 'bytes')) {
    throw new StartError(`a value of the column ${name} is of another kind than the column; ${DAMAGE_ADVICE}`);
  }
  if (Buffer.isBuffer(value)) return `\\x${value.toString('hex')}`;
  return typeof value === 'number' && holds !== 'reals' ? Math.min(value, INT8_MAX) : value;
}

/** A hash of values that most writes change, and that are cheap to read in a large database. */
function fingerprintOf(db: Database): string {
  const figures = TABLES.filter(({ key }) => key[0] === 'rowid').map(({ source }) =>
    db.prepare<[], number>(`SELECT max(rowid) FROM ${source}`).pluck().get(),
  );
  const verifiers = db.prepare<[], Buffer>('SELECT verifier FROM installation').pluck().all();
  const heads = db.prepare('SELECT * FROM log_heads ORDER BY organization_number').raw().all();
  return hash('sha256', JSON.stringify([verifiers.map((verifier) => verifier.toString('hex')), heads, figures]));
}
