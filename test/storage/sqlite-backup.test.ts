import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { backupDatabase, openStore } from '../../src/storage/open.ts';
import { temporaryFolder } from '../support/temp.ts';
import { PROJECT, sampleAppend } from './conformance/samples.ts';
import { findStored, readAllSpans } from './conformance/trace-reading.ts';
import { quietLog } from './quiet-log.ts';

const options = { queueMaxBytes: 64 * 1024 * 1024, log: quietLog };

it('a backup under load holds everything acknowledged before it, and nothing half', async () => {
  const folder = temporaryFolder();
  const store = await openStore({ url: `sqlite:${join(folder.path, 'spandrel.db')}`, ...options });
  const copy = join(folder.path, 'copy.db');
  try {
    const before = Array.from({ length: 500 }, () => sampleAppend());
    await Promise.all(before.map((append) => store.traces.append(append)));
    const during = Promise.all(Array.from({ length: 2000 }, () => store.traces.append(sampleAppend())));
    await backupDatabase(`sqlite:${join(folder.path, 'spandrel.db')}`, copy);
    await during;
    expect(statSync(copy).mode & 0o077).toBe(0);
    const restored = await openStore({ url: `sqlite:${copy}`, ...options });
    for (const append of before) {
      const record = await restored.traces.find(PROJECT.number, append.traceId);
      expect(record?.spanCount).toBe(1);
      const spans = await readAllSpans(restored.traces, await findStored(restored.traces, append.traceId));
      expect(spans).toEqual(append.spans);
    }
    await restored.traces.append(sampleAppend());
    await restored.close();
  } finally {
    await store.close();
    folder.remove();
  }
});

it('a backup never replaces a file and leaves nothing behind when it fails', async () => {
  const folder = temporaryFolder();
  const url = `sqlite:${join(folder.path, 'spandrel.db')}`;
  const copy = join(folder.path, 'copy.db');
  await (await openStore({ url, ...options })).close();
  await backupDatabase(url, copy);
  await expect(backupDatabase(url, copy)).rejects.toThrow(/exists already/);
  await expect(backupDatabase(`sqlite:${join(folder.path, 'absent.db')}`, `${copy}2`)).rejects.toThrow(/no database/);
  await expect(backupDatabase(url, join(folder.path, 'absent', 'copy.db'))).rejects.toThrow(/the backup failed/);
  await expect(backupDatabase('sqlite::memory:', `${copy}2`)).rejects.toThrow(/only a SQLite file/);
  expect(existsSync(`${copy}2`)).toBe(false);
  folder.remove();
});
