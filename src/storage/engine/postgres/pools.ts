/** The pools of a store: one for each kind of work. */

import { openPool, type Pool } from './pool.ts';
import { refuseUnsafeCommits } from './schema.ts';

// One for the batch under way, one for the check whether writing works.
const INGEST_CONNECTIONS = 2;
const CONTROL_CONNECTIONS = 2;
const MANAGEMENT_CONNECTIONS = 2;
// Deliveries batch their writes, so few connections are needed.
const DELIVERY_CONNECTIONS = 4;
// All others wait while a transaction holds the head of a log or an endpoint.
const WRITE_TIMEOUT_MS = 5_000;
const READ_TIMEOUT_MS = 30_000;
// Every request waits for one of these point reads, so a silent database must be noticed soon.
const CONTROL_TIMEOUT_MS = 2_000;
// Planning a query over all months takes longer than running it.
const KEEP_PLANS = 'SET plan_cache_mode = force_generic_plan';
// A batch touches few rows of large tables, and its plans are cached. A plan made while a table was small, or from old
// statistics, could make every later batch scan the table. Tables are joined in the written order.
const FIND_BY_KEYS = `SET jit = off;
  SET enable_seqscan = off;
  SET enable_hashjoin = off;
  SET enable_mergejoin = off;
  SET join_collapse_limit = 1`;

export type Pools = Readonly<Record<'ingest' | 'control' | 'reads' | 'management' | 'delivery', Pool>>;

export type PoolsOptions = {
  readonly url: string;
  /** Connections for reads; the other pools add a few. */
  readonly connectionsMax: number;
  /** Accepts a database that may lose acknowledged writes. */
  readonly mayLoseWrites: boolean;
};

export function openPools({ url, connectionsMax, mayLoseWrites }: PoolsOptions): Pools {
  const write = {
    url,
    statementTimeoutMs: WRITE_TIMEOUT_MS,
    ...(mayLoseWrites ? {} : { prepareConnection: refuseUnsafeCommits }),
  };
  return {
    ingest: openPool({
      ...write,
      name: 'ingest',
      connectionsMax: INGEST_CONNECTIONS,
      isPipelined: true,
      prepareConnection: async (client) => {
        if (!mayLoseWrites) await refuseUnsafeCommits(client);
        await client.query(FIND_BY_KEYS);
      },
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
      statementTimeoutMs: READ_TIMEOUT_MS,
      prepareConnection: async (client) => void (await client.query(KEEP_PLANS)),
    }),
    delivery: openPool({
      ...write,
      name: 'delivery',
      connectionsMax: DELIVERY_CONNECTIONS,
      isPipelined: true,
      prepareConnection: async (client) => {
        if (!mayLoseWrites) await refuseUnsafeCommits(client);
        await client.query(`${FIND_BY_KEYS}; ${KEEP_PLANS}`);
      },
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
