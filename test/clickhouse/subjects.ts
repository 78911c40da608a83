/** Stores whose traces ClickHouse searches and sums up. */

import Database from 'better-sqlite3';
import type { Store } from '../../src/domain/store.ts';
import { openStore } from '../../src/storage/open.ts';
import { createTestTime, type Row, type Subject } from '../storage/conformance/subject.ts';
import { quietLog } from '../storage/quiet-log.ts';
import { query } from '../support/postgres-databases.ts';
import { createPostgresTestDatabase, createTestDatabase } from '../support/test-database.ts';
import { type ClickHouseDatabase, createClickHouseDatabase } from './databases.ts';

export type ClickHouseSubject = Subject & {
  readonly telemetry: ClickHouseDatabase;
  /** Opens another store on both databases; the first one must be closed. */
  reopen(telemetryUrl?: string | null): Promise<Store>;
};

const limits = { queueMaxBytes: 64 * 1024 * 1024, log: quietLog };

export async function openSqlite(): Promise<ClickHouseSubject> {
  const [database, telemetry] = [await createTestDatabase(), await createClickHouseDatabase()];
  const file = database.url.slice('sqlite:'.length);
  const time = createTestTime();
  const reopen = (telemetryUrl: string | null = telemetry.url) =>
    openStore({ url: database.url, telemetryUrl, ...limits, nowMs: time.nowMs });
  const store = await reopen();
  return {
    ...{ store, telemetry, reopen },
    bytes: (hex) => `X'${hex}'`,
    execute: (sql) => {
      const db = new Database(file, { timeout: 5000 });
      db.exec(sql);
      db.close();
      time.pass();
    },
    read: async (sql) => {
      const db = new Database(file, { readonly: true });
      const rows = db.prepare<[], Row>(sql).all();
      db.close();
      return rows;
    },
    dispose: async () => {
      await store.close();
      await database.remove();
      await telemetry.remove();
    },
  };
}

export async function openPostgres(): Promise<ClickHouseSubject> {
  const [database, telemetry] = [await createPostgresTestDatabase(), await createClickHouseDatabase()];
  const { url } = database;
  const reopen = (telemetryUrl: string | null = telemetry.url) => openStore({ url, telemetryUrl, ...limits });
  const store = await reopen();
  return {
    ...{ store, telemetry, reopen },
    bytes: (hex) => `'\\x${hex}'`,
    execute: async (sql) => void (await query(url, sql)),
    read: (sql) => query(url, sql),
    dispose: async () => {
      await store.close();
      await database.remove();
      await telemetry.remove();
    },
  };
}
