/** Sizes of the database file and its write-ahead log. */

import { statSync } from 'node:fs';
import type { StoreUsage } from '../../../domain/management/store-usage.ts';
import type { Database } from './connection.ts';

export function readUsage(db: Database): StoreUsage {
  const numberOf = (pragma: string) => Number(db.pragma(pragma, { simple: true }));
  const pageBytes = numberOf('page_size');
  return {
    databaseBytes: numberOf('page_count') * pageBytes,
    freeBytes: numberOf('freelist_count') * pageBytes,
    walBytes: db.memory ? null : (statSync(`${db.name}-wal`, { throwIfNoEntry: false })?.size ?? 0),
    connections: {},
  };
}
