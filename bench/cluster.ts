import { type Cluster, startCluster } from '../test/support/postgres.ts';
import { query } from '../test/support/postgres-databases.ts';
import type { Bench } from './bench.ts';
import { createTelemetryDatabase } from './clickhouse.ts';
import type { Lifetime } from './program.ts';
import { createWorkspace, type Workspace } from './sides.ts';

// The usual settings of a production PostgreSQL; the durability of commits stays the default.
const settings = { shared_buffers: '512MB', max_wal_size: '4GB' };

let cluster: Promise<Cluster> | undefined;

/** Starts one PostgreSQL for all rows of a run. It ends with this process. */
export function openCluster(): Promise<Cluster> {
  cluster ??= startCluster({ settings });
  return cluster;
}

/** Creates a place with a new database of the run's store. */
export async function openWorkspace({ store }: Bench, lifetime: Lifetime = 'row'): Promise<Workspace> {
  if (store === 'postgres') return await createClusterWorkspace(lifetime);
  const workspace = createWorkspace(lifetime);
  return store === 'clickhouse' ? { ...workspace, telemetryUrl: await createTelemetryDatabase() } : workspace;
}

/** Creates a place with a new database in the cluster. */
export async function createClusterWorkspace(lifetime: Lifetime = 'row'): Promise<Workspace> {
  const { createDatabase } = await openCluster();
  return createWorkspace(lifetime, await createDatabase());
}

/** The postmaster's pid, whose children do its work; null with SQLite. */
export async function readSharedPid({ store }: Pick<Bench, 'store'>): Promise<number | null> {
  return store === 'postgres' ? (await openCluster()).pid : null;
}

export async function readDatabaseBytes({ databaseUrl }: Workspace): Promise<number> {
  const [row] = await query(databaseUrl, 'SELECT pg_database_size(current_database()) AS bytes');
  return Number(row?.bytes);
}

export async function closeCluster(): Promise<void> {
  await (await cluster)?.remove();
}
