/** Copies a SQLite database into an empty PostgreSQL database, and verifies that both hold the same. */

import { hash } from 'node:crypto';
import { messageOf, StartError } from '../errors.ts';
import { isPostgres } from '../open.ts';
import { type CopySource, openSource } from './source.ts';
import { TABLES, type TableCopy } from './tables.ts';
import { openTarget, type Target } from './target.ts';

type CopyOptions = {
  /** `sqlite:` and the path of a file. */
  readonly from: string;
  /** `postgres://user:password@host:port/database`. */
  readonly to: string;
  readonly report: (step: CopyStep) => void;
};

export type CopyStep = {
  readonly action: 'copy' | 'verify';
  readonly table: string;
  /** Rows done so far; the last step of a table has `rows` equal to `totalRows`. */
  readonly rows: number;
  readonly totalRows: number;
};

type Copying = Pick<CopyOptions, 'report'> & { readonly source: CopySource; readonly target: Target };

const BATCH_ROWS_MAX = 1_000;
const BATCH_CHARACTERS_MAX = 1 * 1024 * 1024;
const REPORT_ROWS = 1_000;

/** Continues an interrupted copy. Returns the number of rows. Throws StartError. */
export async function copyDatabase({ from, to, report }: CopyOptions): Promise<number> {
  if (!isPostgres(to)) throw new StartError('--to must be postgres://user:password@host/database');
  const source = openSource(from);
  try {
    const target = await openTarget(to, source.fingerprint);
    try {
      return await run({ source, target, report });
    } finally {
      await target.close();
    }
  } catch (error) {
    if (error instanceof StartError) throw error;
    throw new StartError(`the copy stopped: ${messageOf(error)}; run the same command again to continue it`, {
      cause: error,
    });
  } finally {
    source.close();
  }
}

async function run(copying: Copying): Promise<number> {
  const { source, target } = copying;
  await target.prepare(source.months(), source.lastNumbers());
  const begun = TABLES.findIndex(({ name }) => name === target.progress.table);
  for (const table of TABLES.slice(Math.max(begun, 0))) await copyTable(copying, table);
  let totalRows = 0;
  const different: string[] = [];
  for (const table of TABLES) {
    const rows = await verifyTable(copying, table);
    if (rows === null) different.push(table.name);
    else totalRows += rows;
  }
  if (different.length > 0) {
    throw new StartError(
      `the copy is not equal to the source in ${different.join(', ')}; empty the target, start again`,
    );
  }
  await target.finish();
  return totalRows;
}

async function copyTable({ source, target, report }: Copying, table: TableCopy): Promise<void> {
  const totalRows = source.countRows(table);
  let rows = target.progress.table === table.name ? target.progress.rows : 0;
  let storing: Promise<void> = Promise.resolve();
  const step = (done: number) => report({ action: 'copy', table: table.name, rows: done, totalRows });
  // One batch is read while the previous one is stored.
  for (const batch of batchesOf(source.rows(table, rows))) {
    await storing;
    step(rows);
    rows += batch.length;
    storing = target.insert(table, batch, rows);
    // Awaited in the loop or after it, unless reading fails first.
    storing.catch(() => undefined);
  }
  await storing;
  step(totalRows);
}

function* batchesOf(rows: Iterable<string>): Generator<string[], void> {
  let batch: string[] = [];
  let characters = 0;
  for (const row of rows) {
    batch.push(row);
    characters += row.length;
    if (batch.length < BATCH_ROWS_MAX && characters < BATCH_CHARACTERS_MAX) continue;
    yield batch;
    batch = [];
    characters = 0;
  }
  if (batch.length > 0) yield batch;
}

/** Returns the number of rows; null when the two sides differ. */
async function verifyTable({ source, target, report }: Copying, table: TableCopy): Promise<number | null> {
  const totalRows = source.countRows(table);
  const step = (rows: number) => report({ action: 'verify', table: table.name, rows, totalRows });
  const stored = createChecksum();
  const sent = createChecksum();
  const add = (checksum: Checksum, row: string) => {
    checksum.add(row);
    const rows = stored.rows() + sent.rows();
    if (rows % REPORT_ROWS === 0 && rows < 2 * totalRows) step(rows / 2);
  };
  for await (const row of target.rows(table)) add(stored, row);
  for (const row of source.rows(table, 0)) add(sent, row);
  step(totalRows);
  return sent.text() === stored.text() && stored.rows() === totalRows ? totalRows : null;
}

/** Compares two tables regardless of the order of their rows. */
type Checksum = { add(row: string): void; rows(): number; text(): string };

const DIGEST_PARTS = 8;
const DIGEST_PART_BYTES = 4;

/** Adds up the digests of rows: unlike with XOR, two equal rows do not cancel out. */
function createChecksum(): Checksum {
  const sums = new Uint32Array(DIGEST_PARTS);
  let rows = 0;
  return {
    add(row) {
      const digest = hash('sha256', row, 'buffer');
      for (let part = 0; part < DIGEST_PARTS; part += 1) {
        sums[part] = (sums[part] ?? 0) + digest.readUInt32LE(part * DIGEST_PART_BYTES);
      }
      rows += 1;
    },
    rows: () => rows,
    text: () => `${rows} ${sums.join(' ')}`,
  };
}
