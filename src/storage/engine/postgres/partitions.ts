/** Monthly partitions: created ahead of time, and dropped whole once everything in them is past its term. */

import pg from 'pg';
import type { TaskEnd } from '../../retention/walk.ts';
import { CREATE_MONTH, monthOf } from './months.ts';
import { readClock } from './pool.ts';

/** One step of a walk, inside a transaction of its own. */
export type Task = (client: pg.ClientBase, rowsMax: number) => Promise<TaskEnd<Task>>;

type Parent = 'events' | 'requests' | 'spans' | 'evaluations';
type Partition = { readonly parent: Parent; readonly name: string; readonly month: number };

const PARENTS: readonly Parent[] = ['events', 'requests', 'spans', 'evaluations'];
const MONTHS_AHEAD = 2;
// Creating or dropping a partition locks its parent.
const CLOSED_MAX = `SET LOCAL statement_timeout = '80ms'`;

/** Creates missing partitions for the coming months, and drops those of expired events and their requests. */
export function planMonths(eventsBeforeMs: number): Task {
  return async (client) => {
    const partitions = await listPartitions(client);
    const present = await presentMonth(client);
    const firstKept = monthOf(eventsBeforeMs);
    const missing = Array.from({ length: MONTHS_AHEAD + 1 }, (_, ahead) => present + ahead).filter(
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

/** Answers the last key that was removed; null at the end. */
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
