/** The SQLite side of a copy: nobody else uses the file meanwhile, and nothing in it is changed. */

import { hash } from 'node:crypto';
import { existsSync } from 'node:fs';
import type { EventType } from '../../domain/event-type.ts';
import { databaseFile } from '../open.ts';
import { monthOf, sequenceOf } from '../postgres/month.ts';
import { eventTypes, unpackCostSource } from '../rows/codes.ts';
import { type Database, openReadHandle } from '../sqlite/connection.ts';
import { type Lock, takeLock } from '../sqlite/lock.ts';
import { pendingMigrations } from '../sqlite/schema.ts';
import { StartError } from '../start-error.ts';
import { type Cell, type Column, type SourceValue, toCell } from './cells.ts';
import { type SourceFunctions, TABLES, type TableCopy } from './tables.ts';

export type SourceRow = { readonly key: readonly SourceValue[]; readonly cells: readonly Cell[] };

export type Source = {
  /** Differs for another database, and nearly always for one that has changed. */
  readonly fingerprint: string;
  countRows(table: TableCopy): number;
  /** In the order of the key, from after a key on; null for all. Whoever stops early must end the iteration. */
  rows(table: TableCopy, columns: readonly Column[], after: readonly SourceValue[] | null): Iterable<SourceRow>;
  /** The months that rows belong to, as month.ts counts them. */
  months(): readonly number[];
  /** The largest numbers ever given. */
  lastNumbers(): LastNumbers;
  close(): void;
};

const COUNTED = ['organizations', 'projects', 'webhook_endpoints', 'webhook_deliveries', 'webhook_replays'] as const;

export type LastNumbers = Readonly<Record<'traces' | 'webhook_changes' | (typeof COUNTED)[number], number>>;

/** Throws StartError. */
export function openSource(url: string): Source {
  const file = url.startsWith('sqlite:') ? databaseFile(url) : null;
  if (file === null) throw new StartError('--from must be sqlite: and the path of a file');
  if (!existsSync(file)) throw new StartError(`there is no database ${file}`);
  const lock = takeLock(file);
  try {
    if (pendingMigrations(file).length > 0) {
      throw new StartError(`the database ${file} was written by an older version of Spandrel; migrate it first`);
    }
    return createSource(openReadHandle(file), lock);
  } catch (error) {
    lock.release();
    throw error;
  }
}

function createSource(db: Database, lock: Lock): Source {
  addFunctions(db);
  const readNumber = (sql: string) => db.prepare<[], number>(sql).pluck().get() ?? 0;
  return {
    fingerprint: fingerprintOf(db),
    countRows: ({ source, leftOut }) =>
      readNumber(`SELECT count(*) FROM ${source}`) - (leftOut === null ? 0 : readNumber(leftOut.countSql)),
    rows: (table, columns, after) => readRows(db, { table, columns, after }),
    months: () => db.prepare<[], number>(MONTHS).pluck().all(),
    lastNumbers: () => {
      const ofTable = (table: (typeof COUNTED)[number]) =>
        readNumber(`SELECT seq FROM sqlite_sequence WHERE name = '${table}'`);
      return {
        traces: readNumber('SELECT max(sequence) FROM traces'),
        webhook_changes: readNumber('SELECT number FROM webhook_changes'),
        organizations: ofTable('organizations'),
        projects: ofTable('projects'),
        webhook_endpoints: ofTable('webhook_endpoints'),
        webhook_deliveries: ofTable('webhook_deliveries'),
        webhook_replays: ofTable('webhook_replays'),
      };
    },
    close() {
      db.close();
      lock.release();
    },
  };
}

const MONTHS = `
  SELECT month_of(inserted_at) FROM traces
  UNION SELECT month_of(received_at) FROM requests
  UNION SELECT month_of(created_at) FROM events_by_time
  UNION SELECT month_of(created_at) FROM governance_events`;

function addFunctions(db: Database): void {
  const headOf = createHeadReader();
  const functions: SourceFunctions = {
    sequence_of: sequenceOf,
    month_of: monthOf,
    created_at_of: (envelope) => (envelope === null ? null : Date.parse(headOf(envelope).created)),
    event_id_of: (envelope) => headOf(envelope).id,
    event_type_of: (envelope) => eventTypes.code(headOf(envelope).type),
    cost_source_of: unpackCostSource,
  };
  for (const [name, run] of Object.entries(functions)) db.function(name, { deterministic: true }, run);
}

type EnvelopeHead = { readonly id: string; readonly type: EventType; readonly created: string };

/** Several columns of a row ask for the same one. */
function createHeadReader(): (envelope: string) => EnvelopeHead {
  let last: { readonly envelope: string; readonly head: EnvelopeHead } | null = null;
  return (envelope) => {
    if (last?.envelope !== envelope) last = { envelope, head: JSON.parse(envelope) as EnvelopeHead };
    return last.head;
  };
}

type Reading = {
  readonly table: TableCopy;
  readonly columns: readonly Column[];
  readonly after: readonly SourceValue[] | null;
};

function* readRows(db: Database, { table, columns, after }: Reading): Generator<SourceRow, void> {
  const { source, joins, expressions, key, leftOut } = table;
  const own = new Set(db.prepare<[string], string>('SELECT name FROM pragma_table_info(?)').pluck().all(source));
  const keyColumns = key.map((column) => `${source}.${column}`);
  const selected = columns.map(({ name }) => expressions[name] ?? (own.has(name) ? `${source}.${name}` : 'NULL'));
  const conditions = [
    ...(leftOut === null ? [] : [`NOT (${leftOut.condition})`]),
    ...(after === null ? [] : [`(${keyColumns.join(', ')}) > (${key.map(() => '?').join(', ')})`]),
  ];
  const rows = db
    .prepare<SourceValue[], SourceValue[]>(
      `SELECT ${[...keyColumns, ...selected].join(', ')} FROM ${source} ${joins}
       ${conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`}
       ORDER BY ${keyColumns.join(', ')}`,
    )
    .raw()
    .iterate(...(after ?? []));
  for (const row of rows) {
    const cells = columns.map((column, index) => toCell(column, row[key.length + index] ?? null));
    yield { key: row.slice(0, key.length), cells };
  }
}

/** What every write of the store changes, or most of them: cheap to read in a large database. */
function fingerprintOf(db: Database): string {
  const figures = TABLES.filter(({ key }) => key[0] === 'rowid').map(({ source }) =>
    db.prepare<[], number>(`SELECT max(rowid) FROM ${source}`).pluck().get(),
  );
  const verifiers = db.prepare<[], Buffer>('SELECT verifier FROM installation').pluck().all();
  const heads = db.prepare('SELECT * FROM log_heads ORDER BY organization_number').raw().all();
  return hash('sha256', JSON.stringify([verifiers.map((verifier) => verifier.toString('hex')), heads, figures]));
}
