/**
 * Calendar months (UTC), counted from January 1970, by which the big tables are partitioned. Creates the partitions
 * that rows need, also ahead of time, and drops them whole once everything in them is past its term.
 */

import pg from 'pg';
import type { TaskEnd } from '../../../domain/retention-walk.ts';
import { type Pool, readClock, type Statement } from './pool.ts';

/** A sequence holds the month above this factor and the number of the trace below it. */
const SEQUENCES_PER_MONTH = 2 ** 40;

export function monthOf(instantMs: number): number {
  const instant = new Date(instantMs);
  return (instant.getUTCFullYear() - 1970) * 12 + instant.getUTCMonth();
}

/** The first millisecond of a month. */
export function monthStartMs(month: number): number {
  return Date.UTC(1970, month, 1);
}

/** The sequence of a trace received at an instant; `number` is unique in the database. */
export function sequenceOf(insertedAtMs: number, number: number): number {
  return monthOf(insertedAtMs) * SEQUENCES_PER_MONTH + number;
}

/** The month in which a trace was received. */
export function monthOfSequence(sequence: number): number {
  return Math.floor(sequence / SEQUENCES_PER_MONTH);
}

/** The number of the trace, which counts all of the database. */
export function numberOfSequence(sequence: number): number {
  return sequence % SEQUENCES_PER_MONTH;
}

/** Traces with this sequence or above were received after the instant. */
export function firstSequenceAfter(instantMs: number): number {
  return (monthOf(instantMs) + 1) * SEQUENCES_PER_MONTH;
}

export type Months = ReturnType<typeof createMonths>;

const CREATE_MONTH: Statement = { name: 'create-month', text: 'SELECT create_month($1)' };
// Many batches are under way when a month ends. Retention creates a further month ahead of time, so that no append
// waits at the beginning of a month.
const MONTHS_AHEAD = { ofAppends: 1, ofRetention: 2 };

export function createMonths(pool: Pool) {
  const known = new Set<number>();
  let isPresentKnown = false;

  async function add(firstMonth: number, lastMonth: number): Promise<void> {
    for (let month = firstMonth; month <= lastMonth; month += 1) {
      await pool.runStatement(CREATE_MONTH, [month]);
      known.add(month);
    }
  }

  async function addPresent(): Promise<void> {
    const month = monthOf(await readClock(pool));
    await add(month, month + MONTHS_AHEAD.ofAppends);
    isPresentKnown = true;
  }

  return {
    /** Creates the partitions for these instants, and for the database's own present, unless they are known to exist. */
    async ensure(instantsMs: readonly number[]): Promise<void> {
      if (!isPresentKnown) await addPresent();
      for (const instantMs of instantsMs) {
        const month = monthOf(instantMs);
        if (!known.has(month)) await add(month, month);
      }
    },
    /** Forgets known partitions: retention may have dropped one, or the database's clock may differ. */
    reset(): void {
      known.clear();
      isPresentKnown = false;
    },
  };
}

/** One step of a walk, inside a transaction of its own. */
export type Task = (client: pg.ClientBase, rowsMax: number) => Promise<TaskEnd<Task>>;

type Parent = 'events' | 'requests' | 'spans' | 'evaluations';
type Partition = { readonly parent: Parent; readonly name: string; readonly month: number };

const PARENTS: readonly Parent[] = ['events', 'requests', 'spans', 'evaluations'];
// Creating or dropping a partition locks its parent.
const CLOSED_MAX = `SET LOCAL statement_timeout = '80ms'`;

/** Creates missing partitions for the coming months, and drops those of expired events and their requests. */
export function planMonths(eventsBeforeMs: number): Task {
  return async (client) => {
    const partitions = await listPartitions(client);
    const present = await presentMonth(client);
    const firstKept = monthOf(eventsBeforeMs);
    const missing = Array.from({ length: MONTHS_AHEAD.ofRetention + 1 }, (_, ahead) => present + ahead).filter(
      (month) => partitions.filter((each) => each.month === month).length < PARENTS.length,
    );
    const expired = (parent: Parent, beforeMonth: number) =>
      partitions.filter((each) => each.parent === parent && each.month < beforeMonth);
    const next = [
      ...missing.map(createMonth),
      ...expired('events', firstKept).map(dropPartition),
      // Events are found through their requests, and processes see a new month begin at different moments.
      ...expired('requests', firstKept - 1).map((each) => dropRequests(each)),
    ];
    return { next };
  };
}

