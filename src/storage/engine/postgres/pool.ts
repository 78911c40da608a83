/**
 * Pools of connections: work in one pool never makes another one wait. A pool replaces lost connections when it next
 * needs them.
 */

import pg from 'pg';
import { toError } from '../../errors.ts';
import { isGivenUp, isStorageFailure, storageFault } from './failures.ts';

export type Pool = {
  /** Runs one prepared statement. Throws the unavailable Fault when the database cannot serve. */
  runStatement<Row>(statement: Statement, values: readonly unknown[]): Promise<readonly Row[]>;
  /** Runs a body on one connection; the body MUST end a transaction that it begins. */
  withConnection<T>(body: (client: pg.PoolClient) => Promise<T>): Promise<T>;
  readonly connections: pg.Pool;
};

/** Statements with the same name must have the same text: it is sent once per connection. */
export type Statement = { readonly name: string; readonly text: string };

export type PoolOptions = {
  readonly url: string;
  readonly name: string;
  readonly connectionsMax: number;
  readonly statementTimeoutMs: number;
  /** Whether statements are sent before earlier ones are answered. */
  readonly isPipelined?: boolean;
  /** Checks and configures each new connection; if it throws, the connection is not used. */
  readonly prepareConnection?: (client: pg.ClientBase) => Promise<void>;
};

const CONNECT_TIMEOUT_MS = 5_000;
const IDLE_MS = 30_000;
// The database ends slow statements itself; this is for one that no longer answers.
const ANSWER_SLACK_MS = 1_000;
const INT8 = 20;

export function openPool({
  url,
  name,
  connectionsMax,
  statementTimeoutMs,
  isPipelined,
  prepareConnection,
}: PoolOptions): Pool {
  const pool = new pg.Pool({
    connectionString: url,
    application_name: `spandrel ${name}`,
    max: connectionsMax,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    idleTimeoutMillis: IDLE_MS,
    query_timeout: statementTimeoutMs + ANSWER_SLACK_MS,
    keepAlive: true,
    pipeline: isPipelined === true,
    types: { getTypeParser },
    verify: toVerify(async (client) => {
      // Not connection parameters: poolers refuse those they do not know.
      await client.query(
        `SET statement_timeout = ${statementTimeoutMs}; SET idle_in_transaction_session_timeout = ${statementTimeoutMs}`,
      );
      await prepareConnection?.(client);
    }),
  });
  // A lost connection fails its statement and is replaced when needed; an unhandled error event would end the process.
  pool.on('error', () => undefined);
  pool.on('connect', (client) => client.on('error', () => undefined));

  async function runStatement<Row>(
    { name: statementName, text }: Statement,
    values: readonly unknown[],
  ): Promise<readonly Row[]> {
    try {
      const result = await withConnection((client) => client.query({ name: statementName, text, values: [...values] }));
      return result.rows as Row[];
    } catch (error) {
      throw isStorageFailure(error) || isGivenUp(error) ? storageFault(error) : error;
    }
  }

  async function connect(): Promise<pg.PoolClient> {
    try {
      return await pool.connect();
    } catch (error) {
      // A failure to connect is never the caller's fault.
      throw storageFault(error);
    }
  }

  async function withConnection<T>(body: (client: pg.PoolClient) => Promise<T>): Promise<T> {
    const client = await connect();
    let failure: unknown = null;
    try {
      return await body(client);
    } catch (error) {
      failure = error;
      throw error;
    } finally {
      client.release(failure !== null && isStorageFailure(failure));
    }
  }

  return { runStatement, withConnection, connections: pool };
}

type Verify = (client: pg.ClientBase, done: (error?: Error) => void) => void;

function toVerify(inspect: (client: pg.ClientBase) => Promise<void>): Verify {
  return (client, done) => {
    inspect(client).then(
      () => done(),
      (error: unknown) => done(toError(error)),
    );
  };
}

/** Every bigint of the schema is an instant, a count or an amount below 2^53. */
function getTypeParser(oid: number, format?: 'text' | 'binary') {
  if (oid === INT8 && format !== 'binary') return Number;
  return format === 'binary' ? pg.types.getTypeParser(oid, 'binary') : pg.types.getTypeParser(oid, 'text');
}

const CLOCK: Statement = { name: 'clock', text: 'SELECT clock_ms() AS "nowMs"' };

/** The clock of the database in milliseconds, which all processes share. */
export async function readClock({ runStatement }: Pick<Pool, 'runStatement'>): Promise<number> {
  const [row] = await runStatement<{ nowMs: number }>(CLOCK, []);
  if (row === undefined) throw new Error('the database does not tell the time');
  return row.nowMs;
}
