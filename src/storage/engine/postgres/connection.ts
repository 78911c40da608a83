/**
 * Connections, in lanes: what one kind of work does to its connections never makes another kind wait. A pool opens
 * new connections for lost ones when they are next needed.
 */

import pg from 'pg';
import { isGivenUp, isStorageFailure, storageFault } from './failures.ts';

export type Lane = {
  /** Runs one prepared statement. Throws the unavailable Fault when the database cannot serve. */
  ask<Row>(statement: Statement, values: readonly unknown[]): Promise<readonly Row[]>;
  /** Runs a body on one connection. Whatever transaction it leaves open ends with its connection. */
  hold<T>(body: (client: pg.PoolClient) => Promise<T>): Promise<T>;
  readonly pool: pg.Pool;
};

/** Statements of one name must have one text: it is sent once per connection. */
export type Statement = { readonly name: string; readonly text: string };

export type LaneOptions = {
  readonly url: string;
  readonly name: string;
  readonly connectionsMax: number;
  readonly statementTimeoutMs: number;
  /** Whether statements are sent without waiting for the answers to those before. */
  readonly isPipelined?: boolean;
  /** Asked of every new connection; one that throws is not used. */
  readonly inspect?: (client: pg.ClientBase) => Promise<void>;
};

const CONNECT_TIMEOUT_MS = 5_000;
const IDLE_MS = 30_000;
// The database ends a statement in time; this is for one that does not answer any more.
const ANSWER_SLACK_MS = 1_000;
const INT8 = 20;

export function openLane({ url, name, connectionsMax, statementTimeoutMs, isPipelined, inspect }: LaneOptions): Lane {
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
      // Not among the parameters of the connection: poolers refuse those they do not know.
      await client.query(
        `SET statement_timeout = ${statementTimeoutMs}; SET idle_in_transaction_session_timeout = ${statementTimeoutMs}`,
      );
      await inspect?.(client);
    }),
  });
  // A lost connection fails the statement on it and is replaced when one is needed; an event of its own that nobody
  // listens to would end the process.
  pool.on('error', () => undefined);
  pool.on('connect', (client) => client.on('error', () => undefined));

  async function ask<Row>(
    { name: statementName, text }: Statement,
    values: readonly unknown[],
  ): Promise<readonly Row[]> {
    try {
      const result = await hold((client) => client.query({ name: statementName, text, values: [...values] }));
      return result.rows as Row[];
    } catch (error) {
      throw isStorageFailure(error) || isGivenUp(error) ? storageFault(error) : error;
    }
  }

  async function connect(): Promise<pg.PoolClient> {
    try {
      return await pool.connect();
    } catch (error) {
      // Whatever keeps us from connecting is none of the caller's making.
      throw storageFault(error);
    }
  }

  async function hold<T>(body: (client: pg.PoolClient) => Promise<T>): Promise<T> {
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

  return { ask, hold, pool };
}

type Verify = (client: pg.ClientBase, done: (error?: Error) => void) => void;

function toVerify(inspect: (client: pg.ClientBase) => Promise<void>): Verify {
  return (client, done) => {
    inspect(client).then(
      () => done(),
      (error: unknown) => done(error instanceof Error ? error : new Error(String(error))),
    );
  };
}

/** Every bigint of the schema is an instant, a count or an amount below 2^53. */
function getTypeParser(oid: number, format?: 'text' | 'binary') {
  if (oid === INT8 && format !== 'binary') return Number;
  return format === 'binary' ? pg.types.getTypeParser(oid, 'binary') : pg.types.getTypeParser(oid, 'text');
}

const CLOCK: Statement = { name: 'clock', text: 'SELECT clock_ms() AS "nowMs"' };

/** The clock of the database, by which events are created: every process goes by the same one. */
export async function readClock({ ask }: Pick<Lane, 'ask'>): Promise<number> {
  const [row] = await ask<{ nowMs: number }>(CLOCK, []);
  if (row === undefined) throw new Error('the database does not tell the time');
  return row.nowMs;
}
