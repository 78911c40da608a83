/** Metrics of the database: whether it serves, what it holds, and what retention has still to erase. */

import type { RetentionClock } from '../domain/management/retention-clock.ts';
import type { PoolUsage } from '../domain/management/store-usage.ts';
import { countBacklog } from '../domain/retention.ts';
import type { Store } from '../domain/store.ts';
import { shareRead } from '../transport/shared-read.ts';
import type { Registry } from './registry.ts';

type DatabaseDeps = {
  readonly store: Pick<Store, 'ready' | 'usage' | 'managementRetention' | 'telemetryRetention'>;
  readonly retentionClock: Pick<RetentionClock, 'nowMs'>;
  readonly monotonicMs: () => number;
  readonly traceDefaultDays: number | null;
};

/** The backlog changes slowly, and counting it reads the sums of every project. */
const BACKLOG_FRESH_MS = 60_000;

const POOL_STATES = [
  ['in_use', 'inUse'],
  ['idle', 'idle'],
  ['waiting', 'waiting'],
] as const satisfies readonly (readonly [string, keyof PoolUsage])[];

export function registerDatabase(
  registry: Registry,
  { store, retentionClock, monotonicMs, traceDefaultDays }: DatabaseDeps,
): void {
  const isReady = shareRead(store.ready, monotonicMs);
  registry.gauge({
    name: 'spandrel_store_ready',
    help: 'Whether this process can read and write the database: 1, or 0.',
    read: () =>
      isReady().then(
        () => 1,
        () => 0,
      ),
  });
  const readUsage = shareRead(store.usage, monotonicMs);
  registry.gauge({
    name: 'spandrel_database_bytes',
    help: 'Size of the database; of the whole database.',
    read: async () => (await readUsage()).databaseBytes,
  });
  registry.gauge({
    name: 'spandrel_database_free_bytes',
    help: 'Part of the size that new rows fill before the file grows; SQLite only.',
    read: async () => (await readUsage()).freeBytes ?? [],
  });
  registry.gauge({
    name: 'spandrel_database_wal_bytes',
    help: 'Size of the write-ahead log; SQLite only.',
    read: async () => (await readUsage()).walBytes ?? [],
  });
  registry.gauge({
    name: 'spandrel_database_connections',
    help: 'Connections of this process to the database, and requests that wait for one; PostgreSQL only.',
    read: async () =>
      Object.entries((await readUsage()).connections).flatMap(([pool, usage]) =>
        POOL_STATES.map(([state, name]) => ({ labels: { pool, state }, value: usage[name] })),
      ),
  });
  registry.gauge({
    name: 'spandrel_retention_backlog_traces',
    help: 'About how many traces are past their term and not erased yet; of the whole database.',
    read: shareRead(() => countBacklog({ store, clock: retentionClock, traceDefaultDays }), monotonicMs, {
      freshMs: BACKLOG_FRESH_MS,
    }),
  });
}
