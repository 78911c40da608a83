import { join } from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, it } from 'vitest';
import type { Store } from '../../src/domain/store.ts';
import { openCore } from '../../src/storage/engine/sqlite/core.ts';
import { createInlineStore } from '../../src/storage/engine/sqlite/store.ts';
import { openStore } from '../../src/storage/open.ts';
import { isFullTier } from '../support/scenario.ts';
import { temporaryFolder } from '../support/temp.ts';
import { createTestDatabase } from '../support/test-database.ts';
import { PROJECT, sampleAppend } from './conformance/samples.ts';
import { storeConformance, threadConformance } from './conformance/store.ts';
import { createTestTime, type Row, type Subject } from './conformance/subject.ts';
import { quietLog } from './quiet-log.ts';

const options = { queueMaxBytes: 64 * 1024 * 1024, log: quietLog };

const bytes = (hex: string) => `X'${hex}'`;

/** Opens it as the product does, with a writer thread. */
function openFile(): Promise<Subject> {
  return openSubject((url, nowMs) => openStore({ url, ...options, nowMs }));
}

/** Opens it as commands do, with the writer in this thread. */
function openHere(): Promise<Subject> {
  return openSubject((url, nowMs) => openStore({ url, ...options, nowMs, writer: 'here' }));
}

const fileOf = (url: string) => url.slice('sqlite:'.length);

async function openSubject(open: (url: string, nowMs: () => number) => Promise<Store>): Promise<Subject> {
  const database = await createTestDatabase();
  const file = fileOf(database.url);
  const time = createTestTime();
  const store = await open(database.url, time.nowMs);
  return {
    store,
    bytes,
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
    },
  };
}

async function openMemory(): Promise<Subject> {
  const opened = openCore({ file: ':memory:', clock: Date.now });
  const time = createTestTime();
  const store = createInlineStore(opened, { ...options, nowMs: time.nowMs });
  return {
    store,
    bytes,
    execute: async (sql) => {
      await opened.core.run(() => void opened.db.exec(sql));
      time.pass();
    },
    read: async (sql) => opened.db.prepare<[], Row>(sql).all(),
    dispose: () => store.close(),
  };
}

describe('SQLite in a file', () => {
  storeConformance(isFullTier ? openFile : openHere);
  // Starting writer threads is slow; tests of processes call the same verbs across threads.
  if (!isFullTier) threadConformance(openFile);

  it('has everything again after it was closed and opened', async () => {
    const folder = temporaryFolder();
    const url = `sqlite:${join(folder.path, 'spandrel.db')}`;
    const append = sampleAppend();
    const first = await openStore({ url, ...options });
    await first.traces.append(append);
    await first.close();
    const second = await openStore({ url, ...options });
    expect(await second.traces.find(PROJECT.number, append.traceId)).toMatchObject({ spanCount: 1 });
    await second.close();
    folder.remove();
  });
});

describe('SQLite in memory', () => {
  // The same code as for a file, without the file.
  if (isFullTier) storeConformance(openMemory);

  it('opens under its address, and two have nothing in common', async () => {
    const [one, two] = await Promise.all([
      openStore({ url: 'sqlite::memory:', ...options }),
      openStore({ url: 'sqlite::memory:', ...options }),
    ]);
    const append = sampleAppend();
    await one.traces.append(append);
    expect(await one.traces.find(PROJECT.number, append.traceId)).not.toBeNull();
    expect(await two.traces.find(PROJECT.number, append.traceId)).toBeNull();
    await Promise.all([one.close(), two.close()]);
  });
});
