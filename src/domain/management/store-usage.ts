/** What a database and the connections to it hold at one instant. */

export type StoreUsage = {
  /** Free pages included. */
  readonly databaseBytes: number;
  /** Bytes of the database that new rows fill before it grows; null where the store does not tell. */
  readonly freeBytes: number | null;
  /** Bytes of the write-ahead log of this database alone; null where it has none. */
  readonly walBytes: number | null;
  /** Connections of this process, by the pool that they belong to. */
  readonly connections: { readonly [pool: string]: PoolUsage };
};

export type PoolUsage = { readonly inUse: number; readonly idle: number; readonly waiting: number };
