/**
 * Pools of connections: work in one pool never makes another one wait. A pool replaces lost connections when it next
 * needs them.
 */

import { callbackify } from 'node:util';
import pg from 'pg';
import type { PoolUsage } from '../../../domain/management/store-usage.ts';
import { codeOf } from '../../errors.ts';
import { connectionOf } from './address.ts';
import { isStorageFailure, storageFault, toFault } from './failures.ts';
import { refuseUnsafeCommits } from './fitness.ts';
import { CURRENT_SCHEMA, type CurrentSchema, connectionName, refuseOtherSchema } from './processes.ts';

export type Pool = {
  /** Runs one prepared statement. Throws the unavailable Fault when the database cannot serve. */
  runStatement<Row>(statement: Statement, values: readonly unknown[]): Promise<readonly Row[]>;
  /** Runs a body on one connection; the body MUST end a transaction that it begins. */
  withConnection<T>(body: (client: pg.PoolClient) => Promise<T>): Promise<T>;
  /** Sets what is called with the first connection after one was lost: it may lead to a database that was restored. */
  onReconnect(reset: () => void): void;
  readonly connections: pg.Pool;
};

/** Statements with the same name must have the same text: it is sent once per connection. */
export type Statement = { readonly name: string; readonly text: string };

type PoolOptions = {
  readonly url: string;
  readonly name: string;
  readonly connectionsMax: number;
  /** Connections that stay open while idle. */
  readonly connectionsMin?: number;
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
/** too_many_connections, which also stands for the limits of a role and of a database. */
const NO_MORE_CONNECTIONS: ReadonlySet<string> = new Set(['53300']);
const LIMITED_MS = 1_000;

export function openPool({
  url,
  name,
  connectionsMax,
  connectionsMin = 0,
  statementTimeoutMs,
  isPipelined,
  prepareConnection,
}: PoolOptions): Pool {
  const pool = new pg.Pool({
    ...connectionOf(url),
    application_name: connectionName(name),
    max: connectionsMax,
    min: connectionsMin,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    idleTimeoutMillis: IDLE_MS,
    query_timeout: statementTimeoutMs + ANSWER_SLACK_MS,
    keepAlive: true,
    pipeline: isPipelined === true,
    types: { getTypeParser },
    verify: callbackify(async (client: pg.PoolClient) => {
      // Not connection parameters: poolers refuse those they do not know.
      await client.query(
        `SET statement_timeout = ${statementTimeoutMs}; SET idle_in_transaction_session_timeout = ${statementTimeoutMs}`,
      );
      refuseOtherSchema((await client.query<CurrentSchema>(CURRENT_SCHEMA.text)).rows);
      await prepareConnection?.(client);
    }),
  });
  let isLost = false;
  let reconnected: () => void = () => undefined;
  // A lost connection fails its statement and is replaced when needed; an unhandled error event would end the process.
  const lose = () => {
    isLost = true;
  };
  pool.on('error', lose);
  pool.on('connect', (client) => {
    client.on('error', lose);
    if (isLost) reconnected();
    isLost = false;
  });

  async function runStatement<Row>(
    { name: statementName, text }: Statement,
    values: readonly unknown[],
  ): Promise<readonly Row[]> {
    try {
      const result = await withConnection((client) => client.query({ name: statementName, text, values: [...values] }));
      return result.rows as Row[];
    } catch (error) {
      throw toFault(error);
    }
  }

  async function connect(): Promise<pg.PoolClient> {
    try {
      return await pool.connect();
    } catch (error) {
      if (NO_MORE_CONNECTIONS.has(codeOf(error)) && pool.totalCount > 0) {
        limitToOpen();
        return await connect();
      }
      // A failure to connect is never the caller's fault.
      throw storageFault(error);
    }
  }

  /** For a while callers wait for the open connections, and ask for no others. */
  function limitToOpen(): void {
    pool.options.max = pool.totalCount;
    setTimeout(() => {
      pool.options.max = connectionsMax;
    }, LIMITED_MS).unref();
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

  const onReconnect = (reset: () => void) => {
    reconnected = reset;
  };
  return { runStatement, withConnection, onReconnect, connections: pool };
}

/** Every bigint of the schema is an instant, a count or an amount below 2^53. */
function getTypeParser(oid: number, format?: 'text' | 'binary') {
  if (oid === INT8 && format !== 'binary') return Number;
  return format === 'binary' ? pg.types.getTypeParser(oid, 'binary') : pg.types.getTypeParser(oid, 'text');
}

const CLOCK: Statement = { name: 'clock', text: 'SELECT clock_ms() AS "nowMs"' };

const NO_CLOCK =
  'clock_ms() returned no row, so the function was changed: spandrel migrate --dry-run names what differs; undo the change';

/** The clock of the database in milliseconds, which all processes share. */
export async function readClock({ runStatement }: Pick<Pool, 'runStatement'>): Promise<number> {
  const [row] = await runStatement<{ nowMs: number }>(CLOCK, []);
  if (row === undefined) throw new Error(NO_CLOCK);
  return row.nowMs;
}

const SIZE: Statement = { name: 'size', text: 'SELECT pg_database_size(current_database()) AS bytes' };

export async function readDatabaseBytes({ runStatement }: Pick<Pool, 'runStatement'>): Promise<number> {
  return (await runStatement<{ bytes: number }>(SIZE, []))[0]?.bytes ?? 0;
}

/** What the pools hold now. */
export function poolUsages(pools: Pools): { readonly [pool: string]: PoolUsage } {
  const usages = Object.entries(pools).map(
    ([
      name,
      {
        connections: { totalCount, idleCount, waitingCount },
      },
    ]) => {
      return [name, { inUse: totalCount - idleCount, idle: idleCount, waiting: waitingCount }] as const;
    },
  );
  return Object.fromEntries(usages);
}

// One for the batch under way, one for the check whether writing works.
const INGEST_CONNECTIONS = 2;
const CONTROL_CONNECTIONS = 2;
// However few connections the database grants, reads keep one.
const READ_CONNECTIONS_MIN = 1;
const MANAGEMENT_CONNECTIONS = 2;
// Deliveries batch their writes, so few connections are needed.
const DELIVERY_CONNECTIONS = 4;
// One process indexes at a time, and only one step.
const INDEX_CONNECTIONS = 1;
// Only where texts are moved to ClickHouse, by one process at a time.
const TEXT_CONNECTIONS = 1;
// All others wait while a transaction has locked the head of a log or an endpoint.
const WRITE_TIMEOUT_MS = 5_000;
const READ_TIMEOUT_MS = 30_000;
// Nobody waits for a step of the indexer, which also reads meanwhile.
const INDEX_TIMEOUT_MS = 60_000;
// Every request waits for one of these point reads, so a silent database must be noticed soon.
const CONTROL_TIMEOUT_MS = 2_000;
// Planning a query over all months takes longer than running it.
const KEEP_PLANS = 'SET plan_cache_mode = force_generic_plan';
// A batch touches few rows of large tables, and its plans are cached. A plan made while a table was small, or from old
// statistics, could make every later batch scan the table. Tables are joined in the written order. Index entries are
// expensive, or the smallest index looks best in a table of a few hundred rows, whether it has all columns of the key or not.
const FIND_BY_KEYS = `SET jit = off;
  SET enable_seqscan = off;
  SET enable_hashjoin = off;
  SET enable_mergejoin = off;
  SET cpu_index_tuple_cost = 1;
  SET join_collapse_limit = 1`;

export type Pools = Readonly<
  Record<'ingest' | 'control' | 'reads' | 'management' | 'delivery' | 'index' | 'texts', Pool>
>;

export type PoolsOptions = {
  readonly url: string;
  /** Connections for reads; the other pools add a few. */
  readonly connectionsMax: number;
  /** Accepts a database that may lose acknowledged writes. */
  readonly mayLoseWrites: boolean;
};

export function openPools({ url, connectionsMax, mayLoseWrites }: PoolsOptions): Pools {
  const prepare = (settings: string | null) => async (client: pg.ClientBase) => {
    if (!mayLoseWrites) await refuseUnsafeCommits(client);
    if (settings !== null) await client.query(settings);
  };
  const write = { url, statementTimeoutMs: WRITE_TIMEOUT_MS, prepareConnection: prepare(null) };
  return {
    ingest: openPool({
      ...write,
      name: 'ingest',
      connectionsMax: INGEST_CONNECTIONS,
      isPipelined: true,
      prepareConnection: prepare(FIND_BY_KEYS),
    }),
    control: openPool({
      ...write,
      name: 'control',
      connectionsMax: CONTROL_CONNECTIONS,
      statementTimeoutMs: CONTROL_TIMEOUT_MS,
    }),
    management: openPool({ ...write, name: 'management', connectionsMax: MANAGEMENT_CONNECTIONS, isPipelined: true }),
    reads: openPool({
      url,
      name: 'reads',
      connectionsMax,
      connectionsMin: READ_CONNECTIONS_MIN,
      statementTimeoutMs: READ_TIMEOUT_MS,
      prepareConnection: async (client) => void (await client.query(KEEP_PLANS)),
    }),
    delivery: openPool({
      ...write,
      name: 'delivery',
      connectionsMax: DELIVERY_CONNECTIONS,
      isPipelined: true,
      prepareConnection: prepare(`${FIND_BY_KEYS}; ${KEEP_PLANS}`),
    }),
    index: openPool({
      ...write,
      name: 'index',
      connectionsMax: INDEX_CONNECTIONS,
      statementTimeoutMs: INDEX_TIMEOUT_MS,
      isPipelined: true,
      prepareConnection: prepare(FIND_BY_KEYS),
    }),
    texts: openPool({
      ...write,
      name: 'texts',
      connectionsMax: TEXT_CONNECTIONS,
      statementTimeoutMs: INDEX_TIMEOUT_MS,
      prepareConnection: prepare(FIND_BY_KEYS),
    }),
  };
}

export async function closePools(pools: Pools): Promise<void> {
  await Promise.all(Object.values(pools).map((pool) => pool.connections.end()));
}

/** The same pool, but each use calls `refuse` first. */
export function guardPool(pool: Pool, refuse: () => void): Pool {
  return {
    ...pool,
    runStatement: async (statement, values) => {
      refuse();
      return await pool.runStatement(statement, values);
    },
    withConnection: async (body) => {
      refuse();
      return await pool.withConnection(body);
    },
  };
}
