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
  /** The address of the main database. */
  readonly url: string;
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
    ...{ store, telemetry, reopen, url: database.url },
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

export async function openPostgres(options: Pick<StoreOptions, 'moveTexts'> = {}): Promise<ClickHouseSubject> {
  const [database, telemetry] = [await createPostgresTestDatabase(), await createClickHouseDatabase()];
  const { url } = database;
  const reopen = (telemetryUrl: string | null = telemetry.url) =>
    openStore({ url, telemetryUrl, ...limits, ...options });
  const store = await reopen();
  return {
    ...{ store, telemetry, reopen, url },
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

type StoreOptions = Parameters<typeof openStore>[0];

/** Does what there is to do, until too little is left. */
export async function moveTexts(store: Store): Promise<void> {
  for (const { name, step } of store.upkeep) if (name === 'moving texts') while ((await step()) === 'more');
}

const WALKED_ANEW_MAX = 30;
const MOVED_EVERY = 300;

/** A store whose texts are in ClickHouse as soon as an append is answered. `noteMoved` gets how many were there in the end. */
export async function openMoved(noteMoved: (texts: number) => void): Promise<ClickHouseSubject> {
  const subject = await openPostgres({ moveTexts: { afterMs: 0, minBytes: 1 } });
  const { store } = subject;
  let last: Promise<unknown> = Promise.resolve();
  let appends = 0;
  const moveAll = async () => {
    // Of very many appends, not after each.
    if (appends > WALKED_ANEW_MAX && appends % MOVED_EVERY > 0) return;
    // Traces of one instant are walked by id, and those here all have the same one.
    if (appends <= WALKED_ANEW_MAX) await subject.execute('DELETE FROM text_moves');
    await moveTexts(store);
  };
  const append: Store['traces']['append'] = async (given) => {
    const appended = await store.traces.append(given);
    appends += 1;
    // One after the other: they share a connection.
    last = last.then(moveAll, moveAll);
    await last;
    return appended;
  };
  return {
    ...subject,
    store: { ...store, traces: { ...store.traces, append } },
    dispose: async () => {
      const [counted] = await subject.read(
        `SELECT count(moved_place(input)) + count(moved_place(output)) + count(moved_place(contexts)) AS texts FROM spans`,
      );
      noteMoved(Number(counted?.texts));
      await subject.dispose();
    },
  };
}