/** Drops empty partitions of past months. */
export const planEmptyMonths: Task = async (client) => {
  const present = await presentMonth(client);
  const past = (await listPartitions(client)).filter(
    ({ parent, month }) => (parent === 'spans' || parent === 'evaluations') && month < present,
  );
  return { next: past.map(dropEmpty) };
};

function createMonth(month: number): Task {
  return async (client) => {
    await client.query(CLOSED_MAX);
    await client.query(CREATE_MONTH.text, [month]);
    return { next: [] };
  };
}

function dropPartition({ name }: Partition): Task {
  return async (client) => {
    await client.query(CLOSED_MAX);
    await client.query(`DROP TABLE IF EXISTS ${pg.escapeIdentifier(name)}`);
    return { next: [], removed: { months: 1 } };
  };
}

/** An old trace may get new spans at any moment, so the last check runs under an exclusive lock. */
function dropEmpty({ parent, name }: Partition): Task {
  const table = pg.escapeIdentifier(name);
  return async (client) => {
    const { rows: found } = await client.query(`SELECT FROM ${table} LIMIT 1`);
    if (found.length > 0) return { next: [] };
    await client.query(CLOSED_MAX);
    await client.query(`DO $$ BEGIN
      LOCK TABLE ONLY ${parent} IN ACCESS EXCLUSIVE MODE;
      IF NOT EXISTS (SELECT FROM ${table}) THEN DROP TABLE ${table}; END IF;
    END $$`);
    const { rows: left } = await client.query('SELECT WHERE to_regclass($1) IS NOT NULL', [table]);
    return { next: [], removed: { months: left.length === 0 ? 1 : 0 } };
  };
}

type KeptKey = { readonly organizationNumber: number; readonly changedAtMs: number; readonly key: string };

const FIRST_KEY: KeptKey = { organizationNumber: 0, changedAtMs: 0, key: '' };

/** Request keys are not partitioned, so they are removed first, in batches. */
function dropRequests(partition: Partition, after = FIRST_KEY): Task {
  return async (client, rowsMax) => {
    const last = await clearKeys(client, partition, { after, rowsMax });
    return { next: [last === null ? dropPartition(partition) : dropRequests(partition, last)] };
  };
}

/** Returns the last key that was removed; null at the end. */
async function clearKeys(
  client: pg.ClientBase,
  { name }: Partition,
  { after, rowsMax }: { readonly after: KeptKey; readonly rowsMax: number },
): Promise<KeptKey | null> {
  const rowKey = 'organization_number, changed_at, request_key';
  const { rows } = await client.query<KeptKey>(
    `WITH batch AS (
       SELECT ${rowKey} FROM ${pg.escapeIdentifier(name)}
       WHERE (${rowKey}) > ($1::integer, $2::bigint, $3::text) ORDER BY ${rowKey} LIMIT $4
     ), cleared AS (
       DELETE FROM request_keys USING batch
       WHERE request_keys.organization_number = batch.organization_number
         AND request_keys.request_key = batch.request_key AND request_keys.changed_at = batch.changed_at
     )
     SELECT organization_number AS "organizationNumber", changed_at AS "changedAtMs", request_key AS key
     FROM batch ORDER BY ${rowKey} OFFSET $4 - 1`,
    [after.organizationNumber, after.changedAtMs, after.key, rowsMax],
  );
  // A full batch has a row at this offset, from which the next one continues.
  return rows[0] ?? null;
}

async function listPartitions(client: pg.ClientBase): Promise<readonly Partition[]> {
  const { rows } = await client.query<{ parent: Parent; name: string }>(
    `SELECT parent.relname AS parent, child.relname AS name
     FROM pg_inherits
     JOIN pg_class AS parent ON parent.oid = inhparent
     JOIN pg_class AS child ON child.oid = inhrelid
     WHERE parent.oid = ANY ($1::regclass[])
     ORDER BY child.relname`,
    [PARENTS],
  );
  return rows.flatMap(({ parent, name }) => {
    const [, year, month] = /_(\d{4})_(\d{2})$/.exec(name) ?? [];
    return year === undefined ? [] : [{ parent, name, month: monthOf(Date.UTC(Number(year), Number(month) - 1)) }];
  });
}

async function presentMonth(client: pg.ClientBase): Promise<number> {
  return monthOf(await readClock({ runStatement: async ({ text }) => (await client.query<never>(text)).rows }));
}
