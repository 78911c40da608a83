import { type Cluster, startCluster } from '../test/support/postgres.ts';
import { query } from '../test/support/postgres-databases.ts';
import type { Bench } from './bench.ts';
import type { Lifetime } from './program.ts';
import { createPlace, type Place } from './sides.ts';

// What anybody gives a PostgreSQL that is worth measuring; commits are as durable as they are by default.
const settings = { shared_buffers: '512MB', max_wal_size: '4GB' };

let cluster: Promise<Cluster> | undefined;

/** One PostgreSQL for all rows of a run. It ends with this process, however that ends. */
export function openCluster(): Promise<Cluster> {
  cluster ??= startCluster({ settings });
  return cluster;
}

/** A fresh place with a database of the kind this run measures. */
export async function openPlace({ store }: Bench, lifetime: Lifetime = 'row'): Promise<Place> {
  return store === 'postgres' ? await createClusterPlace(lifetime) : createPlace(lifetime);
}

/** A place whose database is a new one in the cluster. */
export async function createClusterPlace(lifetime: Lifetime = 'row'): Promise<Place> {
  const { createDatabase } = await openCluster();
  return createPlace(lifetime, await createDatabase());
}

/** Of the process whose children do the cluster's work; null when this run needs none. */
export async function readSharedPid({ store }: Pick<Bench, 'store'>): Promise<number | null> {
  return store === 'postgres' ? (await openCluster()).pid : null;
}

export async function readDatabaseBytes({ databaseUrl }: Place): Promise<number> {
  const [row] = await query(databaseUrl, 'SELECT pg_database_size(current_database()) AS bytes');
  return Number(row?.bytes);
}

export async function closeCluster(): Promise<void> {
  await (await cluster)?.remove();
}
