import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openStore } from '../../src/storage/open.ts';
import { openCore } from '../../src/storage/sqlite/open-core.ts';
import { createInlineStore } from '../../src/storage/sqlite/store.ts';
import { isFullTier } from '../support/scenario.ts';
import { temporaryFolder } from '../support/temp.ts';
import { appendConformance } from './conformance/appends.ts';
import { PROJECT, sampleAppend } from './conformance/samples.ts';
import { storeConformance } from './conformance/store.ts';
import { createTestTime, type Subject } from './conformance/subject.ts';
import { traceReadConformance } from './conformance/traces.ts';
import { quietLog } from './quiet-log.ts';

const options = { queueMaxBytes: 64 * 1024 * 1024, log: quietLog };

// The schema is laid once; copying the empty database is ten times as fast.
const template = temporaryFolder();
const emptyDatabase = join(template.path, 'empty.db');
beforeAll(async () => await (await openStore({ url: `sqlite:${emptyDatabase}`, ...options })).close());
afterAll(() => template.remove());

const bytes = (hex: string) => `X'${hex}'`;

async function openFile(): Promise<Subject> {
  const folder = temporaryFolder();
  const file = join(folder.path, 'spandrel.db');
  copyFileSync(emptyDatabase, file);
  const time = createTestTime();
  const store = await openStore({ url: `sqlite:${file}`, ...options, nowMs: time.nowMs });
  return {
    store,
    bytes,
    execute: (sql) => {
      const db = new Database(file, { timeout: 5000 });
      db.exec(sql);
      db.close();
      time.pass();
    },
    dispose: async () => {
      await store.close();
      folder.remove();
    },
  };
}

async function openMemory(): Promise<Subject> {
  const opened = openCore({ file: ':memory:', clock: Date.now, warn: (message) => quietLog.warn({}, message) });
  const time = createTestTime();
  const store = createInlineStore(opened, { ...options, nowMs: time.nowMs });
  return {
    store,
    bytes,
    execute: async (sql) => {
      await opened.core.run(() => void opened.db.exec(sql));
      time.pass();
    },
    dispose: () => store.close(),
  };
}

describe('SQLite in a file', () => {
  storeConformance(openFile);

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
  // The rules of a file; that it is missed nowhere shows in what is written and read back.
  if (isFullTier) storeConformance(openMemory);
  else {
    appendConformance(openMemory);
    traceReadConformance(openMemory);
  }

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
